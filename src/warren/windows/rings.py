"""The sliding windows themselves: for each row a ring of its newest commits.

Columns are interval-major (`[intervals, rows]`), so an operation over all rows runs over contiguous memory.
What a commit does to a ring is Burrow's rule (see docs/compatibility.md for the two places where it is not).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warren.windows.columns import Bool, Int32, Int64, grown

NULL_LAG = -1
"""The lag of this entry is not known and never will be."""

PENDING_LAG = -2
"""The lag waits for a head observed after the commit. `PENDING_LAG - d` says that the commit came d ms after the
entry's own time, which is the time of the first commit that min-distance merged into it."""


class Commits(NamedTuple):
    """Commits as columns, one element each."""

    offset: Int64
    timestamp_ms: Int64
    order: Int64


class Entry(NamedTuple):
    """One commit of a window; `lag` is None where it is unknown."""

    offset: int
    timestamp_ms: int
    observed_ms: int
    order: int
    lag: int | None


class _RawEntry(NamedTuple):
    """One commit of a window as the columns hold it."""

    offset: int
    timestamp_ms: int
    observed_s: int
    order: int
    lag: int


class Ordered(NamedTuple):
    """Windows of some rows, oldest entry first: `[intervals, rows]`; entries from `length` on are padding."""

    offset: Int64
    timestamp_ms: Int64
    observed_ms: Int64
    order: Int64
    lag: Int64
    length: Int32


