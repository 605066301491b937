"""Thin edge to Kafka: clients by their configuration, and their errors as ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient

from warren.errors import SourceError

ClientConfig = dict[str, Any]

LATEST = -1
EARLIEST = -2
"""ListOffsets' names for the two ends of a log, in place of a timestamp."""

REQUEST_TIMEOUT_S = 10.0
TOPICS_AT_ONCE = 1_000
"""In one request for descriptions."""

NO_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""What brokers before 2.8 say: an id of zeros."""

_ABSENT = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION)


def make_consumer(client: ClientConfig, **settings: Any) -> Consumer:
    """A consumer that belongs to no group: partitions are assigned, nothing is ever committed."""
    config = {
        "group.id": "warren",  # the library wants one; it is never joined nor committed to
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "earliest",
        "allow.auto.create.topics": False,
        "log_level": 3,  # the library's own retries are its own business; what fails in the end is raised
        **settings,
        **client,
    }
    return Consumer(config)


_consumers: dict[str, Consumer] = {}


def process_consumer(client: ClientConfig, **settings: Any) -> Consumer:
    """This process's consumer for questions about topics and offsets; made once, so that its connections stay."""
    key = cache_key(client, json.dumps(settings, sort_keys=True))
    if key not in _consumers:
        _consumers[key] = make_consumer(client, **settings)
    return _consumers[key]


_admins: dict[str, AdminClient] = {}


def process_admin(client: ClientConfig) -> AdminClient:
    """This process's client for questions that no consumer can ask; made once, too."""
    key = cache_key(client)
    if key not in _admins:
        _admins[key] = AdminClient({"log_level": 3, **client})
    return _admins[key]


def cache_key(client: ClientConfig, *more: str) -> str:
    """A name for one client in a worker process."""
    return json.dumps([client, *more], sort_keys=True)


@contextmanager
def kafka_errors(doing: str) -> Iterator[None]:
    """Turn the library's exceptions into `SourceError`."""
    try:
        yield
    except KafkaException as error:
        cause: KafkaError = error.args[0]
        message = f"{doing} failed: {cause.str()} ({cause.name()})."
        raise SourceError(message) from error


def partitions_of(consumer: Consumer, topic: str) -> list[int]:
    """The partitions of a topic; none if it does not exist."""
    with kafka_errors(f"asking for topic {topic}"):
        metadata = consumer.list_topics(topic, timeout=REQUEST_TIMEOUT_S).topics[topic]
    if metadata.error is None:
        return sorted(metadata.partitions)
    if metadata.error.code() in _ABSENT:
        return []
    message = f"Topic {topic} cannot be read: {metadata.error.str()}."
    raise SourceError(message)


def topic_id_of(client: ClientConfig, topic: str) -> str:
    """Kafka's own name for this incarnation of a topic; "" if it has none, or if it may not be told."""
    return topic_ids_of(client, [topic]).get(topic, "")


def topic_ids_of(client: ClientConfig, topics: Sequence[str]) -> dict[str, str]:
    """Kafka's own names for these incarnations of topics, without those that have none or may not be told."""
    admin, asked = process_admin(client), {}
    try:
        # All are on their way before the first is waited for: however many they are, the timeout is one.
        for start in range(0, len(topics), TOPICS_AT_ONCE):
            names = TopicCollection(list(topics[start : start + TOPICS_AT_ONCE]))
            asked.update(admin.describe_topics(names, request_timeout=REQUEST_TIMEOUT_S))
    except KafkaException:
        return {}
    told = {topic: _topic_id(description) for topic, description in asked.items()}
    return {topic: topic_id for topic, topic_id in told.items() if topic_id not in ("", NO_TOPIC_ID)}


def _topic_id(description: Future[Any]) -> str:
    try:
        return str(description.result().topic_id)
    except KafkaException:
        return ""


def offsets_at(consumer: Consumer, partitions: list[tuple[str, int]], where: int) -> dict[tuple[str, int], int]:
    """The `LATEST` or `EARLIEST` offset of each partition that has one, in one request for each broker.

    Under read_committed the latest offset is the last stable one.
    """
    asked = [TopicPartition(topic, partition, where) for topic, partition in partitions]
    with kafka_errors("asking for offsets"):
        answers = consumer.offsets_for_times(asked, timeout=REQUEST_TIMEOUT_S)
    return {
        (one.topic, one.partition): one.offset
        for one in answers
        if one.error is None and one.offset >= 0 and one.offset != OFFSET_INVALID
    }
