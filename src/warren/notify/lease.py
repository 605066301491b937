"""Leadership that ends by itself: it holds only as long as it was confirmed lately."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Lease:
    """Confirmed again and again by whoever knows; every method may be called from any thread.

    A process that was stopped for a while finds its lease run out when it goes on, before it has heard anything. The
    clock goes on meanwhile.
    """

    def __init__(self, valid_s: float, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._valid_s = valid_s
        self._clock_s = clock_s
        self._lock = threading.Lock()
        self._confirmed_s: float | None = None

    @property
    def holds(self) -> bool:
        """Whether it was confirmed lately enough."""
        with self._lock:
            return self._confirmed_s is not None and self._clock_s() - self._confirmed_s < self._valid_s

    def confirm(self, at_s: float | None = None) -> None:
        """It holds as of a moment, or now; one that has run out does not come back by this, only by `take`."""
        with self._lock:
            now_s = self._clock_s()
            if self._confirmed_s is not None and now_s - self._confirmed_s < self._valid_s:
                self._confirmed_s = max(self._confirmed_s, now_s if at_s is None else at_s)
            else:
                self._confirmed_s = None

    def take(self) -> None:
        """Leadership was won now."""
        with self._lock:
            self._confirmed_s = self._clock_s()

    def give_up(self) -> None:
        """It is lost."""
        with self._lock:
            self._confirmed_s = None
