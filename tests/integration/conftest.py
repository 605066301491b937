"""One Warren for the tests of programs that ask it: they only read, and all see the same groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.support.kafka import Cluster, unique
from tests.support.waiting import eventually
from tests.support.warren_process import WarrenProcess
from warren.embedded.broker import Broker


class Asked(NamedTuple):
    """A Warren that is asked, and what it watches."""

    warren: WarrenProcess
    topic: str
    """Of 20 and 10 records."""
    behind: str
    """A group without members that has read 5 and 10 of them."""
    level: str
    """A group with a member that has read all."""
    spaced: str
    """A group with a space in its name that has read 19 of partition 0."""
    console: str
    """A group as Kafka's console consumer makes them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that ask it come last: it starts once, and runs beside none of the others."""
    items.sort(key=lambda item: "asked" in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def asked(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    cluster = Cluster(broker.bootstrap)
    topic = cluster.make_topic(2, "orders")
    cluster.produce(topic, 20, 0)
    cluster.produce(topic, 10, 1)
    names = [unique(name) for name in ("behind", "level", "late night", "console-consumer")]
    warren = WarrenProcess(tmp_path_factory.mktemp("asked"), broker.bootstrap)
    member = cluster.member(names[1], topic)
    try:
        found = Asked(warren.wait_until_ready(), topic, *names)
        _commit(cluster, member, found)
        eventually(lambda: _is_settled(found))
        yield found
    finally:
        member.close()
        code, _ = warren.stop()
    assert code == 0, warren.log_path.read_text()


def _commit(cluster: Cluster, member: Consumer, asked: Asked) -> None:
    read_all = [TopicPartition(asked.topic, 0, 20), TopicPartition(asked.topic, 1, 10)]
    member.commit(offsets=read_all, asynchronous=False)
    for group, partition, offset in ((asked.behind, 0, 5), (asked.behind, 1, 10), (asked.spaced, 0, 19)):
        cluster.commit(group, asked.topic, offset, partition)
    cluster.commit(asked.console, asked.topic, 1)


def _is_settled(asked: Asked) -> bool:
    """Whether everything was read, and the partition that is behind is judged as it stays.

    In the second of its only commit it is stalled, in the next one stopped: both make the group ERR.
    """
    told = asked.warren.get("/v3/kafka/test/consumer")["consumers"]
    partitions = asked.warren.get(f"/v3/kafka/test/consumer/{asked.behind}/lag")["status"]["partitions"]
    is_stopped = "STOP" in {at["status"] for at in partitions if at["partition"] == 0}
    return is_stopped and {asked.behind, asked.level, asked.spaced, asked.console} <= set(told)


@pytest.fixture(autouse=True)
def no_warren_is_left_behind() -> Iterator[None]:
    """Those that a test has started itself end with it, also when it fails."""
    before = set(WarrenProcess.started)
    yield
    for process in WarrenProcess.started - before:
        with process:
            process.kill()
