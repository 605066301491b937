"""Real clients for tests: topics, records, commits, each test with names of its own."""

from __future__ import annotations

import threading
import time
import uuid
from typing import Literal

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    ShareConsumer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, OffsetSpec

from tests.support.waiting import eventually
from warren.codec.commits import OffsetCommit, encode_offset_commit
from warren.codec.keys import encode_offset_key, offsets_partition

OFFSETS_PARTITIONS = 50


def unique(name: str) -> str:
    """A name that no other test has."""
    return f"{name}-{uuid.uuid4().hex[:8]}"


def unique_beside(group: str, name: str, *, same: bool = True) -> str:
    """A name whose commits go to the same partition of the offsets topic as the group's, or to another one.

    Warren reads a partition in its order: when it shows a commit, it has read those before it.
    """
    partition = offsets_partition(group, OFFSETS_PARTITIONS)
    while (offsets_partition(found := unique(name), OFFSETS_PARTITIONS) == partition) != same:
        pass
    return found


class Cluster:
    """What a test does to a broker."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})

    def make_topic(self, partitions: int = 1, name: str = "topic", **config: str) -> str:
        topic = unique(name)
        self.admin.create_topics([NewTopic(topic, partitions, 1, config=config)])[topic].result(30)
        eventually(lambda: len(self.admin.list_topics(topic, timeout=5).topics[topic].partitions) == partitions)
        return topic

    def recreate_topic(self, topic: str) -> None:
        """Delete a topic of one partition and make it anew."""
        self.admin.delete_topics([topic])[topic].result(30)
        eventually(lambda: self._create(topic))

    def _create(self, topic: str) -> bool:
        try:
            self.admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
        except KafkaException:  # the old one is still going
            return False
        return True

    def write_commits(self, offsets_topic: str, group: str, topic: str, offsets: range) -> None:
        """Records of commits, as a coordinator writes them, to a topic of one partition."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "log_level": 0})
        now_ms = int(time.time() * 1000)
        for offset in offsets:
            value = encode_offset_commit(OffsetCommit(offset, -1, "", now_ms + offset, -1, None), 4)
            producer.produce(offsets_topic, key=encode_offset_key(group, topic, 0), value=value, partition=0)
        assert producer.flush(30) == 0

    def produce(self, topic: str, records: int, partition: int = 0, **settings: object) -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap, "log_level": 0, **settings})
        for number in range(records):
            producer.produce(topic, value=str(number), partition=partition)
        assert producer.flush(30) == 0

    def commit(self, group: str, topic: str, offset: int, partition: int = 0, metadata: str = "") -> None:
        """Commit without being a member: a simple group."""
        consumer = self.consumer(group)
        try:
            eventually(lambda: _commit(consumer, TopicPartition(topic, partition, offset, metadata)))
        finally:
            consumer.close()

    def consumer(self, group: str) -> Consumer:
        """One that commits without being a member."""
        settings = {"bootstrap.servers": self.bootstrap, "log_level": 0, "enable.auto.commit": False}
        return Consumer({**settings, "group.id": group})

    def transactional_commit(
        self,
        group: str,
        topic: str,
        offset: int,
        partition: int = 0,
        *,
        end: Literal["commit", "abort", "open"],
        **settings: object,
    ) -> Producer:
        """Commit in a transaction, as applications with exactly-once semantics do.

        With "open" the test itself commits or aborts the returned producer's transaction, in a `finally`: until then a
        read-committed reader sees nothing new in that partition of the offsets topic, whichever group it is of.
        """
        producer = Producer(
            {"bootstrap.servers": self.bootstrap, "log_level": 0, "transactional.id": unique(group), **settings}
        )
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "log_level": 0, "group.id": group})
        try:
            producer.init_transactions(30)
            producer.begin_transaction()
            at = TopicPartition(topic, partition, offset)
            producer.send_offsets_to_transaction([at], consumer.consumer_group_metadata(), 30)
        finally:
            consumer.close()
        if end == "commit":
            producer.commit_transaction(30)
        elif end == "abort":
            producer.abort_transaction(30)
        return producer

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        """The committed offsets of a group, as the Admin API tells them."""
        answer = self.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(30)
        return {(one.topic, one.partition): one.offset for one in answer.topic_partitions if one.offset >= 0}

    def ends(self, *partitions: tuple[str, int]) -> dict[tuple[str, int], int]:
        """The end offsets of partitions, as the Admin API tells them."""
        asked = {TopicPartition(topic, number): OffsetSpec.latest() for topic, number in partitions}
        answers = self.admin.list_offsets(asked, request_timeout=30)
        return {(at.topic, at.partition): future.result(30).offset for at, future in answers.items()}

    def alter_offset(self, group: str, topic: str, offset: int, partition: int = 0) -> None:
        """Set a committed offset as an operator does; Kafka refuses while the group has members."""
        wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, partition, offset)])
        [done] = self.admin.alter_consumer_group_offsets([wanted])[group].result(30).topic_partitions
        assert done.error is None, done.error

    def delete_group(self, group: str) -> None:
        """Delete a group of any type that has no members, with its offsets."""
        eventually(lambda: self._deletes(group))

    def _deletes(self, group: str) -> bool:
        """Whether it is deleted; not yet if a broker that was just started still reads the group's partition."""
        try:
            self.admin.delete_consumer_groups([group])[group].result(30)
        except KafkaException as error:
            if error.args[0].code() not in (KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_LOAD_IN_PROGRESS):
                raise
            return False
        return True

    def share_member(self, group: str, *topics: str, **settings: object) -> ShareConsumer:
        """A member of a share group that reads from the start of the topics.

        It joins at once and has its partitions some heartbeats later: `poll` it until records come.
        """
        reset = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ConfigResource.Type.GROUP, group, incremental_configs=[reset])
        self.admin.incremental_alter_configs([resource])[resource].result(30)
        consumer = ShareConsumer(
            {
                "bootstrap.servers": self.bootstrap,
                "log_level": 0,
                "group.id": group,
                "client.id": f"{group}-client",
                **settings,
            }
        )
        consumer.subscribe(list(topics))
        return consumer

    def member(self, group: str, *topics: str, protocol: str = "classic", **settings: object) -> Consumer:
        """A member that has its partitions; it takes part as long as it is polled."""
        consumer = self._joining(group, *topics, protocol=protocol, **settings)
        eventually(lambda: _assigned(consumer))
        return consumer

    def running_member(self, group: str, *topics: str, protocol: str = "classic", **settings: object) -> RunningMember:
        """A member that takes part by itself until it is closed; it has its partitions some time later."""
        return RunningMember(self._joining(group, *topics, protocol=protocol, **settings))

    def _joining(self, group: str, *topics: str, protocol: str, **settings: object) -> Consumer:
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "log_level": 0,
                "group.id": group,
                "group.protocol": protocol,
                "client.id": f"{group}-client",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                **settings,
            }
        )
        consumer.subscribe(list(topics))
        return consumer


class RunningMember:
    """A consumer that runs in a thread of its own, as in an application; only that thread ever touches it."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leave the group."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._consumer.poll(0.1)
        self._consumer.close()


def _assigned(consumer: Consumer) -> bool:
    """Whether the member has partitions; polling is what makes it join."""
    consumer.poll(0.2)
    return bool(consumer.assignment())


def _commit(consumer: Consumer, at: TopicPartition) -> bool:
    try:
        return consumer.commit(offsets=[at], asynchronous=False)[0].error is None  # type: ignore[index]
    except KafkaException:
        return False  # the coordinator is not there yet
