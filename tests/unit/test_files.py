"""What lies in the repository is whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("benchmarks", "docs", "scripts", "src", "tests")
MARKS = ("<" * 7 + " ", ">" * 7 + " ")


def texts() -> Iterator[Path]:
    yield from (path for path in ROOT.iterdir() if path.is_file())
    for folder in FOLDERS:
        yield from (path for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix != ".pyc")


def test_no_file_has_marks_of_a_merge_that_was_not_finished() -> None:
    found = list(texts())
    assert len(found) > 100
    for path in found:
        lines = path.read_text("utf-8", "replace").splitlines()
        assert not [line for line in lines if line.startswith(MARKS)], path
