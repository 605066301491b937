"""The one file in which Warren keeps what must not be lost when it ends: SQLite, in its home directory.

Each module brings its own tables. Every change is on the disk before the call that makes it returns.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog

from warren.errors import SetupError

log = structlog.get_logger()

SCHEMA_VERSION = 1
BUSY_S = 5.0

Value = str | int | float | bytes | None
Values = Sequence[Value] | Mapping[str, Value]

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BESIDE = ("", "-wal", "-shm")
"""What SQLite adds to a file's name for the files that belong to it."""


class Database:
    """The file and its one connection, which threads take in turns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._is_changing = False
        self._connection = self._open_or_begin_anew()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    def add_tables(self, script: str) -> None:
        """Make what a module needs and is not there yet: a script of `CREATE ... IF NOT EXISTS`."""
        with self._lock:
            self._connection.executescript(script)

    @contextmanager
    def change(self) -> Iterator[sqlite3.Cursor]:
        """Change something: all of it is kept when the block ends, and nothing when it fails.

        A block inside another one of the same thread belongs to that one.
        """
        with self._lock:
            if self._is_changing:
                yield self._connection.cursor()
                return
            self._is_changing = True
            try:
                yield from self._transaction()
            finally:
                self._is_changing = False

    def read(self, query: str, values: Values = ()) -> list[tuple[Value, ...]]:
        """All rows that a query finds."""
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        cursor = self._connection.cursor()
        cursor.execute("BEGIN IMMEDIATE")
        try:
            yield cursor
            cursor.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # when the disk is full SQLite may have ended it already
                cursor.execute("ROLLBACK")
            raise

    def _open_or_begin_anew(self) -> sqlite3.Connection:
        try:
            return _open(self._path)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF not in _DAMAGED:
                message = f"{self._path} cannot be used: {error}."
                raise SetupError(message, hint="Is another Warren running in this directory?") from error
            set_aside = _set_aside(self._path)
            log.error("a damaged file is set aside, a new one begins", file=str(self._path), kept_as=str(set_aside))
            return _open(self._path)


def _open(path: Path) -> sqlite3.Connection:
    _make_file(path)
    # Without a mode of its own: transactions begin where we say so, and the lock keeps threads apart.
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        _check(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_file(path: Path) -> None:
    """For its owner only, since events name groups and hosts; what SQLite puts beside it is then like it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        if path.is_file():
            path.chmod(0o600)
    except OSError as error:
        message = f"{path} cannot be made: {error.strerror}."
        raise SetupError(message) from error


def _check(connection: sqlite3.Connection, path: Path) -> None:
    [(found,)] = connection.execute("PRAGMA quick_check(1)").fetchall()
    if found != "ok":
        damaged = sqlite3.DatabaseError(found)
        damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise damaged
    [(version,)] = connection.execute("PRAGMA user_version").fetchall()
    if version > SCHEMA_VERSION:
        message = f"{path} was written by a newer Warren (version {version} of its tables, not {SCHEMA_VERSION})."
        raise SetupError(message, hint="Run that one, or move the file away.")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _set_aside(path: Path) -> Path:
    """Give a file and what belongs to it a name that is not taken."""
    number = 1
    while (target := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for end in _BESIDE:
        beside = path.with_name(path.name + end)
        if beside.exists():
            beside.rename(target.with_name(target.name + end))
    return target
