"""From a real broker's offsets topic, through Spark, to the HTTP answers."""

from __future__ import annotations

import re
from contextlib import closing

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import NewPartitions

from tests.support.kafka import OFFSETS_PARTITIONS, Cluster, unique
from tests.support.waiting import eventually, eventually_equal
from tests.support.warren import Warren
from warren.codec.keys import offsets_partition
from warren.embedded.broker import Broker

OFFSETS = "__consumer_offsets"
PROMPT_BATCHES = 3
"""A commit is in the batch that is being read, in the next one, or, when that was planned already, in the one after."""


@pytest.fixture(scope="module")
def cluster(broker: Broker) -> Cluster:
    return Cluster(broker.bootstrap)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_every_offset_and_lag_is_what_kafkas_own_tools_say(cluster: Cluster, live: Warren, protocol: str) -> None:
    group, topics = unique(protocol), [cluster.make_topic(3), cluster.make_topic(2)]
    for topic in topics:
        for partition in range(2):
            cluster.produce(topic, 20 + partition, partition)
    with closing(cluster.member(group, *topics, protocol=protocol)) as member:
        for i, topic in enumerate(topics):
            for partition in range(2):
                at = TopicPartition(topic, partition, 3 + 2 * partition + 5 * i)
                member.commit(offsets=[at], asynchronous=False)
        truth = cluster.committed(group)
        assert len(truth) == 4
        eventually_equal(lambda: live.committed(group), truth)
        cluster.produce(topics[0], 7, 0)
        ends = cluster.ends(*((topic, p) for i, topic in enumerate(topics) for p in range(3 - i)))
        lags = {at: ends[at] - offset for at, offset in truth.items()}
        eventually_equal(
            lambda: {at: one["current_lag"] for at, one in live.partitions(group).items() if one["end"]}, lags
        )
        for topic in topics:
            told = live.get(f"/v3/kafka/test/topic/{topic}")["offsets"]
            assert told == [end for (name, _), end in sorted(ends.items()) if name == topic]
        status = live.lag(group)
        assert status["totallag"] == sum(lags.values())
        assert status["maxlag"]["current_lag"] == max(lags.values())


def test_no_group_of_the_broker_is_missing_or_different(cluster: Cluster, live: Warren) -> None:
    topic = cluster.make_topic(4)
    groups = [unique("simple") for _ in range(5)]
    for number, group in enumerate(groups):
        cluster.commit(group, topic, 10 * number, partition=number % 4)

    def differences() -> dict[str, object]:
        """What Warren and Kafka say of each group of which they do not say the same."""
        listed = {one.group_id for one in cluster.admin.list_consumer_groups().result(30).valid}
        truth = {group: offsets for group in listed if (offsets := cluster.committed(group))}
        told = {group: live.committed(group) for group in live.groups() if group != "burrow-test"}
        assert set(groups) <= truth.keys()
        return {
            group: (told.get(group), truth.get(group))
            for group in truth.keys() | told.keys()
            if told.get(group) != truth.get(group)
        }

    eventually_equal(differences, {}, 30)


def test_the_members_of_a_classic_group_own_their_partitions(cluster: Cluster, live: Warren) -> None:
    group, topic = unique("owned"), cluster.make_topic(2)
    with closing(cluster.member(group, topic)) as member:
        member.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
        eventually_equal(lambda: {one["client_id"] for one in live.partitions(group).values()}, {f"{group}-client"})
        assert {one["owner"] for one in live.partitions(group).values()} == {"/127.0.0.1"}

    eventually_equal(lambda: {one["owner"] for one in live.partitions(group).values()}, {""})


def test_what_is_deleted_in_kafka_is_gone(cluster: Cluster, live: Warren) -> None:
    kept, gone = cluster.make_topic(1), cluster.make_topic(1)
    group, doomed = unique("keeps"), unique("doomed")
    for topic in (kept, gone):
        cluster.commit(group, topic, 1)
    cluster.commit(doomed, kept, 1)
    eventually_equal(lambda: live.committed(group), {(kept, 0): 1, (gone, 0): 1})
    eventually_equal(lambda: live.committed(doomed), {(kept, 0): 1})

    cluster.admin.delete_topics([gone])[gone].result(30)
    cluster.admin.delete_consumer_groups([doomed])[doomed].result(30)

    eventually_equal(lambda: live.committed(group), {(kept, 0): 1})
    eventually(lambda: doomed not in live.groups())
    eventually(lambda: gone not in live.get("/v3/kafka/test/topic")["topics"])  # seen by another query


def test_partitions_that_are_added_are_followed(cluster: Cluster, live: Warren) -> None:
    group, topic = unique("grows"), cluster.make_topic(1)
    cluster.commit(group, topic, 1)
    eventually_equal(lambda: live.committed(group), {(topic, 0): 1})
    cluster.admin.create_partitions([NewPartitions(topic, 3)])[topic].result(30)
    cluster.commit(group, topic, 5, partition=2)

    eventually_equal(lambda: live.committed(group), {(topic, 0): 1, (topic, 2): 5})
    eventually_equal(lambda: len(live.partitions(group)), 3)


def test_a_commit_is_visible_with_one_of_the_next_batches(cluster: Cluster, live: Warren) -> None:
    group, topic = unique("quick"), cluster.make_topic(1)
    cluster.commit(group, topic, 1)
    eventually_equal(lambda: live.committed(group), {(topic, 0): 1})
    before = batches(live)
    cluster.commit(group, topic, 2)
    eventually_equal(lambda: live.committed(group), {(topic, 0): 2})

    assert batches(live) - before <= PROMPT_BATCHES


def batches(warren: Warren) -> int:
    """How many batches of commits Warren has read."""
    found = re.search(
        r'^warren_batches_total\{.*consumer="test".*\} ([\d.e+]+)$', warren.read("/metrics").decode(), re.M
    )
    assert found is not None
    return int(float(found[1]))


def test_warren_tells_how_far_it_has_read_the_offsets_topic(cluster: Cluster, live: Warren) -> None:
    group, topic = unique("read"), cluster.make_topic(1)
    at = (OFFSETS, offsets_partition(group, OFFSETS_PARTITIONS))
    before = cluster.ends(at)[at]
    cluster.commit(group, topic, 1)
    end = cluster.ends(at)[at]

    assert end > before
    eventually_equal(lambda: live.committed("burrow-test").get(at), end)
    eventually_equal(lambda: live.partitions("burrow-test")[at]["current_lag"], 0)


def test_a_deleted_group_is_forgotten_until_it_commits_again(cluster: Cluster, live: Warren) -> None:
    group, topic = unique("forgotten"), cluster.make_topic(1)
    cluster.commit(group, topic, 1)
    eventually_equal(lambda: live.committed(group), {(topic, 0): 1})

    live.get(f"/v3/kafka/test/consumer/{group}", method="DELETE")
    assert live.status(f"/v3/kafka/test/consumer/{group}/lag") == 404
    cluster.commit(group, topic, 2)

    eventually_equal(lambda: live.committed(group), {(topic, 0): 2})
