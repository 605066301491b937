"""Which events a notifier sends, by Burrow's keys and by its routes. Pure.

Burrow asks every `interval` whether to send. Here a change is sent when it happens, and `interval` is how often it is
asked whether a message is to be repeated; the moments of the groups are spread over it.
"""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

from warren.model import Status
from warren.notify.events import Event, Turn
from warren.patterns import GroupFilter, Pattern


class Route(NamedTuple):
    """What a notifier is for; a pattern that is None fits everything."""

    groups: GroupFilter
    cluster: Pattern | None = None
    topic: Pattern | None = None
    owner: Pattern | None = None

    def fits(self, event: Event) -> bool:
        """Whether an event concerns this notifier."""
        return (
            self.groups.wants(event.group)
            and _finds(self.cluster, [event.cluster])
            and _finds(self.topic, event.topics)
            and _finds(self.owner, event.owners)
        )


class Manner(NamedTuple):
    """How a notifier wants to be told."""

    threshold: Status
    interval_ms: int
    send_interval_ms: int
    send_once: bool
    send_close: bool
    report_ok: bool = False


class Told(NamedTuple):
    """What a notifier was told about an incident last."""

    at_ms: int


def is_sent(event: Event, manner: Manner, told: Told | None) -> bool:
    """Whether an event is sent, after what was told of its incident before; None if nothing was."""
    if event.turn is Turn.REPORT:
        return manner.report_ok and (told is None or event.at_ms - told.at_ms > manner.send_interval_ms)
    if event.turn is Turn.CLOSED:
        return manner.send_close and told is not None
    if event.now < manner.threshold:
        return False
    if told is None:
        return True
    if manner.send_once:
        return False
    return event.turn is not Turn.REMINDER or event.at_ms - told.at_ms > manner.send_interval_ms


def is_handed_over(event: Event, manner: Manner, worst: Status) -> bool:
    """Whether a Warren that has just begun to lead sends an event that the leader before it may have sent or not."""
    if event.turn is Turn.CLOSED:
        return manner.send_close and worst >= manner.threshold
    return event.now >= manner.threshold


def is_asked(group: str, interval_ms: int, before_ms: int, now_ms: int) -> bool:
    """Whether the moment of a group, one in each interval, has come between two looks."""
    phase_ms = crc32(group.encode("utf-8", "surrogateescape")) % interval_ms
    return (now_ms - phase_ms) // interval_ms > (before_ms - phase_ms) // interval_ms


def _finds(pattern: Pattern | None, names: list[str]) -> bool:
    return pattern is None or any(pattern.search(name) for name in names)
