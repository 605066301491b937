"""Keeps what was written down on this machine's disk until Spark has put it into the history.

A spool file is a row of records, each all tables of one page with its length and checksum, so that what belongs
together is there together. A file that ends in the middle of a record, since the process was killed or the disk was
full, holds all records before it.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from warren.errors import HistoryError
from warren.packing import packed, unpacked

RECORD = struct.Struct(">4sQI")
TABLE = struct.Struct(">BQ")
MAGIC = b"WHR3"
READABLE = (b"WHR2", MAGIC)
"""Formats 2 and 3 differ in the columns of keyframes; readers find columns by name."""
_NAME = re.compile(r"(\d+)-(\d+)\.spool")


class SpoolFormatError(HistoryError):
    """A spool file is of a format that this Warren does not read."""


class Spool:
    """The spool of one cluster: files that are finished, oldest first, and one that is written to."""

    def __init__(self, directory: Path, epoch_ms: int, file_bytes: int) -> None:
        self._directory = directory
        self._epoch_ms = epoch_ms
        self._file_bytes = file_bytes
        """A file of this size is finished."""
        self._number = 0
        self._file: BinaryIO | None = None
        self._open_bytes = 0
        """In the file that is written to."""

    def append(self, tables: Mapping[str, pa.Table]) -> None:
        """Write tables down; they are safe from the end of this process when it returns, or not there if it fails."""
        page = b"".join(_framed(name, packed(table)) for name, table in tables.items())
        try:
            file = self._writable()
            file.write(RECORD.pack(MAGIC, len(page), zlib.crc32(page)))
            file.write(page)
            file.flush()
        except OSError:
            self._abandon_file()
            raise
        self._open_bytes += RECORD.size + len(page)
        if self._open_bytes >= self._file_bytes:
            self.finish_file()

    def secure(self) -> None:
        """What was written down is safe from the end of this machine, too."""
        if self._file is not None:
            os.fsync(self._file.fileno())

    def finish_file(self) -> None:
        """What is written from now on goes into another file."""
        if self._file is not None:
            self.secure()
            self._close_file()

    def finished_files(self) -> list[Path]:
        """The files of this and of earlier runs that are not written to, in their order."""
        return [path for path in spool_files(self._directory) if self._file is None or path != self._path()]

    @property
    def used_bytes(self) -> int:
        """What all files take."""
        return sum(map(_size_bytes, spool_files(self._directory)))

    def _abandon_file(self) -> None:
        """Half a record may lie at its end, behind which nothing would be read."""
        with suppress(OSError):  # what could not be written is tried once more, and is of no use
            self._close_file()

    def _close_file(self) -> None:
        file, self._file, self._open_bytes = self._file, None, 0
        self._number += 1
        if file is not None:
            file.close()

    def _writable(self) -> BinaryIO:
        if self._file is None:
            self._directory.mkdir(parents=True, exist_ok=True)
            while self._path().exists():
                self._number += 1
            self._file = self._path().open("xb")
        return self._file

    def _path(self) -> Path:
        return self._directory / f"{self._epoch_ms}-{self._number}.spool"


def _framed(name: str, data: bytes) -> bytes:
    return TABLE.pack(len(name), len(data)) + name.encode() + data


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # it was just put into the history
        return 0


def spool_files(directory: Path) -> list[Path]:
    """All spool files there, in the order in which they were written."""
    found = [(path, _NAME.fullmatch(path.name)) for path in directory.glob("*.spool")]
    named = [(int(name[1]), int(name[2]), path) for path, name in found if name]
    return [path for _, _, path in sorted(named)]


def tables_of(path: Path) -> dict[str, pa.Table]:
    """Everything in a spool file, by table; `SpoolFormatError` for a file of another format."""
    parts: dict[str, list[pa.Table]] = {}
    for page in _pages(path):
        for name, table in _tables(page):
            parts.setdefault(name, []).append(table)
    return {name: pa.concat_tables(tables) for name, tables in parts.items()}


def _pages(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        _check_format(path, file)
        while len(head := file.read(RECORD.size)) == RECORD.size:
            magic, page_bytes, checksum = RECORD.unpack(head)
            page = file.read(page_bytes) if magic in READABLE else b""
            if magic not in READABLE or len(page) < page_bytes or zlib.crc32(page) != checksum:
                return  # from here on it was not written to its end
            yield page


def _check_format(path: Path, file: BinaryIO) -> None:
    """A file of another format must not look like one that was cut off: whoever read nothing would remove it."""
    found = file.read(len(MAGIC))
    file.seek(0)
    if len(found) == len(MAGIC) and found not in READABLE:
        known = " and ".join(map(repr, READABLE))
        message = f"The history spool {path} has the format {found!r}, this Warren reads {known}."
        raise SpoolFormatError(message, hint="Let the Warren that wrote it take it into the history.")


def _tables(page: bytes) -> Iterator[tuple[str, pa.Table]]:
    at = 0
    while at < len(page):
        name_bytes, data_bytes = TABLE.unpack_from(page, at)
        start = at + TABLE.size + name_bytes
        yield page[at + TABLE.size : start].decode(), unpacked(page[start : start + data_bytes])
        at = start + data_bytes
