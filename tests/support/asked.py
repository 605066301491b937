"""Groups of a live Warren for programs that read from it: telegraf, Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from confluent_kafka import TopicPartition

from tests.support.kafka import Cluster, unique
from tests.support.waiting import eventually
from tests.support.warren import Warren


class Asked(NamedTuple):
    """A Warren, and groups that it watches."""

    warren: Warren
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


@contextmanager
def ask_for(warren: Warren, cluster: Cluster) -> Iterator[Asked]:
    """Make the groups, and wait until Warren judges them as they stay."""
    topic = cluster.make_topic(2, "orders")
    cluster.produce(topic, 20, 0)
    cluster.produce(topic, 10, 1)
    asked = Asked(warren, topic, *(unique(name) for name in ("behind", "level", "late night", "console-consumer")))
    with closing(cluster.member(asked.level, topic)) as member:
        read_all = [TopicPartition(topic, 0, 20), TopicPartition(topic, 1, 10)]
        member.commit(offsets=read_all, asynchronous=False)
        for group, partition, offset in (
            (asked.behind, 0, 4),
            (asked.behind, 0, 5),
            (asked.behind, 1, 10),
            (asked.spaced, 0, 19),
        ):
            cluster.commit(group, topic, offset, partition)
        cluster.commit(asked.console, topic, 1)
        eventually(lambda: _is_settled(asked))
        yield asked


def _is_settled(asked: Asked) -> bool:
    """A partition with lag is STOP once it was silent for twice as long as its two commits are apart."""
    listed = asked.warren.get("/v3/kafka/test/consumer")["consumers"]
    if not {asked.behind, asked.level, asked.spaced, asked.console} <= set(listed):
        return False
    partitions = asked.warren.get(f"/v3/kafka/test/consumer/{asked.behind}/lag")["status"]["partitions"]
    return "STOP" in {one["status"] for one in partitions if one["partition"] == 0}
