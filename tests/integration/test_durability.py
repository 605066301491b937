"""Kept over restarts: killed at any moment, Warren ends up with the windows and the history of one that never was."""

from __future__ import annotations

import random
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.support.history_files import committed_offsets
from tests.support.kafka import Cluster, unique
from tests.support.waiting import eventually, eventually_equal
from tests.support.warren import StartWarren, Warren, WarrenProcess, config
from warren.embedded.broker import Broker

KILLS, KILLS_LONG = 1, 20
COMMITS_A_ROUND = 10
"""No more than a window holds: of a backlog that is larger the history has only what windows have, too."""
HISTORY = """
[history]
path = "{path}"
flush-interval = 3
sample-interval = 1
"""

pytestmark = pytest.mark.timeout(120 * (KILLS_LONG + 2))  # the fixture starts a Warren for each kill, and two more


class Committer:
    """Groups that go on committing in the background."""

    def __init__(self, cluster: Cluster, topic: str, groups: list[str]) -> None:
        self._clients = [cluster.consumer(group) for group in groups]
        self._topic = topic
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.rounds = 0

    def __enter__(self) -> Committer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        for client in self._clients:
            client.close()

    def wait_for(self, rounds: int) -> None:
        """Wait until each group has committed so many times more."""
        wanted = self.rounds + rounds
        eventually(lambda: self.rounds >= wanted)

    def _run(self) -> None:
        while not self._stop.wait(0.05):
            for number, client in enumerate(self._clients):
                at = TopicPartition(self._topic, (self.rounds + number) % 4, self.rounds)
                client.commit(offsets=[at], asynchronous=False)
            self.rounds += 1


class Story(NamedTuple):
    """What was seen while one Warren was killed again and again beside one that was not."""

    statuses_before_spark: dict[str, int]
    """What the restarted one answered while Spark was not up yet, by path."""
    log: str
    windows_of_killed: dict[str, Any]
    windows_of_other: dict[str, Any]
    recorded: list[int]
    """The offsets of one group that the history of the killed one holds."""
    expected: list[int]
    """Those that the group has committed."""


def windows_of(warren: Warren, groups: list[str]) -> dict[str, Any]:
    """Offset and time of every commit in every window; when and with which lag it was seen is each Warren's own."""
    topics = {group: warren.get(f"/v3/kafka/test/consumer/{group}")["topics"] for group in groups}
    return {
        group: {
            topic: [
                [(entry["offset"], entry["timestamp"]) if entry else None for entry in partition["offsets"]]
                for partition in partitions
            ]
            for topic, partitions in of_group.items()
        }
        for group, of_group in topics.items()
    }


@pytest.fixture(scope="module")
def story(broker: Broker, start_warren: StartWarren, is_long: bool, tmp_path_factory: pytest.TempPathFactory) -> Story:
    directory = tmp_path_factory.mktemp("durability")
    cluster, moments = Cluster(broker.bootstrap), random.Random(7)
    topic, groups, counted = cluster.make_topic(4), [unique("durable") for _ in range(5)], unique("counted")
    history = HISTORY.format(path=directory / "parquet")

    def start_killed() -> WarrenProcess:
        text = config(broker.bootstrap, intervals=20, more=history)
        return running.enter_context(WarrenProcess(directory / "killed", text))

    expected: list[int] = []
    with ExitStack() as running:
        never = running.enter_context(start_warren(directory / "never", config(broker.bootstrap, intervals=20)))
        with Committer(cluster, topic, groups) as committer, closing(cluster.consumer(counted)) as consumer:
            for number in range(KILLS_LONG if is_long else KILLS):
                killed = start_killed().wait_until_ready()
                offsets = range(COMMITS_A_ROUND * number + 1, COMMITS_A_ROUND * (number + 1) + 1)
                commit_each(consumer, topic, offsets)
                expected += offsets
                eventually_equal(lambda: killed.committed(counted).get((topic, 0)), offsets[-1])  # noqa: B023  # at once
                committer.wait_for(moments.randrange(1, 20))
                killed.kill()
        killed = start_killed()
        statuses = answers_before_spark(killed, groups[0])
        killed.wait_until_ready()
        never.wait_until_ready()
        everybody = [*groups, counted]
        eventually(lambda: windows_of(killed, everybody) == windows_of(never, everybody))
        eventually_equal(lambda: committed_offsets(directory / "parquet", counted), expected)
        return Story(
            statuses,
            killed.log(),
            windows_of(killed, everybody),
            windows_of(never, everybody),
            committed_offsets(directory / "parquet", counted),
            expected,
        )


def commit_each(consumer: Consumer, topic: str, offsets: range) -> None:
    for offset in offsets:
        consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)


def answers_before_spark(warren: WarrenProcess, group: str) -> dict[str, int]:
    eventually_equal(lambda: warren.status("/burrow/admin"), 200)
    paths = (f"/v3/kafka/test/consumer/{group}/lag", "/burrow/admin/ready")
    found = {path: warren.status(path) for path in paths}
    assert "Spark is up" not in warren.log()
    return found


def test_killed_again_and_again_it_ends_up_with_the_windows_of_one_that_never_was(story: Story) -> None:
    assert story.windows_of_killed == story.windows_of_other
    assert all(story.windows_of_killed.values())
    assert '"msg": "restored"' in story.log


def test_after_a_restart_answers_are_there_before_spark_is(story: Story) -> None:
    assert sorted(story.statuses_before_spark.values()) == [200, 503]


def test_the_history_of_a_killed_warren_holds_every_commit_once(story: Story) -> None:
    assert story.recorded == story.expected


def test_an_offsets_topic_that_was_recreated_meanwhile_is_read_from_its_beginning(
    broker: Broker, start_warren: StartWarren, tmp_path: Path
) -> None:
    """The new one has grown past what was read of the old one: positions alone would not tell."""
    cluster = Cluster(broker.bootstrap)
    topic, offsets_topic = cluster.make_topic(), cluster.make_topic(1, "offsets")
    text = config(broker.bootstrap, offsets_topic=offsets_topic)
    cluster.write_commits(offsets_topic, "old", topic, range(5))
    with start_warren(tmp_path, text) as first:
        eventually_equal(lambda: first.committed("old"), {(topic, 0): 4})
    cluster.recreate_topic(offsets_topic)
    cluster.write_commits(offsets_topic, "first", topic, range(3))
    cluster.write_commits(offsets_topic, "later", topic, range(10))

    with start_warren(tmp_path, text) as second:
        eventually_equal(lambda: second.committed("first"), {(topic, 0): 2})
        assert second.committed("later") == {(topic, 0): 9}
        assert second.committed("old") == {}
        assert "was recreated, so all of it is read again" in second.log()


def test_records_that_are_gone_before_they_were_read_stop_nothing(
    broker: Broker, start_warren: StartWarren, tmp_path: Path
) -> None:
    cluster = Cluster(broker.bootstrap)
    topic, offsets_topic = cluster.make_topic(), cluster.make_topic(1, "offsets")
    text = config(broker.bootstrap, offsets_topic=offsets_topic)
    cluster.write_commits(offsets_topic, "billing", topic, range(5))
    with start_warren(tmp_path, text) as first:
        eventually_equal(lambda: first.committed("billing"), {(topic, 0): 4})
    cluster.write_commits(offsets_topic, "billing", topic, range(5, 10))
    cluster.admin.delete_records([TopicPartition(offsets_topic, 0, 8)])[TopicPartition(offsets_topic, 0)].result(30)

    with start_warren(tmp_path, text) as second:
        eventually_equal(lambda: second.committed("billing"), {(topic, 0): 9})
