"""Waiting for conditions instead of for time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 0.5
PAUSES_A_WAIT = 10
"""Each pause is a tenth of the wait so far: polling harder takes CPU time from what the test waits for."""


def eventually(condition: Callable[[], T], deadline_s: float = 60.0, *, saw: Callable[[], object] | None = None) -> T:
    """Poll until the condition holds and return its answer.

    The assertion error says what was seen last: the value of `saw`, or else the condition's last answer.
    """
    began_s = time.monotonic()
    while not (answer := condition()):
        waited_s = time.monotonic() - began_s
        assert waited_s < deadline_s, f"not within {deadline_s:g} s; seen last: {saw() if saw else answer!r}"
        _pause(waited_s)
    return answer


def eventually_equal(read: Callable[[], T], expected: T, deadline_s: float = 60.0) -> T:
    """Poll until `read` returns what is expected; the assertion error shows what it returned last."""
    began_s = time.monotonic()
    while (seen := read()) != expected:
        waited_s = time.monotonic() - began_s
        assert waited_s < deadline_s, f"not within {deadline_s:g} s\nexpected: {expected!r}\nseen last: {seen!r}"
        _pause(waited_s)
    return seen


def _pause(waited_s: float) -> None:
    time.sleep(min(max(FIRST_PAUSE_S, waited_s / PAUSES_A_WAIT), LONGEST_PAUSE_S))
