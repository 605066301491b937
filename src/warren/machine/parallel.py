"""Doing several things at once, and not waiting for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable


def run_in_parallel(actions: Iterable[Callable[[], None]], limit_s: float) -> None:
    """Run all at once and wait for them, but not for longer than the limit."""
    threads = [threading.Thread(target=action, daemon=True) for action in actions]
    for thread in threads:
        thread.start()
    deadline_s = time.monotonic() + limit_s
    for thread in threads:
        thread.join(max(0.0, deadline_s - time.monotonic()))
