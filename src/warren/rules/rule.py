"""What the rule sets share: the names of their rules, what each makes of a partition, and how windows are asked."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from warren.model import Status
from warren.windows.columns import Bool, Int64
from warren.windows.rings import Ordered


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
}
"""What each rule makes of a partition; the ones that are not here make it OK."""

_STATUS = np.array([STATUS_OF_RULE.get(rule, Status.OK) for rule in Rule], np.int8)


def first_yes(questions: list[tuple[Rule, Bool]], otherwise: Rule) -> NDArray[np.int8]:
    """For each partition the first rule whose question is answered with yes."""
    return np.select([yes for _, yes in questions], [np.int8(rule) for rule, _ in questions], np.int8(otherwise))


def status_of(rule: NDArray[np.int8]) -> NDArray[np.int8]:
    """What rules make of partitions."""
    return _STATUS[rule]


def filled(window: Ordered) -> Bool:
    """Which entries of each window are commits and not padding."""
    is_filled: Bool = np.arange(len(window.offset))[:, None] < window.length
    return is_filled


def any_entry(entries: Bool) -> Bool:
    """Whether any entry of each window is marked."""
    marked: Bool = np.logical_or.reduce(entries, axis=0)
    return marked


def last_entry(column: Int64, window: Ordered) -> Int64:
    """The newest entry of each window (padding where there is none)."""
    last: Int64 = column[np.maximum(window.length - 1, 0), np.arange(column.shape[1])]
    return last
