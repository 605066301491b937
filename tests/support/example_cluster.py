"""Example cluster `local`: six groups whose status, lag and losses are known at second 31.

billing stalls, reporting falls behind, settling rewinds, newcomer commits once and stops, and STRANGE, whose name needs
escaping, keeps up. `burrow-local` is the group under which Warren monitors itself.
"""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from tests.support.scenario import classic_group, commit_table
from warren.clusters.state import ClusterState
from warren.codec.keys import encode_group_key
from warren.rules.policy import Policy
from warren.rules.rule import Settings
from warren.windows.rows import COMMIT_ROWS, HEAD_ROWS, RowKind
from warren.windows.store import Limits

T0_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z; all seconds in this module count from here."""
NOW_S = 31
STRANGE = "team a/ü %2F"


def ms(second: float) -> int:
    """Return the epoch milliseconds of a second after T0_MS."""
    return T0_MS + int(second * 1000)


def iso(second: float) -> str:
    """Return a second after T0_MS as the HTTP API writes it."""
    return f"2026-01-01T00:{int(second) // 60:02}:{second % 60:06.3f}Z"


def heads(second: int, *, log_start: int = 0) -> pa.Table:
    """Return the end offsets at `second`: orders 0 grows by 10 records/s, payments jumps from 250 to 1,000.

    `log_start` is the first offset that payments still has.
    """
    ends = [("__consumer_offsets", 0, 24, 0), ("orders", 0, 100 + 10 * second, 0), ("orders", 1, 50, 0)]
    rows = [
        {"topic": topic, "partition": partition, "end": end, "log_start": start, "observed_ms": ms(second)}
        for topic, partition, end, start in [*ends, ("payments", 0, 1000 if second else 250, log_start)]
    ]
    return pa.Table.from_pylist([{**rows[0], "cluster_id": "kafka-1"}, *rows[1:]], HEAD_ROWS)


def commits(second: int, index: int) -> pa.Table:
    """Return the commits of round `index` (0 to 2), made at `second`; newcomer commits in the last round only."""
    rows = [
        ("billing", "orders", 0, 100, ms(second)),
        ("billing", "orders", 1, 50, ms(second)),
        ("reporting", "orders", 0, (120, 180, 220)[index], ms(second)),
        ("settling", "payments", 0, (500, 400, 200)[index], ms(second)),
        (STRANGE, "orders", 1, 50, ms(second)),
        ("newcomer", "orders", 0, 90, ms(second)),
    ]
    rows = rows if index == 2 else rows[:-1]
    return commit_table(*rows, first_order=5 * index)


MEMBERS = pa.Table.from_pylist(
    [
        {
            "kind": RowKind.GROUP_RECORD, "source_partition": 0, "order": [16],
            "key": encode_group_key("billing"), "value": classic_group(("/10.0.0.1", "billing-7", [("orders", [0])])),
        },
        {"kind": RowKind.SKIPPED, "reason": "unknown key type", "offset": [3]},
        {"kind": RowKind.POSITION, "partition": [0], "offset": [24]},
    ],
    COMMIT_ROWS,
)  # fmt: skip
"""The member of billing, three undecodable records, and the end of the offsets topic."""


def new_state(policy: Policy | None = None) -> ClusterState:
    """Return the cluster before Warren has read anything."""
    return ClusterState("local", Limits(intervals=3), Settings(), {"local": "__consumer_offsets"}, policy or Policy())


def filled_state(policy: Policy | None = None) -> ClusterState:
    """Return the cluster as Warren knows it at second 31.

    second   0   5  10  15  20  25  30  31
    heads    x       x       x       x        at 30 payments has lost its first 300 records
    commits      x       x       x
    """
    state = new_state(policy)
    state.apply_head_rows(heads(0), now_ms=ms(0))
    for index, second in enumerate((5, 15, 25)):
        state.apply_commit_rows("local", commits(second, index), now_ms=ms(second))
        log_start = 300 if second == 25 else 0
        state.apply_head_rows(heads(second + 5, log_start=log_start), now_ms=ms(second + 5))
    state.apply_commit_rows("local", MEMBERS, now_ms=ms(30))
    return state


def recover(state: ClusterState) -> None:
    """Let billing catch up at second 60."""
    state.apply_head_rows(heads(60, log_start=300), now_ms=ms(60))
    table = commit_table(("billing", "orders", 0, 700, ms(60)), first_order=24)
    state.apply_commit_rows("local", table, now_ms=ms(60))


class QueryHealth(NamedTuple):
    """State of one streaming query, as the pipeline reports it."""

    state: str = "running"
    last_error: str = ""
    restarts: int = 0


QUERIES = {
    "heads-local": QueryHealth(),
    "commits-local": QueryHealth("retrying", "no broker answers", 2),
    "heads-elsewhere": QueryHealth("starting"),
}
