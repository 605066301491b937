"""Groups of every kind on real brokers: what Warren says of them is what Kafka itself says."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import NewPartitions

from tests.support import dump
from tests.support.java_clients import GroupOracle, JavaMember, StreamsApp
from tests.support.kafka import OFFSETS_PARTITIONS, Cluster, unique, unique_beside
from tests.support.waiting import eventually, eventually_equal
from tests.support.warren import Warren
from warren.codec.keys import offsets_partition
from warren.embedded.broker import Broker

METADATA_BYTES = (0, 126, 127, 200, 4096)


class Kafka(NamedTuple):
    """A broker, who tells the truth about it, and Warren that watches it."""

    version: str
    cluster: Cluster
    oracle: GroupOracle
    warren: Warren

    def groups(self) -> dict[str, dict[str, Any]]:
        """All groups as Warren lists them."""
        listed = self.warren.get("/api/v1/clusters/test/groups?limit=10000")["groups"]
        return {one["group"]: one for one in listed if one["group"] != "burrow-test"}

    def group(self, name: str) -> dict[str, Any]:
        return self.warren.get(f"/api/v1/clusters/test/groups/{name}")

    def partition(self, name: str, topic: str, number: int = 0) -> dict[str, Any]:
        found = self.group(name).get("partitions", [])
        return next((one for one in found if (one["topic"], one["partition"]) == (topic, number)), {})

    def committed(self, name: str) -> dict[tuple[str, int], int]:
        return {
            (one["topic"], one["partition"]): one["committed_offset"]
            for one in self.group(name).get("partitions", [])
            if one["committed_offset"] is not None
        }

    def conditions(self, name: str, topic: str) -> list[str]:
        return [one["condition"] for one in self.partition(name, topic).get("conditions", [])]


VERSIONS = ["4.3.1", pytest.param("3.9.2", marks=pytest.mark.long)]
"""What 3.9.2 writes is in the quick suite as a dump, and its broker is one of those of `test_many_clusters`."""


@pytest.fixture(scope="module", params=VERSIONS)
def kafka(request: pytest.FixtureRequest) -> Kafka:
    version = str(request.param)
    suffix = "" if version == "4.3.1" else "_39"
    broker: Broker = request.getfixturevalue(f"broker{suffix}")
    warren: Warren = request.getfixturevalue(f"live{suffix}")
    return Kafka(version, Cluster(broker.bootstrap), request.getfixturevalue(f"oracle{suffix}"), warren)


# -- the truth -------------------------------------------------------------------------------------------------------


def told_by_kafka(group: dict[str, Any]) -> dict[str, Any]:
    """What Kafka's Admin client says of a group, in Warren's words."""
    kind = str(group["type"]).lower()
    if kind == "classic" and not group["protocol"]:
        kind = "simple"
    return {
        "type": kind,
        "state": group["state"],
        "members": sorted(
            (one["member_id"], one["client_id"], one["host"], one["instance_id"], _assigned(group, one))
            for one in group["members"]
        ),
        "offsets": sorted((one["topic"], one["partition"], one["offset"]) for one in group.get("offsets", [])),
    }


def _assigned(group: dict[str, Any], member: dict[str, Any]) -> list[tuple[str, int]]:
    if "active_tasks" not in member:
        return sorted((one["topic"], one["partition"]) for one in member["assignment"])
    topics = {one["subtopology"]: one["source_topics"] + one["repartition_source_topics"] for one in group["topology"]}
    return sorted(
        (topic, number)
        for task in member["active_tasks"]
        for topic in topics[task["subtopology"]]
        for number in task["partitions"]
    )


def told_by_warren(group: dict[str, Any]) -> dict[str, Any]:
    """The same from API v1."""
    return {
        "type": group["type"],
        "state": group["state"],
        "members": sorted(
            (
                one["member_id"],
                one["client_id"],
                one["host"],
                one["instance_id"],
                sorted((topic["topic"], number) for topic in one["assigned"] for number in topic["partitions"]),
            )
            for one in group["members"]
        ),
        "offsets": sorted(
            (one["topic"], one["partition"], one["committed_offset"])
            for one in group["partitions"]
            if one["committed_offset"] is not None
        ),
    }


# -- groups of every type --------------------------------------------------------------------------------------------


class Stage:
    """One group of each kind, all running at once, with names that tell what they are."""

    def __init__(self, kafka: Kafka, directory: Path) -> None:
        self.kafka = kafka
        self._running = ExitStack()
        self._directory = directory
        self.names: dict[str, str] = {}
        self.before_conversion: dict[str, dict[str, Any]] = {}
        """The first commit in the window of a group, from before its protocol changed."""
        self.after_conversion: dict[str, list[dict[str, Any]]] = {}
        """The window just afterwards."""

    def __enter__(self) -> Stage:
        self._simple_groups()
        self._groups_with_members("classic")
        self._groups_with_members("consumer")
        self._converted()
        self._transactions()
        self._deleted()
        if self.kafka.version == "4.3.1":
            self._streams()
            self._share()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def name(self, what: str) -> str:
        self.names[what] = unique(what)
        return self.names[what]

    def member(self, group: str, topic: str, protocol: str, client: str, **settings: object) -> ExitStack:
        """A member that runs until it is closed."""
        running = self._running.enter_context(ExitStack())
        if protocol == "consumer" and self.kafka.version != "4.3.1":
            where = self._directory, self.kafka.cluster.bootstrap, group, topic
            settings["group.protocol"] = protocol
            running.enter_context(JavaMember(*where, client=client, version=self.kafka.version, **settings))
        else:
            settings = {"auto.commit.interval.ms": 200, **settings, "client.id": client, "enable.auto.commit": True}
            member = self.kafka.cluster.running_member(group, topic, protocol=protocol, **settings)
            running.enter_context(closing(member))
        return running

    def wait_for(self, group: str, *partitions: int) -> None:
        """Wait until the members have so many partitions each."""

        def assigned() -> list[int]:
            return sorted(len(one["assignment"]) for one in self.kafka.oracle.group(group).get("members", []))

        eventually(lambda: assigned() == list(partitions), 60)

    def _simple_groups(self) -> None:
        cluster, topic = self.kafka.cluster, self.kafka.cluster.make_topic(2)
        for size in METADATA_BYTES:
            cluster.commit(self.name(f"metadata-{size}"), topic, size, metadata="m" * size)

    def _groups_with_members(self, protocol: str) -> None:
        cluster, topic = self.kafka.cluster, self.kafka.cluster.make_topic(3)
        cluster.produce(topic, 10)
        group = self.name(f"{protocol}-static")
        for one in ("first", "second"):
            self.member(group, topic, protocol, f"{group}-{one}", **{"group.instance.id": one})
        self.wait_for(group, 1, 2)
        group = self.name(f"{protocol}-empty")
        with self.member(group, topic, protocol, f"{group}-client"):
            self.wait_for(group, 3)
            eventually_equal(lambda: self.kafka.oracle.committed(group).get((topic, 0)), 10)

    def _converted(self) -> None:
        """A classic group becomes a consumer group when the first new member joins, and back when it leaves."""
        topic = self.kafka.cluster.make_topic(2)
        self.kafka.cluster.produce(topic, 5)
        for what in ("upgraded", "downgraded"):
            group = self.name(what)
            cooperative = {"partition.assignment.strategy": "cooperative-sticky"}
            self.member(group, topic, "classic", f"{group}-old", **cooperative)
            self.wait_for(group, 2)
            self.before_conversion[what] = eventually(lambda: self.window(group, topic))[0]  # noqa: B023  # called at once
            seldom = {"auto.commit.interval.ms": 60_000}  # more commits would push the first one out of the window
            new = self.member(group, topic, "consumer", f"{group}-new", **seldom)
            self.wait_for(group, 1, 1)
            if what == "downgraded":
                new.close()
                self.wait_for(group, 2)
            of_type = {"upgraded": "consumer", "downgraded": "classic"}[what]
            eventually_equal(lambda: self.kafka.group(group).get("type"), of_type)  # noqa: B023  # called at once
            self.after_conversion[what] = self.window(group, topic)

    def window(self, group: str, topic: str) -> list[dict[str, Any]]:
        """The commits to partition 0 that Warren keeps, oldest first."""
        path = f"/api/v1/clusters/test/groups/{group}/topics/{topic}/partitions/0"
        commits = self.kafka.warren.get(path).get("window", [])
        return [{name: one[name] for name in ("offset", "committed_at")} for one in commits]

    def _transactions(self) -> None:
        cluster, topic = self.kafka.cluster, self.kafka.cluster.make_topic()
        group = self.name("transactional")
        cluster.transactional_commit(group, topic, 1, end="commit")
        cluster.transactional_commit(group, topic, 2, end="abort")
        cluster.transactional_commit(self.name("aborted"), topic, 2, end="abort")

    def _deleted(self) -> None:
        cluster, kept, gone = self.kafka.cluster, self.kafka.cluster.make_topic(), self.kafka.cluster.make_topic()
        group = self.name("offset-deleted")
        for topic in (kept, gone):
            cluster.commit(group, topic, 5)
        self.kafka.oracle.delete_offsets(group, gone)
        group = self.name("topic-deleted")
        for topic in (kept, gone):
            cluster.commit(group, topic, 5)
        cluster.admin.delete_topics([gone])[gone].result(30)
        group = self.name("group-deleted")
        cluster.commit(group, kept, 5)
        cluster.delete_group(group)

    def _streams(self) -> None:
        cluster, group, topic = self.kafka.cluster, self.name("streams"), self.kafka.cluster.make_topic(2)
        cluster.produce(topic, 5)
        app = StreamsApp(self._directory, cluster.bootstrap, group, topic, cluster.make_topic())
        self._running.callback(cluster.delete_group, group)
        self._running.enter_context(app)

    def _share(self) -> None:
        cluster, group, topic = self.kafka.cluster, self.name("share"), self.kafka.cluster.make_topic(2)
        cluster.produce(topic, 5)
        self._running.callback(cluster.delete_group, group)
        member = self._running.enter_context(closing(cluster.share_member(group, topic)))
        eventually(lambda: member.poll(0.2))


@pytest.fixture(scope="module")
def stage(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """All of these groups, once Warren tells of each of them what Kafka does."""
    with Stage(kafka, tmp_path_factory.mktemp("stage")) as running:
        eventually_equal(lambda: differences(kafka, running.names), {}, 60)
        yield running


def differences(kafka: Kafka, names: Mapping[str, str]) -> dict[str, Any]:
    """Where Warren and Kafka's Admin client disagree about these groups."""
    found: dict[str, Any] = {}
    for what, name in names.items():
        truth = kafka.oracle.group(name)
        told = kafka.group(name)
        if "error" in told:
            if truth.get("offsets") or truth.get("members"):
                found[what] = told["error"]
        elif "type" not in truth or told_by_warren(told) != told_by_kafka(truth):
            found[what] = (told_by_warren(told), truth)
    return found


