"""Fixtures of the unit tests: clean logging for each of them, and the `warren` commands."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from tests.support.running import TOKEN, Command, CommandResult, RunningWarren, running_warren
from warren.cli import main
from warren.config.model import Security
from warren.serve.access import hash_token


@pytest.fixture(autouse=True)
def _logging_restored() -> Iterator[None]:
    """Undo what a test configures for the whole process: commands log to files and streams of their own."""
    configuration, root = structlog.get_config(), logging.getLogger()
    handlers, level, level_of_py4j = list(root.handlers), root.level, logging.getLogger("py4j").level
    yield
    structlog.configure(**configuration)
    for handler in [one for one in root.handlers if one not in handlers]:
        root.removeHandler(handler)
    root.setLevel(level)
    logging.getLogger("py4j").setLevel(level_of_py4j)


@pytest.fixture
def warren(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Run the installed command in this process and return its exit code and output."""
    monkeypatch.delenv("WARREN_URL", raising=False)
    monkeypatch.delenv("WARREN_TOKEN", raising=False)

    def run(*arguments: str) -> CommandResult:
        monkeypatch.setattr(sys, "argv", ["warren", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return CommandResult(code if isinstance(code, int) else 0, *capfd.readouterr())

    return run


@pytest.fixture
def running(tmp_path: Path) -> Iterator[RunningWarren]:
    with running_warren(tmp_path / "home", Security()) as warren:
        yield warren


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[RunningWarren]:
    with running_warren(tmp_path / "home", Security(write_tokens=[hash_token(TOKEN)])) as warren:
        yield warren
