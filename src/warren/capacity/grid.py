"""Moments at which everything is measured, and offsets at these moments. Pure."""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warren.capacity.holes import Hole

MINUTE_MS = 60_000
DAY_MS = 86_400_000
FINE_UNTIL_MS = 8 * DAY_MS
"""A longer time is measured by five minutes instead of one: a plan needs no more, and memory is finite."""

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]


class Grid(NamedTuple):
    """Equal steps of time, one after the other."""

    from_ms: int
    step_ms: int
    steps: int
    holes: tuple[Hole, ...] = ()

    @classmethod
    def of(cls, from_ms: int, to_ms: int, holes: tuple[Hole, ...] = ()) -> Grid:
        """The whole steps of a time, up to a hole that it ends with; there may be none."""
        step_ms = MINUTE_MS if to_ms - from_ms <= FINE_UNTIL_MS else 5 * MINUTE_MS
        if holes and from_ms < holes[-1].from_ms and holes[-1].to_ms == to_ms:
            to_ms = holes[-1].from_ms
        return cls(from_ms, step_ms, max((to_ms - from_ms) // step_ms, 0), holes)

    def since(self, edge: int) -> Grid:
        """From one of its edges on."""
        return self._replace(from_ms=self.from_ms + edge * self.step_ms, steps=self.steps - edge)

    @property
    def edges_ms(self) -> Float:
        """Where steps begin and end: one more than there are steps."""
        return self.from_ms + self.step_ms * np.arange(self.steps + 1, dtype=np.float64)

    @property
    def seen_edges(self) -> Bool:
        """Which edges are in no hole."""
        edges_ms, seen = self.edges_ms, np.ones(self.steps + 1, np.bool_)
        for hole in self.holes:
            seen &= (edges_ms <= hole.from_ms) | (edges_ms >= hole.to_ms)
        return seen

    @property
    def seen_steps(self) -> Bool:
        """Which steps have no part in a hole."""
        seen = self.seen_edges
        return np.logical_and(seen[:-1], seen[1:])

    def step_of(self, at_ms: Int) -> Int:
        """The number of the step of each moment; all that was before the first one is one step."""
        return np.maximum((at_ms - self.from_ms) // self.step_ms, -1)

    @property
    def step_s(self) -> float:
        """How long a step is."""
        return self.step_ms / 1000


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

    An end was as before until the last observation before it changed, or was not to be had: what came after an hour
    of silence came at once, not over that hour.
    """
    known = np.flatnonzero(points.offset >= 0)
    if not len(known):
        return np.full(grid.steps + 1, np.nan)
    at_ms, offset = points.at_ms[known], points.offset[known]
    left_ms = points.at_ms[np.append(known[0], known[:-1] + 1)]
    before_ms = observed_ms[np.maximum(np.searchsorted(observed_ms, left_ms) - 1, 0)] if len(observed_ms) else left_ms
    still_ms = np.append(at_ms[0], np.maximum(before_ms[1:], at_ms[:-1]))
    return _moving_from(grid, still_ms, Points(at_ms, offset))


def _moving_from(grid: Grid, still_ms: Int, points: Points) -> Float:
    """Offsets at the edges: each is as the one before until its moment to move, then it comes evenly.

    NaN before the first, unchanged after the last.
    """
    at_ms, offset = points
    still = np.append(offset[0], offset[:-1])
    moments, offsets = (np.column_stack(both).ravel() for both in ((still_ms, at_ms), (still, offset)))
    found: Float = np.interp(grid.edges_ms, moments, offsets, left=np.nan)
    return found


def positions_at_edges(grid: Grid, points: Points, log_start: Float) -> Float:
    """Where a group was at the edges; not known any more after its offset was removed.

    It went on evenly from one commit to the next, unless the log had let go of what came after the first: then it
    stood still, and went on where the log began.
    """
    at_ms, offset = points.known()
    if not len(offset):
        return np.full(grid.steps + 1, np.nan)
    begin = np.interp(at_ms[1:], grid.edges_ms, log_start)
    still_ms = np.append(at_ms[0], np.where(begin > offset[:-1], at_ms[1:], at_ms[:-1]))
    found = _moving_from(grid, still_ms, Points(at_ms, offset))
    if len(points.offset) and points.offset[-1] < 0:
        found[grid.edges_ms >= points.at_ms[-1]] = np.nan
    return found


def series_bytes(offsets: Float) -> bytes:
    """A series of offsets in little room: what grows evenly is nearly nothing."""
    whole = np.where(np.isnan(offsets), -1, np.round(offsets)).astype(np.int64)
    return zlib.compress(np.diff(whole, prepend=0).astype("<i8").tobytes(), 1)


def series_of(data: bytes) -> Float:
    """The series again."""
    whole = np.cumsum(np.frombuffer(zlib.decompress(data), "<i8"))
    return np.where(whole < 0, np.nan, whole.astype(np.float64))
