"""Fills a broker's offsets topic with commits of many group-partitions, quickly: straight into the topic."""

from __future__ import annotations

import time
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from warren.codec.commits import OffsetCommit, encode_offset_commit
from warren.codec.consumer_groups import AssignedPartitions, ConsumerCurrent
from warren.codec.group_parts import MemberState
from warren.codec.group_records import encode_group_value
from warren.codec.groups import GroupMetadata, Member, encode_assignment, encode_group_metadata
from warren.codec.keys import (
    GroupRecordType,
    MemberKey,
    encode_group_key,
    encode_group_record_key,
    encode_offset_key,
    offsets_partition,
)
from warren.kafka.clients import topic_ids_of

OFFSETS_TOPIC = "__consumer_offsets"
COMMIT_DISTANCE_MS = 10_000
COMMIT_LIMIT_S = 60.0
MEMBERS = 10


class Load(NamedTuple):
    """How much: every group commits to every partition of one topic, `commits` times.

    Beside that, each time, it has `rebalances` in which all `MEMBERS` get their partitions anew: half of the groups are
    classic, one record for all members, half are of the new protocol, one for each member.
    """

    topics: int = 10
    partitions: int = 100
    groups: int = 1_000
    commits: int = 30
    rebalances: int = 0

    @property
    def group_partitions(self) -> int:
        """Windows that result."""
        return self.groups * self.partitions

    @property
    def group_records(self) -> int:
        """Records about groups and their members."""
        return self.groups // 2 * (1 + MEMBERS) * self.rebalances * self.commits

    @property
    def records(self) -> int:
        """All records in the offsets topic."""
        return self.group_partitions * self.commits + self.group_records


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
    partitions, ids = _offsets_partitions(bootstrap), _topic_ids(bootstrap, load)
    for commit in range(load.commits):
        at_ms = now_ms - (load.commits - commit) * COMMIT_DISTANCE_MS
        values = [encode_offset_commit(OffsetCommit(commit, -1, "", at_ms, -1, one), 4) for one in ids]
        for group in range(load.groups):
            name, topic = group_name(group), topic_name(group % load.topics)
            value, topic_id = values[group % load.topics], ids[group % load.topics]
            source_partition = offsets_partition(name, partitions)
            for rebalance in range(load.rebalances):
                epoch = commit * load.rebalances + rebalance
                for key, members in _members(name, topic if group % 2 else topic_id, epoch):
                    _produce(producer, key, members, source_partition)
            for partition in range(load.partitions):
                _produce(producer, encode_offset_key(name, topic, partition), value, source_partition)
            producer.poll(0)
    _flush(producer)
    return time.monotonic() - started_s


def _members(group: str, topic: str | bytes, epoch: int) -> Iterator[tuple[bytes, bytes]]:
    """The records of a rebalance, each another value than those before; classic groups know topics by name."""
    share = [list(range(number, 100, MEMBERS)) for number in range(MEMBERS)]
    if isinstance(topic, str):
        members = [
            Member(
                f"{group}-{number}", None, f"{group}-client", "/10.0.0.1", 1, 1, b"", encode_assignment([(topic, one)])
            )
            for number, one in enumerate(share)
        ]
        metadata = GroupMetadata("consumer", epoch, "range", members[0].member_id, epoch, members)
        yield encode_group_key(group), encode_group_metadata(metadata, 3)
        return
    kind = GroupRecordType.CONSUMER_MEMBER_CURRENT
    for number, one in enumerate(share):
        assigned = [AssignedPartitions(topic, one, [epoch] * len(one))]
        current = ConsumerCurrent(epoch, epoch - 1, MemberState.STABLE, assigned, [])
        key = encode_group_record_key(MemberKey(kind, group, f"{group}-{number}"))
        yield key, encode_group_value(kind, current)


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


def _topic_ids(bootstrap: str, load: Load) -> list[bytes]:
    """Of each topic, as records hold them: commits to another topic of the name would not count."""
    names = [topic_name(number) for number in range(load.topics)]
    ids = topic_ids_of({"bootstrap.servers": bootstrap}, names)
    return [urlsafe_b64decode(f"{ids[name]}==") for name in names]


def _offsets_partitions(bootstrap: str) -> int:
    return len(
        AdminClient({"bootstrap.servers": bootstrap}).list_topics(OFFSETS_TOPIC, 10).topics[OFFSETS_TOPIC].partitions
    )
