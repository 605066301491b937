"""Incidents: from the moment a group is in trouble until it is well again, or gone. Pure.

What is open is compared with how the groups are doing, round by round. Nothing depends on having seen every change, so
a restart in the middle of an incident neither opens it again nor leaves it open for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from warren.model import Status
from warren.notify.events import Cause, Turn


class Step(NamedTuple):
    """One turn of an incident, with the reason at the time; no cause for a group that is gone."""

    at_ms: int
    turn: Turn
    status: Status
    cause: Cause | None
    total_lag: int


class Incident(NamedTuple):
    """Trouble of one group."""

    id: str
    cluster: str
    group: str
    opened_ms: int
    status: Status
    """The last one that was not OK."""
    steps: tuple[Step, ...]
    closed_ms: int | None = None

    @property
    def worst(self) -> Status:
        """The worst that it has been."""
        return max(step.status for step in self.steps)


class Change(NamedTuple):
    """What has to be written down about a group."""

    group: str
    turn: Turn
    was: Status
    now: Status


def changes(open_incidents: Mapping[str, Incident], statuses: Mapping[str, Status]) -> Iterator[Change]:
    """The turns from what is open, by group, to how the groups of a cluster are doing now; the gone are not there."""
    for group, status in statuses.items():
        if status > Status.OK and group not in open_incidents:
            yield Change(group, Turn.OPENED, Status.OK, status)
    for group, incident in open_incidents.items():
        now = statuses.get(group, Status.NOTFOUND)
        if now != incident.status:
            yield Change(group, _turn(incident.status, now), incident.status, now)


def _turn(was: Status, now: Status) -> Turn:
    if now <= Status.OK:
        return Turn.CLOSED
    return Turn.WORSENED if now > was else Turn.IMPROVED


def after(incident: Incident, step: Step) -> Incident:
    """The incident after one more step."""
    is_closed = step.turn is Turn.CLOSED
    return incident._replace(
        status=incident.status if is_closed else step.status,
        steps=(*incident.steps, step),
        closed_ms=step.at_ms if is_closed else None,
    )
