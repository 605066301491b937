"""Where the topics ended before: a few dozen moments from seconds to days ago, close to each other when new.

An end offset at a moment tells when a record was written, and so how old the first unread one is. All partitions of a
cluster are observed together, so a moment is kept once and not for each row: a row costs 8 bytes for each point, and
making room for a new point is a question about a few dozen moments, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warren.windows.columns import UNKNOWN, Bool, Int64, grown

Float64 = NDArray[np.float64]

NOT_YET = -2
"""The moment at which a record was written that is not there yet."""

POINTS = 48
REACH_MS = 7 * 24 * 3_600_000


class _Points(NamedTuple):
    """For each row the two points around something; a time of 0 means that there is none on that side."""

    before_ms: Int64
    before_end: Int64
    after_ms: Int64
    after_end: Int64


class HeadHistory:
    """The end offset of every row at the same `points` moments, which reach back at least `reach_ms` once there.

    The older two neighbouring moments are, the further they may be apart: their distance is about the same share of
    their age everywhere. So a time that is read from here has about the same relative error everywhere.
    """

    def __init__(self, points: int = POINTS, reach_ms: int = REACH_MS) -> None:
        if points < 3:
            message = f"a history needs at least 3 points to thin out, not {points}"
            raise ValueError(message)
        self.points = points
        self.reach_ms = reach_ms
        self.observed_ms: Int64 = np.zeros(points, np.int64)  # 0 = point not used yet
        self.end: Int64 = np.zeros((points, 0), np.int64)
        self.newest_end: Int64 = np.zeros(0, np.int64)

    # -- rows ----------------------------------------------------------------------------------------------------

    def grow(self, rows: int) -> None:
        """Make room for `rows` rows."""
        for name in ("end", "newest_end"):
            setattr(self, name, grown(getattr(self, name), rows, UNKNOWN))

    def clear(self, rows: slice) -> None:
        """Forget the history of `rows`."""
        self.end[:, rows] = UNKNOWN
        self.newest_end[rows] = UNKNOWN

    def move(self, source: slice, target: slice) -> None:
        """Copy the history of `source` rows to as many `target` rows, and clear the source."""
        self.end[:, target] = self.end[:, source]
        self.newest_end[target] = self.newest_end[source]
        self.clear(source)

    # -- what comes in -------------------------------------------------------------------------------------------

    def observe(self, rows: Int64, end: Int64, observed_ms: int) -> None:
        """Take the ends of `rows` (no row twice) at one moment; rows that are left out have no end then.

        Where the end went down the topic was made again or cut off: what was known of that row holds no more.
        """
        point = self._point_at(observed_ms)
        restarted = rows[end < self.newest_end[rows]]
        if len(restarted):
            self.end[:, restarted] = UNKNOWN
        self.end[point, rows] = end
        self.newest_end[rows] = end

    def _point_at(self, observed_ms: int) -> int:
        """The point of this moment; an empty one if the moment is new."""
        # The clock was set back: what it said for later times would stand before what comes now, in the wrong order.
        self.observed_ms[self.observed_ms > observed_ms] = 0
        same = np.flatnonzero(self.observed_ms == observed_ms)
        if len(same):
            return int(same[0])
        free = np.flatnonzero(self.observed_ms == 0)
        point = int(free[0]) if len(free) else self._least_missed(observed_ms)
        self.end[point] = UNKNOWN
        self.observed_ms[point] = observed_ms
        return point

    def _least_missed(self, now_ms: int) -> int:
        """The point to give up: the oldest if the one after it reaches far enough, else where points are densest.

        Dense is meant by age: the point whose neighbours would be least apart, as a share of the older one's age.
        """
        by_age = np.argsort(self.observed_ms)
        at_ms = self.observed_ms[by_age]
        if now_ms - at_ms[1] >= self.reach_ms:
            return int(by_age[0])
        share = (at_ms[2:] - at_ms[:-2]) / (now_ms - at_ms[:-2])
        return int(by_age[1 + share.argmin()])

    # -- what goes out -------------------------------------------------------------------------------------------

    def time_of(self, rows: Int64, offset: Int64) -> Int64:
        """When the record at `offset` was written (ms), taken between the points around it.

        UNKNOWN: before the history of that row, see `oldest_ms`. NOT_YET: there is no such record. A row of -1 is
        one without any history.
        """
        around = self._around(rows, lambda _, end: end <= offset)
        # The end is offset + 1 once the record is there. Shares in float64: whole products would overflow on long logs.
        share = (offset + 1 - around.before_end) / np.maximum(around.after_end - around.before_end, 1)
        share = np.where(around.before_ms > 0, share, 0)
        at_ms = around.before_ms + np.rint(share * (around.after_ms - around.before_ms)).astype(np.int64)
        not_there = np.where(around.before_ms > 0, NOT_YET, UNKNOWN)
        return np.where(around.after_ms == 0, not_there, np.where(around.before_ms == 0, UNKNOWN, at_ms))

    def passed_since(self, rows: Int64, offset: Int64) -> Int64:
        """Since when (ms), at the least, the end is past `offset`: `time_of`, or the start of too short a history."""
        at_ms = self.time_of(rows, offset)
        return np.where(at_ms == UNKNOWN, self.oldest_ms(rows), at_ms)

    def end_at(self, rows: Int64, at_ms: Int64) -> Int64:
        """The end at a moment, taken between the points around it; UNKNOWN where they are not on both sides."""
        around = self._around(rows, lambda seen_ms, _: seen_ms <= at_ms)
        share = (at_ms - around.before_ms) / np.maximum(around.after_ms - around.before_ms, 1)
        covered = (around.before_ms > 0) & (around.after_ms > 0)
        grown_by = np.where(covered, share, 0) * (around.after_end - around.before_end)
        exact = (around.before_ms > 0) & (around.before_ms == at_ms)
        return np.where(covered | exact, around.before_end + np.rint(grown_by).astype(np.int64), UNKNOWN)

    def oldest_ms(self, rows: Int64) -> Int64:
        """Where the history of each row begins, UNKNOWN where there is none."""
        first_ms = self._around(rows, lambda _, end: np.zeros(len(end), np.bool_)).after_ms
        return np.where(first_ms == 0, UNKNOWN, first_ms)

    def rate_per_s(self, rows: Int64, since_ms: Int64) -> Float64:
        """How many records a second the end moved since a moment, or since the history of the row begins if that is
        later; UNKNOWN where there are not two points."""
        newest = self._around(rows, lambda _, end: np.ones(len(end), np.bool_))
        from_ms = np.maximum(since_ms, self.oldest_ms(rows))
        from_end = self.end_at(rows, from_ms)
        passed_s = (newest.before_ms - from_ms) / 1000
        known = (from_end != UNKNOWN) & (passed_s > 0)
        return np.where(known, (newest.before_end - from_end) / np.where(known, passed_s, 1), UNKNOWN)

    def _around(self, rows: Int64, is_before: Callable[[int, Int64], Bool]) -> _Points:
        """The last point that is before something, by its moment and each row's end, and the first that is not."""
        before_ms, before_end, after_ms, after_end = (np.zeros(len(rows), np.int64) for _ in range(4))
        for point in np.argsort(self.observed_ms).tolist():
            seen_ms = int(self.observed_ms[point])
            if seen_ms == 0:
                continue
            end = self._ends(point, rows)
            before = is_before(seen_ms, end)
            earlier = (end != UNKNOWN) & before
            later = (end != UNKNOWN) & ~before & (after_ms == 0)
            np.copyto(before_ms, seen_ms, where=earlier)
            np.copyto(before_end, end, where=earlier)
            np.copyto(after_ms, seen_ms, where=later)
            np.copyto(after_end, end, where=later)
        return _Points(before_ms, before_end, after_ms, after_end)

    def _ends(self, point: int, rows: Int64) -> Int64:
        end = np.full(len(rows), UNKNOWN, np.int64)
        known = rows >= 0
        end[known] = self.end[point, rows[known]]
        return end
