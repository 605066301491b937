"""Where Warren keeps what it downloads or generates once, and a lock so that two processes do not do it at once."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_dir() -> Path:
    """`$WARREN_CACHE`, else `$XDG_CACHE_HOME/warren`, else `~/.cache/warren`; it need not exist yet."""
    if own := os.environ.get("WARREN_CACHE"):
        return Path(own).absolute()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "warren"


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock file at `path`; `BlockingIOError` when another one does and we do not `wait`.

    The system lets go of the lock when we die.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
