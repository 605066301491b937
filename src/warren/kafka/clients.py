"""Clients of Kafka by their configuration, their errors as ours, and what is asked of them everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient

from warren.errors import SourceError
from warren.kafka.msk import IAM, token_provider

ClientConfig = dict[str, Any]

LATEST = -1
EARLIEST = -2
"""ListOffsets' names for the two ends of a log, in place of a timestamp."""

REQUEST_TIMEOUT_S = 10.0
TOPICS_AT_ONCE = 1_000
"""In one request for descriptions."""

NO_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""What brokers before 2.8 say: an id of zeros."""

KERBEROS = "sasl.kerberos.principal"

GROUP_REFUSED = KafkaError.GROUP_AUTHORIZATION_FAILED
"""The library asks for the coordinator of its group, whether or not it is ever joined; readers need no right to it."""

_SECRET_SETTINGS = ("password", "secret", "key.pem", "jaas", "token")

T = TypeVar("T")

_NOT_ALLOWED = (
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
)
_ABSENT = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION)


class Reason:
    """Why a client cannot connect, as far as it says: the library's exceptions tell of a timeout only."""

    def __init__(self) -> None:
        self.text = ""

    def __call__(self, error: KafkaError) -> None:
        """Take what the library reports."""
        if error.code() != KafkaError._ALL_BROKERS_DOWN:
            self.text = error.str()


class ReasonedConsumer(Consumer):
    """A consumer that says why it cannot connect."""

    reason: Reason


class ReasonedAdmin(AdminClient):
    """A client for questions that no consumer can ask, which says the same."""

    reason: Reason


def make_consumer(client: ClientConfig, **settings: Any) -> ReasonedConsumer:
    """A consumer that belongs to no group: partitions are assigned, nothing is ever committed."""
    reason = Reason()
    config: ClientConfig = {
        "group.id": "warren",  # the library wants one; it is never joined nor committed to
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "earliest",
        "allow.auto.create.topics": False,
        **settings,
        **library_settings(client),
        "error_cb": reason,
    }
    with kafka_errors("connecting"):
        consumer = ReasonedConsumer(config)
    consumer.reason = reason
    return consumer


def library_settings(client: Mapping[str, Any]) -> ClientConfig:
    """What the library is told of a client; its own retries are its own business, what fails in the end is raised."""
    config = {"log_level": 2, **client}
    if iam := config.pop(IAM, None):
        config["oauth_cb"] = token_provider(**iam)
    return config


def secrets_of(client: Mapping[str, Any]) -> list[str]:
    """What nobody may be told of a client."""
    return [str(value) for name, value in client.items() if any(word in name for word in _SECRET_SETTINGS)]


class Kept(Generic[T]):
    """One thing for each client of this process, whose connections outlive a batch.

    It is made again when a file that it was made from has changed: certificates are renewed.
    """

    def __init__(self, close: Callable[[T], object]) -> None:
        self._close = close
        self._things: dict[str, tuple[list[int], T]] = {}

    def get(self, client: ClientConfig, more: Any, make: Callable[[], T]) -> T:
        """The one of this client; `more` tells several of a client apart."""
        key, stamps = json.dumps([client, more], sort_keys=True), _stamps(client)
        known = self._things.get(key)
        if known and known[0] == stamps:
            return known[1]
        if known:
            self._close(known[1])
        self._things[key] = (stamps, make())
        return self._things[key][1]


def _stamps(client: ClientConfig) -> list[int]:
    """When the files of a client were changed."""
    paths = [Path(str(value)) for name, value in client.items() if name.endswith(".location")]
    return [path.stat().st_mtime_ns if path.exists() else 0 for path in paths]


_consumers: Kept[ReasonedConsumer] = Kept(ReasonedConsumer.close)
_admins: Kept[ReasonedAdmin] = Kept(lambda _: None)


