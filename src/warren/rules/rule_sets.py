"""The rule sets by the name that the configuration knows them by."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from warren.rules import burrow, warren
from warren.rules.rule import (
    UNDECIDED,
    Settings,
    UnreadSince,
    Verdicts,
    rules_without_window,
    share_complete,
    status_of,
)
from warren.windows.columns import UNKNOWN, Int64
from warren.windows.views import Partitions


class Rules(Protocol):
    """The rule that decides each partition; what the arguments mean is told at `warren.rules`."""

    def __call__(
        self, of: Partitions, settings: Settings, *, now_ms: int | Int64, unread_since: UnreadSince, clock_skew_ms: int
    ) -> NDArray[np.int8]: ...


class RuleSet(NamedTuple):
    """The rules, and the first offset that exceeds the lag they allow."""

    rules: Rules
    first_too_many: Callable[[Partitions, Settings], Int64]


RULE_SETS = {
    "burrow": RuleSet(burrow.rules, burrow.first_too_many),
    "warren": RuleSet(warren.rules, warren.first_too_many),
}


def judge(
    rule_set: str,
    of: Partitions,
    settings: Settings,
    *,
    now_ms: int,
    unread_since_ms: Int64 | None = None,
    clock_skew_ms: int = 0,
) -> Verdicts:
    """Judge partitions at `now_ms`."""
    intervals = len(of.window.offset)
    rule = rules_without_window(of, settings, intervals)
    rest = np.flatnonzero(rule == UNDECIDED)
    since_ms = np.full(len(rule), UNKNOWN, np.int64) if unread_since_ms is None else unread_since_ms
    rule[rest] = RULE_SETS[rule_set].rules(
        of.take(rest), settings, now_ms=now_ms, unread_since=since_ms[rest].__getitem__, clock_skew_ms=clock_skew_ms
    )
    return Verdicts(status_of(rule), rule, share_complete(of, intervals))
