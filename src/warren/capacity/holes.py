"""Times in which nothing was observed: what came in one is known in sum, not when. Pure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHORTEST_HOLE_MS = 300_000
"""What comes within less, a restart perhaps, is spread over too short a time to hide a peak."""
SELDOM = 3
"""Where topics are observed seldom, a hole is this many times longer than usual."""


class Hole(NamedTuple):
    """From the last observation before it to the first one after it."""

    from_ms: int
    to_ms: int


def holes_in(from_ms: int, to_ms: int, observed_ms: NDArray[np.int64]) -> tuple[Hole, ...]:
    """The holes of a time, cut to it; observations are in their order, and may begin before it."""
    usual_ms = float(np.median(np.diff(observed_ms))) if len(observed_ms) > 1 else 0.0
    inside = observed_ms[(observed_ms > from_ms) & (observed_ms < to_ms)]
    moments = [from_ms, *inside.tolist(), to_ms]
    at = np.flatnonzero(np.diff(moments) > max(SHORTEST_HOLE_MS, SELDOM * usual_ms)).tolist()
    return tuple(Hole(moments[i], moments[i + 1]) for i in at)