def test_every_group_is_told_as_kafka_tells_it(kafka: Kafka, stage: Stage) -> None:
    assert differences(kafka, stage.names) == {}
    types = {what: kafka.group(name).get("type") for what, name in stage.names.items()}
    expected = {"upgraded": "consumer", "downgraded": "classic", "metadata-0": "simple", "consumer-empty": "consumer"}
    assert {what: types[what] for what in expected} == expected
    assert types["group-deleted"] is None
    if "WARREN_TEST_DUMP" in os.environ:
        keep_records(kafka, stage)


def keep_records(kafka: Kafka, stage: Stage) -> None:
    """Keep the records of all groups with what they mean, for tests without a broker."""
    names = set(stage.names.values())
    groups = {name: told_by_kafka(group) for name in sorted(names) if "type" in (group := kafka.oracle.group(name))}
    groups = {name: one for name, one in groups.items() if one["offsets"] or one["members"] or one["type"] != "simple"}
    topics = {at[0] for one in groups.values() for at in one["offsets"]}
    topics |= {at[0] for one in groups.values() for member in one["members"] for at in member[4]}
    told = {topic: kafka.warren.get(f"/api/v1/clusters/test/topics/{topic}") for topic in sorted(topics)}
    known = {topic: {"topic_id": one["topic_id"], "partitions": len(one["partitions"])} for topic, one in told.items()}
    records = dump.read_records(kafka.cluster.bootstrap, {name.encode() for name in names})
    dump.save(kafka.version, dump.Dump(records, known, groups))


