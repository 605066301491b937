"""What waits to be written to one sink: a file of Arrow batches for each cluster and moment, the oldest first.

It is on disk from the beginning, so nothing is lost with the process, and memory stays free however long a receiver is
away. The name of a file tells its moment and how many points it has.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyarrow import ipc

_NAME = re.compile(r"(?P<at_ms>\d{13,})-(?P<number>\d{6,})-(?P<points>\d+)\.arrow")
_UNFINISHED = ".unfinished"
_OPTIONS = ipc.IpcWriteOptions(compression="lz4")


class BrokenError(Exception):
    """A file is not what was written."""


class Waiting(NamedTuple):
    """One file; they sort by age."""

    at_ms: int
    number: int
    points: int
    size_bytes: int
    path: Path


class Spool:
    """A queue in a directory that holds `most_bytes`; when it is full the oldest go."""

    def __init__(self, directory: Path, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._directory = directory
        self._lock = threading.Lock()
        for path in directory.glob(f"*{_UNFINISHED}"):
            path.unlink()
        self._waiting = sorted(found for path in directory.glob("*") if (found := _waiting(path)))
        self._next = max((one.number for one in self._waiting), default=0) + 1

    def add(self, table: pa.Table, at_ms: int) -> int:
        """Keep a table; how many points had to go for it."""
        with self._lock:
            self._directory.mkdir(parents=True, exist_ok=True)
            path = self._directory / f"{at_ms:013d}-{self._next:06d}-{table.num_rows}.arrow"
            self._next += 1
            _write(table, path)
            self._waiting.append(Waiting(at_ms, self._next - 1, table.num_rows, path.stat().st_size, path))
            return self._make_room()

    def _make_room(self) -> int:
        dropped, used_bytes = 0, sum(one.size_bytes for one in self._waiting)
        while len(self._waiting) > 1 and used_bytes > self.most_bytes:
            oldest = self._waiting.pop(0)
            oldest.path.unlink(missing_ok=True)
            dropped += oldest.points
            used_bytes -= oldest.size_bytes
        return dropped

    def waiting(self) -> list[Waiting]:
        """Everything that waits, the oldest first."""
        with self._lock:
            return list(self._waiting)

    def remove(self, done: Collection[Waiting]) -> None:
        """These need not wait any longer; some may have gone already."""
        with self._lock:
            gone = {one.number for one in done}
            self._waiting = [one for one in self._waiting if one.number not in gone]
        for one in done:
            one.path.unlink(missing_ok=True)


def read(one: Waiting) -> pa.Table:
    """What waits in a file; `BrokenError` if it is damaged, `OSError` if it had to go or cannot be had now."""
    content = one.path.read_bytes()
    try:
        with ipc.open_stream(pa.py_buffer(content)) as stream:
            return stream.read_all()
    except (pa.ArrowInvalid, OSError) as error:  # of Arrow both mean the bytes
        raise BrokenError(one.path.name) from error


def _write(table: pa.Table, path: Path) -> None:
    unfinished = path.with_suffix(_UNFINISHED)
    try:
        with ipc.new_stream(str(unfinished), table.schema, options=_OPTIONS) as file:
            file.write_table(table)
        unfinished.rename(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)  # it takes room that nobody counts
        raise


def _waiting(path: Path) -> Waiting | None:
    found = _NAME.fullmatch(path.name)
    if not found:
        return None
    return Waiting(int(found["at_ms"]), int(found["number"]), int(found["points"]), path.stat().st_size, path)
