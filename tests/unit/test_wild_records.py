"""Records that nobody should write, and some client will: they are counted, and take neither time nor memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from tests.support.scenario import classic_group, commit_table, head_table
from warren.clusters.ledger import BEYOND_TOPIC
from warren.clusters.state import ClusterState
from warren.codec.commits import OffsetCommit, encode_offset_commit
from warren.codec.keys import GroupRecordType, encode_offset_key
from warren.groups import views
from warren.groups.views import KEPT_BYTES
from warren.rules.listing import Selection, SortKey
from warren.rules.rule import Settings
from warren.sources.folding import BatchProgress, Folder, FoldSettings
from warren.sources.reading import Records
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


def commit(state: ClusterState, order: int, offset: int, timestamp_ms: int) -> None:
    """One commit, on the way that it takes through Warren."""
    value = encode_offset_commit(OffsetCommit(offset, -1, "", timestamp_ms, -1, None), 4)
    folder = Folder(FoldSettings(3, 0))
    folder.add(Records(np.array([0]), np.array([order]), [encode_offset_key("g", "orders", 0)], [value]))
    table = pa.Table.from_batches(folder.rows(BatchProgress({0: order + 1}, {})))
    state.apply_commit_rows("c", table, now_ms=NOW_MS + order)


@pytest.mark.parametrize("timestamp_ms", [-(2**63), -1, 0, 2**63 - 1])
def test_commits_at_a_time_that_cannot_be_stop_nothing(timestamp_ms: int) -> None:
    """The clock of the brokers is learnt from them; a difference that does not fit into an int64 was an error."""
    state = state_with_orders()
    for order in range(10):
        commit(state, order, 7, timestamp_ms)

    verdict = state.judge("g", now_ms=NOW_MS, rule_set="warren")
    assert verdict is not None
    assert verdict.partitions[0].entries[-1].offset == 7


@pytest.mark.parametrize("rule_set", ["burrow", "warren"])
@pytest.mark.parametrize("offsets", [(2**63 - 1,), (0, 2**63 - 1, 0), (2**63 - 1, 0, 2**63 - 1), (2**62, 2**63 - 1)])
def test_offsets_of_any_size_are_judged(offsets: tuple[int, ...], rule_set: str) -> None:
    state = state_with_orders()
    for order, offset in enumerate(offsets):
        commit(state, order, offset, NOW_MS + 1000 * order)

    verdict = state.judge("g", now_ms=NOW_MS + 60_000, rule_set=rule_set)
    assert verdict is not None
    speed = verdict.partitions[0].insight.consumed_per_s
    assert speed is None or speed >= 0
    assert verdict.total_lag == max(100 - offsets[-1], 0)


def test_one_long_name_does_not_make_all_of_a_list_as_long() -> None:
    state = state_with_orders()
    names = [f"g-{number}" for number in range(300)] + ["x" * 30_000]
    state.apply_commit_rows("c", commit_table(*((name, "orders", 0, 5, NOW_MS) for name in names)), now_ms=NOW_MS)
    tracemalloc.start()
    page = state.list_groups(Selection(sort=SortKey.NAME), now_ms=NOW_MS)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert page.groups[0].group == "burrow-c"
    assert peak_bytes < 10_000_000


def test_long_values_are_not_kept_decoded() -> None:
    """Tens of thousands of values are, and Kafka takes each of up to a megabyte."""
    value = classic_group(*((f"/10.0.0.{number}", "app" * 10, [("orders", [number])]) for number in range(100)))
    assert len(value) > KEPT_BYTES
    kept = views._decoded.cache_info().currsize
    first, again = (views.decoded(GroupRecordType.CLASSIC_GROUP, value) for _ in range(2))

    assert first == again
    assert views._decoded.cache_info().currsize == kept
