"""Durations as people give them on the command line."""

from __future__ import annotations

import re

from warren.commands.options import UsageError

UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

_PART = r"(\d{1,9}(?:\.\d{1,3})?)([smhd])"
_DURATION = re.compile(f"(?:{_PART})+", re.ASCII)


def duration_ms(text: str, option: str) -> int:
    """So long, for texts like 30s, 1.5h or 1d12h; a `UsageError` for others."""
    found = milliseconds_in(text)
    if found is None:
        message = f"{option} {text!r} is no duration."
        raise UsageError(message, hint="It should be like 30s, 5m, 1.5h or 1d12h.")
    return found


def milliseconds_in(text: str) -> int | None:
    """The same; None for others."""
    if not _DURATION.fullmatch(text):
        return None
    return round(sum(float(number) * UNITS_MS[unit] for number, unit in re.findall(_PART, text)))
