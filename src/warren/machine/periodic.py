"""A thread that does one thing every so often."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

log = structlog.get_logger()


class Periodic:
    """Does `step` every `interval_s`, from `start` to `stop`; a step that fails is told, and the next one is done."""

    def __init__(self, name: str, interval_s: float, step: Callable[[], None]) -> None:
        self._name = name
        self._interval_s = interval_s
        self._step = step
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the step under way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def is_stopping(self) -> bool:
        """Whether a long step had better end soon."""
        return self._stop.is_set()

    def _run(self) -> None:
        while not self._stop.wait(self._interval_s):
            try:
                self._step()
            except Exception:  # one bad step must not end the rest, and must be seen
                log.exception("a step failed", thread=self._name)