def test_the_members_of_a_group_own_its_partitions(kafka: Kafka, stage: Stage) -> None:
    for what in ("classic-static", "consumer-static", "upgraded", *(["streams"] if "streams" in stage.names else [])):
        group = kafka.group(stage.names[what])
        owned = {
            (topic["topic"], number): one["member_id"]
            for one in group["members"]
            for topic in one["assigned"]
            for number in topic["partitions"]
        }
        assert owned
        owners = {(one["topic"], one["partition"]): one["owner"] for one in group["partitions"] if one["owner"]}
        assert {at: one["member_id"] for at, one in owners.items()} == owned


def test_the_windows_of_a_group_outlive_its_conversion(stage: Stage) -> None:
    for what in ("upgraded", "downgraded"):
        assert stage.before_conversion[what]["offset"] == 5
        assert stage.after_conversion[what][0] == stage.before_conversion[what]


@pytest.mark.parametrize("kafka", VERSIONS[:1], indirect=True)  # before Kafka 4 there are no such groups
def test_a_share_group_has_no_lag_and_says_why(kafka: Kafka, stage: Stage) -> None:
    group = kafka.group(stage.names["share"])

    assert (group["type"], group["status"], group["total_lag"], group["member_count"]) == ("share", None, None, 1)
    assert "not available" in group["note"]
    assert group["share_topics"]
    listed = kafka.warren.get("/api/v1/clusters/test/groups?type=share")["groups"]
    assert [one["group"] for one in listed if one["group"] == stage.names["share"]]


