"""Where the topics ended before: a few dozen moments from seconds to days ago, close to each other when new.

An end offset at a moment tells when a record was written, and so how old the first unread one is. All partitions of a
cluster are observed together, so a moment is kept once and not for each row: a row costs 8 bytes for each point, and
making room for a new point is a question about a few dozen moments, however many rows there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warren.windows.columns import UNKNOWN, Int64, grown

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

    Over the points in the order of time the ends of a row never fall, and what is not known of it lies before the rest:
    so its place among them is found by halving.
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

    def keep(self, rows: Int64) -> None:
        """Keep the history of these rows only, in this order."""
        self.end, self.newest_end = self.end[:, rows], self.newest_end[rows]

    # -- what comes in -------------------------------------------------------------------------------------------

    def observe(self, rows: Int64, end: Int64, observed_ms: int) -> None:
        """Take the ends of `rows` (no row twice) at one moment; rows that are left out are where they were before.

        A partition that cannot be asked has no leader, as a rule, and then nobody can write to it.
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
        self.end[point] = self.newest_end
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
        around = self._around(rows, self._passed(rows, offset))
        # The end is offset + 1 once the record is there. Shares in float64: whole products would overflow on long logs.
        share = (offset + 1 - around.before_end) / np.maximum(around.after_end - around.before_end, 1)
        share = np.where((around.before_ms > 0) & (around.after_ms > 0), share, 0)
        at_ms = around.before_ms + np.rint(share * (around.after_ms - around.before_ms)).astype(np.int64)
        not_there = np.where(around.before_ms > 0, NOT_YET, UNKNOWN)
        return np.where(around.after_ms == 0, not_there, np.where(around.before_ms == 0, UNKNOWN, at_ms))

    def passed_since(self, rows: Int64, offset: Int64) -> Int64:
        """Since when (ms), at the least, the end is past `offset`: `time_of`, or the start of too short a history."""
        since_ms = self.time_of(rows, offset)
        too_short = np.flatnonzero(since_ms == UNKNOWN)
        since_ms[too_short] = self.oldest_ms(rows[too_short])
        return since_ms

    def end_at(self, rows: Int64, at_ms: Int64) -> Int64:
        """The end at a moment, taken between the points around it; UNKNOWN where they are not on both sides."""
        moments_ms = self.observed_ms[self._in_time()]
        around = self._around(rows, np.searchsorted(moments_ms, at_ms, side="right"))
        share = (at_ms - around.before_ms) / np.maximum(around.after_ms - around.before_ms, 1)
        covered = (around.before_ms > 0) & (around.after_ms > 0)
        grown_by = np.where(covered, share, 0) * (around.after_end - around.before_end)
        exact = (around.before_ms > 0) & (around.before_ms == at_ms)
        return np.where(covered | exact, around.before_end + np.rint(grown_by).astype(np.int64), UNKNOWN)

    def oldest_ms(self, rows: Int64) -> Int64:
        """Where the history of each row begins, UNKNOWN where there is none."""
        first_ms = self._around(rows, self._passed(rows, np.full(len(rows), UNKNOWN, np.int64))).after_ms
        return np.where(first_ms == 0, UNKNOWN, first_ms)

    def rate_per_s(self, rows: Int64, since_ms: Int64) -> Float64:
        """How many records a second the end moved since a moment, or since the history of the row begins if that is
        later; UNKNOWN where there are not two points."""
        newest = self._around(rows, np.full(len(rows), len(self._in_time()), np.int64))
        from_ms = np.maximum(since_ms, self.oldest_ms(rows))
        from_end = self.end_at(rows, from_ms)
        passed_s = (newest.before_ms - from_ms) / 1000
        known = (from_end != UNKNOWN) & (passed_s > 0)
        return np.where(known, (newest.before_end - from_end) / np.where(known, passed_s, 1), UNKNOWN)

    def _in_time(self) -> Int64:
        """The points in use, in the order of time."""
        by_time = np.argsort(self.observed_ms)
        return by_time[self.observed_ms[by_time] > 0]

    def _passed(self, rows: Int64, offset: Int64) -> Int64:
        """For each row the number of points, in the order of time, at which the end was not past `offset`."""
        in_time = self._in_time()
        low, high = np.zeros(len(rows), np.int64), np.full(len(rows), len(in_time), np.int64)
        for _ in range(len(in_time).bit_length()):
            middle = (low + high) // 2
            is_open = low < high
            not_past = self._ends(in_time[np.minimum(middle, len(in_time) - 1)], rows) <= offset
            low = np.where(is_open & not_past, middle + 1, low)
            high = np.where(is_open & ~not_past, middle, high)
        return low

    def _around(self, rows: Int64, place: Int64) -> _Points:
        """The points before and after a place in the order of time, as far as they know anything of the row."""
        in_time = self._in_time()
        if not len(in_time):
            return _Points(*(np.zeros(len(rows), np.int64) for _ in range(4)))
        before, after = in_time[np.maximum(place - 1, 0)], in_time[np.minimum(place, len(in_time) - 1)]
        before_end, after_end = self._ends(before, rows), self._ends(after, rows)
        has_before = (place > 0) & (before_end != UNKNOWN)
        has_after = (place < len(in_time)) & (after_end != UNKNOWN)
        return _Points(
            np.where(has_before, self.observed_ms[before], 0),
            np.where(has_before, before_end, 0),
            np.where(has_after, self.observed_ms[after], 0),
            np.where(has_after, after_end, 0),
        )

    def _ends(self, point: Int64, rows: Int64) -> Int64:
        if not self.end.shape[1]:
            return np.full(len(rows), UNKNOWN, np.int64)
        return np.where(rows >= 0, self.end[point, rows], UNKNOWN)
