"""The test equipment itself: clients of every kind of group, and Kafka's own Admin client that tells what they did."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from confluent_kafka import KafkaException, ShareConsumer

from tests.support import java_clients
from tests.support.java_clients import GroupOracle, StreamsApp
from tests.support.kafka import Cluster, unique
from tests.support.processes import assert_gone
from tests.support.waiting import eventually, eventually_equal
from warren.embedded.broker import Broker
from warren.errors import SetupError
from warren.machine.java import Java

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


@pytest.fixture
def cluster(broker: Broker) -> Cluster:
    return Cluster(broker.bootstrap)


@pytest.fixture(params=["at_least_once", "exactly_once_v2"])
def application(
    request: pytest.FixtureRequest, broker: Broker, cluster: Cluster, tmp_path: Path
) -> Iterator[tuple[StreamsApp, str, str]]:
    """A running streams application that has read 10 records, its name and its source."""
    name, source = unique("app"), cluster.make_topic(partitions=2)
    for partition in range(2):
        cluster.produce(source, 5, partition)
    guarantee = {"processing.guarantee": request.param}
    with StreamsApp(tmp_path, broker.bootstrap, name, source, cluster.make_topic(), **guarantee) as app:
        yield app, name, source
    cluster.delete_group(name)  # librdkafka does not list streams groups: who compares with its list must not meet one


def test_a_streams_application_is_a_stable_streams_group_with_tasks_and_commits(
    application: tuple[StreamsApp, str, str], oracle: GroupOracle
) -> None:
    app, name, source = application
    repartition = f"{name}-by-value-repartition"
    eventually_equal(lambda: len(oracle.committed(name)), 4)
    committed = oracle.committed(name)
    assert (committed[source, 0], committed[source, 1]) == (5, 5)
    assert {topic for topic, _ in committed} == {source, repartition}

    group = oracle.group(name)
    assert (group["type"], group["state"]) == ("Streams", "Stable")
    [member] = group["members"]
    assert member["client_id"].startswith(f"{name}-client-")
    assert member["active_tasks"] == [
        {"subtopology": "0", "partitions": [0, 1]},
        {"subtopology": "1", "partitions": [0, 1]},
    ]
    assert group["topology"] == [
        {"subtopology": "0", "source_topics": [source], "repartition_source_topics": []},
        {"subtopology": "1", "source_topics": [], "repartition_source_topics": [repartition]},
    ]

    app.stop()
    assert (oracle.group(name)["state"], oracle.group(name)["members"]) == ("Empty", [])


def test_a_share_member_has_its_partitions_and_leaves_a_lag(cluster: Cluster, oracle: GroupOracle) -> None:
    group, topic = unique("share"), cluster.make_topic()
    cluster.produce(topic, 7)
    with closing(cluster.share_member(group, topic)) as member:
        eventually_equal(lambda: take(member), 7)
        found = oracle.group(group)
        assert (found["type"], found["state"]) == ("Share", "Stable")
        assert found["members"][0]["assignment"] == [{"topic": topic, "partition": 0}]
        cluster.produce(topic, 3)
        eventually_equal(lambda: oracle.group(group)["share_offsets"][0]["lag"], 3)
    cluster.delete_group(group)
    assert group not in oracle.groups()


def take(member: ShareConsumer) -> int:
    """Read a batch and tell Kafka that it is done."""
    count = len(member.poll(0.2))
    member.commit_sync(10)
    return count


def test_a_commit_in_a_transaction_counts_when_the_transaction_is_committed(
    cluster: Cluster, oracle: GroupOracle
) -> None:
    group, topic = unique("transactional"), cluster.make_topic()
    cluster.transactional_commit(group, topic, 1, end="commit")
    eventually_equal(lambda: oracle.committed(group), {(topic, 0): 1})
    cluster.transactional_commit(group, topic, 2, end="abort")
    producer = cluster.transactional_commit(group, topic, 3, end="open")
    try:
        assert oracle.committed(group) == {(topic, 0): 1}
    finally:
        producer.commit_transaction(30)
    eventually_equal(lambda: oracle.committed(group), {(topic, 0): 3})


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_member_is_told_with_its_client_and_partitions(protocol: str, cluster: Cluster, oracle: GroupOracle) -> None:
    group, topic = unique("member"), cluster.make_topic()
    with closing(cluster.member(group, topic, protocol=protocol, **{"group.instance.id": "first"})):
        eventually(lambda: oracle.group(group)["members"][0]["assignment"])
        found = oracle.group(group)
    assert (found["type"], found["state"]) == (protocol.title(), "Stable")
    [member] = found["members"]
    assert member.pop("member_id")
    assert member == {
        "client_id": f"{group}-client",
        "host": "/127.0.0.1",
        "instance_id": "first",
        "assignment": [{"topic": topic, "partition": 0}],
    }


def test_offsets_are_altered_and_deleted_one_by_one(cluster: Cluster, oracle: GroupOracle) -> None:
    group, topic = unique("a group, with ünusual name"), cluster.make_topic(partitions=2)
    cluster.commit(group, topic, 5)
    cluster.alter_offset(group, topic, 2)
    cluster.alter_offset(group, topic, 4, partition=1)
    assert oracle.committed(group) == {(topic, 0): 2, (topic, 1): 4}
    oracle.delete_offsets(group, topic)
    assert oracle.committed(group) == {(topic, 1): 4}
    cluster.delete_group(group)
    assert "no such group" in oracle.group(group)["error"]
    with pytest.raises(KafkaException, match="GROUP_ID_NOT_FOUND"):
        cluster.delete_group(group)
    with pytest.raises(AssertionError, match="GroupIdNotFoundException"):
        oracle.delete_offsets(group, topic)


def test_the_oracle_asks_an_older_kafka_too(broker_39: Broker, oracle_39: GroupOracle) -> None:
    cluster = Cluster(broker_39.bootstrap)
    group, topic = unique("old"), cluster.make_topic()
    with closing(cluster.member(group, topic)) as member:
        cluster.produce(topic, 3)
        eventually(lambda: member.poll(0.2))
        member.commit(asynchronous=False)
        found = oracle_39.groups()[group]
    assert (found["type"], found["state"], "error" in found) == ("Classic", "Stable", False)
    assert found["members"][0]["assignment"] == [{"topic": topic, "partition": 0}]
    assert oracle_39.committed(group) == {(topic, 0): 1}


def test_an_application_that_cannot_run_is_told_with_what_java_said(tmp_path: Path) -> None:
    settings = {"num.stream.threads": "many"}
    with (
        pytest.raises(AssertionError, match="Invalid value many for configuration num"),
        StreamsApp(tmp_path, "127.0.0.1:1", "app", "source", "sink", **settings),
    ):
        pass


def test_an_oracle_that_died_says_so(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="Invalid url in bootstrap"), GroupOracle(tmp_path, "no-address") as dead:
        dead.groups()


def test_a_java_without_a_compiler_is_refused_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java_clients, "find_java", lambda: Java(tmp_path / "java", tmp_path, "21.0.8"))
    with pytest.raises(SetupError, match=r"need a JDK, and Java 21\.0\.8 in .* has no compiler"):
        GroupOracle(tmp_path, "127.0.0.1:1")


def test_a_java_client_does_not_outlive_the_process_that_started_it(tmp_path: Path) -> None:
    code = f"""
import time
from pathlib import Path
from tests.support import java_clients
from tests.support.java_clients import GroupOracle
print(GroupOracle(Path({str(tmp_path)!r}), "127.0.0.1:1").process.pid, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        java = psutil.Process(int(owner.stdout.readline()))
        owner.send_signal(signal.SIGKILL)
    assert_gone([java], within_s=30)
