"""A log file that is put aside when it is full; old ones carry the time in their name, and go when they are many."""

from __future__ import annotations

import gzip
import os
import shutil
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from warren.errors import ConfigError

SECONDS_A_DAY = 86_400
PRIVATE = 0o600


class RotatingFile:
    """A text file to append lines to; named and rotated as Burrow does it."""

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int,
        max_backups: int,
        max_age_days: int,
        is_local_time: bool = False,
        is_compressed: bool = False,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._max_backups = max_backups
        self._max_age_days = max_age_days
        self._zone = None if is_local_time else UTC
        self._is_compressed = is_compressed
        self._now_s = now_s
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open()
        except OSError as error:
            message = f"The log file {path} cannot be opened: {error.strerror}."
            raise ConfigError(message, hint="Choose another one under [logging] filename.") from error

    def write(self, text: str) -> int:
        """Append; what would make the file too long begins a new one."""
        data = text.encode("utf-8", "replace")
        with self._lock:
            if self._size and self._size + len(data) > self._max_bytes:
                self._rotate()
            os.write(self._file, data)
            self._size += len(data)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""

    def isatty(self) -> bool:
        """It is no terminal."""
        return False

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _open(self) -> None:
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE)
        self._size = os.fstat(self._file).st_size

    def _rotate(self) -> None:
        os.close(self._file)
        aside = self._aside()
        self.path.rename(aside)
        self._open()
        if self._is_compressed:
            _compress(aside)
        self._remove_old()

    def _aside(self) -> Path:
        """`name-2026-01-31T23-59-59.999.log`; never one that is there already."""
        moment_s = self._now_s()
        while True:
            moment = datetime.fromtimestamp(moment_s, self._zone)
            stamp = f"{moment:%Y-%m-%dT%H-%M-%S}.{moment.microsecond // 1000:03d}"
            aside = self.path.with_name(f"{self.path.stem}-{stamp}{self.path.suffix}")
            if not aside.exists() and not _compressed(aside).exists():
                return aside
            moment_s += 0.001

    def _remove_old(self) -> None:
        names = f"{self.path.stem}-????-??-??T??-??-??.???{self.path.suffix}"
        backups = sorted([*self.path.parent.glob(names), *self.path.parent.glob(f"{names}.gz")], reverse=True)
        oldest_s = self._now_s() - self._max_age_days * SECONDS_A_DAY
        for number, backup in enumerate(backups):
            is_surplus = bool(self._max_backups) and number >= self._max_backups
            is_old = bool(self._max_age_days) and backup.stat().st_mtime < oldest_s
            if is_surplus or is_old:
                backup.unlink()


def _compressed(path: Path) -> Path:
    return path.with_name(f"{path.name}.gz")


def _compress(path: Path) -> None:
    target = os.open(_compressed(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE)
    with path.open("rb") as plain, os.fdopen(target, "wb") as raw, gzip.open(raw, "wb") as packed:
        shutil.copyfileobj(plain, packed)
    path.unlink()
