"""Looking into logs: what is found is noted, and what may not be read is left alone."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from tests.support.scenario import commit_table, head_table
from warren.clusters.marks import Look
from warren.clusters.state import ClusterState
from warren.errors import SourceError
from warren.rules.conditions import ConditionName
from warren.rules.rule import Settings
from warren.windows.store import Limits

NOW_MS = 1_700_000_000_000
ENDS = {"__consumer_offsets": [2], "orders": [100], "secret": [100]}


class Logs:
    """Where the last records lie; a topic that is not here may not be read."""

    def __init__(self, **readable_ends: int | None) -> None:
        self.readable_ends = readable_ends
        self.asked: list[str] = []

    def readable_end(self, topic: str, partition: int, start: int, end: int) -> int | None:
        self.asked.append(topic)
        if topic not in self.readable_ends:
            message = f"looking into {topic} {partition} failed: not authorized"
            raise SourceError(message)
        return self.readable_ends[topic]

    def close(self) -> None:
        pass


@pytest.fixture
def state() -> ClusterState:
    """Two idle topics, each with a group that is one behind."""
    state = ClusterState("prod", Limits(), Settings(), {"c": "__consumer_offsets"})
    observe(state, NOW_MS)
    commits = (("g", "orders", 0, 99, NOW_MS), ("g", "secret", 0, 99, NOW_MS))
    state.apply_commit_rows("c", commit_table(*commits), now_ms=NOW_MS)
    observe(state, NOW_MS + 1000)
    return state


def observe(state: ClusterState, at_ms: int) -> None:
    table = head_table(ENDS, at_ms)
    ends = table["end"]
    table = table.set_column(table.schema.get_field_index("last_stable"), "last_stable", ends)
    state.apply_head_rows(table, now_ms=at_ms)


def looked(state: ClusterState, logs: Logs, rounds: int = 1) -> list[str]:
    """The topics of `g` whose lag is only marks, after so many rounds."""
    look = Look({"prod": state}, lambda cluster: {}, 10)
    look._readers = {"prod": ({}, logs)}
    for _ in range(rounds):
        look.look()
    verdict = state.judge("g", now_ms=NOW_MS + 2000)
    assert verdict is not None
    marks = ConditionName.ONLY_MARKS
    return [one.topic for one in verdict.partitions if marks in [found.name for found in one.conditions]]


def test_marks_are_noted_and_records_are_not_taken_for_marks(state: ClusterState) -> None:
    assert looked(state, Logs(orders=99, secret=100)) == ["orders"]


def test_what_may_not_be_read_hides_nothing_is_told_once_and_not_asked_again(state: ClusterState) -> None:
    logs = Logs(orders=99)
    with capture_logs() as lines:
        assert looked(state, logs, rounds=3) == ["orders"]

    assert [(line["topic"], line["log_level"]) for line in lines] == [("secret", "info")]
    assert sorted(logs.asked) == ["orders", "secret"]


def test_what_does_not_answer_in_time_is_not_asked_again_until_it_grows(state: ClusterState) -> None:
    logs = Logs(orders=None, secret=100)

    assert looked(state, logs, rounds=2) == []
    assert sorted(logs.asked) == ["orders", "secret"]
