"""Times as text, by Go's layouts: an example of how the second of January 2006 would look. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from warren.notify.templates.times import Clock, clock
from warren.notify.templates.values import Moment

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
STRING_LAYOUT = "2006-01-02 15:04:05.999999999 -0700 MST"
RFC3339_NANO = "2006-01-02T15:04:05.999999999Z07:00"

_ELEMENT = re.compile(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|0[1-6]|002|15|1|2006|2|__2|_2(?!006)|3|4|5|PM|pm"
    r"|[-Z]07(?:0000|:00:00|00|:00|)|[.,](?:0+|9+)(?![0-9])"
)
_WRITTEN: dict[str, Callable[[Clock], str]] = {
    "January": lambda now: MONTHS[now.month - 1],
    "Jan": lambda now: MONTHS[now.month - 1][:3],
    "1": lambda now: str(now.month),
    "01": lambda now: f"{now.month:02}",
    "Monday": lambda now: DAYS[now.weekday],
    "Mon": lambda now: DAYS[now.weekday][:3],
    "2": lambda now: str(now.day),
    "_2": lambda now: f"{now.day:2}",
    "02": lambda now: f"{now.day:02}",
    "__2": lambda now: f"{now.year_day:3}",
    "002": lambda now: f"{now.year_day:03}",
    "15": lambda now: f"{now.hour:02}",
    "3": lambda now: str(now.hour % 12 or 12),
    "03": lambda now: f"{now.hour % 12 or 12:02}",
    "4": lambda now: str(now.minute),
    "04": lambda now: f"{now.minute:02}",
    "5": lambda now: str(now.second),
    "05": lambda now: f"{now.second:02}",
    "2006": lambda now: f"-{-now.year:04}" if now.year < 0 else f"{now.year:04}",
    "06": lambda now: f"{abs(now.year) % 100:02}",
    "PM": lambda now: "PM" if now.hour >= 12 else "AM",
    "pm": lambda now: "pm" if now.hour >= 12 else "am",
    "MST": lambda now: now.offset.name,
}


def layout(moment: Moment, pattern: bytes) -> bytes:
    """A time by a layout."""
    now = clock(moment)
    return _ELEMENT.sub(lambda found: _element(found[0], now, moment), pattern.decode("latin-1")).encode("latin-1")


def _element(element: str, now: Clock, moment: Moment) -> str:
    if element in _WRITTEN:
        return _WRITTEN[element](now)
    return _fraction(element, moment.nanos) if element[0] in ".," else _offset(element, now.offset.seconds)


def _fraction(element: str, nanos: int) -> str:
    digits = f"{nanos:09}"[: len(element) - 1]
    if element[1] == "0":
        return element[0] + digits
    digits = digits.rstrip("0")
    return element[0] + digits if digits else ""


def _offset(element: str, seconds: int) -> str:
    if element[0] == "Z" and seconds == 0:
        return "Z"
    sign, rest = "-" if seconds <= -60 else "+", abs(seconds)
    parts = [f"{rest // 3600:02}", f"{rest // 60 % 60:02}", f"{rest % 60:02}"]
    count = sum(character.isdigit() for character in element) // 2
    return sign + (":" if ":" in element else "").join(parts[:count])


def string(moment: Moment) -> bytes:
    """A time as Go prints it, without the reading of the monotonic clock that Go adds to the time of an event."""
    return layout(moment, STRING_LAYOUT.encode())
