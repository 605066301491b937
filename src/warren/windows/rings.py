"""The sliding windows themselves: for each row a ring of its newest commits.

What a commit does to a ring is Burrow's rule (see docs/compatibility.md for the two places where it is not).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warren.windows.columns import Block, Bool, Int64, Table

HIGHEST_BOUND = np.iinfo(np.uint32).max
"""Larger lower bounds are stored as this one, which still holds."""

Slots = NDArray[np.integer[Any]]

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
    """One commit of a window; `lag` is an estimate, None where it is unknown, and `lag_at_least` is certain."""

    offset: int
    timestamp_ms: int
    observed_ms: int
    lag: int | None
    lag_at_least: int


class Waiting(NamedTuple):
    """Entries whose lag waits for a head: where each is, its row, and what was committed when."""

    place: Int64
    row: Int64
    offset: Int64
    commit_ms: Int64
    age: Int64
    """How many commits of the row came after it."""
    is_progress: Bool
    """Whether the offset differs from that of the commit before."""

    def take(self, at: Bool) -> Waiting:
        """Only some of them."""
        return Waiting(*(column[at] for column in self))  # type: ignore[arg-type]  # each keeps its kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Windows of some rows, oldest entry first: `[intervals, rows]`; entries from `length` on are padding."""

    offset: Int64
    timestamp_ms: Int64
    lag: Int64
    """An estimate; NULL_LAG where it is not known."""
    lag_at_least: NDArray[np.integer[Any]]
    """Lower bound: unread records that had arrived a second before the commit; 0 where nothing is certain."""
    length: Slots

    def take(self, at: Int64) -> Window:
        """Only some of the rows."""
        return Window(
            offset=self.offset[:, at],
            timestamp_ms=self.timestamp_ms[:, at],
            lag=self.lag[:, at],
            lag_at_least=self.lag_at_least[:, at],
            length=self.length[at],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeWindow(Window):
    """Windows with what no rule asks for, but people do."""

    observed_ms: Int64


ENTRY_KINDS: dict[str, type[np.generic]] = {
    "offset": np.int64,
    "timestamp_ms": np.int64,
    "lag": np.int64,
    "lag_at_least": np.uint32,
    "observed_s": np.uint32,  # whole seconds, as Burrow shows them, at half the memory
}
"""What is kept of each entry."""


def row_kinds(intervals: int) -> dict[str, type[np.generic]]:
    """What is kept of each ring; a sum of two slots must fit, too."""
    slots = np.int8 if 2 * intervals < 128 else np.int16
    return {"newest": slots, "count": slots, "newest_order": np.int64, "touched": np.bool_}


class Rings(Table):
    """A ring of `intervals` commits for each row. Columns of entries are flat, `places` tells where an entry is."""

    offset: Int64
    timestamp_ms: Int64
    lag: Int64
    lag_at_least: NDArray[np.uint32]
    observed_s: NDArray[np.uint32]
    newest: Slots
    """The slot of the newest entry."""
    count: Slots
    newest_order: Int64
    """The order of the newest commit; commits of a lower order change nothing."""
    touched: Bool
    """Rows changed since whoever cares (the snapshot) last set this to False."""

    def __init__(self, intervals: int, min_distance_ms: int) -> None:
        super().__init__({**ENTRY_KINDS, **row_kinds(intervals)}, intervals, frozenset(ENTRY_KINDS))
        self.intervals = intervals
        self.min_distance_ms = min_distance_ms

    def clear(self, rows: Int64) -> None:
        """Forget all entries of `rows`."""
        self.count[rows] = 0
        self.newest[rows] = 0
        self.lag[self.all_places(rows)] = NULL_LAG  # so that no forgotten entry waits for a head
        self.touched[rows] = True

    def forget_until(self, rows: Int64, until_ms: int) -> None:
        """Forget the entries of `rows` up to the last one not committed after `until_ms`.

        The others stay, and their lags wait for other heads.
        """
        place, count = self._in_order(rows), self.count[rows]
        number = np.arange(self.intervals)[:, None]
        old = (number < count) & (self._commit_ms(place) <= until_ms)
        forgotten = np.where(old, number + 1, 0).max(axis=0)
        kept = (number >= forgotten) & (number < count)
        self.lag[place] = np.where(kept, np.minimum(self.lag[place], PENDING_LAG), NULL_LAG)
        self.lag_at_least[place] = 0
        self.count[rows] = count - forgotten
        self.touched[rows] = True

    def _commit_ms(self, place: Int64) -> Int64:
        """When entries were committed; of a merged one the time of its first commit, once its lag is known."""
        merged_ms: Int64 = np.maximum(PENDING_LAG - self.lag[place], 0)
        return self.timestamp_ms[place] + merged_ms

    def move(self, source: Block, target: slice) -> None:
        """Copy the rings of `source` to as many `target` rows, and clear the source."""
        self.copy_rows(source.rows, target)
        self.touched[target] = True
        self.clear(source.row_numbers())

    def keep(self, rows: Int64) -> None:
        """Keep the rings of these rows only, in this order."""
        super().keep(rows)
        self.touched[:] = True

    def newest_places(self, rows: Int64) -> Int64:
        """Where the newest entry of each row is."""
        return self.places(self.newest[rows], rows)

    def last_order(self, rows: Int64) -> Int64:
        """The order of each row's newest entry, -1 where there is none."""
        return np.where(self.count[rows] > 0, self.newest_order[rows], -1)

    def append(self, rows: Int64, commits: Commits, lag_at_least: Int64, now_ms: int) -> None:
        """Add one commit, newer than all there, to each of `rows` (no row twice)."""
        newest = self.newest[rows]
        filled = self.count[rows] > 0
        since_ms = commits.timestamp_ms - self.timestamp_ms[self.places(newest, rows)]
        merge = filled & self._merges(since_ms)
        slot = np.where(merge | ~filled, newest, (newest + 1) % self.intervals)
        opened, place = ~merge, self.places(slot, rows)
        self.timestamp_ms[place[opened]] = commits.timestamp_ms[opened]
        self.offset[place] = commits.offset
        self.newest_order[rows] = commits.order
        self.observed_s[place] = now_ms // 1000
        self.lag[place] = PENDING_LAG - np.where(merge, since_ms, 0)
        self.lag_at_least[place] = np.minimum(lag_at_least, HIGHEST_BOUND)
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

    def waiting(self, rows: Int64) -> Waiting:
        """The entries of `rows` whose lag waits for a head."""
        places = self.all_places(rows)
        slot, column = np.nonzero(self.lag[places] <= PENDING_LAG)
        place, row = places[slot, column], rows[column]
        age = (self.newest[row] - slot) % self.intervals
        before = self.places((slot - 1) % self.intervals, row)
        return Waiting(
            place=place,
            row=row,
            offset=self.offset[place],
            commit_ms=self._commit_ms(place),
            age=age,
            is_progress=(age == self.count[row] - 1) | (self.offset[place] != self.offset[before]),
        )

    def set_lag_at_least(self, waiting: Waiting, lag_at_least: Int64) -> None:
        """Set the lower bounds of lags."""
        self.lag_at_least[waiting.place] = np.minimum(lag_at_least, HIGHEST_BOUND)
        self.touched[waiting.row] = True

    def set_lag(self, waiting: Waiting, lag: Int64) -> None:
        """Write down lags that were waited for."""
        self.lag[waiting.place] = lag
        self.touched[waiting.row] = True

    def waiting_rows(self, used_rows: int) -> Int64:
        """Rows with a lag that waits for a head."""
        waiting = np.zeros(used_rows, np.bool_)
        rows = np.arange(used_rows)
        for slot in range(self.intervals):
            waiting |= self.lag[self.places(slot, rows)] <= PENDING_LAG
        return np.flatnonzero(waiting)

    def windows(self, rows: Int64) -> Window:
        """The windows of `rows`, oldest entry first, as far as the rules go by them."""
        place = self._in_order(rows)
        return Window(
            offset=self.offset.take(place),
            timestamp_ms=self.timestamp_ms.take(place),
            lag=np.maximum(self.lag.take(place), NULL_LAG),
            lag_at_least=self.lag_at_least.take(place),
            length=self.count[rows],
        )

    def whole_windows(self, rows: Int64) -> WholeWindow:
        """The windows of `rows`, oldest entry first."""
        place, window = self._in_order(rows), self.windows(rows)
        return WholeWindow(
            offset=window.offset,
            timestamp_ms=window.timestamp_ms,
            lag=window.lag,
            lag_at_least=window.lag_at_least,
            length=window.length,
            observed_ms=self.observed_s.take(place).astype(np.int64) * 1000,
        )

    def _in_order(self, rows: Int64) -> Int64:
        """Where the entries of each row are, oldest first: `[intervals, rows]`."""
        oldest = self.newest[rows] - self.count[rows] + 1
        oldest += (oldest < 0) * oldest.dtype.type(self.intervals)
        slot = oldest + np.arange(self.intervals, dtype=oldest.dtype)[:, None]
        slot -= (slot >= self.intervals) * slot.dtype.type(self.intervals)
        return self.places(slot, rows)
