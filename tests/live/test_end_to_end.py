"""From a real broker's offsets topic, through Spark, to the HTTP answers."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import OffsetSpec

from tests.support.kafka import Cluster, unique
from tests.support.waiting import eventually
from tests.support.warren_process import WarrenProcess
from warren.embedded.broker import Broker


@pytest.fixture(scope="module")
def cluster(broker: Broker) -> Cluster:
    return Cluster(broker.bootstrap)


@pytest.fixture(scope="module")
def warren(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarrenProcess]:
    process = WarrenProcess(tmp_path_factory.mktemp("warren"), broker.bootstrap).wait_until_ready()
    yield process
    code, _ = process.stop()
    assert code == 0, process.log_path.read_text()


def partitions_of(warren: WarrenProcess, group: str) -> dict[tuple[str, int], dict[str, Any]]:
    status = warren.get(f"/v3/kafka/test/consumer/{group}/lag")["status"]
    return {(one["topic"], one["partition"]): one for one in status["partitions"]}


def committed(warren: WarrenProcess, group: str) -> dict[tuple[str, int], int]:
    return {at: one["end"]["offset"] for at, one in partitions_of(warren, group).items() if one["end"]}


def committed_by_admin(cluster: Cluster, group: str) -> dict[tuple[str, int], int]:
    answer = cluster.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(30)
    return {(one.topic, one.partition): one.offset for one in answer.topic_partitions if one.offset >= 0}


def ends_by_admin(cluster: Cluster, partitions: list[tuple[str, int]]) -> dict[tuple[str, int], int]:
    asked = {TopicPartition(topic, number): OffsetSpec.latest() for topic, number in partitions}
    answers = cluster.admin.list_offsets(asked, request_timeout=30)
    return {(at.topic, at.partition): future.result(30).offset for at, future in answers.items()}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_every_offset_and_lag_is_what_kafkas_own_tools_say(
    cluster: Cluster, warren: WarrenProcess, protocol: str
) -> None:
    group, topics = unique(protocol), [cluster.make_topic(3), cluster.make_topic(2)]
    for topic in topics:
        for partition in range(2):
            cluster.produce(topic, 20 + partition, partition)
    member = cluster.member(group, *topics, protocol=protocol)
    offsets = [TopicPartition(topic, p, 3 + 2 * p + 5 * i) for i, topic in enumerate(topics) for p in range(2)]
    for at in offsets:
        member.commit(offsets=[at], asynchronous=False)

    truth = committed_by_admin(cluster, group)
    assert len(truth) == 4
    eventually(lambda: committed(warren, group) == truth)
    cluster.produce(topics[0], 7, 0)
    ends = ends_by_admin(cluster, [(topic, p) for i, topic in enumerate(topics) for p in range(3 - i)])
    lags = {at: ends[at] - offset for at, offset in truth.items()}
    eventually(
        lambda: {at: one["current_lag"] for at, one in partitions_of(warren, group).items() if one["end"]} == lags
    )
    for topic in topics:
        told = warren.get(f"/v3/kafka/test/topic/{topic}")["offsets"]
        assert told == [end for (name, _), end in sorted(ends.items()) if name == topic]
    status = warren.get(f"/v3/kafka/test/consumer/{group}/lag")["status"]
    assert status["totallag"] == sum(lags.values())
    assert status["maxlag"]["current_lag"] == max(lags.values())
    member.close()


def test_no_group_of_the_broker_is_missing_or_different(cluster: Cluster, warren: WarrenProcess) -> None:
    topic = cluster.make_topic(4)
    groups = [unique("simple") for _ in range(5)]
    for number, group in enumerate(groups):
        cluster.commit(group, topic, 10 * number, partition=number % 4)

    def matches() -> bool:
        listed = {one.group_id for one in cluster.admin.list_consumer_groups().result(30).valid}
        truth = {group: committed_by_admin(cluster, group) for group in listed}
        truth = {group: offsets for group, offsets in truth.items() if offsets}
        told = [name for name in warren.get("/v3/kafka/test/consumer")["consumers"] if name != "burrow-test"]
        return set(groups) <= set(told) and {group: committed(warren, group) for group in told} == truth

    eventually(matches, 30)


def test_the_members_of_a_classic_group_own_their_partitions(cluster: Cluster, warren: WarrenProcess) -> None:
    group, topic = unique("owned"), cluster.make_topic(2)
    member = cluster.member(group, topic)
    member.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    eventually(lambda: {one["client_id"] for one in partitions_of(warren, group).values()} == {f"{group}-client"})
    assert {one["owner"] for one in partitions_of(warren, group).values()} == {"/127.0.0.1"}

    member.close()

    eventually(lambda: {one["owner"] for one in partitions_of(warren, group).values()} == {""})


def test_what_is_deleted_in_kafka_is_gone(cluster: Cluster, warren: WarrenProcess) -> None:
    kept, gone = cluster.make_topic(1), cluster.make_topic(1)
    group, doomed = unique("keeps"), unique("doomed")
    for topic in (kept, gone):
        cluster.commit(group, topic, 1)
    cluster.commit(doomed, kept, 1)
    eventually(lambda: set(committed(warren, group)) == {(kept, 0), (gone, 0)} and committed(warren, doomed))

    cluster.admin.delete_topics([gone])[gone].result(30)
    cluster.admin.delete_consumer_groups([doomed])[doomed].result(30)

    eventually(lambda: set(committed(warren, group)) == {(kept, 0)})
    eventually(lambda: doomed not in warren.get("/v3/kafka/test/consumer")["consumers"])
    eventually(lambda: gone not in warren.get("/v3/kafka/test/topic")["topics"])  # seen by another query


def test_partitions_that_are_added_are_followed(cluster: Cluster, warren: WarrenProcess) -> None:
    from confluent_kafka.admin import NewPartitions

    group, topic = unique("grows"), cluster.make_topic(1)
    cluster.commit(group, topic, 1)
    eventually(lambda: committed(warren, group) == {(topic, 0): 1})
    cluster.admin.create_partitions([NewPartitions(topic, 3)])[topic].result(30)
    cluster.commit(group, topic, 5, partition=2)

    eventually(lambda: committed(warren, group) == {(topic, 0): 1, (topic, 2): 5})
    assert len(partitions_of(warren, group)) == 3


def test_a_commit_is_visible_within_two_seconds(cluster: Cluster, warren: WarrenProcess) -> None:
    group, topic = unique("quick"), cluster.make_topic(1)
    cluster.commit(group, topic, 1)
    eventually(lambda: committed(warren, group) == {(topic, 0): 1})
    cluster.commit(group, topic, 2)

    eventually(lambda: committed(warren, group) == {(topic, 0): 2}, 2)


def test_warren_tells_how_far_it_is_itself(warren: WarrenProcess) -> None:
    def total_lag() -> int:
        return int(warren.get("/v3/kafka/test/consumer/burrow-test/lag")["status"]["totallag"])

    eventually(lambda: total_lag() == 0)


def test_a_deleted_group_is_forgotten_until_it_commits_again(cluster: Cluster, warren: WarrenProcess) -> None:
    group, topic = unique("forgotten"), cluster.make_topic(1)
    cluster.commit(group, topic, 1)
    eventually(lambda: committed(warren, group))

    warren.get(f"/v3/kafka/test/consumer/{group}", method="DELETE")
    assert warren.status(f"/v3/kafka/test/consumer/{group}/lag") == 404
    cluster.commit(group, topic, 2)

    eventually(lambda: committed(warren, group) == {(topic, 0): 2})


def test_commits_of_kafka_3_9_are_read(broker_39: Broker, tmp_path: Path) -> None:
    cluster = Cluster(broker_39.bootstrap)
    group, topic = unique("old"), cluster.make_topic(2)
    cluster.produce(topic, 9, 1)
    cluster.commit(group, topic, 4, partition=1)
    warren = WarrenProcess(tmp_path, broker_39.bootstrap).wait_until_ready()
    try:
        eventually(lambda: committed(warren, group) == {(topic, 1): 4})
        assert partitions_of(warren, group)[topic, 1]["current_lag"] == 5
    finally:
        code, _ = warren.stop()
    assert code == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_everything_within_five_seconds(broker: Broker, tmp_path: Path, number: int) -> None:
    warren = WarrenProcess(tmp_path, broker.bootstrap).wait_until_ready()
    children = psutil.Process(warren.process.pid).children(recursive=True)
    code, seconds = warren.stop(number)

    assert code == 0, warren.log_path.read_text()
    assert seconds < 5
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []


def test_killed_warren_leaves_no_process_behind(broker: Broker, tmp_path: Path) -> None:
    warren = WarrenProcess(tmp_path, broker.bootstrap).wait_until_ready()
    children = psutil.Process(warren.process.pid).children(recursive=True)
    warren.stop(signal.SIGKILL)

    _, alive = psutil.wait_procs(children, timeout=15)
    assert alive == []


def run_cli(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warren.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=cwd)


def test_a_wrong_configuration_is_one_message_and_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "warren.toml").write_text("[storage.x]\nintervals = 0\n")
    done = run_cli("run", "--config-dir", str(tmp_path), cwd=tmp_path)

    assert done.returncode == 1
    assert done.stderr == (
        f"Reading configuration from {tmp_path}\n"
        "warren: One thing is to be corrected in the configuration:\n"
        "  warren.toml:2: storage.x.intervals: must be at least 1\n"
    )


def test_an_address_in_use_is_one_sentence_and_exit_code_1(warren: WarrenProcess, tmp_path: Path) -> None:
    (tmp_path / "warren.toml").write_text(f'[httpserver.x]\naddress = "{warren.address}"\n')
    done = run_cli("run", "--config-dir", str(tmp_path), cwd=tmp_path)

    assert done.returncode == 1
    assert done.stderr == (
        f"Reading configuration from {tmp_path}\n"
        f"warren: The address {warren.address} is in use. Stop what uses it, or choose another one.\n"
    )


def test_the_version_is_told() -> None:
    from warren import __version__

    assert run_cli("--version").stdout == f"warren {__version__}\n"
