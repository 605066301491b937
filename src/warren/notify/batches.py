"""Which events become one message. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from warren.notify.events import Event
from warren.notify.outbox import Row


def by_event(event: Event) -> str:
    """A message for each."""
    return event.key


GROUP_BY: dict[str, Callable[[Event], str]] = {
    "": by_event,
    "incident": lambda event: event.incident or event.key,
    "cluster": lambda event: event.cluster,
    "group": lambda event: f"{event.cluster}/{event.group}",
    "topic": lambda event: f"{event.cluster}/{event.cause.topic if event.cause else ''}",
    "owner": lambda event: ",".join(event.owners),
}
"""What people can write, and what it means."""


class Grouping(NamedTuple):
    """Events with the same `group_by` that come within `wait_s` become one message."""

    group_by: Callable[[Event], str] = by_event
    wait_s: float = 0.0
    most_events: int = 1


def next_batch(due: Sequence[Row], grouping: Grouping, now_ms: int) -> list[Row]:
    """The rows of the next message, out of what is due, oldest first; none if all had better wait for others.

    What was tried together stays together, so that it is the same message again. No event overtakes an earlier one
    of its incident.
    """
    waiting: set[str] = set()
    for rows in _batches(due, grouping):
        incidents = {row.event.incident for row in rows} - {""}
        if _is_ready(rows, grouping, now_ms) and not incidents & waiting:
            return rows
        waiting |= incidents
    return []


def _batches(due: Sequence[Row], grouping: Grouping) -> list[list[Row]]:
    """In the order of their first events; those that are too large go in parts."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in due:
        found.setdefault((row.batch, "" if row.batch else grouping.group_by(row.event)), []).append(row)
    return [rows if batch else rows[: max(grouping.most_events, 1)] for (batch, _), rows in found.items()]


def _is_ready(rows: Sequence[Row], grouping: Grouping, now_ms: int) -> bool:
    if rows[0].batch or len(rows) >= grouping.most_events:
        return True
    return now_ms >= min(row.due_ms for row in rows) + grouping.wait_s * 1000
