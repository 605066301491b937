"""Which alerts two tellings of the same time have in common: what was said, and what would have been said. Pure.

An alert is a time during which a group is in trouble. Two alerts of a group that overlap are the same trouble: it is
kept. One that the other telling does not know is saved, or added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from warren.model import Status


class Turn(NamedTuple):
    """From this moment on a group is in a status."""

    at_ms: int
    group: str
    status: Status
    why: str


class Alert(NamedTuple):
    """Trouble of one group; `is_open` if it lasts beyond the end of the time that is looked at."""

    group: str
    from_ms: int
    to_ms: int
    worst: Status
    why: str
    is_open: bool = False

    @property
    def lasts_s(self) -> float:
        """How long it lasts, as far as it is looked at."""
        return (self.to_ms - self.from_ms) / 1000


class Terms(NamedTuple):
    """From when to when is looked at, and what counts as trouble."""

    from_ms: int
    to_ms: int
    least: Status = Status.WARN
    damp_ms: int = 0
    """Shorter trouble does not count."""


class GroupComparison(NamedTuple):
    """The alerts of one group in both tellings."""

    group: str
    then: list[Alert]
    replayed: list[Alert]
    kept: int
    """Alerts of then that the replay has, too."""
    saved: list[Alert]
    added: list[Alert]


class Comparison(NamedTuple):
    """All groups that have any alert."""

    terms: Terms
    groups: list[GroupComparison]

    @property
    def saved(self) -> int:
        """Alerts that nobody would have got."""
        return sum(len(one.saved) for one in self.groups)

    @property
    def added(self) -> int:
        """Alerts that nobody got."""
        return sum(len(one.added) for one in self.groups)

    @property
    def kept(self) -> int:
        """Alerts in both tellings."""
        return sum(one.kept for one in self.groups)


def compare(then: Sequence[Turn], replayed: Sequence[Turn], terms: Terms) -> Comparison:
    """Set two tellings against each other; turns are in the order of time."""
    both = alerts_of(then, terms), alerts_of(replayed, terms)
    names = sorted({*both[0], *both[1]})
    groups = [_compared(name, both[0].get(name, []), both[1].get(name, [])) for name in names]
    by_change = sorted(groups, key=lambda one: (-len(one.saved) - len(one.added), one.group))
    return Comparison(terms, by_change)


def _compared(group: str, then: list[Alert], replayed: list[Alert]) -> GroupComparison:
    saved = [one for one in then if not _is_among(one, replayed)]
    added = [one for one in replayed if not _is_among(one, then)]
    return GroupComparison(group, then, replayed, len(then) - len(saved), saved, added)


def _is_among(alert: Alert, others: Iterable[Alert]) -> bool:
    return any(one.from_ms <= alert.to_ms and alert.from_ms <= one.to_ms for one in others)


def alerts_of(turns: Iterable[Turn], terms: Terms) -> dict[str, list[Alert]]:
    """The alerts of each group, in the order of time."""
    by_group: dict[str, list[Turn]] = {}
    for turn in turns:
        by_group.setdefault(turn.group, []).append(turn)
    found = {group: list(_alerts(group, of, terms)) for group, of in by_group.items()}
    return {group: alerts for group, alerts in found.items() if alerts}


def _alerts(group: str, turns: list[Turn], terms: Terms) -> Iterable[Alert]:
    began: Turn | None = None
    worst = Status.NOTFOUND
    for turn in turns:
        if turn.status >= terms.least:
            began, worst = began or turn, max(worst, turn.status) if began else turn.status
        elif began is not None:
            yield from _within(Alert(group, began.at_ms, turn.at_ms, worst, began.why), terms)
            began = None
    if began is not None:
        yield from _within(Alert(group, began.at_ms, terms.to_ms, worst, began.why, is_open=True), terms)


def _within(alert: Alert, terms: Terms) -> Iterable[Alert]:
    """The part of an alert that is looked at, if it counts."""
    from_ms, to_ms = max(alert.from_ms, terms.from_ms), min(alert.to_ms, terms.to_ms)
    if to_ms > from_ms and alert.to_ms - alert.from_ms >= terms.damp_ms:
        yield alert._replace(from_ms=from_ms, to_ms=to_ms)
