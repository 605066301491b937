"""Moments of the past, as people give them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from warren.commands.options import UsageError
from warren.commands.past import moment_ms

NOW = datetime(2026, 11, 16, 2, 30, tzinfo=UTC)


def told(text: str) -> str:
    at_ms = moment_ms(text, "--at", now_ms=round(NOW.timestamp() * 1000))
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%d. %H:%M:%S")


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("now", "16. 02:30:00"),
        ("90m", "16. 01:00:00"),
        ("1.5h", "16. 01:00:00"),
        ("1d12h", "14. 14:30:00"),
        ("2026-11-15T03:00Z", "15. 03:00:00"),
        ("2026-11-15T03:00", "15. 03:00:00"),
        ("2026-11-15T03:00+09:00", "14. 18:00:00"),
        ("02:15", "16. 02:15:00"),
        ("02:30", "16. 02:30:00"),
        ("03:00", "15. 03:00:00"),
        ("03:00:30Z", "15. 03:00:30"),
        ("11:00+09:00", "16. 02:00:00"),
        ("12:00+09:00", "15. 03:00:00"),
    ],
)
def test_a_moment_is_understood_as_people_give_it(text: str, means: str) -> None:
    assert told(text) == means


@pytest.mark.parametrize("text", ["yesterday", "25:00", "3", "", "2026-13-01", "999999999d"])
def test_what_is_no_moment_is_told(text: str) -> None:
    with pytest.raises(UsageError, match="is no moment"):
        told(text)
