"""The brokers' clock: commits that are read as soon as they are made tell how far it is from ours."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.scenario import commit_table, head_table
from warren.clusters.state import ClusterState
from warren.rules.clock import ClockSkew
from warren.rules.rule import Settings
from warren.windows.store import Limits

NOW_MS = 1_700_000_000_000


def skew_after(*late_ms: int) -> int:
    clock = ClockSkew()
    for late in late_ms:
        clock.observe(np.array([NOW_MS - late]), NOW_MS)
    return clock.skew_ms


@pytest.mark.parametrize("late_ms", [0, 700, 1_900])
def test_commits_read_within_the_usual_time_say_that_the_clocks_agree(late_ms: int) -> None:
    assert skew_after(*[late_ms] * 10) == 0


def test_commits_from_the_future_say_that_the_brokers_are_ahead() -> None:
    assert skew_after(*[-60_000] * 10) == 60_000


def test_commits_that_are_always_old_say_that_the_brokers_are_behind() -> None:
    assert skew_after(*[61_000] * 10) == -61_000


def test_one_late_batch_or_one_wrong_stamp_does_not_matter() -> None:
    assert skew_after(500, 500, 30_000, 500, -3_600_000, 500, 500) == 0


def test_a_few_batches_say_nothing_yet() -> None:
    assert skew_after(-60_000, -60_000) == 0


def watched(skew_ms: int, commits: int) -> ClusterState:
    """A group that commits every ten seconds, by brokers whose clock is wrong."""
    state = ClusterState("prod", Limits(), Settings(), {"c": "__consumer_offsets"})
    for n in range(commits):
        now_ms = NOW_MS + n * 10_000
        state.apply_head_rows(head_table({"orders": [1000 + 100 * n]}, now_ms - 5_000), now_ms=now_ms)
        table = commit_table(("billing", "orders", 0, 900 + 100 * n, now_ms + skew_ms), first_order=n)
        state.apply_commit_rows("c", table, now_ms=now_ms)
    return state


def test_d32_the_state_learns_the_skew_from_live_commits() -> None:
    assert watched(60_000, 10).clock_skew_ms == 60_000


@pytest.mark.parametrize("skew_ms", [0, 60_000, -60_000])
def test_d32_lag_is_measured_at_the_moment_of_the_commit_whatever_its_clock_says(skew_ms: int) -> None:
    state = watched(skew_ms, 20)
    verdict = state.judge("billing", now_ms=NOW_MS + 195_000)

    assert verdict is not None
    assert [entry.lag for entry in verdict.partitions[0].entries][-5:-1] == [150] * 4


@pytest.mark.parametrize("skew_ms", [0, 60_000, -60_000])
def test_d32_a_group_that_goes_on_committing_has_not_stopped_whatever_its_clock_says(skew_ms: int) -> None:
    state = watched(skew_ms, 20)
    verdict = state.judge("billing", now_ms=NOW_MS + 195_000, rule_set="warren")

    assert verdict is not None
    assert verdict.partitions[0].rule.name != "SILENT"
