"""Sizing for any load: more to do never needs less, and what is advised meets the target."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from warren.capacity.grid import Grid, series_bytes, series_of
from warren.capacity.measure import Sides, measure
from warren.capacity.measured import NOTHING, SERIES, Measured
from warren.capacity.sizing import Target, size

minutes = st.lists(st.integers(0, 100_000), min_size=1, max_size=90)
capacities = st.floats(0.5, 5_000)
targets = st.builds(Target, st.floats(0, 7_200), st.floats(0, 3), st.floats(0, 0.9))


def measured(produced: list[int], capacity: float) -> Measured:
    """A topic of one partition into which so much comes each minute, and which nobody reads."""
    end = np.concatenate(([0.0], np.cumsum(produced)))[None, :]
    grid = Grid(0, 60_000, len(produced))
    sides = Sides(grid, np.array([0]), end, np.zeros_like(end), np.zeros_like(end))
    numbers = {name: value for name, value in measure(sides, []).items() if name not in SERIES}
    found = Measured.from_row({**NOTHING, **numbers, "partitions": 1})
    return replace(found, capacity=capacity)


@given(minutes, capacities, targets, st.floats(0, 2))
def test_more_growth_never_needs_fewer_consumers(
    produced: list[int], capacity: float, target: Target, more: float
) -> None:
    one = measured(produced, capacity)
    now, later = size(one, target), size(one, target._replace(growth=target.growth + more))
    assert (later.consumers_needed or 0) >= (now.consumers_needed or 0)


@given(minutes, capacities, targets, st.floats(0, 7_200))
def test_more_time_to_drain_never_needs_more_consumers(
    produced: list[int], capacity: float, target: Target, more_s: float
) -> None:
    one = measured(produced, capacity)
    now, later = size(one, target), size(one, target._replace(drain_s=target.drain_s + more_s))
    assert (later.consumers_needed or 0) <= (now.consumers_needed or 0)


@given(minutes, capacities, targets)
def test_never_fewer_partitions_than_there_are_nor_than_consumers(
    produced: list[int], capacity: float, target: Target
) -> None:
    found = size(measured(produced, capacity), target)
    assert (found.partitions_needed or 0) >= max(found.measured.partitions, found.consumers_needed or 0)


@given(minutes, st.floats(60, 1_800), st.floats(0, 1))
def test_at_the_needed_rate_no_record_waits_longer_than_the_drain_time(
    produced: list[int], drain_s: float, growth: float
) -> None:
    """A queue that is worked off at that rate, minute by minute, is never longer than the drain time takes."""
    needed = size(measured(produced, 1.0), Target(drain_s, growth)).demand.rate
    backlog = 0.0
    for came in produced:
        backlog = max(backlog + came * (1 + growth) - needed * 60, 0.0)
        # windows between those that are looked at may hold a little more: their lengths grow by a fifth at the most
        assert backlog <= needed * drain_s * 1.2 + 1e-3


@given(minutes, capacities, targets)
def test_every_load_is_explained(produced: list[int], capacity: float, target: Target) -> None:
    found = size(measured(produced, capacity), target)
    assert found.why
    assert found.trend
    assert found.catch_up


@given(st.lists(st.one_of(st.none(), st.integers(0, 1 << 52)), min_size=1))
def test_a_series_from_its_bytes_is_the_same_again(offsets: list[int | None]) -> None:
    series = np.array([np.nan if one is None else one for one in offsets], np.float64)
    np.testing.assert_array_equal(series_of(series_bytes(series)), series)
