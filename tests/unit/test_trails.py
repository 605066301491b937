"""How lag has gone: every moment of the last minutes, fewer before, nothing of other groups."""

from __future__ import annotations

import math

import numpy as np

from warren.rules.trails import OLDER_STEP_MS, Look, Trails

T0_MS = 1_700_000_000_000


def look(at_s: float, names: list[str | None], lag: list[float]) -> Look:
    values = np.array(lag, np.float32)
    return Look(T0_MS + int(at_s * 1000), names, values, values / 10)


def watched(seconds: int, step_s: int = 5) -> Trails:
    """One group whose lag is the second."""
    trails = Trails()
    for at_s in range(0, seconds, step_s):
        trails.add(look(at_s, ["billing"], [float(at_s)]))
    return trails


def seconds(trails: Trails, most: int = 1_000) -> list[int]:
    return ((trails.of(["billing"], most).at_ms - T0_MS) // 1000).tolist()


def test_every_look_of_the_first_minutes_is_kept() -> None:
    trail = watched(60).of(["billing"])

    assert trail.lag[:, 0].tolist() == [float(at_s) for at_s in range(0, 60, 5)]
    assert np.allclose(trail.lag_s[:, 0], trail.lag[:, 0] / 10)


def test_of_what_is_older_there_is_a_look_in_each_half_minute_for_an_hour() -> None:
    found = np.diff(seconds(watched(2 * 3600)))

    assert (found[-59:] == 5).all()
    assert (found[:-60] == OLDER_STEP_MS // 1000).all()
    assert found.sum() > 3_500


def test_a_trail_that_is_thinned_out_keeps_its_newest_look_and_is_even() -> None:
    trails = watched(3600)
    found = seconds(trails, most=40)

    assert found[-1] == 3595
    assert 30 <= len(found) <= 40
    assert max(np.diff(found)) <= 130


def test_a_code_that_is_given_to_another_group_begins_anew() -> None:
    trails = Trails()
    trails.add(look(0, [None, "old", "stays"], [math.nan, 5, 7]))
    trails.add(look(5, [None, "new", "stays"], [math.nan, 6, 8]))
    found = trails.of(["new", "stays", "old"]).lag

    assert found[1, 0] == 6
    assert math.isnan(found[0, 0])
    assert found[:, 1].tolist() == [7, 8]
    assert np.isnan(found[:, 2]).all()


def test_a_group_that_comes_later_has_no_past() -> None:
    trails = watched(10)
    names: list[str | None] = ["billing", *(f"g{number}" for number in range(500))]
    trails.add(look(10, names, [float(number) for number in range(501)]))
    found = trails.of(["g499"]).lag[:, 0]

    assert found[-1] == 500
    assert np.isnan(found[:-1]).all()


def test_a_clock_that_is_set_back_adds_nothing() -> None:
    trails = watched(60)
    trails.add(look(30, ["billing"], [1.0]))

    assert seconds(trails) == list(range(0, 60, 5))


def test_nothing_is_known_before_the_first_look() -> None:
    assert Trails().of(["billing"]).lag.shape == (0, 1)


def test_five_thousand_groups_take_less_than_ten_megabytes() -> None:
    trails = Trails()
    names: list[str | None] = [f"group-{number}" for number in range(5_000)]
    trails.add(look(0, names, [1.0] * 5_000))

    assert trails.used_bytes < 10_000_000