class Rings:
    """A ring of `intervals` commits for each row."""

    def __init__(self, intervals: int, min_distance_ms: int) -> None:
        self.intervals = intervals
        self.min_distance_ms = min_distance_ms
        shape = (intervals, 0)
        self.offset: Int64 = np.zeros(shape, np.int64)
        self.timestamp_ms: Int64 = np.zeros(shape, np.int64)
        self.order: Int64 = np.zeros(shape, np.int64)
        self.lag: Int64 = np.zeros(shape, np.int64)
        self.observed_s = np.zeros(shape, np.uint32)  # whole seconds, as Burrow shows them, at half the memory
        self.newest: Int32 = np.zeros(0, np.int32)
        self.count: Int32 = np.zeros(0, np.int32)
        self.touched: Bool = np.zeros(0, np.bool_)
        """Rows changed since whoever cares (the snapshot) last set this to False."""

    def grow(self, rows: int) -> None:
        """Make room for `rows` rows."""
        for name in ("offset", "timestamp_ms", "order", "lag", "observed_s", "newest", "count", "touched"):
            setattr(self, name, grown(getattr(self, name), rows, 0))

    def clear(self, rows: Int64 | slice) -> None:
        """Forget all entries of `rows`."""
        self.count[rows] = 0
        self.newest[rows] = 0
        self.lag[:, rows] = NULL_LAG  # so that no forgotten entry waits for a head
        self.touched[rows] = True

    def move(self, source: slice, target: slice) -> None:
        """Copy the rings of `source` rows to as many `target` rows, and clear the source."""
        for column in (self.offset, self.timestamp_ms, self.order, self.lag, self.observed_s):
            column[:, target] = column[:, source]
        self.newest[target] = self.newest[source]
        self.count[target] = self.count[source]
        self.touched[target] = True
        self.clear(source)

    def newest_order(self, rows: Int64) -> Int64:
        """The order of each row's newest entry, -1 where there is none."""
        return np.where(self.count[rows] > 0, self.order[self.newest[rows], rows], -1)

    def append(self, rows: Int64, commits: Commits, now_ms: int) -> None:
        """Add one commit, newer than all there, to each of `rows` (no row twice)."""
        newest = self.newest[rows]
        filled = self.count[rows] > 0
        since_ms = commits.timestamp_ms - self.timestamp_ms[newest, rows]
        merge = filled & self._merges(since_ms)
        slot = np.where(merge | ~filled, newest, (newest + 1) % self.intervals)
        opened = ~merge
        self.timestamp_ms[slot[opened], rows[opened]] = commits.timestamp_ms[opened]
        self.offset[slot, rows] = commits.offset
        self.order[slot, rows] = commits.order
        self.observed_s[slot, rows] = now_ms // 1000
        self.lag[slot, rows] = PENDING_LAG - np.where(merge, since_ms, 0)
        self.newest[rows] = slot
        self.count[rows] = np.minimum(self.count[rows] + opened, self.intervals)
        self.touched[rows] = True

    def _merges(self, since_ms: Int64) -> Bool:
        """Whether a commit this long after an entry overwrites it instead of opening the next one.

        A ring of one entry never merges: its only entry is also its oldest, which is replaced.
        A commit that is earlier than the entry opens a new one; Burrow merges it, which freezes the window (D2).
        """
        near: Bool = (since_ms >= 0) & (since_ms < self.min_distance_ms)
        return near if self.intervals > 1 else np.zeros_like(near)

    def insert(self, row: int, offset: int, timestamp_ms: int, order: int, now_ms: int) -> None:
        """Put one commit that is not newer than all there in its place by `order`, without a lag."""
        entries = self._raw_entries(row)
        orders = [entry.order for entry in entries]
        full = len(entries) == self.intervals
        if order in orders or (full and order < orders[0]):
            return
        place = sum(known < order for known in orders)
        entry = _RawEntry(offset, timestamp_ms, now_ms // 1000, order, NULL_LAG)
        before = entries[place - 1] if place else None
        if full and place == 1:
            entries[0] = entry  # it takes the place of the oldest, without the test for min-distance
        elif before and 0 <= timestamp_ms - before.timestamp_ms < self.min_distance_ms:
            entries[place - 1] = entry._replace(timestamp_ms=before.timestamp_ms)
        else:
            entries.insert(place, entry)
        self._rewrite(row, entries[-self.intervals :])

    def _raw_entries(self, row: int) -> list[_RawEntry]:
        count, newest = int(self.count[row]), int(self.newest[row])
        slots = [(newest - back) % self.intervals for back in range(count - 1, -1, -1)]
        columns = (self.offset, self.timestamp_ms, self.observed_s, self.order, self.lag)
        return [_RawEntry(*(int(column[slot, row]) for column in columns)) for slot in slots]

    def _rewrite(self, row: int, entries: list[_RawEntry]) -> None:
        for slot, entry in enumerate(entries):
            self.offset[slot, row] = entry.offset
            self.timestamp_ms[slot, row] = entry.timestamp_ms
            self.observed_s[slot, row] = entry.observed_s
            self.order[slot, row] = entry.order
            self.lag[slot, row] = entry.lag
        self.newest[row] = len(entries) - 1
        self.count[row] = len(entries)
        self.touched[row] = True

    def set_lag(self, slot: Int64, row: Int64, lag: Int64) -> None:
        """Write down lags that were waited for."""
        self.lag[slot, row] = lag
        self.touched[row] = True

    def waiting_rows(self) -> Int64:
        """Rows with a lag that waits for a head."""
        waiting = np.zeros(len(self.count), np.bool_)
        for lag in self.lag:
            waiting |= lag <= PENDING_LAG
        return np.flatnonzero(waiting)

    def ordered(self, rows: Int64) -> Ordered:
        """The windows of `rows`, oldest entry first."""
        count = self.count[rows]
        oldest = self.newest[rows] - count + 1
        slot = (oldest + np.arange(self.intervals)[:, None]) % self.intervals
        observed_ms = self.observed_s[slot, rows].astype(np.int64) * 1000
        lag = np.maximum(self.lag[slot, rows], NULL_LAG)
        return Ordered(
            self.offset[slot, rows], self.timestamp_ms[slot, rows], observed_ms, self.order[slot, rows], lag, count
        )

    def entries(self, row: int) -> list[Entry]:
        """One row's window as entries, oldest first."""
        return [
            Entry(raw.offset, raw.timestamp_ms, raw.observed_s * 1000, raw.order, None if raw.lag < 0 else raw.lag)
            for raw in self._raw_entries(row)
        ]
