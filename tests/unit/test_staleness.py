"""What cannot be known of groups, and that they are not judged by it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from warren.clusters.progress import Progress, staleness
from warren.clusters.state import ClusterState
from warren.codec.keys import offsets_partition
from warren.model import Status
from warren.rules.rule import Settings
from warren.windows.rows import COMMIT_ROWS, HEAD_ROWS, RowKind
from warren.windows.store import Limits

T0_MS = 1_767_225_600_000
HELD, FREE = "g1", "my-group"  # in partitions 42 and 12 of 50, as Kafka's own hash says


def ms(second: float) -> int:
    return T0_MS + int(second * 1000)


@pytest.mark.parametrize(
    ("group", "partition"),
    [("g1", 42), ("my-group", 12), ("orders-service", 17), ("grüße", 23), ("😀", 49), ("polygenelubricants", 0)],
)
def test_a_group_lies_where_java_would_put_it(group: str, partition: int) -> None:
    assert offsets_partition(group, 50) == partition


class Cluster:
    """Two groups that commit every 10 s up to second 60, always 1,000 behind, in an offsets topic of 50 partitions."""

    def __init__(self) -> None:
        self.state = ClusterState("local", Limits(), Settings(), {"local": "offsets"})
        self._order = 0
        for second in range(0, 61, 10):
            self.heads(second - 1)
            self.commits(second)
            self.heads(second + 1)

    def heads(self, second: float, *, held: bool = False) -> None:
        """The offsets topic is at its end; partition 42 may be held by a transaction."""
        ends = dict.fromkeys(range(50), 0) | {42: self._order, 12: self._order}
        rows = [
            {"topic": "offsets", "partition": number, "end": end + (held and number == 42), "last_stable": end}
            for number, end in ends.items()
        ]
        end = 1000 + int(100 * second)
        rows.append({"topic": "orders", "partition": 0, "end": end, "last_stable": end})
        rows = [{**row, "log_start": 0, "observed_ms": ms(second)} for row in rows]
        self.state.apply_head_rows(pa.Table.from_pylist(rows, HEAD_ROWS), now_ms=ms(second))

    def commits(self, second: float, *groups: str, settled: bool = True, planned: float | None = None) -> None:
        rows: list[dict[str, object]] = [
            {
                "kind": RowKind.COMMIT, "source_partition": offsets_partition(group, 50), "order": [self._order],
                "group": group, "topic": "orders", "partition": [0], "offset": [int(100 * second)],
                "timestamp_ms": [ms(second)],
            }
            for group in groups or (HELD, FREE)
        ]  # fmt: skip
        self._order += 1
        positions = dict.fromkeys(range(50), 0) | {42: self._order, 12: self._order}
        rows.append({"kind": RowKind.POSITION, "partition": list(positions), "offset": list(positions.values())})
        rows.append({"kind": RowKind.PLANNED, "timestamp_ms": [ms(second if planned is None else planned)]})
        if not settled:
            rows.append({"kind": RowKind.UNSETTLED})
        self.state.apply_commit_rows("local", pa.Table.from_pylist(rows, COMMIT_ROWS), now_ms=ms(second))

    def statuses(self, second: float) -> list[Status | None]:
        verdicts = [self.state.judge(group, now_ms=ms(second)) for group in (HELD, FREE)]
        return [verdict and verdict.status for verdict in verdicts]

    def noted(self, second: float) -> dict[str, Status]:
        changes = self.state.evaluate(now_ms=ms(second))
        return {one.group: one.now for one in changes if one.group in (HELD, FREE)}


def test_silence_counts_as_long_as_everything_is_read() -> None:
    cluster = Cluster()
    for second in range(61, 201, 10):
        cluster.heads(second)

    assert cluster.statuses(201) == [Status.ERR, Status.ERR]
    assert cluster.noted(201)[HELD] == Status.ERR


def test_groups_behind_an_open_transaction_are_stale_and_judged_as_of_then() -> None:
    cluster = Cluster()
    for second in range(61, 201, 10):
        cluster.heads(second, held=True)

    assert cluster.statuses(201) == [Status.WARN, Status.ERR]
    assert cluster.noted(202) == {HELD: Status.WARN, FREE: Status.ERR}
    assert cluster.state.stale_since_ms(HELD, now_ms=ms(201)) == ms(61)
    assert cluster.state.stale_since_ms(FREE, now_ms=ms(201)) is None
    assert cluster.state.staleness(now_ms=ms(201)).held == {42}


def test_a_transaction_that_ends_soon_makes_nothing_stale() -> None:
    cluster = Cluster()
    cluster.heads(61, held=True)
    cluster.heads(75, held=True)

    assert cluster.state.stale_since_ms(HELD, now_ms=ms(80)) is None


def test_when_the_transaction_ends_the_group_is_judged_as_of_now_again() -> None:
    cluster = Cluster()
    for second in range(61, 201, 10):
        cluster.heads(second, held=True)
    cluster.heads(205)

    assert cluster.state.stale_since_ms(HELD, now_ms=ms(206)) is None
    assert cluster.statuses(206) == [Status.ERR, Status.ERR]


def test_a_cluster_that_nothing_is_heard_of_makes_all_its_groups_stale() -> None:
    cluster = Cluster()

    assert cluster.statuses(500) == [Status.WARN, Status.WARN]
    assert cluster.state.stale_since_ms(FREE, now_ms=ms(500)) == ms(61)


def test_the_group_that_tells_of_warren_itself_is_never_stale() -> None:
    assert Cluster().state.stale_since_ms("burrow-local", now_ms=ms(500)) is None


def test_after_a_long_batch_another_one_must_follow_before_anybody_is_judged() -> None:
    state = Cluster.__new__(Cluster)
    state.state, state._order = ClusterState("local", Limits(), Settings(), {"local": "offsets"}), 0
    state.heads(0)
    state.commits(1, settled=False)
    assert not state.state.is_ready

    state.commits(2)

    assert state.state.is_ready


def test_a_partition_is_known_up_to_when_its_end_was_asked_for() -> None:
    progress = Progress("offsets", positions={0: 5, 1: 9}, seen_ms={0: 1000, 1: 1000})
    progress.confirm({0: 5, 1: 10}, 70_000)

    found = staleness(progress, {}, now_ms=80_000, stale_after_ms=30_000)
    assert found.since_ms == {1: 1000}
