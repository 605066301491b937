"""Snapshot files: one for each cluster, whole or not there, and the one before it kept.

A file is a line of JSON (what it is), Arrow streams (what it holds) and a checksum over all of it. It is written beside
its place, forced to the disk and then renamed, so that a crash at any moment leaves a file that can be read.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import pyarrow as pa
import structlog

from warren.errors import WarrenError

log = structlog.get_logger()

VERSION = 5
READABLE = (3, 4, 5)
"""Version 4 adds the last poll of each offset store, version 5 the lower bounds of lags."""
MAGIC = b"WARREN SNAPSHOT\n"
FOOTER = struct.Struct(">8sIQ")
FOOTER_MAGIC = b"COMPLETE"
READ_BYTES = 1 << 22


class SnapshotError(WarrenError):
    """A snapshot cannot be used, or could not be written; Warren goes on without it."""


@dataclass(frozen=True)
class Header:
    """What a snapshot is of."""

    cluster: str
    intervals: int
    created_ms: int
    cluster_id: str = ""
    version: int = VERSION


class SnapshotWriter:
    """Writes one snapshot; without an error in between it takes the place of the last one."""

    def __init__(self, path: Path, header: Header) -> None:
        self._path = path
        self._unfinished = path.with_name(f"{path.name}.unfinished")
        self._header = header
        self._file: _Checksummed

    def __enter__(self) -> SnapshotWriter:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = _Checksummed(self._unfinished.open("wb"))
        self._file.write(MAGIC + json.dumps(asdict(self._header)).encode() + b"\n")
        return self

    def write(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        """Write one stream; each batch is written before the next one is asked for."""
        with pa.ipc.new_stream(pa.PythonFile(self._file, "w"), schema) as stream:
            for batch in batches:
                stream.write_batch(batch)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._file.finish()
        finally:
            self._file.close()
        if kind is None:
            self._take_place()

    def _take_place(self) -> None:
        if self._path.exists():
            self._path.replace(previous(self._path))
        self._unfinished.replace(self._path)
        directory = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)  # the names, too
        finally:
            os.close(directory)


class SnapshotReader:
    """Reads one snapshot, after its checksum was found right."""

    def __init__(self, path: Path) -> None:
        try:
            _check(path)
            self._source = pa.memory_map(str(path))
            self._source.seek(len(MAGIC))
            self.header = Header(**json.loads(_line(self._source)))
        except (OSError, ValueError, TypeError, pa.ArrowException) as error:
            message = f"Snapshot {path} cannot be read: {error}"
            raise SnapshotError(message) from error
        if self.header.version not in READABLE:
            known = ", ".join(map(str, READABLE))
            message = f"Snapshot {path} is of version {self.header.version}, this Warren reads versions {known}."
            raise SnapshotError(message)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The batches of the next stream."""
        yield from pa.ipc.open_stream(self._source)

    def table(self) -> pa.Table:
        """The next stream as one table."""
        return pa.ipc.open_stream(self._source).read_all()


def previous(path: Path) -> Path:
    """Where the snapshot before the last one lies."""
    return path.with_name(f"{path.name}.previous")


def set_aside(path: Path) -> Path:
    """Move a snapshot that cannot be used out of the way; it is kept for whoever wants to know why."""
    aside = path.with_name(f"{path.name}.set-aside")
    path.replace(aside)
    return aside


def write_error(path: Path, error: OSError) -> str:
    """One sentence for a snapshot that could not be written."""
    if error.errno == errno.ENOSPC:
        return f"No space left for the snapshot {path}; free some. The last one is kept."
    return f"The snapshot {path} cannot be written: {error.strerror}. The last one is kept."


class _Checksummed:
    """A file that knows the checksum of what was written; just as much of a file as Arrow asks for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._checksum = 0
        self._bytes = 0
        self.closed = False

    def write(self, data: bytes | memoryview) -> int:
        self._checksum = zlib.crc32(data, self._checksum)
        self._bytes += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def finish(self) -> None:
        self._file.write(FOOTER.pack(FOOTER_MAGIC, self._checksum, self._bytes))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def _check(path: Path) -> None:
    """Raise ValueError unless the file is whole."""
    size = path.stat().st_size - FOOTER.size
    with path.open("rb") as file:
        if size < len(MAGIC) or file.read(len(MAGIC)) != MAGIC:
            message = "it is not a snapshot"
            raise ValueError(message)
        checksum, left = zlib.crc32(MAGIC), size - len(MAGIC)
        while left:
            data = file.read(min(READ_BYTES, left))
            checksum, left = zlib.crc32(data, checksum), left - len(data)
        if FOOTER.unpack(file.read(FOOTER.size)) != (FOOTER_MAGIC, checksum, size):
            message = "it is damaged or was not written to its end"
            raise ValueError(message)


def _line(source: pa.NativeFile) -> bytes:
    line = bytearray()
    while (byte := source.read(1)) != b"\n":
        line += byte
    return bytes(line)
