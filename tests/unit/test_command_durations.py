"""Durations as people give them: one grammar for all options."""

from __future__ import annotations

import pytest

from warren.commands.durations import duration_ms
from warren.commands.options import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("30m", 1_800), ("2h", 7_200), ("1.5h", 5_400), ("1d12h", 129_600), ("0.5s", 0.5), ("1h1h", 7_200)],
)
def test_durations_are_numbers_with_units(text: str, seconds: float) -> None:
    assert duration_ms(text, "--for") == seconds * 1000


@pytest.mark.parametrize("text", ["", "2", "h", "2 h", "-2h", "2w", ".5h", "1.h", "٣h", "9" * 400 + "d", "1h "])
def test_what_is_no_duration_is_told(text: str) -> None:
    with pytest.raises(UsageError, match=r"--for .* is no duration. It should be like 30s, 5m"):
        duration_ms(text, "--for")
