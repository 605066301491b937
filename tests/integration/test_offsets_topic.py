"""The offsets topic itself changes while Warren reads it: it is compacted, and offsets expire."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

from tests.support.kafka import OFFSETS_PARTITIONS, Cluster, unique
from tests.support.waiting import eventually, eventually_equal
from tests.support.warren import WarrenProcess, config
from warren.codec.keys import offsets_partition
from warren.embedded.broker import Broker

pytestmark = pytest.mark.long  # Kafka keeps offsets for a minute at least

OFFSETS = "__consumer_offsets"
RESTLESS = {
    "offsets.retention.minutes": "1",
    "offsets.retention.check.interval.ms": "1000",
    "log.cleaner.backoff.ms": "200",
    "log.retention.check.interval.ms": "500",
}
EAGER_COMPACTION = {
    "segment.ms": "1000",
    "min.cleanable.dirty.ratio": "0.0",
    "min.compaction.lag.ms": "0",
    "max.compaction.lag.ms": "1000",
    "delete.retention.ms": "0",
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker that compacts its offsets topic all the time and keeps offsets for a minute."""
    with Broker(tmp_path_factory.mktemp("restless"), "4.3.1", overrides=RESTLESS) as running:
        running.prepare_groups()
        entries = [
            ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
            for name, value in EAGER_COMPACTION.items()
        ]
        topic = ConfigResource(ConfigResource.Type.TOPIC, OFFSETS, incremental_configs=entries)
        admin = Cluster(running.bootstrap).admin
        admin.incremental_alter_configs([topic])[topic].result(30)
        yield running


@pytest.fixture(scope="module")
def cluster(broker: Broker) -> Cluster:
    return Cluster(broker.bootstrap)


@pytest.fixture(scope="module")
def warren(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarrenProcess]:
    with WarrenProcess(tmp_path_factory.mktemp("warren"), config(broker.bootstrap)) as process:
        yield process.wait_until_ready()


def records_in(cluster: Cluster, partition: int) -> int:
    """How many records are left there."""
    settings = {"bootstrap.servers": cluster.bootstrap, "group.id": unique("counts"), "enable.partition.eof": True}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest", "log_level": 0})
    consumer.assign([TopicPartition(OFFSETS, partition, 0)])
    found = 0
    try:
        while (message := consumer.poll(10)) is not None and message.error() is None:
            found += 1
    finally:
        consumer.close()
    return found


def test_offsets_expire_and_compaction_takes_nothing_that_counts(
    cluster: Cluster, warren: WarrenProcess, broker: Broker, tmp_path: Path
) -> None:
    """Both in one: the minute that offsets are kept is long enough to commit and compact in."""
    topic, expires = cluster.make_topic(2), unique("expires")
    cluster.commit(expires, topic, 7)
    eventually_equal(lambda: warren.committed(expires), {(topic, 0): 7})

    group = unique("compacted")
    for offset in range(0, 300, 10):
        cluster.commit(group, topic, offset)
        cluster.commit(group, topic, 300 - offset, partition=1)
    truth = cluster.committed(group)
    assert truth == {(topic, 0): 290, (topic, 1): 10}
    eventually_equal(lambda: warren.committed(group), truth)
    partition = offsets_partition(group, OFFSETS_PARTITIONS)

    def is_compacted() -> bool:
        """Commits that go on are what makes the broker begin a new segment and clean the old one."""
        cluster.commit(group, topic, 290)
        return records_in(cluster, partition) < 20  # of 60 and more

    eventually(is_compacted, 50)

    with WarrenProcess(tmp_path, config(broker.bootstrap)) as late:  # it has only ever seen the compacted topic
        late.wait_until_ready()
        assert late.committed(group) == truth
        eventually_equal(lambda: cluster.committed(expires), {}, 120)
        for process in (warren, late):
            eventually(lambda: expires not in process.groups())  # noqa: B023  # called at once
