"""Since when, and what changed: groups over several rounds, in lists and in the log."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import structlog

from tests.support.scenario import commit_table, head_table
from warren.clusters.keeper import Keeper
from warren.clusters.state import ClusterState
from warren.clusters.watch import Watch
from warren.model import Status
from warren.rules.listing import Selection, SortKey
from warren.rules.rule import Settings
from warren.windows.rows import HEAD_ROWS
from warren.windows.store import Limits

START_MS = 1_000_000
STOPPED_MS = START_MS + 200_000
"""By then a group that committed ten seconds long has been silent for longer than that."""


def cluster(*groups: str, end: int = 100) -> ClusterState:
    """Each group has committed up to 90 of 100 in ten seconds, and is then silent."""
    state = ClusterState("prod", Limits(), Settings(), {"c": "__consumer_offsets"})
    for at_ms, seen in ((START_MS - 1_000, 95), (START_MS + 9_000, end)):
        state.apply_head_rows(head_table({"orders": [seen]}, at_ms), now_ms=at_ms)
    commits = [(group, "orders", 0, 89 + n, START_MS + n * 10_000) for group in groups for n in range(2)]
    state.apply_commit_rows("c", commit_table(*commits), now_ms=START_MS + 11_000)
    state.apply_head_rows(head_table({"orders": [end]}, START_MS + 11_000), now_ms=START_MS + 11_000)
    return state


class TestChanges:
    def test_a_group_is_in_its_status_since_it_was_first_seen_so(self) -> None:
        state = cluster("billing")
        for at_ms in (START_MS + 12_000, START_MS + 15_000):
            state.evaluate(now_ms=at_ms)

        assert state.standing_of("billing").since_ms == START_MS + 12_000

    def test_a_change_tells_what_was_what_is_which_partition_and_why(self) -> None:
        state = cluster("billing")
        state.evaluate(now_ms=START_MS + 12_000)
        (change,) = state.evaluate(now_ms=STOPPED_MS)

        assert (change.group, change.was, change.now) == ("billing", Status.WARN, Status.ERR)
        assert change.cause is not None
        assert (change.cause.topic, change.cause.partition, change.cause.status) == ("orders", 0, Status.STOP)
        assert change.cause.reason == "no commit for 190 s, window spans 10 s, lag 10"
        assert state.standing_of("billing").since_ms == STOPPED_MS

    def test_a_partition_knows_since_when_it_is_in_its_status(self) -> None:
        state = cluster("billing")
        state.evaluate(now_ms=START_MS + 12_000)
        state.evaluate(now_ms=STOPPED_MS)
        verdict = state.judge("billing", now_ms=STOPPED_MS + 5_000)

        assert verdict is not None
        assert verdict.partitions[0].since_ms == STOPPED_MS

    def test_a_status_newer_than_the_last_round_is_of_now(self) -> None:
        state = cluster("billing")
        state.evaluate(now_ms=START_MS + 12_000)
        verdict = state.judge("billing", now_ms=STOPPED_MS)

        assert verdict is not None
        assert verdict.partitions[0].since_ms == STOPPED_MS

    def test_before_the_first_round_nobody_knows_since_when(self) -> None:
        verdict = cluster("billing").judge("billing", now_ms=STOPPED_MS)

        assert verdict is not None
        assert verdict.partitions[0].since_ms is None

    def test_a_group_that_comes_in_good_health_is_no_change(self) -> None:
        assert cluster("billing", end=90).evaluate(now_ms=START_MS + 12_000) == []

    def test_a_group_that_comes_in_trouble_is_one(self) -> None:
        (change,) = cluster("billing").evaluate(now_ms=STOPPED_MS)

        assert (change.was, change.now) == (Status.NOTFOUND, Status.ERR)

    def test_a_group_that_goes_in_trouble_is_one(self) -> None:
        state = cluster("billing")
        state.evaluate(now_ms=STOPPED_MS)
        state.delete_group("billing")
        (change,) = state.evaluate(now_ms=STOPPED_MS + 5_000)

        assert (change.was, change.now, change.cause) == (Status.ERR, Status.NOTFOUND, None)

    def test_the_newest_change_comes_first(self) -> None:
        state = cluster("billing")
        state.evaluate(now_ms=START_MS + 12_000)
        state.evaluate(now_ms=STOPPED_MS)

        assert [change.now for change in state.changes()] == [Status.ERR, Status.WARN]


class TestRestart:
    def restarted(self, tmp_path: Path) -> ClusterState:
        state = cluster("billing")
        for at_ms in (START_MS + 12_000, STOPPED_MS):
            state.evaluate(now_ms=at_ms)
        Keeper({"prod": state}, tmp_path, 30, lambda: STOPPED_MS).save()
        new = ClusterState("prod", Limits(), Settings(), {"c": "__consumer_offsets"})
        Keeper({"prod": new}, tmp_path, 30, lambda: STOPPED_MS).restore()
        return new

    def test_after_a_restart_it_is_known_since_when(self, tmp_path: Path) -> None:
        state = self.restarted(tmp_path)
        verdict = state.judge("billing", now_ms=STOPPED_MS + 60_000)

        assert state.standing_of("billing").since_ms == STOPPED_MS
        assert verdict is not None
        assert verdict.partitions[0].since_ms == STOPPED_MS

    def test_after_a_restart_the_changes_before_it_are_known(self, tmp_path: Path) -> None:
        changes = self.restarted(tmp_path).changes()

        assert [(one.was, one.now) for one in changes] == [
            (Status.WARN, Status.ERR),
            (Status.NOTFOUND, Status.WARN),
        ]
        assert changes[0].cause is not None
        assert changes[0].cause.reason == "no commit for 190 s, window spans 10 s, lag 10"

    def test_what_stays_as_it_was_is_no_change_after_a_restart(self, tmp_path: Path) -> None:
        assert self.restarted(tmp_path).evaluate(now_ms=STOPPED_MS + 60_000) == []


class TestWatch:
    def test_a_cluster_that_is_not_ready_is_not_judged(self) -> None:
        state = ClusterState("prod", Limits(), Settings(), {"c": "__consumer_offsets"})
        Watch({"prod": state}, 1, lambda: START_MS).look()

        assert state.changes() == []

    def test_the_log_says_who_changed_and_why(self) -> None:
        state = cluster("billing")
        with structlog.testing.capture_logs() as told:
            Watch({"prod": state}, 1, lambda: STOPPED_MS).look()

        assert told == [
            {
                "event": "group changed",
                "log_level": "warning",
                "cluster": "prod",
                "group": "billing",
                "was": "NOTFOUND",
                "now": "ERR",
                "partition": "orders 0",
                "rule": "stopped",
                "reason": "no commit for 190 s, window spans 10 s, lag 10",
            }
        ]


class TestList:
    def names(self, selection: Selection, state: ClusterState | None = None) -> list[str]:
        state = state or self.mixed()
        return [one.group for one in state.list_groups(selection, now_ms=STOPPED_MS).groups]

    def mixed(self) -> ClusterState:
        """`done` is at the end, `late` is silent with lag 10, `later` with lag 50 of another topic."""
        state = ClusterState("prod", Limits(), Settings(), {"c": "__consumer_offsets"})
        state.apply_head_rows(head_table({"orders": [95], "bills": [95]}, START_MS - 1_000), now_ms=START_MS)
        last = [("done", "orders", 100), ("late", "orders", 90), ("later", "bills", 50)]
        commits = [
            (name, topic, 0, offset - 1 + n, START_MS + n * 10_000) for name, topic, offset in last for n in (0, 1)
        ]
        state.apply_commit_rows("c", commit_table(*commits), now_ms=START_MS + 11_000)
        state.apply_head_rows(
            head_table({"orders": [100], "bills": [100]}, START_MS + 11_000), now_ms=START_MS + 11_000
        )
        return state

    def test_the_worst_come_first(self) -> None:
        assert self.names(Selection()) == ["later", "late", "done"]

    @pytest.mark.parametrize(
        ("selection", "names"),
        [
            (Selection(statuses=frozenset({Status.OK})), ["done"]),
            (Selection(name="LATE"), ["later", "late"]),
            (Selection(name="*r"), ["later"]),
            (Selection(topic="ord*"), ["late", "done"]),
            (Selection(owner="nobody"), []),
            (Selection(sort=SortKey.NAME), ["done", "late", "later"]),
            (Selection(sort=SortKey.NAME, reverse=True), ["later", "late", "done"]),
            (Selection(sort=SortKey.TOTAL_LAG, limit=1), ["later"]),
            (Selection(sort=SortKey.TOTAL_LAG, limit=1, offset=1), ["late"]),
            (Selection(offset=10), []),
        ],
        ids=str,
    )
    def test_a_list_can_be_narrowed_sorted_and_cut(self, selection: Selection, names: list[str]) -> None:
        assert self.names(selection) == names

    def test_a_page_counts_what_fits_and_what_there_is(self) -> None:
        page = self.mixed().list_groups(Selection(topic="orders", limit=1), now_ms=STOPPED_MS)

        assert page.matching == 2
        assert page.by_status == {Status.OK: 1, Status.WARN: 0, Status.ERR: 2}

    def test_readers_of_a_topic_are_told_with_their_part_of_it(self) -> None:
        readers = self.mixed().readers_of("orders", now_ms=STOPPED_MS)

        assert [(one.group, one.status, one.total_lag) for one in readers] == [
            ("done", Status.OK, 0),
            ("late", Status.STOP, 10),
        ]

    def test_a_topic_that_becomes_known_is_in_the_next_answer(self) -> None:
        """Also within the second for which an evaluation is good."""
        state = self.mixed()
        state.apply_commit_rows("c", commit_table(("early", "new", 0, 5, STOPPED_MS), first_order=6), now_ms=STOPPED_MS)
        before = self.names(Selection(), state)
        ends = {"orders": [100], "bills": [100], "new": [9]}
        state.apply_head_rows(head_table(ends, STOPPED_MS + 100), now_ms=STOPPED_MS + 100)

        assert "early" not in before
        assert [one.group for one in state.readers_of("new", now_ms=STOPPED_MS + 200)] == ["early"]


def test_another_cluster_behind_the_same_address_is_judged_anew() -> None:
    state = cluster("billing")
    state.evaluate(now_ms=STOPPED_MS)
    for cluster_id in ("A", "B"):
        rows = [{"topic": "orders", "partition": 0, "end": 9, "log_start": 0, "observed_ms": STOPPED_MS}]
        table = pa.Table.from_pylist([{**rows[0], "cluster_id": cluster_id}], HEAD_ROWS)
        state.apply_head_rows(table, now_ms=STOPPED_MS)

    assert state.list_groups(Selection(), now_ms=STOPPED_MS).groups == []
