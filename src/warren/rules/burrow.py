"""Burrow's rules, to the letter: how one partition's window is judged, over many partitions at once.

The order of the questions matters and is Burrow's:

  1  lag now at most the allowed lag                                        OK
  2  silent for longer than the window spans, and not at the end lately     STOP
  3  went back, and did not reach the old place again                       REWIND
  4  lag was at most the allowed lag somewhere in the window                OK
  5  every commit in the window is of the same offset                       STALL
  6  lag never fell                                                         WARN
  7  otherwise                                                              OK
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warren.rules.rule import Rule, Settings, any_entry, filled, first_yes, last_entry
from warren.windows.columns import UNKNOWN, Bool, Int64
from warren.windows.rings import Window
from warren.windows.views import Partitions


def rules(of: Partitions, settings: Settings, *, now_ms: int | Int64) -> NDArray[np.int8]:
    """The rule that decides each partition; the ones before 2 have been asked."""
    window, allowed = of.window, settings.allowed_lag
    now_ms = now_ms // 1000 * 1000  # Burrow's clock has whole seconds
    questions = [
        (Rule.STOPPED, is_stopped(window, of.lowest_head, now_ms)),
        (Rule.REWOUND, is_rewound(window)),
        (Rule.CAUGHT_UP_LATELY, was_caught_up(window, allowed)),
        (Rule.STALLED, is_stalled(window)),
        (Rule.FALLING_BEHIND, lag_never_fell(window)),
    ]
    return first_yes(questions, otherwise=Rule.LAG_FELL)


def is_stopped(window: Window, lowest_head: Int64, now_ms: int | Int64) -> Bool:
    """Rule 2: no commit for longer than the window spans, and the last one was never at a remembered end."""
    first_ms, last_ms = window.timestamp_ms[0], last_entry(window.timestamp_ms, window)
    was_at_end: Bool = (lowest_head != UNKNOWN) & (lowest_head <= last_entry(window.offset, window))
    silent: Bool = np.greater(now_ms - last_ms, last_ms - first_ms)
    return silent & ~was_at_end


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


def was_caught_up(window: Window, allowed_lag: int) -> Bool:
    """Rule 4: some known lag in the window is at most the allowed lag."""
    known = filled(window) & (window.lag >= 0)
    return any_entry(known & (window.lag <= allowed_lag))


def is_stalled(window: Window) -> Bool:
    """Rule 5: every commit is of the same offset (a single one, too)."""
    return ~any_entry((window.offset != window.offset[0]) & filled(window))


def lag_never_fell(window: Window) -> Bool:
    """Rule 6: no known lag is smaller than the known lag before it (true if there is none or one)."""
    fell = np.zeros(window.lag.shape[1], np.bool_)
    before = np.zeros(window.lag.shape[1], np.int64)
    for lag, known in zip(window.lag, filled(window) & (window.lag >= 0), strict=True):
        fell |= known & (lag < before)
        before = np.where(known, lag, before)
    return ~fell
