"""Where the topics end: the last observations of every partition's end offset, and its log start.

A lag is measured against the end offset at the moment of the commit, taken between the observation before it and the
one after it. Never against an observation from before the commit alone: that is how lag comes in as 0 while it is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from warren.windows.columns import UNKNOWN, Block, BlockAllocator, Int64, grown
from warren.windows.head_history import HeadHistory
from warren.windows.rings import NULL_LAG, PENDING_LAG

LOG_START_POINTS = 12
"""Enough to tell how fast a log loses its beginning."""


class HeadRows(NamedTuple):
    """One observation of heads as columns; `topic` indexes `topics`. An offset of -1 was not to be had."""

    topics: list[str]
    topic: Int64
    partition: Int64
    end: Int64
    log_start: Int64
    observed_ms: int
    cluster_id: str = ""


class Heads:
    """The last `intervals` end offsets of every topic-partition of a cluster."""

    def __init__(self, intervals: int) -> None:
        self.intervals = intervals
        self.topics: dict[str, Block] = {}
        self._blocks = BlockAllocator()
        self.end: Int64 = np.zeros((intervals, 0), np.int64)
        self.observed_ms: Int64 = np.zeros((intervals, 0), np.int64)  # 0 = slot not filled yet
        self.newest: Int64 = np.zeros(0, np.int64)
        self.log_start: Int64 = np.zeros(0, np.int64)
        self.history = HeadHistory()
        self.log_start_history = HeadHistory(LOG_START_POINTS)

    def ensure(self, topic: str, partitions: int) -> bool:
        """Know `topic` with at least `partitions` partitions; True if its rows are new or have moved."""
        old = self.topics.get(topic)
        if old and old.length >= partitions:
            return False
        block = self._blocks.allocate(partitions)
        self._grow()
        self._clear(block.rows)
        if old:
            self._move(old, block)
        self.topics[topic] = block
        return True

    def _grow(self) -> None:
        rows = self._blocks.used_rows
        for name in ("end", "observed_ms", "newest", "log_start"):
            setattr(self, name, grown(getattr(self, name), rows, 0))
        for history in (self.history, self.log_start_history):
            history.grow(rows)

    def _clear(self, rows: slice) -> None:
        self.end[:, rows] = UNKNOWN
        self.observed_ms[:, rows] = 0
        self.newest[rows] = 0
        self.log_start[rows] = UNKNOWN
        for history in (self.history, self.log_start_history):
            history.clear(rows)

    def _move(self, old: Block, new: Block) -> None:
        target = slice(new.start, new.start + old.length)
        for column in (self.end, self.observed_ms, self.newest, self.log_start):
            column[..., target] = column[..., old.rows]
        for history in (self.history, self.log_start_history):
            history.move(old.rows, target)
        self._blocks.release(old)

    @property
    def used_rows(self) -> int:
        """Rows up to here are, or were, in use."""
        return self._blocks.used_rows

    def adopt(self, topics: dict[str, Block]) -> None:
        """Take over rows that were laid out before; their content comes after."""
        self._blocks.adopt(topics.values())
        self.topics = dict(topics)
        self._grow()
        self._clear(slice(0, self._blocks.used_rows))

    def forget(self, topic: str) -> None:
        """The topic is gone."""
        self._blocks.release(self.topics.pop(topic))

    def observe(self, rows: HeadRows) -> None:
        """Add one observation; every topic in it must have been given room by `ensure`."""
        starts = np.array([self.topics[name].start for name in rows.topics], np.int64)
        at = starts[rows.topic] + rows.partition
        seen, start_seen = rows.end >= 0, rows.log_start >= 0
        self.log_start[at[start_seen]] = rows.log_start[start_seen]
        self._advance(at[seen], rows.end[seen], rows.observed_ms)
        self.history.observe(at[seen], rows.end[seen], rows.observed_ms)
        self.log_start_history.observe(at[start_seen], rows.log_start[start_seen], rows.observed_ms)

    def _advance(self, at: Int64, end: Int64, observed_ms: int) -> None:
        first = self.observed_ms[self.newest[at], at] == 0
        slot = np.where(first, self.newest[at], (self.newest[at] + 1) % self.intervals)
        self.end[slot, at] = end
        self.observed_ms[slot, at] = observed_ms
        self.newest[at] = slot

    def current(self, at: Int64) -> Int64:
        """The newest end offset of each row in `at`, UNKNOWN where there is none (also where `at` is -1)."""
        return self._known(at, lambda known: self.end[self.newest[known], known])

    def log_start_of(self, at: Int64) -> Int64:
        """The log start of each row in `at`, UNKNOWN where it was never observed."""
        return self._known(at, lambda known: self.log_start[known])

    def lowest(self, at: Int64) -> Int64:
        """The lowest end offset still remembered of each row in `at`, UNKNOWN where there is none."""
        highest = np.iinfo(np.int64).max

        def lowest(known: Int64) -> Int64:
            ends = np.where(self.observed_ms[:, known] > 0, self.end[:, known], highest).min(axis=0)
            return np.where(ends == highest, UNKNOWN, ends)

        return self._known(at, lowest)

    def _known(self, at: Int64, read: Callable[[Int64], Int64]) -> Int64:
        values = np.full(len(at), UNKNOWN, np.int64)
        known = at >= 0
        values[known] = read(at[known])
        return values

    def lag_of(self, at: Int64, offset: Int64, at_ms: Int64) -> Int64:
        """The lag of commits of `offset` made at `at_ms`.

        PENDING_LAG: no observation after the commit yet. NULL_LAG: none from before it, so the end at its moment
        cannot be told.
        """
        before_ms, before_end, after_ms, after_end = self._neighbours(at, at_ms)
        passed = np.maximum(after_ms - before_ms, 1)
        grown_by = np.where(before_ms > 0, after_end - before_end, 0)
        # float64 would lose records on long logs: the share of the interval is exact in integers
        end = after_end - grown_by * (after_ms - at_ms) // passed
        lag = np.maximum(end - offset, 0)
        return np.where(after_ms == 0, PENDING_LAG, np.where(before_ms == 0, NULL_LAG, lag))

    def _neighbours(self, at: Int64, at_ms: Int64) -> tuple[Int64, Int64, Int64, Int64]:
        """Time and end of the last observation not after `at_ms`, and of the first not before it; time 0 = none."""
        before_ms, before_end, after_ms, after_end = (np.zeros(len(at), np.int64) for _ in range(4))
        for slot in range(self.intervals):
            seen_ms, end = self.observed_ms[slot, at], self.end[slot, at]
            earlier = (seen_ms > 0) & (seen_ms <= at_ms) & (seen_ms > before_ms)
            later = (seen_ms >= at_ms) & (seen_ms > 0) & ((after_ms == 0) | (seen_ms < after_ms))
            before_ms, before_end = np.where(earlier, seen_ms, before_ms), np.where(earlier, end, before_end)
            after_ms, after_end = np.where(later, seen_ms, after_ms), np.where(later, end, after_end)
        return before_ms, before_end, after_ms, after_end
