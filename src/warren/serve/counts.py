"""How many requests were answered, how, and how long it took; the metrics page tells it."""

from __future__ import annotations

import threading
from typing import NamedTuple

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
OTHER = "other"


class RequestKind(NamedTuple):
    """What is counted together."""

    api: str
    """v1, v2, v3, metrics or other."""
    method: str
    status: int


class Total(NamedTuple):
    """So many requests took so long together."""

    requests: int
    seconds: float


class RequestCounts:
    """Counts of all listeners; every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: dict[RequestKind, Total] = {}

    def add(self, api: str, method: str, status: int, seconds: float) -> None:
        """One request was answered."""
        kind = RequestKind(api, method if method in METHODS else OTHER, status)
        with self._lock:
            before = self._totals.get(kind, Total(0, 0.0))
            self._totals[kind] = Total(before.requests + 1, before.seconds + seconds)

    def snapshot(self) -> dict[RequestKind, Total]:
        """The counts of now."""
        with self._lock:
            return dict(self._totals)
