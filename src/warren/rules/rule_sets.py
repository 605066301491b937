"""The rule sets by the name that the configuration knows them by."""

from __future__ import annotations

from typing import Protocol

from warren.rules import burrow, warren
from warren.rules.burrow import Settings, Verdicts
from warren.windows.columns import Int64
from warren.windows.store import GroupWindows


class Judge(Protocol):
    """Judges every partition of a group at `now_ms`; what the rest means is told at `warren.judge`."""

    def __call__(
        self,
        group: GroupWindows,
        settings: Settings,
        *,
        now_ms: int,
        unread_since_ms: Int64 | None = None,
        clock_skew_ms: int = 0,
    ) -> Verdicts: ...


def _burrow(
    group: GroupWindows,
    settings: Settings,
    *,
    now_ms: int,
    unread_since_ms: Int64 | None = None,
    clock_skew_ms: int = 0,
) -> Verdicts:
    """Burrow asks neither since when records are unread nor what the brokers' clock says."""
    return burrow.judge(group, settings, now_ms=now_ms)


RULE_SETS: dict[str, Judge] = {"burrow": _burrow, "warren": warren.judge}
