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

from tests.support.kafka import Cluster, unique
from tests.support.waiting import eventually
from tests.support.warren_process import WarrenProcess
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


@pytest.mark.timeout(60 + 60 * (KILLS + 2))
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
        assert '"msg": "restored"' in killed.log_path.read_text()
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


def newest_offset(warren: WarrenProcess, group: str) -> int | None:
    """What a group has committed last."""
    partitions = warren.get(f"/v3/kafka/test/consumer/{group}/lag")["status"]["partitions"]
    return partitions[0]["end"]["offset"] if partitions else None


def run_until(warren: WarrenProcess, group: str, offset: int) -> None:
    """Wait for a commit to be shown, then stop in order."""
    try:
        eventually(lambda: newest_offset(warren.wait_until_ready(), group) == offset)
    finally:
        warren.stop()


def test_an_offsets_topic_made_anew_while_nobody_looked_is_read_from_its_beginning(
    broker: Broker, tmp_path: Path
) -> None:
    """The new one has grown past what was read of the old one: positions alone would not tell."""
    cluster = Cluster(broker.bootstrap)
    topic, offsets_topic = cluster.make_topic(), cluster.make_topic(1, "offsets")
    cluster.write_commits(offsets_topic, "old", topic, range(5))
    run_until(WarrenProcess(tmp_path, broker.bootstrap, offsets_topic=offsets_topic), "old", 4)
    cluster.recreate_topic(offsets_topic)
    cluster.write_commits(offsets_topic, "first", topic, range(3))
    cluster.write_commits(offsets_topic, "later", topic, range(10))

    second = WarrenProcess(tmp_path, broker.bootstrap, offsets_topic=offsets_topic)
    try:
        eventually(lambda: newest_offset(second.wait_until_ready(), "first") == 2)
        assert newest_offset(second, "later") == 9
        assert newest_offset(second, "old") is None
        assert "was recreated, so all of it is read again" in second.log_path.read_text()
    finally:
        second.stop()


def test_records_that_are_gone_before_they_were_read_stop_nothing(broker: Broker, tmp_path: Path) -> None:
    cluster = Cluster(broker.bootstrap)
    topic, offsets_topic = cluster.make_topic(), cluster.make_topic(1, "offsets")
    cluster.write_commits(offsets_topic, "billing", topic, range(5))
    run_until(WarrenProcess(tmp_path, broker.bootstrap, offsets_topic=offsets_topic), "billing", 4)
    cluster.write_commits(offsets_topic, "billing", topic, range(5, 10))
    cluster.admin.delete_records([TopicPartition(offsets_topic, 0, 8)])[TopicPartition(offsets_topic, 0)].result(30)

    run_until(WarrenProcess(tmp_path, broker.bootstrap, offsets_topic=offsets_topic), "billing", 9)