# -- what happens to groups ------------------------------------------------------------------------------------------


def test_partitions_that_are_added_are_told(kafka: Kafka) -> None:
    group, topic = unique("grows"), kafka.cluster.make_topic(1)
    kafka.cluster.commit(group, topic, 1)
    eventually_equal(lambda: kafka.committed(group), {(topic, 0): 1})
    kafka.cluster.admin.create_partitions([NewPartitions(topic, 3)])[topic].result(30)

    eventually_equal(lambda: kafka.group(group)["partition_count"], 3)


def test_a_topic_that_is_made_anew_is_not_a_rewind(kafka: Kafka) -> None:
    group, topic = unique("anew"), kafka.cluster.make_topic(1)
    kafka.cluster.produce(topic, 100)
    for offset in (50, 60, 90):
        kafka.cluster.commit(group, topic, offset)
    eventually_equal(lambda: kafka.committed(group), {(topic, 0): 90})
    before = kafka.warren.get(f"/api/v1/clusters/test/topics/{topic}")["topic_id"]

    kafka.cluster.recreate_topic(topic)
    kafka.cluster.produce(topic, 5)
    kafka.cluster.commit(group, topic, 3)

    eventually_equal(lambda: kafka.committed(group), {(topic, 0): 3})
    eventually(lambda: kafka.warren.get(f"/api/v1/clusters/test/topics/{topic}")["topic_id"] not in (None, before))
    path = f"/api/v1/clusters/test/groups/{group}/topics/{topic}/partitions/0"
    eventually_equal(lambda: [one["offset"] for one in kafka.warren.get(path)["window"]], [3])
    assert kafka.partition(group, topic)["lag"] == 2
    assert kafka.partition(group, topic)["rule"] != "rewound"


