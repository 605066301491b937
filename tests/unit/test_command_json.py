"""What commands that ask nobody tell programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import Command
from warren.pipeline.environment import Packed
from warren.serve.access import hash_token


def told(warren: Command, *arguments: str) -> dict[str, Any]:
    said = warren(*arguments, "--json")
    assert (said.code, said.err) == (0, "")
    found: dict[str, Any] = json.loads(said.out)
    return found


def test_a_new_token_is_told_with_its_hash(warren: Command) -> None:
    found = told(warren, "hash-token")
    assert found["hash"] == hash_token(found["token"])


def test_a_token_that_was_given_is_not_repeated(warren: Command) -> None:
    assert told(warren, "hash-token", "s3cret") == {"token": None, "hash": hash_token("s3cret")}
    assert warren("hash-token", "s3cret").out == f"hash:  {hash_token('s3cret')}\n"


def test_what_was_packed_is_told(warren: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warren.pipeline.environment.pack", lambda path: Packed(["numpy 2.1"], 9))
    found = told(warren, "pack", "e.tar.gz")

    assert (found["file"], found["packages"], found["bytes"]) == ("e.tar.gz", ["numpy 2.1"], 9)
    assert found["executors_need"]["python"] == f"python{sys.version_info.major}.{sys.version_info.minor}"


def test_dashboards_are_told_and_which_of_them_are_new(warren: Command, tmp_path: Path) -> None:
    command = ("dashboards", "export", str(tmp_path), "--for", "influxdb")
    first, again = told(warren, *command), told(warren, *command)

    assert first["directory"] == str(tmp_path)
    assert first["written"] == first["files"] == again["files"]
    assert all((tmp_path / name).is_file() for name in first["files"])
    assert again["written"] == []
