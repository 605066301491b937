"""Answers that were written before: good for a moment, and as long as nothing changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

from warren.clusters.state import ClusterState
from warren.config.model import Config

FRESH_MS = 1_000
"""Verdicts change with time alone."""
ENTRY_BYTES = 512
"""What an entry takes beside its body, about."""

Headers = list[tuple[bytes, bytes]]


class Basis(NamedTuple):
    """What an answer was made of; taken before it is made, so that a change meanwhile makes it old."""

    state: ClusterState | None
    """None if no cluster's state was needed."""
    version: int
    config: Config
    made_ms: int

    def holds(self, clusters: Mapping[str, ClusterState], config: Config, now_ms: int) -> bool:
        """Whether an answer would be made of the same again."""
        if self.config is not config or not 0 <= now_ms - self.made_ms < FRESH_MS:
            return False
        state = self.state
        return state is None or (self.version == state.version and clusters.get(state.name) is state)


class Rendered(NamedTuple):
    """An answer as it goes out."""

    status: int
    headers: Headers
    body: bytes
    is_miss: bool = False
    """It says so, or Burrow would not say so: nothing of this name was found."""


class RenderedAnswers:
    """Answers by the path as it was asked for, in bounded memory: those not asked for lately go first."""

    def __init__(self, clusters: Mapping[str, ClusterState], max_bytes: int = 64 << 20) -> None:
        self._clusters = clusters
        self._max_bytes = max_bytes
        self._bytes = 0
        self._answers: OrderedDict[bytes, tuple[Basis, Rendered]] = OrderedDict()
        self._lock = threading.Lock()  # the listeners have a thread each; never the lock of a state

    def get(self, raw_path: bytes, config: Config, now_ms: int) -> Rendered | None:
        """A good answer; None if there is none."""
        with self._lock:
            found = self._answers.get(raw_path)
            if found is None:
                return None
            basis, answer = found
            if basis.holds(self._clusters, config, now_ms):
                self._answers.move_to_end(raw_path)
                return answer
            self._forget(raw_path)
        return None

    def put(self, raw_path: bytes, basis: Basis, answer: Rendered) -> None:
        """Keep an answer, unless it would drive out too many others."""
        if len(answer.body) > self._max_bytes // 4:
            return
        with self._lock:
            self._forget(raw_path)
            self._answers[raw_path] = basis, answer
            self._bytes += _size(raw_path, answer)
            while self._bytes > self._max_bytes:
                self._forget(next(iter(self._answers)))

    @property
    def size_bytes(self) -> int:
        """The memory that it takes, about."""
        return self._bytes

    def _forget(self, raw_path: bytes) -> None:
        gone = self._answers.pop(raw_path, None)
        if gone is not None:
            self._bytes -= _size(raw_path, gone[1])


def _size(raw_path: bytes, answer: Rendered) -> int:
    return len(raw_path) + len(answer.body) + ENTRY_BYTES
