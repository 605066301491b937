"""A broker goes away and takes the only copy of a partition with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from confluent_kafka.admin import NewTopic

from tests.support.kafka import Cluster, unique
from tests.support.scenario import commit_table
from tests.support.waiting import eventually_equal
from warren.clusters.state import ClusterState
from warren.embedded.broker import HOST, Broker
from warren.errors import SourceError
from warren.rules.rule import Settings
from warren.sources.observing import KafkaBrokers, Observer
from warren.windows.store import Limits

pytestmark = pytest.mark.long

START_MS = 1_700_000_000_000


class SecondBroker(Broker):
    """A broker that joins the cluster of another one."""

    def __init__(self, data_dir: Path, first: Broker) -> None:
        self._first = first
        super().__init__(data_dir, first.version)

    def _write_files(self, controller_port: int) -> None:
        settings = (self._first.data_dir / "server.properties").read_text().splitlines()
        voters = next(line.partition("=")[2] for line in settings if line.startswith("controller.quorum.voters="))
        self._overrides = {
            "process.roles": "broker",
            "node.id": "2",
            "listeners": f"PLAINTEXT://{HOST}:{self._port}",
            "controller.quorum.voters": voters,
        }
        super()._write_files(controller_port)

    def _cluster_id(self) -> str:
        known = (self._first.data_dir / "data" / "meta.properties").read_text().splitlines()
        return next(line.partition("=")[2] for line in known if line.startswith("cluster.id="))


@pytest.fixture
def brokers(tmp_path: Path) -> Iterator[tuple[Broker, SecondBroker]]:
    with Broker(tmp_path / "first") as first, SecondBroker(tmp_path / "second", first) as second:
        yield first, second


def test_a_partition_that_loses_its_leader_keeps_its_lag_and_says_so(brokers: tuple[Broker, SecondBroker]) -> None:
    first, second = brokers
    cluster, topic = Cluster(first.bootstrap), unique("lost")
    eventually_equal(lambda: len(cluster.admin.list_topics(timeout=5).brokers), 2)
    new = NewTopic(topic, 2, replica_assignment=[[1], [2]])
    cluster.admin.create_topics([new])[topic].result(30)
    eventually_equal(lambda: len(cluster.admin.list_topics(topic, timeout=5).topics[topic].partitions), 2)
    for partition in range(2):
        cluster.produce(topic, 10, partition)
    state = ClusterState("test", Limits(), Settings(), {"c": "__consumer_offsets"})
    observer = Observer(KafkaBrokers({"bootstrap.servers": first.bootstrap, "log_level": 0}), topic_refresh_s=3600)

    def told() -> list[tuple[int | None, int, list[str]]]:
        """End, lag and conditions of both partitions; nothing while the brokers are not of one mind."""
        try:
            observed = observer.observe()
        except SourceError:  # as in the pipeline the next one may do
            return []
        state.apply_head_rows(pa.Table.from_batches([observed]), now_ms=START_MS)
        verdict = state.judge("g", now_ms=START_MS)
        assert verdict is not None
        return [
            (one.end_offset, one.current_lag, [found.name for found in one.conditions]) for one in verdict.partitions
        ]

    state.apply_commit_rows(
        "c", commit_table(("g", topic, 0, 4, START_MS), ("g", topic, 1, 7, START_MS)), now_ms=START_MS
    )
    eventually_equal(told, [(10, 6, []), (10, 3, [])])

    second.stop()

    eventually_equal(told, [(10, 6, []), (10, 3, ["no_leader"])], 60)
    second.start()
    eventually_equal(told, [(10, 6, []), (10, 3, [])], 60)
