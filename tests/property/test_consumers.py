"""No invented lag: over thousands of made-up producers and consumers Warren's rules are never worse than Burrow's.

A consumer that keeps up is OK in every second, from the first one after a start on. One that does not is found no later
than by Burrow's rules with Burrow's lags, taken over all cases.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.consumer_simulation import (
    RULE_SETS,
    STALE,
    TIMINGS,
    TROUBLES,
    Sampled,
    Timing,
    random_cases,
    simulate,
)

QUICK, LONG = 40, 1_000
"""Cases of each timing; twelve timings."""
LONG_COMMIT_MS = 20_000
"""Commits so far apart make a window of minutes."""


@pytest.fixture(scope="module")
def cases_a_timing(is_long: bool) -> int:
    return LONG if is_long else QUICK


@pytest.mark.parametrize("timing", TIMINGS, ids=str)
def test_a_consumer_that_keeps_up_is_ok_in_every_second(timing: Timing, cases_a_timing: int) -> None:
    told = simulate(random_cases(1, timing, "keeps up", cases_a_timing), timing)

    assert {name: told.share_in_trouble(name) for name in RULE_SETS[1:]} == {"burrow": 0, "warren": 0}


@pytest.fixture(scope="module")
def in_trouble(cases_a_timing: int, is_long: bool) -> list[Sampled]:
    timings = TIMINGS if is_long else [one for one in TIMINGS if one.commit_ms < LONG_COMMIT_MS]
    count = cases_a_timing // 4
    return [simulate(random_cases(1, timing, one, count), timing) for one in TROUBLES for timing in timings]


@pytest.mark.parametrize("rule_set", RULE_SETS[1:])
def test_trouble_is_found_no_later_than_by_burrow(in_trouble: list[Sampled], rule_set: str) -> None:
    delay_s = {name: np.concatenate([told.delays_s(name) for told in in_trouble]).mean() for name in RULE_SETS}

    assert delay_s[rule_set] <= delay_s[STALE]


def found_within(told: Sampled, rule_set: str, limit_s: float) -> float:
    """Return the share of cases that are found so soon."""
    return float((told.delays_s(rule_set) <= limit_s).mean())


@pytest.mark.parametrize("timing", [one for one in TIMINGS if one.commit_ms > 1_000], ids=str)
def test_a_consumer_that_gets_half_is_found_within_a_window_however_seldom_ends_are_observed(timing: Timing) -> None:
    """Burrow's issue 375: lag 0 although a consumer falls behind.

    The window has to hold nothing but commits from then on, and an observation has to come after the last of them.
    """
    told = simulate(random_cases(2, timing, "reads half", 40), timing)

    assert found_within(told, "burrow", (timing.window_ms + timing.commit_ms + timing.refresh_ms) / 1000 + 2) == 1
