"""How the lag of every group has gone lately: what sparklines and charts are drawn of. Pure.

All groups are looked at in the same moments, so a look is one row of numbers, by the groups' codes. The newest looks
are all kept, and of those before only one in half a minute: an hour of 5,000 groups takes about 7 MB. Numbers are kept
to seven digits, which is more than a chart shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Int64 = NDArray[np.int64]

RECENT_LOOKS = 60
OLDER_LOOKS = 120
OLDER_STEP_MS = 30_000
FEWEST_GROUPS = 64
"""Room is made for at least so many."""


class Look(NamedTuple):
    """All groups in one moment, by their codes; NaN where something is not known."""

    at_ms: int
    names: Sequence[str | None]
    lag: Float32
    lag_s: Float32


class Trail(NamedTuple):
    """Some groups over time: `lag[i, j]` is of moment i and group j."""

    at_ms: Int64
    lag: Float32
    lag_s: Float32


class _Ring:
    """The last so many looks."""

    def __init__(self, looks: int) -> None:
        self.at_ms = np.zeros(looks, np.int64)
        self.values = np.full((looks, 2, FEWEST_GROUPS), np.nan, np.float32)
        self._next = 0

    @property
    def newest_ms(self) -> int:
        return int(self.at_ms.max())

    def add(self, look: Look) -> None:
        """The oldest look makes room."""
        groups, place = len(look.names), self._next
        if groups > self.values.shape[2]:
            self._grow(max(groups, 2 * self.values.shape[2]))
        self.at_ms[place] = look.at_ms
        self.values[place] = np.nan
        self.values[place, 0, :groups], self.values[place, 1, :groups] = look.lag, look.lag_s
        self._next = (place + 1) % len(self.at_ms)

    def forget(self, codes: list[int]) -> None:
        """These codes are of other groups from now on."""
        self.values[:, :, [code for code in codes if code < self.values.shape[2]]] = np.nan

    def places(self) -> Int64:
        """Where the looks are, the oldest first."""
        order = np.roll(np.arange(len(self.at_ms)), -self._next)
        return order[self.at_ms[order] > 0]

    def _grow(self, groups: int) -> None:
        more = groups - self.values.shape[2]
        self.values = np.pad(self.values, ((0, 0), (0, 0), (0, more)), constant_values=np.nan)


class Trails:
    """The looks at all groups of a cluster."""

    def __init__(self) -> None:
        self._recent = _Ring(RECENT_LOOKS)
        self._older = _Ring(OLDER_LOOKS)
        self._names: list[str | None] = []

    @property
    def used_bytes(self) -> int:
        """How much memory the numbers take."""
        return self._recent.values.nbytes + self._older.values.nbytes

    def wants_seconds(self, now_ms: int) -> bool:
        """Whether a look at this moment will be kept for an hour."""
        return now_ms - self._older.newest_ms >= OLDER_STEP_MS

    def add(self, look: Look) -> None:
        """Write down a look; one from before the last one is left out, for then the clock was set back."""
        if look.at_ms <= self._recent.newest_ms:
            return
        self._rename(look.names)
        self._recent.add(look)
        if self.wants_seconds(look.at_ms):
            self._older.add(look)

    def _rename(self, names: Sequence[str | None]) -> None:
        """A code that is given to another group has no trail yet."""
        before = self._names
        if list(names) == before:
            return
        known = zip(before, names, strict=False)
        others = [code for code, (was, now) in enumerate(known) if was is not None and was != now]
        others += range(len(names), len(before))
        for ring in (self._recent, self._older):
            ring.forget(others)
        self._names = list(names)

    def of(self, groups: Sequence[str], most: int = RECENT_LOOKS + OLDER_LOOKS) -> Trail:
        """These groups, thinned out to about `most` moments that lie evenly in time; the newest is always there."""
        codes = {name: code for code, name in enumerate(self._names) if name is not None}
        recent, older = self._recent.places(), self._older.places()
        first_ms = int(self._recent.at_ms[recent[0]]) if len(recent) else 0
        older = older[self._older.at_ms[older] < first_ms]
        at_ms = np.concatenate((self._older.at_ms[older], self._recent.at_ms[recent]))
        chosen = _spread(at_ms, most)
        columns = [self._column(codes.get(name), older, recent)[chosen] for name in groups]
        values = np.stack(columns, axis=-1) if columns else np.zeros((len(chosen), 2, 0), np.float32)
        return Trail(at_ms[chosen], values[:, 0], values[:, 1])

    def _column(self, code: int | None, older: Int64, recent: Int64) -> Float32:
        """One group in all moments: [moment, lag or seconds]."""
        if code is None or code >= self._recent.values.shape[2]:
            return np.full((len(older) + len(recent), 2), np.nan, np.float32)
        has_older = code < self._older.values.shape[2]
        before = self._older.values[older, :, code] if has_older else np.full((len(older), 2), np.nan, np.float32)
        return np.concatenate((before, self._recent.values[recent, :, code]))


def _spread(at_ms: Int64, most: int) -> Int64:
    """Which of ascending moments to take so that they are about `most` and lie evenly."""
    if len(at_ms) <= most:
        return np.arange(len(at_ms))
    wanted_ms = np.linspace(at_ms[0], at_ms[-1], most)
    return np.unique(np.searchsorted(at_ms, wanted_ms))
