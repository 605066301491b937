"""Moments at which everything is measured, and offsets at these moments. Pure."""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MINUTE_MS = 60_000
DAY_MS = 86_400_000
FINE_UNTIL_MS = 8 * DAY_MS
"""A longer time is measured by five minutes instead of one: a plan needs no more, and memory is finite."""

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class Grid(NamedTuple):
    """Equal steps of time, one after the other."""

    from_ms: int
    step_ms: int
    steps: int

    @classmethod
    def of(cls, from_ms: int, to_ms: int) -> Grid:
        """The whole steps of a time; there may be none."""
        step_ms = MINUTE_MS if to_ms - from_ms <= FINE_UNTIL_MS else 5 * MINUTE_MS
        return cls(from_ms, step_ms, max((to_ms - from_ms) // step_ms, 0))

    @property
    def edges_ms(self) -> Float:
        """Where steps begin and end: one more than there are steps."""
        return self.from_ms + self.step_ms * np.arange(self.steps + 1, dtype=np.float64)

    def step_of(self, at_ms: Int) -> Int:
        """The number of the step of each moment; all that was before the first one is one step."""
        return np.maximum((at_ms - self.from_ms) // self.step_ms, -1)

    @property
    def step_s(self) -> float:
        """How long a step is."""
        return self.step_ms / 1000


def at_edges(grid: Grid, at_ms: Float, offsets: Float) -> Float:
    """Offsets at the edges, between two known ones by time; NaN before the first, unchanged after the last."""
    if not len(at_ms):
        return np.full(grid.steps + 1, np.nan)
    found: Float = np.interp(grid.edges_ms, at_ms, offsets, left=np.nan)
    return found


class Points(NamedTuple):
    """Offsets as they were seen, in the order of time; -1 is not known, or was removed."""

    at_ms: Int
    offset: Int

    def known(self) -> Points:
        """Without what is not known."""
        is_known = self.offset >= 0
        return Points(self.at_ms[is_known], self.offset[is_known])


def ends_at_edges(grid: Grid, points: Points, observed_ms: Int) -> Float:
    """Ends of a partition at the edges.

    An end was as before until the last observation before it changed: what came after an hour of silence came at
    once, not over that hour.
    """
    at_ms, offset = points.known()
    if not len(offset):
        return np.full(grid.steps + 1, np.nan)
    before_ms = observed_ms[np.maximum(np.searchsorted(observed_ms, at_ms) - 1, 0)] if len(observed_ms) else at_ms
    still_ms = np.append(at_ms[0], np.maximum(before_ms[1:], at_ms[:-1]))
    still = np.append(offset[0], offset[:-1])
    in_turn = (np.column_stack(both).ravel().astype(np.float64) for both in ((still_ms, at_ms), (still, offset)))
    return at_edges(grid, *in_turn)


def positions_at_edges(grid: Grid, points: Points) -> Float:
    """Where a group was at the edges; not known any more after its offset was removed."""
    at_ms, offset = points.known()
    found = at_edges(grid, at_ms.astype(np.float64), offset.astype(np.float64))
    if len(points.offset) and points.offset[-1] < 0:
        found[grid.edges_ms >= points.at_ms[-1]] = np.nan
    return found


def packed(offsets: Float) -> bytes:
    """A series of offsets in little room: what grows evenly is nearly nothing."""
    whole = np.where(np.isnan(offsets), -1, np.round(offsets)).astype(np.int64)
    return zlib.compress(np.diff(whole, prepend=0).astype("<i8").tobytes(), 1)


def unpacked(data: bytes) -> Float:
    """The series again."""
    whole = np.cumsum(np.frombuffer(zlib.decompress(data), "<i8"))
    return np.where(whole < 0, np.nan, whole.astype(np.float64))
