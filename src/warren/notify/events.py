"""What happens to incidents, as it is kept and sent. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from warren.model import Status


class Turn(StrEnum):
    """What happened."""

    OPENED = "opened"
    WORSENED = "worsened"
    IMPROVED = "improved"
    CLOSED = "closed"
    REMINDER = "reminder"  # nothing: it is still open
    REPORT = "report"  # nothing: a group is OK, for receivers that want to hear that, too


class Cause(NamedTuple):
    """The partition that made a group what it is, and why."""

    topic: str
    partition: int
    rule: str
    reason: str
    since_ms: int | None
    lag_records: int
    lag_seconds: float | None


class Event(NamedTuple):
    """One turn of one incident, with everything that a message can say about it."""

    key: str
    """The same for every attempt to deliver it, and no other event has it."""
    turn: Turn
    at_ms: int
    cluster: str
    group: str
    incident: str
    """Its id; "" for a report."""
    opened_ms: int | None
    was: Status
    now: Status
    cause: Cause | None
    """None for a group that is gone."""
    owners: list[str]
    """Hosts of the members that own its partitions."""
    topics: list[str]
    total_lag: int
    status_body: dict[str, Any]
    """Burrow's status of the group, with the partitions in trouble."""
    link: str
    """Where people see more."""
