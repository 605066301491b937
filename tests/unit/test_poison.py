"""Records that cannot be decoded are told, but not each of them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from structlog.testing import capture_logs

from warren.clusters.state import ClusterState
from warren.rules.rule import Settings
from warren.windows.rows import COMMIT_ROWS, RowKind
from warren.windows.store import Limits

KIND = "record type 99"


def poison(records: int, offset: int) -> pa.Table:
    rows = [
        {"kind": RowKind.SKIPPED, "reason": KIND, "offset": [records]},
        {
            "kind": RowKind.POISON, "source_partition": 7, "order": [offset], "record_type": 99, "reason": KIND,
            "detail": "it is not decoded",
        },
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, COMMIT_ROWS)


@pytest.fixture
def state() -> ClusterState:
    return ClusterState("prod", Limits(), Settings(), {"c": "__consumer_offsets"})


def told(state: ClusterState, *batches: tuple[int, int, int]) -> list[tuple[int, int]]:
    """How many records each line of the log counts, and where its example lies; batches: records, offset, second."""
    with capture_logs() as lines:
        for records, offset, second in batches:
            state.apply_commit_rows("c", poison(records, offset), now_ms=second * 1000)
    return [(line["records"], line["offset"]) for line in lines]


def test_the_first_is_told_with_its_place_and_reason(state: ClusterState) -> None:
    with capture_logs() as lines:
        state.apply_commit_rows("c", poison(1, 4711), now_ms=1000)

    assert lines == [
        {
            "event": "records could not be decoded",
            "log_level": "warning",
            "cluster": "prod",
            "consumer": "c",
            "records": 1,
            "source_partition": 7,
            "offset": 4711,
            "record_type": 99,
            "kind": KIND,
            "detail": "it is not decoded",
        }
    ]


def test_more_of_a_kind_are_told_once_a_minute_and_counted_together(state: ClusterState) -> None:
    assert told(state, (1, 10, 0), (5, 11, 20), (7, 12, 59), (2, 13, 60)) == [(1, 10), (14, 13)]


def test_all_of_them_are_counted_and_the_newest_examples_are_kept(state: ClusterState) -> None:
    told(state, *((1, offset, 0) for offset in range(250)))

    assert state.skipped() == {KIND: 250}
    assert [one.offset for one in state.poison()] == list(range(150, 250))
