"""Waiting for conditions instead of for time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

POLL_S = 0.05


def eventually(condition: Callable[[], T], deadline_s: float = 60.0, *, saw: Callable[[], object] | None = None) -> T:
    """Poll until the condition holds and return its answer.

    The assertion error says what was seen last: the value of `saw`, or else the condition's last answer.
    """
    end_s = time.monotonic() + deadline_s
    while not (answer := condition()):
        assert time.monotonic() < end_s, f"not within {deadline_s:g} s; seen last: {saw() if saw else answer!r}"
        time.sleep(POLL_S)
    return answer


def eventually_equal(read: Callable[[], T], expected: T, deadline_s: float = 60.0) -> T:
    """Poll until `read` returns what is expected; the assertion error shows what it returned last."""
    end_s = time.monotonic() + deadline_s
    while (seen := read()) != expected:
        assert time.monotonic() < end_s, f"not within {deadline_s:g} s\nexpected: {expected!r}\nseen last: {seen!r}"
        time.sleep(POLL_S)
    return seen
