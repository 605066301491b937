"""Burrow's rules: how one partition's window is judged, over many partitions at once.

The order of the questions matters and is Burrow's:

  1  lag now at most the allowed lag, marks of transactions aside           OK
  2  silent for longer than the window spans, and not at the end lately     STOP
  3  went back, and did not reach the old place again                       REWIND
  4  lag was at most the allowed lag somewhere in the window                OK
  5  every commit in the window is of the same offset                       STALL
  6  lag never fell                                                         WARN
  7  otherwise                                                              OK

Burrow measures a lag against the last end that it fetched, so its lags are too small by what arrived since. Warren
estimates the lag at the moment of the commit, which can err both ways, and keeps the part that is certain. Where
estimate and certain part agree, Warren judges exactly as Burrow does. Otherwise:

  1  Transaction markers are no lag, once Warren has looked into the log.
  2  Silence counts only if there was something to commit for two usual distances of commits.
  4  A group also counts as caught up if no lag of its window is certain: each commit reached the end observed before.
  6  The certain lags never fell and all exceed the allowed lag, as in Burrow. Or the estimates never fell over a full
     window and show a rise: a certain lag exceeds the first estimate, or each estimate exceeds the one before. The
     second half finds a consumer that falls behind long before its lag spans two observations. Neither half takes a
     consumer that keeps up with batches for one that falls behind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warren.rules.rule import (
    Rule,
    Settings,
    UnreadSince,
    any_entry,
    filled,
    first_yes,
    is_behind,
    known_lags,
    last_entry,
)
from warren.windows.columns import UNKNOWN, Bool, Int64
from warren.windows.heads import IN_FLIGHT_MS
from warren.windows.rings import Window
from warren.windows.views import Partitions

PATIENCE_MS = 60_000
"""Most consumers commit at least once a minute."""

ENOUGH_LAGS = 3
"""Fewer estimates do not show a rise."""


def rules(
    of: Partitions, settings: Settings, *, now_ms: int | Int64, unread_since: UnreadSince, clock_skew_ms: int
) -> NDArray[np.int8]:
    """The rule that decides each partition; the ones before 2 have been asked."""
    window, allowed = of.window, settings.allowed_lag
    now_ms = now_ms // 1000 * 1000  # Burrow's clock has whole seconds
    stopped = is_stopped(window, of.lowest_head, now_ms)
    if len(at := np.flatnonzero(stopped)):  # usually few, and looking up since when records are unread takes time
        moment_ms = now_ms if isinstance(now_ms, int) else now_ms[at]
        stopped[at] = ~had_no_time(window.take(at), unread_since(at), moment_ms, clock_skew_ms)
    questions = [
        (Rule.ONLY_MARKS, of.newest_offset + allowed >= of.readable_end),
        (Rule.STOPPED, stopped),
        (Rule.REWOUND, is_rewound(window)),
        (Rule.CAUGHT_UP_LATELY, was_caught_up(window, allowed)),
        (Rule.KEEPS_UP, ~is_behind(window, allowed)),
        (Rule.STALLED, is_stalled(window)),
        (Rule.FALLING_BEHIND, falls_behind(window, allowed)),
    ]
    return first_yes(questions, otherwise=Rule.LAG_FELL)


def first_too_many(of: Partitions, settings: Settings) -> Int64:
    """The offset whose record makes the lag of each partition larger than allowed."""
    return last_entry(of.window.offset, of.window) + settings.allowed_lag


def is_stopped(window: Window, lowest_head: Int64, now_ms: int | Int64) -> Bool:
    """Rule 2: no commit for longer than the window spans, and the last one was never at a remembered end."""
    first_ms, last_ms = window.timestamp_ms[0], last_entry(window.timestamp_ms, window)
    was_at_end: Bool = (lowest_head != UNKNOWN) & (lowest_head <= last_entry(window.offset, window))
    silent: Bool = np.greater(now_ms - last_ms, last_ms - first_ms)
    return silent & ~was_at_end


def had_no_time(window: Window, unread_since_ms: Int64, now_ms: int | Int64, clock_skew_ms: int) -> Bool:
    """Whether there was something to commit for no longer than two usual distances of commits.

    Burrow excuses a consumer that was at a remembered end. Ends are not remembered far enough back where commits are
    further apart, nor after a start. A single commit says nothing about distances, so it gets a minute, unless there
    was already more to read when it was made.
    """
    last_ms = last_entry(window.timestamp_ms, window)
    distance_ms = (last_ms - window.timestamp_ms[0]) // np.maximum(window.length - 1, 1)
    is_after = unread_since_ms + clock_skew_ms > last_ms - IN_FLIGHT_MS
    due_ms = np.where(window.length > 1, 2 * distance_ms, np.where(is_after, PATIENCE_MS, 0))
    work_ms = np.maximum(unread_since_ms, last_ms - clock_skew_ms)
    no_time: Bool = (unread_since_ms > 0) & (now_ms - work_ms <= due_ms)
    return no_time


def is_rewound(window: Window) -> Bool:
    """Rule 3: the first step back in the window, if no later commit (the step itself included) made up for it."""
    columns = np.arange(window.offset.shape[1])
    back = (window.offset[1:] < window.offset[:-1]) & filled(window)[1:]
    if not back.any():
        return np.zeros(len(columns), np.bool_)
    step = back.argmax(axis=0) + 1
    before = window.offset[step - 1, columns]
    later = (np.arange(len(window.offset))[:, None] >= step) & filled(window)
    return any_entry(back) & ~any_entry(later & (window.offset >= before))


def was_caught_up(window: Window, allowed_lag: int | Int64) -> Bool:
    """Rule 4: some known lag in the window is at most the allowed lag."""
    return any_entry(known_lags(window) & (window.lag <= allowed_lag))


def is_stalled(window: Window) -> Bool:
    """Rule 5: every commit is of the same offset (a single one, too)."""
    return ~any_entry((window.offset != window.offset[0]) & filled(window))


def falls_behind(window: Window, allowed_lag: int) -> Bool:
    """Rule 6: the certain lags never fell, or the estimates rise over a full window."""
    entries, known = filled(window), known_lags(window)
    always_behind = ~any_entry(entries & (window.lag_at_least <= allowed_lag))
    certainly: Bool = always_behind & _never_falls(window.lag_at_least, entries)
    whole = (window.length == len(window.lag)) & (known.sum(axis=0) >= ENOUGH_LAGS)
    estimated = whole & _never_falls(window.lag, known)
    rising: Bool = estimated & (_exceeds_first(window, known) | _always_rises(window.lag, known))
    return certainly | rising


def _never_falls(lags: NDArray[np.integer[Any]], entries: Bool) -> Bool:
    """Whether no marked lag is smaller than the marked one before it (true for none or one)."""
    fell = np.zeros(lags.shape[1], np.bool_)
    before = np.zeros(lags.shape[1], np.int64)
    for lag, marked in zip(lags, entries, strict=True):
        fell |= marked & (lag < before)
        before = np.where(marked, lag, before)
    return ~fell


def _always_rises(lags: Int64, entries: Bool) -> Bool:
    """Whether each marked lag is larger than the marked one before it."""
    rises = np.ones(lags.shape[1], np.bool_)
    before = np.full(lags.shape[1], UNKNOWN, np.int64)
    for lag, marked in zip(lags, entries, strict=True):
        rises &= ~marked | (lag > before)
        before = np.where(marked, lag, before)
    return rises


def _exceeds_first(window: Window, known: Bool) -> Bool:
    """Whether some certain lag exceeds the first estimate of the window."""
    first = window.lag[known.argmax(axis=0), np.arange(window.lag.shape[1])]
    exceeds: Bool = np.where(filled(window), window.lag_at_least, 0).max(axis=0) > first
    return exceeds
