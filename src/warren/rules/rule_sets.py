"""The rule sets by the name that the configuration knows them by."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from warren.rules import burrow, warren
from warren.rules.rule import UNDECIDED, Settings, Verdicts, rules_without_window, share_complete, status_of
from warren.windows.columns import UNKNOWN, Int64
from warren.windows.views import Partitions


class RuleSet(Protocol):
    """The rule that decides each partition; what the arguments mean is told at `warren.rules`."""

    def __call__(
        self, of: Partitions, settings: Settings, *, now_ms: int | Int64, unread_since_ms: Int64, clock_skew_ms: int
    ) -> NDArray[np.int8]: ...


def _burrow(
    of: Partitions, settings: Settings, *, now_ms: int | Int64, unread_since_ms: Int64, clock_skew_ms: int
) -> NDArray[np.int8]:
    """Burrow asks neither since when records are unread nor what the brokers' clock says."""
    return burrow.rules(of, settings, now_ms=now_ms)


RULE_SETS: dict[str, RuleSet] = {"burrow": _burrow, "warren": warren.rules}


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
    if unread_since_ms is None:
        unread_since_ms = np.full(len(rule), UNKNOWN, np.int64)
    rule[rest] = RULE_SETS[rule_set](
        of.take(rest), settings, now_ms=now_ms, unread_since_ms=unread_since_ms[rest], clock_skew_ms=clock_skew_ms
    )
    return Verdicts(status_of(rule), rule, share_complete(of, intervals))
