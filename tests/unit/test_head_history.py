"""Head history: when a record was written, and where a topic ended, as far back as a few dozen points reach."""

from __future__ import annotations

import numpy as np
import pytest

from warren.windows.columns import UNKNOWN
from warren.windows.head_history import NOT_YET, HeadHistory

START_MS = 1_000_000


def history_of(*ends: list[int], rows: int = 1, **limits: int) -> HeadHistory:
    """One observation every 10 s; each lists the ends of the first rows."""
    history = HeadHistory(**limits)
    history.grow(rows)
    history.clear(slice(0, rows))
    for i, observed in enumerate(ends):
        observe(history, dict(enumerate(observed)), START_MS + i * 10_000)
    return history


def observe(history: HeadHistory, ends: dict[int, int], at_ms: int) -> None:
    history.observe(np.array(list(ends), np.int64), np.array(list(ends.values()), np.int64), at_ms)


def time_of(history: HeadHistory, offset: int, row: int = 0) -> int:
    return int(history.time_of(np.array([row]), np.array([offset]))[0])


def end_at(history: HeadHistory, at_ms: int, row: int = 0) -> int:
    return int(history.end_at(np.array([row]), np.array([at_ms]))[0])


def oldest_ms(history: HeadHistory, row: int = 0) -> int:
    return int(history.oldest_ms(np.array([row]))[0])


@pytest.mark.parametrize(
    ("offset", "after_ms", "why"),
    [
        (99, UNKNOWN, "it was there before the history begins"),
        (100, 1000, "the first of ten records that came in 10 s"),
        (104, 5000, "the fifth of them"),
        (109, 10_000, "the last of them was there at the second observation"),
        (110, 30_000, "nothing came for 10 s, then one record: at the latest when it was seen"),
        (111, NOT_YET, "the end has not passed it"),
    ],
)
def test_the_time_of_a_record_lies_between_the_observations_around_it(offset: int, after_ms: int, why: str) -> None:
    history = history_of([100], [110], [110], [111])

    assert time_of(history, offset) == (START_MS + after_ms if after_ms > 0 else after_ms), why


def test_a_record_from_before_the_history_is_at_least_as_old_as_the_history() -> None:
    history = history_of([100], [110])

    assert time_of(history, 5) == UNKNOWN
    assert history.passed_since(np.array([0, 0]), np.array([5, 109])).tolist() == [START_MS, START_MS + 10_000]


@pytest.mark.parametrize(
    ("after_ms", "end"), [(-1, UNKNOWN), (0, 100), (2500, 105), (10_000, 120), (10_001, UNKNOWN), (99_000, UNKNOWN)]
)
def test_the_end_at_a_moment_lies_between_the_observations_around_it(after_ms: int, end: int) -> None:
    assert end_at(history_of([100], [120]), START_MS + after_ms) == end


def test_long_logs_do_not_overflow() -> None:
    week_ms, records = 7 * 24 * 3_600_000, 10**15
    history = history_of([10**15])
    observe(history, {0: 10**15 + records}, START_MS + week_ms)

    assert time_of(history, 10**15 + records // 2 - 1) == START_MS + week_ms // 2
    assert end_at(history, START_MS + week_ms // 2) == 10**15 + records // 2


def test_rows_without_any_history_know_nothing() -> None:
    history = history_of([100], [120], rows=2)

    for row in (1, -1):
        assert time_of(history, 0, row) == UNKNOWN
        assert end_at(history, START_MS, row) == UNKNOWN
        assert oldest_ms(history, row) == UNKNOWN
        assert history.rate_per_s(np.array([row]), np.array([0])).tolist() == [UNKNOWN]


def test_an_end_that_goes_down_restarts_the_history_of_that_row_only() -> None:
    history = history_of([100, 100], [200, 200], [7, 300], [9, 400], rows=2)

    assert oldest_ms(history, 0) == START_MS + 20_000
    assert time_of(history, 150, 0) == NOT_YET
    assert time_of(history, 5, 0) == UNKNOWN
    assert time_of(history, 8, 0) == START_MS + 30_000
    assert oldest_ms(history, 1) == START_MS
    assert time_of(history, 199, 1) == START_MS + 10_000


def test_a_row_that_an_observation_leaves_out_stays_where_it_was() -> None:
    history = history_of([100, 100], rows=2)
    observe(history, {1: 150}, START_MS + 10_000)
    observe(history, {0: 200, 1: 200}, START_MS + 20_000)

    assert end_at(history, START_MS + 10_000) == 100
    assert time_of(history, 149) == START_MS + 15_000


def test_the_same_moment_again_takes_no_second_point() -> None:
    history = history_of([100, 5], rows=2)
    observe(history, {0: 100}, START_MS)
    observe(history, {1: 6}, START_MS)

    assert np.count_nonzero(history.observed_ms) == 1
    assert (end_at(history, START_MS, 0), end_at(history, START_MS, 1)) == (100, 6)


def test_a_clock_that_is_set_back_takes_the_later_points_with_it() -> None:
    history = history_of([100], [110])
    observe(history, {0: 120}, START_MS + 3_600_000)
    observe(history, {0: 120}, START_MS + 20_000)

    assert int(history.observed_ms.max()) == START_MS + 20_000
    assert time_of(history, 119) == START_MS + 20_000


def test_rows_can_be_moved_and_cleared() -> None:
    history = history_of([100, 1], [110, 2], rows=4)

    history.move(slice(0, 2), slice(2, 4))

    assert [oldest_ms(history, row) for row in range(4)] == [UNKNOWN, UNKNOWN, START_MS, START_MS]
    assert time_of(history, 109, 2) == START_MS + 10_000
    observe(history, {0: 5}, START_MS + 20_000)
    assert oldest_ms(history, 0) == START_MS + 20_000, "a smaller end than the old one there is no restart"

    history.clear(slice(2, 4))
    assert oldest_ms(history, 2) == UNKNOWN


def test_growing_keeps_what_is_there() -> None:
    history = history_of([100], [110])

    history.grow(50)

    assert time_of(history, 109, 0) == START_MS + 10_000
    assert oldest_ms(history, 49) == UNKNOWN


@pytest.mark.parametrize(
    ("since_ms", "per_s"),
    [(START_MS + 10_000, 3.0), (START_MS, 2.0), (0, 2.0), (START_MS + 15_000, 3.0), (START_MS + 20_000, UNKNOWN)],
)
def test_a_rate_is_over_the_time_asked_for_as_far_as_it_is_known(since_ms: int, per_s: float) -> None:
    history = history_of([100], [110], [140])

    assert history.rate_per_s(np.array([0]), np.array([since_ms])).tolist() == [per_s]


def test_a_history_of_two_points_could_not_be_thinned() -> None:
    with pytest.raises(ValueError, match="at least 3 points"):
        HeadHistory(points=2)


def test_a_row_costs_8_bytes_for_each_point() -> None:
    history = HeadHistory()
    history.grow(1000)

    assert (history.end.nbytes + history.newest_end.nbytes) / 1000 <= 8 * (history.points + 1)