def test_a_group_that_went_before_the_log_start_is_told_what_it_lost(kafka: Kafka) -> None:
    group, topic = unique("loses"), kafka.cluster.make_topic(1)
    kafka.cluster.produce(topic, 50)
    kafka.cluster.commit(group, topic, 10)
    kafka.cluster.admin.delete_records([TopicPartition(topic, 0, 40)])[TopicPartition(topic, 0, 40)].result(30)

    eventually_equal(lambda: kafka.conditions(group, topic), ["before_log_start"])
    assert kafka.partition(group, topic)["lost_records"] == 30


def test_a_commit_beyond_the_end_is_told(kafka: Kafka) -> None:
    group, topic = unique("beyond"), kafka.cluster.make_topic(1)
    kafka.cluster.produce(topic, 5)
    kafka.cluster.commit(group, topic, 500)

    eventually_equal(lambda: kafka.conditions(group, topic), ["beyond_end"])


# -- transactions ----------------------------------------------------------------------------------------------------


def in_transaction(kafka: Kafka, topic: str, records: int) -> Producer:
    """A producer with an open transaction that has written so many records."""
    settings = {"bootstrap.servers": kafka.cluster.bootstrap, "log_level": 0, "transactional.id": unique("writer")}
    producer = Producer({**settings, "transaction.timeout.ms": 600_000})
    producer.init_transactions(30)
    producer.begin_transaction()
    for number in range(records):
        producer.produce(topic, value=str(number), partition=0)
    assert producer.flush(30) == 0
    return producer


def test_an_open_transaction_on_a_topic_is_told_and_its_marks_are_not_records(kafka: Kafka) -> None:
    group, topic = unique("waits"), kafka.cluster.make_topic(1)
    kafka.cluster.produce(topic, 10)
    kafka.cluster.commit(group, topic, 10)
    producer = in_transaction(kafka, topic, 4)
    try:
        eventually_equal(lambda: kafka.conditions(group, topic), ["open_transaction"])
        told = kafka.partition(group, topic)
        assert (told["lag"], told["lag_stable"], told["last_stable_offset"]) == (4, 0, 10)
        rules = kafka.warren.get(f"/api/v1/clusters/test/groups?name={group}&rules=warren")["groups"]
        assert [(one["status"], one["cause"]["rule"]) for one in rules] == [("OK", "open_transaction")]
    finally:
        producer.commit_transaction(30)
    kafka.cluster.commit(group, topic, 14)

    eventually_equal(lambda: kafka.conditions(group, topic), ["only_marks"], 40)
    assert kafka.partition(group, topic)["lag"] == 1


def test_groups_behind_a_hanging_transaction_are_stale_until_it_ends(kafka: Kafka) -> None:
    held, topic = unique("held"), kafka.cluster.make_topic(1)
    other, free = (unique_beside(held, "beside", same=same) for same in (True, False))
    for group in (held, other, free):
        kafka.cluster.commit(group, topic, 1)
    eventually(lambda: all(kafka.committed(group) == {(topic, 0): 1} for group in (held, other, free)))
    settings = {"transaction.timeout.ms": 600_000}
    producer = kafka.cluster.transactional_commit(held, topic, 5, end="open", **settings)
    try:
        for group in (other, free):
            kafka.cluster.commit(group, topic, 2)
        eventually_equal(lambda: kafka.committed(free), {(topic, 0): 2})
        assert kafka.committed(held) == {(topic, 0): 1}, "nobody knows yet whether it will be committed"
        eventually(lambda: kafka.group(other)["stale_since"], 60)
        assert kafka.committed(other) == {(topic, 0): 1}
        assert "transaction" in kafka.group(other)["note"]
        assert kafka.group(free)["stale_since"] is None
        told = kafka.warren.get("/api/v1/clusters/test")["stale_partitions"]
        partition = offsets_partition(held, OFFSETS_PARTITIONS)
        assert [one["partition"] for one in told if "transaction" in one["reason"]] == [partition]
    finally:
        producer.abort_transaction(30)

    eventually_equal(lambda: kafka.committed(other), {(topic, 0): 2})
    eventually(lambda: kafka.group(other)["stale_since"] is None)
    assert kafka.committed(held) == {(topic, 0): 1}
