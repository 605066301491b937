"""How long to wait before something is tried again. Pure."""

from __future__ import annotations

from typing import NamedTuple

JITTER = 0.25


class Backoff(NamedTuple):
    """After the first attempt `first_s`, then twice as long each time, up to `longest_s`."""

    first_s: float
    longest_s: float

    def wait_s(self, attempt: int, chance: float) -> float:
        """The wait after an attempt, the first of which is 1; spread by a quarter, so that many do not meet again.

        `chance` is a random number from 0 to 1.
        """
        doubled = self.first_s * 2.0 ** min(attempt - 1, 30)
        return min(doubled, self.longest_s) * (1 - JITTER + 2 * JITTER * chance)
