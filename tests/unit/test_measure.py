"""Measuring one group and topic: matrices in, numbers out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from warren.capacity.grid import Float, Grid, Int, Points, ends_at_edges, positions_at_edges
from warren.capacity.holes import Hole, holes_in
from warren.capacity.measure import Assignment, Sides, consumer_numbers, measure

MINUTE_MS = 60_000


def grid(minutes: int) -> Grid:
    return Grid(0, MINUTE_MS, minutes)


def whole(*values: int) -> Int:
    return np.array(values, np.int64)


def sides(end: list[list[float]], position: list[list[float]], log_start: list[list[float]] | None = None) -> Sides:
    ends = np.array(end, np.float64)
    begins: Float = np.zeros_like(ends) if log_start is None else np.array(log_start, np.float64)
    return Sides(
        grid(ends.shape[1] - 1), np.arange(len(end), dtype=np.int64), ends, begins, np.array(position, np.float64)
    )


# -- offsets at edges ------------------------------------------------------------------------------------------------


def test_an_end_between_two_observations_is_taken_by_time() -> None:
    points = Points(whole(30_000, 90_000), whole(0, 600))
    found = ends_at_edges(grid(2), points, whole(30_000, 90_000))
    np.testing.assert_array_equal(found, [np.nan, 300, 600])


def test_what_comes_after_a_long_silence_came_after_the_last_observation() -> None:
    points = Points(whole(0, 600_000), whole(0, 900))
    observed_ms = np.arange(0, 600_001, 10_000)
    found = ends_at_edges(grid(10), points, observed_ms)
    np.testing.assert_array_equal(found, [0] * 10 + [900])


def test_an_end_that_was_not_to_be_had_changes_nothing() -> None:
    points = Points(whole(0, 60_000, 120_000), whole(5, -1, 25))
    found = ends_at_edges(grid(2), points, whole(0, 60_000, 120_000))
    assert (found[0], found[2]) == (5, 25)


def test_what_came_while_an_end_was_not_to_be_had_came_over_all_that_time() -> None:
    points = Points(whole(0, 70_000, 600_000), whole(0, -1, 540))
    found = ends_at_edges(grid(10), points, np.arange(0, 600_001, 10_000))
    np.testing.assert_array_equal(found, np.arange(0, 541, 60)[[0, *range(10)]])


def test_a_position_is_unknown_before_the_first_commit_and_after_its_removal() -> None:
    points = Points(whole(60_000, 180_000), whole(10, -1))
    found = positions_at_edges(grid(4), points, np.zeros(5))
    np.testing.assert_array_equal(found, [np.nan, 10, 10, np.nan, np.nan])


def test_a_group_that_was_overtaken_by_the_log_stood_still_before() -> None:
    points = Points(whole(0, 60_000, 300_000), whole(10, 20, 80))
    found = positions_at_edges(grid(5), points, np.array([0.0, 0, 0, 0, 60, 70]))
    np.testing.assert_array_equal(found, [10, 20, 20, 20, 20, 80])


def test_a_topic_that_was_made_again_produced_nothing_by_that() -> None:
    assert sides([[0, 600, 60, 120]], [[0, 0, 0, 0]]).produced.tolist() == [[600, 0, 60]]


def test_a_commit_to_a_topic_that_was_made_again_may_be_seen_before_its_end() -> None:
    found = measure(sides([[600, 600, 60, 120]], [[600, 5, 50, 120]], [[500, 500, 0, 0]]), [])
    assert (found["lost"], found["lag_max"]) == (0, 0)


def test_time_before_the_first_known_end_does_not_count() -> None:
    nobody_knows = [np.nan] * 3
    found = measure(sides([[*nobody_knows, 0, 600, 1_200]], [[*nobody_knows, 0, 0, 0]]), [])
    assert (found["seconds"], found["produced"], found["produce_p95"]) == (120, 1_200, 10)


def test_a_single_known_end_measures_nothing() -> None:
    assert measure(sides([[np.nan, np.nan, 5]], [[np.nan, np.nan, 5]]), []) == {}


# -- capacity --------------------------------------------------------------------------------------------------------


def test_a_consumer_that_never_waits_shows_its_speed_only_at_least() -> None:
    level = np.arange(0, 6_001, 600.0)
    found = measure(sides([level.tolist()], [level.tolist()]), [])
    assert (found["capacity"], found["highest"]) == (None, 10)


def test_minutes_without_any_work_say_nothing_about_speed() -> None:
    position = [0.0] * 5 + [600.0 * i for i in range(1, 7)]
    found = measure(sides([[10_000.0] * 11], [position]), [])
    assert (found["capacity"], found["capacity_steps"]) == (10, 6)


def test_a_consumer_that_keeps_a_distance_can_do_what_it_once_did_for_five_minutes() -> None:
    done = np.array([60.0] * 60 + [600.0] * 5 + [60.0] * 60)
    position = np.concatenate(([0.0], np.cumsum(done)))
    assert measure(sides([(position + 5_000).tolist()], [position.tolist()]), [])["capacity"] == 10


def test_a_jump_to_the_end_is_no_speed() -> None:
    done = np.array([60.0] * 60 + [60_000.0] + [60.0] * 60)
    position = np.concatenate(([0.0], np.cumsum(done)))
    assert measure(sides([[99_999.0] * 122], [position.tolist()]), [])["capacity"] == 1


def test_a_stuck_partition_does_not_make_its_owner_seem_slow() -> None:
    stuck, level = [0.0] * 11, np.arange(0, 6_001, 600.0).tolist()
    both = Assignment(0, 1, 2, [0, 1], ["a", "a"])
    assert measure(sides([[9_000.0] * 11, level], [stuck, level]), [both])["capacity"] is None


def test_a_new_assignment_counts_from_its_moment_on() -> None:
    position = np.arange(0, 12_001, 600.0).tolist()
    one = Assignment(0, 1, 2, [0, 1], ["a", "a"])
    two = Assignment(10 * MINUTE_MS, 2, 2, [0, 1], ["a", "b"])
    found = measure(sides([[99_999.0] * 21] * 2, [position] * 2), [one, two])
    assert (found["highest"], found["capacity_steps"], found["members"]) == (20, 10 + 2 * 10, 2)


def test_members_that_look_alike_share_the_partitions_evenly() -> None:
    assignment = Assignment(0, 2, 4, [0, 1, 2, 3], ["h", "h", "h", "h"])
    assert consumer_numbers(assignment, whole(0, 1, 2, 3)).tolist() == [0, 0, 1, 1]


def test_a_partition_of_nobody_stands_for_itself() -> None:
    assert consumer_numbers(Assignment(0, 1, 1, [0], ["a"]), whole(0, 1, 2)).tolist() == [0, -2, -3]


# -- lag and the log -------------------------------------------------------------------------------------------------


def test_a_lag_is_as_old_as_its_oldest_record() -> None:
    found = measure(sides([[0, 600, 1_200, 1_800]], [[0, 300, 300, 300]]), [])
    assert (found["lag_max"], found["lag_s_max"], found["lag_s_is_least"]) == (1_500, 150, False)


def test_a_lag_from_before_the_history_is_at_least_that_old() -> None:
    found = measure(sides([[500, 600, 700]], [[100, 100, 100]]), [])
    assert (found["lag_s_max"], found["lag_s_is_least"]) == (120, True)


def test_records_of_a_topic_that_was_made_again_are_not_as_old_as_their_offsets_were_before() -> None:
    end = [0.0, 6_000.0, 12_000.0, 10.0, 20.0, 30.0]
    found = measure(sides([end], [[0, 6_000, 12_000, 9, 19, 29]]), [])
    assert (found["lag_s_max"], found["lag_s_is_least"]) == (pytest.approx(6), False)


def test_a_log_that_was_made_again_keeps_its_own_records() -> None:
    end = [90_000.0, *np.arange(0, 6_001, 600.0)]
    log_start = [80_000.0] + [0.0] * 6 + [1_200.0] * 5
    assert measure(sides([end], [end], [log_start]), [])["kept_s"] == 4 * 60


def test_a_log_keeps_what_is_left_after_it_has_let_go() -> None:
    end = np.arange(0, 6_001, 600.0)
    log_start = [0.0] * 6 + [1_200.0] * 5  # at minute 6 what came in minute 2 is the oldest
    assert measure(sides([end.tolist()], [end.tolist()], [log_start]), [])["kept_s"] == 4 * 60


def test_a_log_that_never_let_go_keeps_records_for_nobody_knows_how_long() -> None:
    assert measure(sides([[0, 1, 2]], [[0, 0, 0]]), [])["kept_s"] is None


def test_records_that_were_jumped_over_are_lost_not_consumed() -> None:
    found = measure(sides([[0, 600, 1_200, 1_800]], [[0, 0, 0, 1_000]], [[0, 0, 900, 900]]), [])
    assert (found["lost"], found["consumed"]) == (900, 100)


# -- peaks -----------------------------------------------------------------------------------------------------------


def test_less_than_an_hour_has_no_peak_hour() -> None:
    assert measure(sides([[0, 60, 120]], [[0, 0, 0]]), [])["peak_hour"] is None


def test_days_are_counted_back_from_the_end() -> None:
    rate = np.concatenate((np.full(720, 999.0), np.full(1_440, 60.0), np.full(1_440, 120.0)))
    end = np.concatenate(([0.0], np.cumsum(rate)))
    assert measure(sides([end.tolist()], [end.tolist()]), [])["day_peaks"] == pytest.approx([1, 2])


def test_plots_have_few_points() -> None:
    end = np.arange(10_081, dtype=np.float64)
    found = measure(sides([end.tolist()], [end.tolist()]), [])
    assert len(found["series_ms"]) == len(found["series_lag"]) <= 240


# -- holes -----------------------------------------------------------------------------------------------------------


def with_hole(of: Sides, first: int, last: int) -> Sides:
    """Nobody saw the edges from the first to the last."""
    return replace(of, grid=of.grid._replace(holes=(Hole((first - 1) * MINUTE_MS, (last + 1) * MINUTE_MS),)))


def test_a_hole_is_where_nothing_was_observed_for_long() -> None:
    observed_ms = whole(*range(0, 600_001, 10_000), *range(4_200_000, 4_500_001, 10_000))
    assert holes_in(0, 4_500_000, observed_ms) == (Hole(600_000, 4_200_000),)
    assert holes_in(1_200_000, 3_000_000, observed_ms) == (Hole(1_200_000, 3_000_000),)


def test_rare_observations_are_no_holes() -> None:
    assert holes_in(0, 6_000_000, np.arange(0, 6_000_001, 600_000)) == ()


def test_after_the_last_observation_nothing_is_measured() -> None:
    assert Grid.of(0, 7_200_000, (Hole(3_600_000, 7_200_000),)).steps == 60


def test_what_came_in_a_hole_counts_in_sum_but_not_as_usual_minutes() -> None:
    end = np.cumsum([0.0] + [600.0] * 10 + [60.0] * 90)
    found = measure(with_hole(sides([end.tolist()], [end.tolist()]), 11, 99), [])
    assert (found["produced"], found["produce_p95"]) == (6_000 + 5_400, 10)


def test_a_day_with_a_hole_that_may_hide_its_peak_has_none() -> None:
    end = np.concatenate(([0.0], np.cumsum(np.full(3 * 1_440, 60.0))))
    of = sides([end.tolist()], [end.tolist()])
    assert measure(with_hole(of, 2_000, 2_100), [])["day_peaks"] == [pytest.approx(1), None, pytest.approx(1)]
    assert None not in measure(with_hole(of, 2_000, 2_030), [])["day_peaks"]


def test_a_lag_in_a_hole_is_none_that_anybody_saw() -> None:
    end = np.concatenate(([0.0] * 10, np.linspace(0, 3_000, 60), [3_000.0] * 10))
    position, log_start = np.where(np.arange(80) < 69, 0.0, 3_000.0), np.maximum(end - 100, 0)
    found = measure(with_hole(sides([end.tolist()], [position.tolist()], [log_start.tolist()]), 10, 68), [])
    assert (found["lag_max"], found["lag_s_max"], found["lost"]) == (0, 0, 0)


def test_a_backlog_in_a_hole_shows_no_capacity() -> None:
    position = np.arange(0, 6_001, 60.0)
    of = sides([(position + 5_000).tolist()], [position.tolist()])
    assert measure(with_hole(of, 1, 98), [])["capacity"] is None


def test_a_time_that_is_all_hole_measures_nothing() -> None:
    assert measure(with_hole(sides([[0, 60, 120]], [[0, 0, 0]]), 0, 2), []) == {}


def test_plots_are_empty_where_nothing_was_seen() -> None:
    end = np.arange(0, 601, 60.0)
    found = measure(with_hole(sides([end.tolist()], [end.tolist()]), 3, 7), [])
    seen = [1.0] * 2 + [None] * 6 + [1.0] * 2
    assert (found["series_produced"], found["series_lag"][4]) == (seen, None)
