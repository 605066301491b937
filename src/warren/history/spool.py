"""Keeps what was written down on this machine's disk until Spark has put it into the history.

A spool file is a row of records, each a table of Arrow with its name, length and checksum. A file that ends in the
middle of a record, since the process was killed, holds all records before it.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from warren.packing import packed, unpacked

RECORD = struct.Struct(">4sBII")
MAGIC = b"WHR1"
_NAME = re.compile(r"(\d+)-(\d+)\.spool")


class Spool:
    """The spool of one cluster: files that are finished, oldest first, and one that is written to."""

    def __init__(self, directory: Path, epoch_ms: int) -> None:
        self._directory = directory
        self._epoch_ms = epoch_ms
        self._number = 0
        self._file: BinaryIO | None = None
        self.open_bytes = 0
        """In the file that is written to."""

    def append(self, tables: Mapping[str, pa.Table]) -> None:
        """Write tables down; they are safe from the end of this process when it returns."""
        file = self._writable()
        for name, table in tables.items():
            data = packed(table)
            file.write(RECORD.pack(MAGIC, len(name), len(data), zlib.crc32(data)) + name.encode() + data)
            self.open_bytes += len(data)
        file.flush()

    def secure(self) -> None:
        """What was written down is safe from the end of this machine, too."""
        if self._file is not None:
            os.fsync(self._file.fileno())

    def finish_file(self) -> None:
        """What is written from now on goes into another file."""
        if self._file is not None:
            self.secure()
            self._file.close()
            self._file, self.open_bytes = None, 0
            self._number += 1

    def finished_files(self) -> list[Path]:
        """The files of this and of earlier runs that are not written to, in their order."""
        return [path for path in spool_files(self._directory) if self._file is None or path != self._path()]

    @property
    def used_bytes(self) -> int:
        """What all files take."""
        return sum(path.stat().st_size for path in spool_files(self._directory))

    def _writable(self) -> BinaryIO:
        if self._file is None:
            self._directory.mkdir(parents=True, exist_ok=True)
            while self._path().exists():
                self._number += 1
            self._file = self._path().open("xb")
        return self._file

    def _path(self) -> Path:
        return self._directory / f"{self._epoch_ms}-{self._number}.spool"


def spool_files(directory: Path) -> list[Path]:
    """All spool files there, in the order in which they were written."""
    found = [(path, _NAME.fullmatch(path.name)) for path in directory.glob("*.spool")]
    named = [(int(name[1]), int(name[2]), path) for path, name in found if name]
    return [path for _, _, path in sorted(named)]


def tables_of(path: Path) -> dict[str, pa.Table]:
    """Everything in a spool file, by table."""
    parts: dict[str, list[pa.Table]] = {}
    for name, table in _records(path):
        parts.setdefault(name, []).append(table)
    return {name: pa.concat_tables(tables) for name, tables in parts.items()}


def _records(path: Path) -> Iterator[tuple[str, pa.Table]]:
    with path.open("rb") as file:
        while len(head := file.read(RECORD.size)) == RECORD.size:
            magic, name_bytes, data_bytes, checksum = RECORD.unpack(head)
            name, data = file.read(name_bytes), file.read(data_bytes)
            if magic != MAGIC or len(data) < data_bytes or zlib.crc32(data) != checksum:
                return  # from here on it was not written to its end
            yield name.decode(), unpacked(data)
