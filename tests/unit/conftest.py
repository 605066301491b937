"""Fixtures of several tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running import TOKEN, Command, Running, Said, running_warren
from warren.cli import main
from warren.config.model import Security
from warren.serve.access import hash_token


@pytest.fixture
def warren(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command as it is installed, in this process."""
    monkeypatch.delenv("WARREN_URL", raising=False)
    monkeypatch.delenv("WARREN_TOKEN", raising=False)

    def run(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["warren", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Said(code if isinstance(code, int) else 0, *capfd.readouterr())

    return run


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with running_warren(tmp_path / "home", Security()) as found:
        yield found


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Running]:
    with running_warren(tmp_path / "home", Security(write_tokens=[hash_token(TOKEN)])) as found:
        yield found
