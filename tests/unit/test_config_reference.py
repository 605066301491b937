"""The reference file and `check-config`: what they say is what is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from warren.cli import cli
from warren.config.documents import read_document
from warren.config.effective import MASK, Effective, as_text, effective, masked
from warren.config.load import load_directory
from warren.config.model import Config
from warren.config.problems import keys_of, section_kind
from warren.config.reference import reference

REFERENCE = Path(__file__).parents[2] / "docs" / "reference.toml"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "warren.toml").write_text(reference())
    return tmp_path


def test_the_file_in_docs_is_what_the_command_prints() -> None:
    assert REFERENCE.read_text() == reference(), "run `warren config reference > docs/reference.toml`"
    assert CliRunner().invoke(cli, ["config", "reference"]).output == reference()


def test_the_reference_can_be_read(directory: Path) -> None:
    config = load_directory(directory, {}).config

    assert (list(config.cluster), list(config.notifier)) == (["local"], ["default"])


def test_the_reference_has_every_key_with_its_default(directory: Path) -> None:
    lines = read_document(directory / "warren.toml").lines
    for section, field in keys_of(Config).items():
        kind = section_kind(field)
        assert kind is not None
        for key, one in keys_of(kind).items():
            assert one.description, (section, key)
            if one.default is not None:
                assert any(path[0] == section and path[-1] == key for path in lines), (section, key)


def test_the_reference_has_the_defaults(directory: Path) -> None:
    found = {(one.section.split(".")[0], one.key): one.value for one in effective(load_directory(directory, {}))}
    del found["consumer", "servers"]  # become those of the cluster
    for (section, key), value in found.items():
        kind = section_kind(keys_of(Config)[section])
        assert kind is not None
        field = keys_of(kind)[key]
        if not field.examples:
            assert value == masked(field.default), (section, key)


def test_check_config_says_where_each_value_comes_from(tmp_path: Path) -> None:
    (tmp_path / "burrow.toml").write_text('[cluster.a]\nservers = ["k:1"]\n[consumer.a]\ncluster = "A"\n')
    found = list(effective(load_directory(tmp_path, {"BURROW_CLUSTER_A_OFFSET_REFRESH": "3"})))

    assert Effective("cluster.a", "servers", ["k:1"], "burrow.toml:2") in found
    assert Effective("cluster.a", "offset-refresh", 3, "environment variable BURROW_CLUSTER_A_OFFSET_REFRESH") in found
    assert Effective("cluster.a", "topic-refresh", 60, "default") in found
    assert Effective("consumer.a", "servers", ["k:1"], "its cluster") in found
    assert Effective("storage.default", "intervals", 10, "default") in found
    assert '  servers = ["k:1"]' in as_text(found)


SECRETS = """
[sasl.user]
username = "warren"
password = "hunter2"
[notifier.x]
class-name = "http"
template-open = "a"
url-open = "https://hooks.example.com/hunter2"
password = "hunter2"
headers = {Authorization = "Bearer hunter2"}
extras = {api_key = "hunter2"}
"""


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_check_config_shows_no_secret(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "open.tmpl").write_text("{{.Group}}")
    (tmp_path / "burrow.toml").write_text(SECRETS.replace('"a"', f'"{tmp_path / "open.tmpl"}"'))
    answer = CliRunner().invoke(cli, ["check-config", str(tmp_path), *options])

    assert answer.exit_code == 0
    assert MASK in answer.output
    assert "hunter2" not in answer.output
    assert "hunter2" not in repr(load_directory(tmp_path, {}))


def test_check_config_connects_to_nothing_and_refuses_what_a_start_would(tmp_path: Path) -> None:
    (tmp_path / "burrow.toml").write_text("[cluster.a]\n")
    answer = CliRunner().invoke(cli, ["check-config", str(tmp_path)])

    assert answer.exit_code == 1
    assert "cluster.a.servers: is needed" in str(answer.exception)
