"""Head history: whatever was observed, what is kept is true, spaced like a logarithm, and reaches far enough."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warren.windows.columns import UNKNOWN
from warren.windows.head_history import NOT_YET, HeadHistory

DAY_MS = 24 * 3_600_000
ROW = np.array([0])


def new_history(**limits: int) -> HeadHistory:
    history = HeadHistory(**limits)
    history.grow(1)
    history.clear(slice(0, 1))
    return history


def kept(history: HeadHistory) -> list[tuple[int, int]]:
    """The points of row 0, oldest first."""
    points = zip(history.observed_ms.tolist(), history.end[:, 0].tolist(), strict=True)
    return sorted((at_ms, end) for at_ms, end in points if at_ms and end != UNKNOWN)


steps = st.tuples(
    st.one_of(st.integers(1, 60_000), st.sampled_from([10_000, 10_000, 3_600_000])),
    st.one_of(st.integers(0, 3), st.integers(0, 1000), st.just(-50)),
)


def observed(history: HeadHistory, of: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Observe row 0 after steps of (ms, records); all observations since its end last went down."""
    at_ms, end, since = 1_000_000, 500, []
    for passed_ms, records in of:
        at_ms, end = at_ms + passed_ms, max(0, end + records)
        if since and end < since[-1][1]:
            since = []
        since.append((at_ms, end))
        history.observe(ROW, np.array([end]), at_ms)
    return since


@given(st.lists(steps, min_size=1, max_size=60), st.integers(3, 12))
def test_only_what_was_observed_is_kept_in_no_more_points_than_promised(of: list[tuple[int, int]], points: int) -> None:
    history = new_history(points=points)
    truth = observed(history, of)

    assert len(kept(history)) <= points
    assert set(kept(history)) <= set(truth)
    assert kept(history)[-1] == truth[-1]
    assert kept(history)[0] == truth[0] or len(of) > points, "nothing is given up while there is room"


@given(st.lists(steps, min_size=1, max_size=60), st.integers(3, 12), st.integers(0, 2000))
def test_the_time_of_a_record_is_between_the_neighbouring_points_as_the_truth_is(
    of: list[tuple[int, int]], points: int, offset: int
) -> None:
    history = new_history(points=points)
    truth = observed(history, of)
    answer = int(history.time_of(ROW, np.array([offset]))[0])

    before = [at_ms for at_ms, end in kept(history) if end <= offset]
    after = [at_ms for at_ms, end in kept(history) if end > offset]
    if not after:
        assert answer == NOT_YET
    elif not before:
        assert answer == UNKNOWN
        assert int(history.oldest_ms(ROW)[0]) == kept(history)[0][0]
    else:
        assert before[-1] <= answer <= after[0]
        seen_ms = next(at_ms for at_ms, end in truth if end > offset)
        assert before[-1] < seen_ms <= after[0]


@given(st.lists(steps, min_size=1, max_size=60), st.integers(3, 12), st.integers(0, 3_000_000))
def test_the_end_at_a_moment_is_between_the_neighbouring_points(
    of: list[tuple[int, int]], points: int, after_start_ms: int
) -> None:
    history = new_history(points=points)
    observed(history, of)
    at_ms = 1_000_000 + after_start_ms
    answer = int(history.end_at(ROW, np.array([at_ms]))[0])

    before = [end for seen_ms, end in kept(history) if seen_ms <= at_ms]
    after = [end for seen_ms, end in kept(history) if seen_ms >= at_ms]
    assert answer == UNKNOWN if not before or not after else before[-1] <= answer <= after[0]


@given(st.lists(steps, min_size=1, max_size=40), st.integers(3, 12))
def test_rows_do_not_know_of_each_other(of: list[tuple[int, int]], points: int) -> None:
    alone, together = new_history(points=points), HeadHistory(points=points)
    together.grow(3)
    together.clear(slice(0, 3))
    at_ms, end = 1_000_000, 500
    for passed_ms, records in of:
        at_ms, end = at_ms + passed_ms, max(0, end + records)
        alone.observe(ROW, np.array([end]), at_ms)
        together.observe(np.array([2, 0, 1]), np.array([at_ms, end, at_ms % 7]), at_ms)

    assert kept(together) == kept(alone)


@pytest.mark.parametrize(
    ("refresh_ms", "reach_ms"), [(1_000, DAY_MS // 12), (10_000, 2 * DAY_MS), (60_000, 3 * DAY_MS)]
)
def test_points_get_further_apart_with_age_and_reach_days_back(refresh_ms: int, reach_ms: int) -> None:
    """Twice as long as the reach, so that the oldest points have begun to go."""
    history = new_history(reach_ms=reach_ms)
    now_ms = first_ms = 1_000_000_000
    for i in range(2 * reach_ms // refresh_ms):
        now_ms += refresh_ms
        history.observe(ROW, np.array([i]), now_ms)
        if i % 500 == 499:
            points_ms = [at_ms for at_ms, _ in kept(history)]
            assert len(points_ms) == history.points
            assert now_ms - points_ms[0] >= min(reach_ms, now_ms - first_ms - refresh_ms)
            for older_ms, newer_ms in pairwise(points_ms):
                assert newer_ms - older_ms <= max(0.3 * (now_ms - older_ms), refresh_ms)

    ages_ms = [now_ms - at_ms for at_ms, _ in kept(history)]
    assert ages_ms[0] < 1.5 * reach_ms, "what is far beyond the reach is given up"
    assert ages_ms[-4:] == [3 * refresh_ms, 2 * refresh_ms, refresh_ms, 0], "the newest are all there"


def test_a_steady_topic_can_be_read_off_days_back() -> None:
    history = new_history()
    start_ms, refresh_ms, per_refresh = 1_000_000_000, 60_000, 600
    ticks = 3 * DAY_MS // refresh_ms
    for i in range(ticks):
        history.observe(ROW, np.array([i * per_refresh]), start_ms + i * refresh_ms)

    for ago in (1, 7, 60, 600, 2880):
        tick = ticks - 1 - ago
        written_ms = int(history.time_of(ROW, np.array([tick * per_refresh - 1]))[0])
        assert abs(written_ms - (start_ms + tick * refresh_ms)) <= 1
