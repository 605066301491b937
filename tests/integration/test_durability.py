"""Kept over restarts: killed at any moment, Warren ends up with the windows of one that was never killed."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.kafka import Cluster, eventually, unique
from tests.warren_process import WarrenProcess
from warren.embedded.broker import Broker

KILLS = int(os.environ.get("WARREN_TEST_KILLS", "3"))
"""`make chaos` kills more often."""


class Committer:
    """Groups that go on committing in the background."""

    def __init__(self, cluster: Cluster, topic: str, groups: list[str]) -> None:
        self._clients = [
            Consumer(
                {"bootstrap.servers": cluster.bootstrap, "group.id": group, "enable.auto.commit": False, "log_level": 0}
            )
            for group in groups
        ]
        self._topic = topic
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Committer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        for client in self._clients:
            client.close()

    def _run(self) -> None:
        for offset in range(1_000_000):
            for number, client in enumerate(self._clients):
                at = TopicPartition(self._topic, (offset + number) % 4, offset)
                client.commit(offsets=[at], asynchronous=False)
            if self._stop.wait(0.05):
                return


def windows_of(warren: WarrenProcess, groups: list[str]) -> dict[str, Any]:
    """Offset and time of every commit in every window; when and with which lag it was seen is each Warren's own."""
    return {
        group: [
            [(entry["offset"], entry["timestamp"]) if entry else None for entry in partition["offsets"]]
            for partition in warren.get(f"/v3/kafka/test/consumer/{group}")["topics"][topic]
        ]
        for group in groups
        for topic in warren.get(f"/v3/kafka/test/consumer/{group}")["topics"]
    }


@pytest.mark.timeout(60 + 40 * (KILLS + 2))
def test_killed_again_and_again_it_ends_up_like_one_that_never_was(broker: Broker, tmp_path: Path) -> None:
    cluster = Cluster(broker.bootstrap)
    topic, groups = cluster.make_topic(4), [unique("durable") for _ in range(5)]
    (tmp_path / "never").mkdir()
    (tmp_path / "killed").mkdir()
    never = WarrenProcess(tmp_path / "never", broker.bootstrap, intervals=20)
    moments = random.Random(7)
    with Committer(cluster, topic, groups):
        for _ in range(KILLS):
            killed = WarrenProcess(tmp_path / "killed", broker.bootstrap, intervals=20).wait_until_ready()
            time.sleep(moments.uniform(0.2, 3.0))
            killed.stop(signal.SIGKILL)
    killed = WarrenProcess(tmp_path / "killed", broker.bootstrap, intervals=20).wait_until_ready()
    never.wait_until_ready()
    try:
        eventually(lambda: windows_of(killed, groups) == windows_of(never, groups))
        assert '"event": "restored"' in killed.log_path.read_text()
    finally:
        never.stop()
        killed.stop()


def test_after_a_restart_answers_are_there_before_spark_is(broker: Broker, tmp_path: Path) -> None:
    cluster = Cluster(broker.bootstrap)
    topic, group = cluster.make_topic(1), unique("restored")
    cluster.commit(group, topic, 5)
    first = WarrenProcess(tmp_path, broker.bootstrap).wait_until_ready()
    eventually(lambda: first.status(f"/v3/kafka/test/consumer/{group}/lag") == 200)
    assert first.stop()[0] == 0

    second = WarrenProcess(tmp_path, broker.bootstrap)
    try:
        eventually(lambda: second.status("/burrow/admin") == 200)
        assert second.status(f"/v3/kafka/test/consumer/{group}/lag") == 200
        assert second.status("/burrow/admin/ready") == 503
        assert "Spark is up" not in second.log_path.read_text()
        second.wait_until_ready()
    finally:
        second.stop()
