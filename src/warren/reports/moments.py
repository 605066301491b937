"""Moments and durations as people write them. Pure."""

from __future__ import annotations

from datetime import UTC, datetime


def instant(at_ms: int) -> str:
    """A moment, in UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def duration(seconds: float) -> str:
    """A duration in its two largest units."""
    whole = max(round(seconds), 0)
    days, hours, minutes, rest = whole // 86_400, whole // 3_600 % 24, whole // 60 % 60, whole % 60
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    first = next((i for i, (count, _) in enumerate(parts) if count), len(parts) - 1)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count or first == len(parts) - 1)
