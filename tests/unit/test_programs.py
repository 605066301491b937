"""Programs for tests: made once, kept only if they run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.programs import PROMETHEUS, TELEGRAF, Program, provide
from warren.errors import SetupError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WARREN_CACHE", str(tmp_path))
    return tmp_path


def script(said: str) -> Callable[[Path], None]:
    """Makes a program that says this."""

    def make(target: Path) -> None:
        path = target / "usr" / "bin" / "hello"
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\necho '{said}'\n")
        path.chmod(0o755)

    return make


def hello(said: str) -> Program:
    return Program("hello", "making hello", script(said), ("hello",), "1.2")


def test_a_program_is_made_once() -> None:
    told: list[str] = []
    for _ in range(2):
        provide(hello("Hello 1.2"), told.append)

    assert told == ["making hello"]
    assert hello("").path().exists()


@pytest.mark.parametrize("said", ["Hello 1.3", "no such file", ""])
def test_a_program_that_does_not_say_its_version_is_not_kept(said: str, cache: Path) -> None:
    with pytest.raises(SetupError, match=r"hello was made, but does not run"):
        provide(hello(said), print)

    assert [path.name for path in (cache / "programs").iterdir()] == [".lock"]


def test_a_program_that_was_never_made_is_missed_with_a_hint() -> None:
    with pytest.raises(SetupError, match="make test"):
        hello("").path()


@pytest.mark.parametrize(("program", "missing"), [(TELEGRAF, "go"), (PROMETHEUS, "apt-get")])
def test_a_missing_tool_is_told_in_a_sentence(
    program: Program, missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(SetupError, match=f"there is no `{missing}`"):
        provide(program, print)
