"""What the rule sets share: the names of their rules, what each makes of a partition, and how windows are asked."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warren.model import Status
from warren.windows.columns import UNKNOWN, Bool, Int64
from warren.windows.rings import Window
from warren.windows.views import Outline

UnreadSince = Callable[[Int64], Int64]
"""Takes partition indexes, returns since when their lag exceeds the allowed lag (ms, Warren's clock; <= 0: unknown)."""


class Settings(NamedTuple):
    """Burrow's `[evaluator]` keys."""

    allowed_lag: int = 0
    minimum_complete: float = 0.0


class Verdicts(NamedTuple):
    """One element for each partition."""

    status: NDArray[np.int8]
    rule: NDArray[np.int8]
    complete: NDArray[np.float32]


class Rule(IntEnum):
    """Which question decided."""

    NO_COMMIT = 0
    INCOMPLETE = 1
    NO_HEAD = 2
    CAUGHT_UP = 3
    STOPPED = 4
    REWOUND = 5
    CAUGHT_UP_LATELY = 6
    STALLED = 7
    FALLING_BEHIND = 8
    LAG_FELL = 9
    # asked by the rule set `warren` only
    SILENT = 10
    WENT_BACK = 11
    TOO_FEW_COMMITS = 12
    UNKNOWN_LAG = 13
    CLIMBING = 14
    NOT_CLIMBING = 15
    # asked of any verdict where thresholds are set
    OVER_RECORDS = 16
    OVER_SECONDS = 17
    # asked by the rule set `warren` only
    ONLY_MARKS = 18
    OPEN_TRANSACTION = 19
    HANGING_TRANSACTION = 20
    # asked by both rule sets
    KEEPS_UP = 21
    # asked by the rule set `warren` only
    USUAL_LAG = 22


STATUS_OF_RULE = {
    Rule.STOPPED: Status.STOP,
    Rule.REWOUND: Status.REWIND,
    Rule.STALLED: Status.STALL,
    Rule.FALLING_BEHIND: Status.WARN,
    Rule.SILENT: Status.STOP,
    Rule.WENT_BACK: Status.REWIND,
    Rule.CLIMBING: Status.WARN,
    Rule.OVER_RECORDS: Status.WARN,
    Rule.OVER_SECONDS: Status.WARN,
    Rule.HANGING_TRANSACTION: Status.WARN,
}
"""What each rule makes of a partition; the ones that are not here make it OK."""

UNDECIDED = -1
"""In a column of rules: none of those asked so far has decided."""

_STATUS = np.array([STATUS_OF_RULE.get(rule, Status.OK) for rule in Rule], np.int8)


def rules_without_window(of: Outline, settings: Settings, intervals: int) -> NDArray[np.int8]:
    """The questions that come first in every rule set; UNDECIDED where it takes the window to go on."""
    questions = [
        (Rule.NO_COMMIT, of.length == 0),
        (Rule.INCOMPLETE, share_complete(of, intervals) < np.float32(settings.minimum_complete)),
        (Rule.NO_HEAD, of.head == UNKNOWN),
        (Rule.CAUGHT_UP, of.current_lag <= settings.allowed_lag),
    ]
    return first_yes(questions, otherwise=UNDECIDED)


def is_behind(window: Window, allowed_lag: int | Int64) -> Bool:
    """Whether some commit certainly had more than the allowed lag."""
    return any_entry(filled(window) & (window.lag_at_least > allowed_lag))


def share_complete(of: Outline, intervals: int) -> NDArray[np.float32]:
    """How much of each window is filled; a window known only by its owner counts as one entry, as in Burrow."""
    length = np.where(of.owned, np.maximum(of.length, 1), of.length)
    return length.astype(np.float32) / np.float32(intervals)


def first_yes(questions: list[tuple[Rule, Bool]], otherwise: int) -> NDArray[np.int8]:
    """For each partition the first rule whose question is answered with yes."""
    return np.select([yes for _, yes in questions], [np.int8(rule) for rule, _ in questions], np.int8(otherwise))


def status_of(rule: NDArray[np.int8]) -> NDArray[np.int8]:
    """What rules make of partitions."""
    return _STATUS[rule]


def filled(window: Window) -> Bool:
    """Which entries of each window are commits and not padding."""
    is_filled: Bool = np.arange(len(window.offset))[:, None] < window.length
    return is_filled


def any_entry(entries: Bool) -> Bool:
    """Whether any entry of each window is marked."""
    marked: Bool = np.logical_or.reduce(entries, axis=0)
    return marked


def last_entry(column: Int64, window: Window) -> Int64:
    """The newest entry of each window (padding where there is none)."""
    last: Int64 = column[np.maximum(window.length - 1, 0), np.arange(column.shape[1])]
    return last


def known_lags(window: Window) -> Bool:
    """Which entries have a known lag."""
    known: Bool = filled(window) & (window.lag >= 0)
    return known