def process_consumer(client: ClientConfig, **settings: Any) -> ReasonedConsumer:
    """This process's consumer for questions about topics and offsets."""
    return _consumers.get(client, settings, lambda: make_consumer(client, **settings))


def process_admin(client: ClientConfig) -> ReasonedAdmin:
    """This process's client for questions that no consumer can ask."""
    return _admins.get(client, None, lambda: _make_admin(client))


def _make_admin(client: ClientConfig) -> ReasonedAdmin:
    reason = Reason()
    with kafka_errors("connecting"):
        config: ClientConfig = {**library_settings(client), "error_cb": reason}
        admin = ReasonedAdmin(config)
    admin.reason = reason
    return admin


@contextmanager
def kafka_errors(doing: str, asked: ReasonedConsumer | ReasonedAdmin | None = None, needs: str = "") -> Iterator[None]:
    """Turn the library's exceptions into `SourceError`: with the reason, and with what the brokers would have to allow.

    `needs` is as `right` gives it.
    """
    try:
        yield
    except KafkaException as error:
        cause: KafkaError = error.args[0]
        message = f"{doing} failed: {cause.str()} ({cause.name()}){_because(asked)}."
        if needs and cause.code() in _NOT_ALLOWED:
            message += f" It needs: {needs}"
        raise SourceError(message) from error


def _because(asked: ReasonedConsumer | ReasonedAdmin | None) -> str:
    if asked is None:
        return ""
    asked.poll(0)  # only then does the library report; what is asked questions is assigned nothing
    return f"; {asked.reason.text}" if asked.reason.text else ""


def right(client: ClientConfig, operations: Sequence[str], resource: str) -> str:
    """The command that gives this client a right, such as ("Read",) on "--topic orders"."""
    named = " ".join(f"--operation {one}" for one in operations)
    who, servers = f"--allow-principal '{_principal(client)}'", client.get("bootstrap.servers", "")
    return f"kafka-acls.sh --bootstrap-server {servers} --add {who} {named} {resource}"


def _principal(client: ClientConfig) -> str:
    name = client.get("sasl.username") or client.get("sasl.oauthbearer.client.id") or client.get(KERBEROS)
    if not name and (certificate := client.get("ssl.certificate.location")):
        return f"User:<subject of {certificate}>"
    return f"User:{name or 'ANONYMOUS'}"


def partitions_of(client: ClientConfig, consumer: ReasonedConsumer, topic: str) -> list[int]:
    """The partitions of a topic; none if it does not exist."""
    needs = right(client, ("Describe", "Read"), f"--topic {topic}")
    with kafka_errors(f"asking for topic {topic}", consumer, needs):
        metadata = consumer.list_topics(topic, timeout=REQUEST_TIMEOUT_S).topics[topic]
        if metadata.error is not None and metadata.error.code() not in _ABSENT:
            raise KafkaException(metadata.error)
    return sorted(metadata.partitions) if metadata.error is None else []


def check_reachable(client: ClientConfig, topic: str = "") -> None:
    """Raise `SourceError` with the reason if the brokers do not answer, or do not let a topic be read."""
    consumer = process_consumer(client)
    if topic:
        partitions_of(client, consumer, topic)
        return
    with kafka_errors("listing topics", consumer):
        consumer.list_topics(timeout=REQUEST_TIMEOUT_S)


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


def offsets_at(consumer: ReasonedConsumer, partitions: list[tuple[str, int]], where: int) -> dict[tuple[str, int], int]:
    """The `LATEST` or `EARLIEST` offset of each partition that has one, in one request for each broker.

    Under read_committed the latest offset is the last stable one.
    """
    if not partitions:
        return {}
    asked = [TopicPartition(topic, partition, where) for topic, partition in partitions]
    with kafka_errors("asking for offsets", consumer):
        answers = consumer.offsets_for_times(asked, timeout=REQUEST_TIMEOUT_S)
    return {
        (one.topic, one.partition): one.offset
        for one in answers
        if one.error is None and one.offset >= 0 and one.offset != OFFSET_INVALID
    }
