"""How fast messages go, and when those that did not arrive go again. Pure."""

from __future__ import annotations

from typing import NamedTuple

from warren.machine.backoff import Backoff


class Pace(NamedTuple):
    """At most `per_minute` messages in the long run and `burst` at once; attempts end after `give_up_after_s`."""

    per_minute: float = 60.0
    burst: int = 20
    give_up_after_s: float = 86_400.0
    backoff: Backoff = Backoff(1.0, 300.0)


class TokenBucket:
    """Counts messages against a pace; the time comes from outside and may jump."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._tokens = float(pace.burst)
        self._at_ms: int | None = None

    def wait_s(self, now_ms: int) -> float:
        """How long the next message has to wait; 0 if it may go."""
        self._fill(now_ms)
        missing = 1.0 - self._tokens
        return max(missing, 0.0) * 60.0 / self._pace.per_minute if missing > 1e-9 else 0.0

    def spend(self, now_ms: int) -> None:
        """One message goes."""
        self._fill(now_ms)
        self._tokens -= 1.0

    def _fill(self, now_ms: int) -> None:
        passed_ms = max(now_ms - self._at_ms, 0) if self._at_ms is not None else 0
        self._tokens = min(self._tokens + passed_ms / 60_000 * self._pace.per_minute, float(self._pace.burst))
        self._at_ms = now_ms
