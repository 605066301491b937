"""When points are taken: at whole multiples of an interval, so that several Warrens mean the same moments. Pure."""

from __future__ import annotations

MOST_LATE = 3
"""So many moments that were missed, since the machine was busy, are made up for; a machine that slept has more."""


def moments_due(after_ms: int, now_ms: int, interval_ms: int) -> list[int]:
    """The multiples of the interval after a moment until now, the oldest first; too many of them are left out."""
    last = now_ms // interval_ms * interval_ms
    first = max(after_ms // interval_ms * interval_ms + interval_ms, last - (MOST_LATE - 1) * interval_ms)
    return list(range(first, last + 1, interval_ms))


def next_moment(now_ms: int, interval_ms: int) -> int:
    """The first multiple after now."""
    return (now_ms // interval_ms + 1) * interval_ms
