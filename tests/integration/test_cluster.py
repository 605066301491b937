"""The same program on a real Spark cluster: executors that have nothing of ours, and one that is lost under load."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import TopicPartition

from tests.support.history_files import committed_offsets
from tests.support.kafka import Cluster, unique
from tests.support.spark_cluster import SparkCluster
from tests.support.waiting import eventually, eventually_equal
from tests.support.warren import Warren, WarrenProcess, config, run_warren
from warren.embedded.broker import Broker

GROUPS, COMMITS, PARTITIONS = 20, 60, 4
EVERY_COMMIT = list(range(1, COMMITS + 1))

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

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


class Load:
    """Groups that commit every offset of a topic, and one that stops half-way."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.topic = cluster.make_topic(PARTITIONS)
        for partition in range(PARTITIONS):
            cluster.produce(self.topic, COMMITS, partition)
        self.groups = [unique(f"group{i}") for i in range(GROUPS)]
        self.stopped = unique("stopped")

    def commit_all(self) -> None:
        self._cluster.commit(self.stopped, self.topic, COMMITS // 2)
        consumers = [self._cluster.consumer(group) for group in self.groups]
        for offset in EVERY_COMMIT:
            for one in consumers:
                at = [TopicPartition(self.topic, partition, offset) for partition in range(PARTITIONS)]
                one.commit(offsets=at, asynchronous=False)
        for one in consumers:
            one.close()


class Story(NamedTuple):
    """What two Warrens have of the same load, one of which lost an executor in the middle of it."""

    load: Load
    lost_executors: int
    windows_on_cluster: dict[str, Any]
    windows_here: dict[str, Any]
    directory: Path
    """Of the one on the cluster, which has ended."""
    history: Path
    until: str
    master: str


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our packages, for executors that have none."""
    file = tmp_path_factory.mktemp("environment") / "warren-environment.tar.gz"
    assert run_warren("pack", str(file), cwd=file.parent).returncode == 0
    return file


@pytest.fixture(scope="module")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    cluster = SparkCluster(tmp_path_factory.mktemp("spark-cluster"))
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def story(
    broker: Broker, spark_cluster: SparkCluster, environment: Path, tmp_path_factory: pytest.TempPathFactory
) -> Story:
    here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there")
    more = ON_A_CLUSTER.format(master=spark_cluster.master, environment=environment)
    more += HISTORY.format(path=there / "history")
    with ExitStack() as running:
        text = config(broker.bootstrap, intervals=COMMITS, more=more)
        on_cluster = running.enter_context(WarrenProcess(there, text)).wait_until_ready()
        local = running.enter_context(WarrenProcess(here, config(broker.bootstrap, intervals=COMMITS)))
        local.wait_until_ready()
        load = Load(Cluster(broker.bootstrap))
        committing = threading.Thread(target=load.commit_all)
        committing.start()
        eventually(lambda: load.groups[-1] in on_cluster.groups())
        worker, executors = eventually(lambda: with_an_executor(spark_cluster))
        spark_cluster.kill_worker(worker)
        committing.join()
        eventually(lambda: windows(on_cluster, load) == windows(local, load), 120)
        eventually_equal(lambda: on_cluster.lag(load.stopped)["status"], "ERR")
        until = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
        eventually(lambda: (on_cluster.get("/api/v1/history")["last_written_at"] or "") > until)
        found = windows(on_cluster, load), windows(local, load)
    spark_cluster.start_worker(worker)
    eventually_equal(spark_cluster.alive_workers, 2)
    return Story(load, executors, *found, there, there / "history", f"{until}Z", spark_cluster.master)


def with_an_executor(cluster: SparkCluster) -> tuple[str, int] | None:
    """A worker on which there is an executor, and how many."""
    found = [(name, cluster.executors(name)) for name in cluster.workers]
    return next((one for one in found if one[1]), None)


def windows(warren: Warren, load: Load) -> dict[str, Any]:
    """The offsets in all windows of all groups."""
    return {group: warren.window(group) for group in load.groups}


def test_losing_an_executor_under_load_loses_and_doubles_no_commit_of_a_window(story: Story) -> None:
    expected = {(story.load.topic, partition): EVERY_COMMIT for partition in range(PARTITIONS)}

    assert story.lost_executors >= 1
    assert story.windows_here == story.windows_on_cluster == dict.fromkeys(story.load.groups, expected)


def test_the_history_holds_every_commit_once(story: Story) -> None:
    for group in story.load.groups:
        assert committed_offsets(story.history, group) == sorted(EVERY_COMMIT * PARTITIONS)


def test_a_replay_on_the_cluster_is_as_one_here(story: Story) -> None:
    on_cluster, here = (replay(story, master) for master in (story.master, "local[2]"))

    assert on_cluster == here
    assert (on_cluster["alerts"]["saved"], on_cluster["alerts"]["added"]) == (0, 0)
    assert on_cluster["alerts"]["kept"] >= 1


def replay(story: Story, master: str) -> dict[str, Any]:
    where = ("--config-dir", str(story.directory), "--from", "1h", "--to", story.until, "--master", master)
    done = run_warren("replay", *where, "--json", cwd=story.directory)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return {name: value for name, value in answer.items() if name not in ("from", "to")}
