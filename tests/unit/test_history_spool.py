"""What was written down waits on disk: whole pages, in their order, also where the disk was full."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from warren.history.spool import Spool, spool_files, tables_of

MUCH = 1 << 30


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    made = Spool(tmp_path, 1, MUCH)
    yield made
    made.finish_file()


def page(mark: int) -> dict[str, pa.Table]:
    return {name: pa.table({"mark": [mark] * 3}) for name in ("commits", "events")}


def marks(directory: Path, table: str = "events") -> list[int]:
    found = [tables_of(path).get(table) for path in spool_files(directory)]
    return [mark for one in found if one is not None for mark in one["mark"].to_pylist()[::3]]


def test_pages_are_read_in_their_order(tmp_path: Path, spool: Spool) -> None:
    for mark in range(3):
        spool.append(page(mark))

    assert marks(tmp_path) == [0, 1, 2]


def test_a_page_that_was_cut_off_anywhere_is_not_there_with_none_of_its_tables(tmp_path: Path, spool: Spool) -> None:
    spool.append(page(0))
    [path] = spool_files(tmp_path)
    first = path.stat().st_size
    spool.append(page(1))
    whole = path.read_bytes()
    for cut in range(first, len(whole), 7):
        path.write_bytes(whole[:cut])
        assert (marks(tmp_path, "commits"), marks(tmp_path)) == ([0], [0])


def test_what_comes_after_a_page_that_found_no_room_is_read(tmp_path: Path, spool: Spool) -> None:
    spool.append(page(0))
    file = spool._file
    assert file is not None
    spool._file = HalfFull(file)  # type: ignore[assignment]
    with pytest.raises(OSError, match="No space left"):
        spool.append(page(1))
    spool.append(page(2))

    assert marks(tmp_path) == [0, 2]


class HalfFull:
    """A file that takes half of what is written."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, data: bytes) -> int:
        self._file.write(data[: len(data) // 2])
        self._file.flush()
        raise OSError(errno.ENOSPC, "No space left on device")

    def close(self) -> None:
        self._file.close()


def test_a_file_that_has_grown_enough_is_finished(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 1, 1_000)
    for mark in range(4):
        spool.append(page(mark))
    spool.finish_file()

    assert len(spool.finished_files()) >= 2
    assert marks(tmp_path) == [0, 1, 2, 3]


def test_files_that_go_while_they_are_counted_take_nothing(
    tmp_path: Path, spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.append(page(0))
    monkeypatch.setattr("warren.history.spool.spool_files", lambda _: [tmp_path / "1-9.spool"])

    assert spool.used_bytes == 0
