"""Catching up: what the backlog holds of groups that are long gone is never shown."""

from __future__ import annotations

from tests.support.scenario import commit_table, head_table
from warren.clusters.state import ClusterState
from warren.rules.rule import Settings
from warren.windows.store import Limits

DAY_MS = 86_400_000


def test_a_group_that_is_long_gone_is_not_there_when_the_backlog_is_read() -> None:
    state = ClusterState("prod", Limits(expire_group_ms=DAY_MS), Settings(), {"c": "__consumer_offsets"})
    state.apply_head_rows(head_table({"orders": [100]}, 1), now_ms=1)
    state.apply_commit_rows(
        "c", commit_table(("old", "orders", 0, 5, DAY_MS), ("new", "orders", 0, 5, 3 * DAY_MS)), now_ms=3 * DAY_MS
    )

    assert state.is_ready
    assert state.groups() == ["new"]
