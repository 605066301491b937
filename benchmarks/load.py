"""Fills a broker's offsets topic with commits of many group-partitions, quickly: straight into the topic."""

from __future__ import annotations

import time
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from warren.codec.commits import OffsetCommit, encode_offset_commit
from warren.codec.keys import encode_offset_key

OFFSETS_TOPIC = "__consumer_offsets"
COMMIT_DISTANCE_MS = 10_000
COMMIT_LIMIT_S = 60.0


class Load(NamedTuple):
    """How much: every group commits to every partition of one topic, `commits` times."""

    topics: int = 10
    partitions: int = 100
    groups: int = 1_000
    commits: int = 30

    @property
    def group_partitions(self) -> int:
        """Windows that result."""
        return self.groups * self.partitions

    @property
    def records(self) -> int:
        """Commit records in the offsets topic."""
        return self.group_partitions * self.commits


def topic_name(number: int) -> str:
    """The topics are bench-0, bench-1, ..."""
    return f"bench-{number}"


def group_name(number: int) -> str:
    """The groups are bench-group-00000, ..."""
    return f"bench-group-{number:05d}"


def fill(bootstrap: str, load: Load) -> float:
    """Write the commits; how many seconds it took."""
    _make_topics(bootstrap, load)
    started_s = time.monotonic()
    producer = _producer(bootstrap)
    now_ms = int(time.time() * 1000)
    partitions = _offsets_partitions(bootstrap)
    for commit in range(load.commits):
        at_ms = now_ms - (load.commits - commit) * COMMIT_DISTANCE_MS
        value = encode_offset_commit(OffsetCommit(commit, -1, "", at_ms, -1, bytes(range(16))), 4)
        for group in range(load.groups):
            name, topic = group_name(group), topic_name(group % load.topics)
            source_partition = abs(_java_hash(name)) % partitions
            for partition in range(load.partitions):
                _produce(producer, encode_offset_key(name, topic, partition), value, source_partition)
            producer.poll(0)
    _flush(producer)
    return time.monotonic() - started_s


def commit(bootstrap: str, group: str, topic: str, partition: int, offset: int) -> None:
    """One real commit through a client; tried again while the coordinator loads what was written behind its back."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False})
    deadline_s = time.monotonic() + COMMIT_LIMIT_S
    try:
        while True:
            try:
                consumer.commit(offsets=[TopicPartition(topic, partition, offset)], asynchronous=False)
            except KafkaException:
                if time.monotonic() > deadline_s:
                    raise
                time.sleep(0.2)
            else:
                return
    finally:
        consumer.close()


def _produce(producer: Producer, key: bytes, value: bytes, partition: int) -> None:
    while True:
        try:
            producer.produce(OFFSETS_TOPIC, key=key, value=value, partition=partition)
        except BufferError:
            producer.poll(0.1)
        else:
            return


def _producer(bootstrap: str) -> Producer:
    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "client.id": "__admin_client",  # the broker takes records for internal topics from this client only
            "linger.ms": 50,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": 500_000,
        }
    )


def _flush(producer: Producer) -> None:
    left = producer.flush(120)
    if left:
        message = f"{left} records could not be written"
        raise RuntimeError(message)


def _make_topics(bootstrap: str, load: Load) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topics = [NewTopic(topic_name(number), load.partitions, 1) for number in range(load.topics)]
    for future in admin.create_topics(topics).values():
        try:
            future.result(60)
        except KafkaException as error:
            if error.args[0].name() != "TOPIC_ALREADY_EXISTS":
                raise


def _offsets_partitions(bootstrap: str) -> int:
    return len(
        AdminClient({"bootstrap.servers": bootstrap}).list_topics(OFFSETS_TOPIC, 10).topics[OFFSETS_TOPIC].partitions
    )


def _java_hash(text: str) -> int:
    """How Kafka picks the partition of a group (for names in ASCII)."""
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value
