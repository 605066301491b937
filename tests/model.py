"""Burrow's storage and evaluator, as plainly as they can be said: the oracle that the columns are compared with.

Where Warren is right and Burrow is not (docs/compatibility.md), the model says what Warren does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

NULL = None


@dataclass
class Entry:
    offset: int
    timestamp_ms: int
    order: int
    lag: int | None = None
    commit_ms: int = 0  # of the newest commit merged into this entry
    pending: bool = True  # waits for a head observed after the commit


@dataclass
class Window:
    """The ring of one group-partition."""

    intervals: int
    min_distance_ms: int
    entries: list[Entry] = field(default_factory=list)

    def commit(self, offset: int, timestamp_ms: int, order: int) -> None:
        new = Entry(offset, timestamp_ms, order, commit_ms=timestamp_ms)
        if self.entries and order <= self.entries[-1].order:
            self._insert(new)
            return
        if self.entries and self.intervals > 1 and self._is_near(self.entries[-1], new):
            new.timestamp_ms = self.entries[-1].timestamp_ms
            self.entries[-1] = new
        else:
            self.entries.append(new)
        del self.entries[: -self.intervals]

    def _insert(self, new: Entry) -> None:
        new.pending = False
        full = len(self.entries) == self.intervals
        if any(one.order == new.order for one in self.entries) or (full and new.order < self.entries[0].order):
            return
        place = sum(one.order < new.order for one in self.entries)
        if full and place == 1:
            self.entries[0] = new
        elif place and self._is_near(self.entries[place - 1], new):
            new.timestamp_ms = self.entries[place - 1].timestamp_ms
            self.entries[place - 1] = new
        else:
            self.entries.insert(place, new)
            del self.entries[: -self.intervals]

    def _is_near(self, before: Entry, new: Entry) -> bool:
        return 0 <= new.timestamp_ms - before.timestamp_ms < self.min_distance_ms

    def tombstone(self, order: int) -> None:
        if not self.entries or order > self.entries[-1].order:
            self.entries.clear()

    def resolve(self, heads: list[tuple[int, int]]) -> None:
        """Measure lags that wait, against `heads`: (observed_ms, end) in the order of observation."""
        for one in self.entries:
            if one.pending:
                one.lag, one.pending = lag_at(heads, one.offset, one.commit_ms)


def lag_at(heads: list[tuple[int, int]], offset: int, at_ms: int) -> tuple[int | None, bool]:
    """The lag of a commit, and whether it still waits for a head."""
    after = [(ms, end) for ms, end in heads if ms >= at_ms]
    before = [(ms, end) for ms, end in heads if ms <= at_ms]
    if not after:
        return NULL, True
    if not before:
        return NULL, False
    (ms_0, end_0), (ms_1, end_1) = before[-1], after[0]
    end = end_1 if ms_1 == ms_0 else end_1 - (end_1 - end_0) * (ms_1 - at_ms) // (ms_1 - ms_0)
    return max(0, end - offset), False


def judge(
    entries: list[tuple[int, int, int | None]],
    heads: list[int],
    *,
    now_ms: int,
    intervals: int,
    allowed_lag: int = 0,
    minimum_complete: float = 0.0,
) -> str:
    """Burrow's verdict on one partition: `entries` are (offset, timestamp_ms, lag), oldest first."""
    if not entries or len(entries) / intervals < minimum_complete or not heads:
        return "OK"
    offsets = [offset for offset, _, _ in entries]
    lags = [lag for _, _, lag in entries if lag is not None]
    first_ms, last_ms = entries[0][1], entries[-1][1]
    now_ms = now_ms // 1000 * 1000
    if max(0, heads[-1] - offsets[-1]) <= allowed_lag:
        return "OK"
    if now_ms - last_ms > last_ms - first_ms and not any(head <= offsets[-1] for head in heads):
        return "STOP"
    back = next((i for i in range(1, len(offsets)) if offsets[i] < offsets[i - 1]), None)
    if back is not None and not any(offset >= offsets[back - 1] for offset in offsets[back:]):
        return "REWIND"
    if any(lag <= allowed_lag for lag in lags):
        return "OK"
    if all(offset == offsets[0] for offset in offsets):
        return "STALL"
    if not any(later < earlier for earlier, later in pairwise(lags)):
        return "WARN"
    return "OK"
