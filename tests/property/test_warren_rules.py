"""Warren's rules: for any windows the columns judge as a plain function does, one partition after the other."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.rule_windows import group_windows
from warren.rules.rule import STATUS_OF_RULE, Rule, Settings
from warren.rules.rule_sets import RULE_SETS, judge

INTERVALS = 6

Window = list[tuple[int, int, int | None]]

offsets = st.one_of(st.integers(0, 12), st.integers(0, 200))
times_ms = st.one_of(st.integers(0, 30).map(lambda s: s * 500), st.integers(0, 600).map(lambda s: s * 1000))
lags = st.one_of(st.none(), st.integers(0, 6), st.integers(0, 300))
windows = st.lists(st.tuples(offsets, times_ms, lags), max_size=INTERVALS)


def forward(of: Window, step: int) -> Window:
    """The same times and lags, with offsets that go forward, or stay for a step of 0."""
    return [(n * step, ms, lag) for n, (_, ms, lag) in enumerate(sorted(of, key=lambda entry: entry[1]))]


def climbing(of: Window, by: int) -> Window:
    """The same times and offsets, with lags that climb, but for those that are not known."""
    return [(offset, ms, lag if lag is None else n * by + lag % 40) for n, (offset, ms, lag) in enumerate(of)]


moving = st.builds(forward, windows, st.sampled_from([0, 0, 3, 30]))
falling_behind = st.builds(climbing, moving, st.integers(0, 90))
heads = st.lists(st.one_of(st.integers(0, 20), st.integers(0, 400), st.integers(200, 400)), max_size=4)
since_ms = st.one_of(st.just(-1), st.integers(1, 900_000))
partitions = st.lists(st.tuples(st.one_of(windows, moving, falling_behind), heads, since_ms), min_size=1, max_size=5)


def rule_of(
    window: Window, ends: list[int], unread_since_ms: int, now_ms: int, skew_ms: int, allowed: int, minimum: float
) -> Rule:
    """Warren's rules for one partition, as plainly as they can be said."""
    if not window:
        return Rule.NO_COMMIT
    if np.float32(len(window)) / np.float32(INTERVALS) < np.float32(minimum):
        return Rule.INCOMPLETE
    if not ends:
        return Rule.NO_HEAD
    committed = [offset for offset, _, _ in window]
    times = [ms for _, ms, _ in window]
    known = [lag for _, _, lag in window if lag is not None]
    if max(0, ends[-1] - committed[-1]) <= allowed:
        return Rule.CAUGHT_UP
    if is_silent(times, unread_since_ms, now_ms, skew_ms) and not (
        unread_since_ms <= 0 and any(end <= committed[-1] + allowed for end in ends)
    ):
        return Rule.SILENT
    for i in range(1, len(committed)):
        if committed[i] < committed[i - 1] and max(committed[i:]) < committed[i - 1]:
            return Rule.WENT_BACK
    if len(window) < 3:
        return Rule.TOO_FEW_COMMITS
    if len(known) < 3:
        return Rule.UNKNOWN_LAG
    if len(set(committed)) == 1 and min(known) > allowed:
        return Rule.STALLED
    if climbs(known) and known[-1] > max(read_in_one_go(committed, times), allowed):
        return Rule.CLIMBING
    return Rule.CAUGHT_UP_LATELY if min(known) <= allowed else Rule.NOT_CLIMBING


def usual_distance_ms(times: list[int]) -> int:
    distances = sorted(max(after - before, 0) for before, after in pairwise(times))
    return distances[(len(distances) - 1) // 2] if distances else 0


def is_silent(times: list[int], unread_since_ms: int, now_ms: int, skew_ms: int) -> bool:
    longest = max(3 * usual_distance_ms(times), 60_000 if len(times) >= 3 else 300_000)
    since = max(times[-1], unread_since_ms + skew_ms) if unread_since_ms > 0 else times[-1]
    return now_ms + skew_ms - since > longest


def climbs(known: list[int]) -> bool:
    pairs = list(combinations(known, 2))
    rising = sum(later > earlier for earlier, later in pairs) - sum(later < earlier for earlier, later in pairs)
    return 3 * rising >= 2 * len(pairs)


def read_in_one_go(committed: list[int], times: list[int]) -> int:
    read = sum(max(after - before, 0) for before, after in pairwise(committed))
    return int(read * (max(usual_distance_ms(times), 5000) / max(times[-1] - times[0], 1)))


@given(
    partitions,
    st.integers(0, 1_000_000),
    st.sampled_from([0, -60_000, 60_000, 1]),
    st.integers(0, 4),
    st.sampled_from([0.0, 0.2, 0.5, 1.0]),
)
def test_columns_judge_as_a_plain_function_does(
    of: list[tuple[Window, list[int], int]], now_ms: int, skew_ms: int, allowed: int, minimum: float
) -> None:
    verdicts = judge(
        "warren",
        group_windows([window for window, _, _ in of], [ends for _, ends, _ in of], INTERVALS),
        Settings(allowed, minimum),
        now_ms=now_ms,
        unread_since_ms=np.array([since for _, _, since in of]),
        clock_skew_ms=skew_ms,
    )
    plain = [rule_of(window, ends, since, now_ms, skew_ms, allowed, minimum) for window, ends, since in of]

    assert [Rule(rule) for rule in verdicts.rule.tolist()] == plain
    assert verdicts.status.tolist() == [STATUS_OF_RULE.get(rule, 1) for rule in plain]


@given(partitions, st.integers(0, 1_000_000), st.integers(1, 100))
def test_an_even_load_is_never_falling_behind(of: list[tuple[Window, list[int], int]], now_ms: int, lag: int) -> None:
    steady = [[(offset, ms, lag) for offset, ms, _ in window] for window, _, _ in of]
    verdicts = judge("warren", group_windows(steady, [ends for _, ends, _ in of], INTERVALS), Settings(), now_ms=now_ms)

    assert Rule.CLIMBING not in verdicts.rule.tolist()


@given(partitions, st.integers(0, 1_000_000))
def test_no_rule_set_alarms_where_nothing_is_unread(of: list[tuple[Window, list[int], int]], now_ms: int) -> None:
    read = [[window[-1][0]] if window else [5] for window, _, _ in of]
    for name in RULE_SETS:
        verdicts = judge(
            name, group_windows([window for window, _, _ in of], read, INTERVALS), Settings(), now_ms=now_ms
        )
        assert set(verdicts.status.tolist()) == {1}
