"""How far the brokers' clock is from ours, as commits tell that are read right after they were made.

The broker stamps a commit, and while Warren keeps up it is read about a second later. If it seems to be read long after
that, or before, it is the clocks that differ.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from warren.windows.columns import Int64

BATCHES = 30
"""The median of so many is believed: one late batch or one wrong stamp does not matter."""
ENOUGH_BATCHES = 5
USUAL_MS = 2_000
"""A commit is read within this time after it was made; less tells nothing about clocks."""


class ClockSkew:
    """Learns from the newest batches."""

    def __init__(self) -> None:
        self._late_ms: deque[float] = deque(maxlen=BATCHES)

    def observe(self, committed_ms: Int64, now_ms: int) -> None:
        """Take the times of commits that were read as soon as they were there."""
        if len(committed_ms):
            self._late_ms.append(float(now_ms - np.median(committed_ms)))

    @property
    def skew_ms(self) -> int:
        """The brokers' clock less ours; 0 as long as they seem to agree."""
        if len(self._late_ms) < ENOUGH_BATCHES:
            return 0
        late_ms = round(float(np.median(self._late_ms)))
        return 0 if 0 <= late_ms <= USUAL_MS else -late_ms
