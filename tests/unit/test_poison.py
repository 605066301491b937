"""Records that nobody should write, and some client will: they are counted, and take neither time nor memory."""

from __future__ import annotations

from tests.scenario import commit_table, head_table
from warren.rules.rule import Settings
from warren.state import BEYOND_TOPIC, ClusterState
from warren.windows.store import Limits

NOW_MS = 1_700_000_000_000


def state_with_orders() -> ClusterState:
    state = ClusterState("prod", Limits(intervals=3), Settings(), {"c": "__consumer_offsets"})
    state.apply_head_rows(head_table({"__consumer_offsets": [1], "orders": [100, 50]}, NOW_MS), now_ms=NOW_MS)
    return state


def test_a_commit_far_beyond_its_topic_is_counted_and_hides_nothing() -> None:
    state = state_with_orders()
    table = commit_table(("g", "orders", 99_999, 5, NOW_MS), ("g", "orders", 1, 7, NOW_MS))
    state.apply_commit_rows("c", table, now_ms=NOW_MS)

    verdict = state.judge("g", now_ms=NOW_MS)
    assert verdict is not None
    assert [one.entries[-1].offset for one in verdict.partitions if one.entries] == [7]
    assert state.skipped() == {BEYOND_TOPIC: 1}
