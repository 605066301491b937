"""`warren config init`: a file to start from."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from warren.cli import cli
from warren.config.documents import NAMES
from warren.config.load import load_directory


def init(*arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(cli, ["config", "init", *arguments])
    return found.exit_code, str(found.exception or found.output)


@pytest.mark.parametrize("cluster", ["prod", "prod.eu 1", 'say "hi"'])
def test_the_file_can_be_read_and_chooses_warrens_rules(tmp_path: Path, cluster: str) -> None:
    directory = tmp_path / "etc"
    code, output = init(str(directory), "--bootstrap", "a:9092,b:9092", "--cluster", cluster)
    loaded = load_directory(directory, {})

    assert (code, loaded.warnings) == (0, [])
    assert [one.servers for one in loaded.config.cluster.values()] == [["a:9092", "b:9092"]]
    assert [one.use for one in loaded.config.rules.values()] == ["warren"]
    assert output == f"{directory / 'warren.toml'} written. Start Warren with: warren run --config-dir {directory}\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_that_exists_stays(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    code, output = init(str(tmp_path))

    assert (code, output) == (1, f"{tmp_path / name} exists. Edit it, or choose another directory.")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "mine")]


def test_a_wrong_address_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    code, output = init(str(tmp_path), "--bootstrap", "a:port")

    assert code == 1
    assert "must be host:port" in output
    assert list(tmp_path.iterdir()) == []
