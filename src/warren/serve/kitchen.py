"""Where answers are made that need a cluster's state: in threads, and each once, however many ask for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from warren.serve.rendered import Basis, Rendered

THREADS = 8
"""They wait for the lock of a state most of the time."""


class Kitchen:
    """Every method may be called from any thread."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, "answer")
        self._lock = threading.Lock()
        self._under_way: dict[tuple[bytes, int, int, int], Future[Rendered]] = {}

    def make(self, make: Callable[[], Rendered]) -> Future[Rendered]:
        """Make an answer for one."""
        return self._pool.submit(make)

    def make_for_all(self, raw_path: bytes, basis: Basis, make: Callable[[], Rendered]) -> Future[Rendered]:
        """Make an answer, or share the one that is being made of the same; never of what was before a change."""
        key = (raw_path, id(basis.state), basis.version, id(basis.config))
        with self._lock:
            shared = self._under_way.get(key)
            if shared is not None:
                return shared
            made = self._under_way[key] = self._pool.submit(make)
        made.add_done_callback(lambda _: self._under_way.pop(key, None))
        return made
