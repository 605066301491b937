"""The reaper forgets groups that the brokers no longer have, and nothing else."""

from __future__ import annotations

import pytest

from tests.support.scenario import commit_table, head_table
from warren.clusters import reaper
from warren.clusters.reaper import Reaper
from warren.clusters.state import ClusterState
from warren.config.load import parse
from warren.errors import SourceError
from warren.kafka.clients import ClientConfig
from warren.rules.rule import Settings
from warren.windows.store import Limits

CONFIG = parse(
    {"cluster": {"prod": {"servers": ["a:1"], "groups-reaper-refresh": 30}}, "consumer": {"prod": {"cluster": "prod"}}},
    "a test",
)


class Brokers:
    """What the brokers say about their groups, and how often they were asked."""

    def __init__(self) -> None:
        self.groups: set[str] | None = {"there"}
        self.asked = 0

    def __call__(self, client: ClientConfig) -> set[str]:
        self.asked += 1
        if self.groups is None:
            message = "listing groups failed: timed out."
            raise SourceError(message)
        return self.groups


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> Brokers:
    brokers = Brokers()
    monkeypatch.setattr(reaper, "groups_of", brokers)
    return brokers


@pytest.fixture
def state() -> ClusterState:
    state = ClusterState("prod", Limits(intervals=3), Settings(), {"prod": "__consumer_offsets"})
    state.apply_head_rows(head_table({"__consumer_offsets": [9], "orders": [100]}, 9_000), now_ms=9_000)
    table = commit_table(("there", "orders", 0, 10, 9_500), ("gone", "orders", 0, 10, 9_500))
    state.apply_commit_rows("prod", table, now_ms=10_000)
    return state


def looks(state: ClusterState, *at_s: int) -> None:
    clock = iter(at_s)
    reaper = Reaper({"prod": state}, lambda: CONFIG, lambda: next(clock) * 1000)
    for _ in at_s:
        reaper.look()


def test_a_group_that_the_brokers_do_not_have_is_forgotten(state: ClusterState, brokers: Brokers) -> None:
    assert state.groups() == ["burrow-prod", "gone", "there"]
    looks(state, 0, 30)

    assert state.groups() == ["burrow-prod", "there"]


def test_they_are_asked_as_often_as_the_configuration_says(state: ClusterState, brokers: Brokers) -> None:
    looks(state, 0, 29, 30, 59, 60, 61)

    assert brokers.asked == 2


def test_brokers_that_do_not_answer_take_no_group_away(state: ClusterState, brokers: Brokers) -> None:
    brokers.groups = None
    looks(state, 0, 30)

    assert "gone" in state.groups()
