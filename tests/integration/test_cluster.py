"""The same program on a real Spark cluster: executors that have nothing of ours, and one that is lost under load."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import TopicPartition

from tests.support.kafka import Cluster, unique
from tests.support.spark_cluster import SparkCluster
from tests.support.waiting import eventually
from tests.support.warren_process import CONFIG, WarrenProcess
from warren.embedded.broker import Broker

GROUPS, COMMITS, PARTITIONS = 20, 60, 4

pytestmark = pytest.mark.timeout(600)  # a cluster, and two Warrens, come up on whatever cores there are

ON_A_CLUSTER = """
[spark]
master = "{master}"
environment = "{environment}"
[spark.settings]
"spark.driver.host" = "127.0.0.1"
"spark.driver.bindAddress" = "127.0.0.1"
"spark.executor.memory" = "512m"
"spark.executor.cores" = "1"
"spark.cores.max" = "2"
"""

HISTORY = """
[history]
path = "{path}"
flush-interval = 5
"""


@pytest.fixture(scope="module")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    cluster = SparkCluster(tmp_path_factory.mktemp("spark-cluster"))
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("environment") / "warren-environment.tar.gz"
    assert run("pack", str(file), cwd=file.parent).returncode == 0
    return file


class Warrens(NamedTuple):
    """Two that watch the same brokers."""

    on_cluster: WarrenProcess
    local: WarrenProcess

    def stop(self) -> None:
        """End those that still run, in good order."""
        for one in self:
            if one.process.poll() is None:
                code, _ = one.stop()
                assert code == 0, one.log_path.read_text()


@pytest.fixture(scope="module")
def warrens(
    broker: Broker, spark_cluster: SparkCluster, environment: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Warrens]:
    """One on the cluster, with history, and one on this machine."""
    here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there")
    more = ON_A_CLUSTER.format(master=spark_cluster.master, environment=environment)
    more += HISTORY.format(path=there / "history")
    on_cluster = WarrenProcess(there, broker.bootstrap, more=more).wait_until_ready()
    local = WarrenProcess(here, broker.bootstrap).wait_until_ready()
    warrens = Warrens(on_cluster, local)
    yield warrens
    warrens.stop()


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warren.cli", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=170, cwd=cwd)


def told(warren: WarrenProcess, group: str) -> dict[str, Any]:
    """All windows of a group, without what depends on when it was asked."""
    windows = warren.get(f"/v3/kafka/test/consumer/{group}")["topics"]
    return {
        topic: [[(one["offset"], one["timestamp"]) for one in part["offsets"] if one] for part in partitions]
        for topic, partitions in windows.items()
    }


def test_losing_an_executor_under_load_loses_and_doubles_nothing(
    broker: Broker, spark_cluster: SparkCluster, warrens: Warrens
) -> None:
    on_cluster, local = warrens
    cluster = Cluster(broker.bootstrap)
    topic = cluster.make_topic(PARTITIONS)
    for partition in range(PARTITIONS):
        cluster.produce(topic, COMMITS, partition)
    groups = [unique(f"group{i}") for i in range(GROUPS)]
    assert spark_cluster.executors() >= 1

    def commit_all() -> None:
        consumers = [cluster.consumer(group) for group in groups]
        for offset in range(1, COMMITS + 1):
            for one in consumers:
                at = [TopicPartition(topic, partition, offset) for partition in range(PARTITIONS)]
                one.commit(offsets=at, asynchronous=False)
        for one in consumers:
            one.close()

    load = threading.Thread(target=commit_all)
    load.start()
    eventually(lambda: groups[-1] in on_cluster.get("/v3/kafka/test/consumer")["consumers"], 60)
    spark_cluster.kill_worker("worker0")
    load.join()

    eventually(lambda: [told(on_cluster, one) for one in groups] == [told(local, one) for one in groups], 120)
    for group in groups:
        for window in told(local, group)[topic]:
            assert [offset for offset, _ in window] == list(range(COMMITS - 9, COMMITS + 1))
    spark_cluster.start_worker("worker0")
    eventually(lambda: spark_cluster.alive_workers() == 2, 60)


def test_the_history_holds_every_commit_once_and_a_replay_on_the_cluster_is_as_one_here(
    spark_cluster: SparkCluster, warrens: Warrens
) -> None:
    on_cluster = warrens.on_cluster
    directory = on_cluster.log_path.parent
    done_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    eventually(lambda: (on_cluster.get("/api/v1/history")["last_written_at"] or "") > done_at, 60)
    warrens.stop()
    answers = [replay(directory, master, until=f"{done_at}Z") for master in (spark_cluster.master, "local[2]")]
    assert answers[0] == answers[1]
    assert answers[0]["alerts"] == {"saved": 0, "added": 0, "kept": answers[0]["alerts"]["kept"]}


def replay(directory: Path, master: str, until: str) -> dict[str, Any]:
    config = tomllib.loads((directory / "warren.toml").read_text())
    assert config["spark"]["master"].startswith("spark://")
    where = ("--config-dir", str(directory), "--from", "1h", "--to", until, "--master", master)
    done = run("replay", *where, "--json", cwd=directory)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return {name: value for name, value in answer.items() if name not in ("from", "to")}


def test_an_environment_that_is_not_there_is_told(tmp_path: Path) -> None:
    settings = ON_A_CLUSTER.format(master="spark://127.0.0.1:1", environment=tmp_path / "none.tar.gz")
    config = CONFIG.format(address="127.0.0.1:0", bootstrap="127.0.0.1:1", intervals=10, offsets_topic="o")
    (tmp_path / "warren.toml").write_text(config + settings)
    done = run("run", "--config-dir", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 1
    assert "warren pack" in done.stderr
