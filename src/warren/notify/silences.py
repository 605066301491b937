"""When nobody is told: silences that people set, and maintenance that comes again and again. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from warren.patterns import compile_pattern

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Scope(NamedTuple):
    """The groups that are meant: patterns that are found in names; an empty one fits everything."""

    cluster: str = ""
    group: str = ""
    topic: str = ""

    def fits(self, cluster: str, group: str, topics: Iterable[str]) -> bool:
        """Whether a group is meant; by topic if it reads one that is."""
        return (
            _finds(self.cluster, cluster)
            and _finds(self.group, group)
            and (not self.topic or any(_finds(self.topic, topic) for topic in topics))
        )


class Silence(NamedTuple):
    """Set by somebody, for some time."""

    id: str
    scope: Scope
    from_ms: int
    until_ms: int
    by: str
    comment: str

    def is_active(self, now_ms: int) -> bool:
        """Whether it holds now."""
        return self.from_ms <= now_ms < self.until_ms


class Maintenance(NamedTuple):
    """On some days of the week, from a time of the day on, for so long."""

    name: str
    scope: Scope
    days: tuple[str, ...]
    start: time
    duration: timedelta
    zone: ZoneInfo

    def is_active(self, now_ms: int) -> bool:
        """Whether it holds now; a window may reach into the next days."""
        now = datetime.fromtimestamp(now_ms / 1000, UTC)
        today = now.astimezone(self.zone).date()
        for days_ago in range(self.duration.days + 2):
            day = today - timedelta(days=days_ago)
            begin = datetime.combine(day, self.start, self.zone)
            if DAYS[day.weekday()] in self.days and begin <= now < begin + self.duration:
                return True
        return False


def _finds(pattern: str, name: str) -> bool:
    return not pattern or compile_pattern(pattern).search(name) is not None
