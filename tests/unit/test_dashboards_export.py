"""`warren dashboards export`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from warren.cli import cli
from warren.dashboards.export import ExportError


def export(directory: Path, *options: str) -> Result:
    return CliRunner().invoke(cli, ["dashboards", "export", str(directory), *options], env={"WARREN_URL": ""})


def files_in(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def test_everything_is_written_for_all_sources(tmp_path: Path) -> None:
    assert export(tmp_path / "new").exit_code == 0

    found = files_in(tmp_path / "new")
    assert {"prometheus/alerts.yml", "prometheus/recording.yml"} <= found
    for source in ("prometheus", "influxdb", "elasticsearch"):
        assert f"grafana/{source}/overview.json" in found
        assert {f"provisioning/{kind}/warren-{source}.yaml" for kind in ("dashboards", "datasources")} <= found


def test_for_one_source_no_files_of_others_are_written(tmp_path: Path) -> None:
    export(tmp_path, "--for", "influxdb")

    names = files_in(tmp_path)
    assert names
    assert all("influxdb" in name for name in names)


def test_the_written_files_are_listed(tmp_path: Path) -> None:
    told = export(tmp_path, "--for", "influxdb").stdout.split()

    assert {str(Path(one).relative_to(tmp_path)) for one in told} == files_in(tmp_path)


def test_links_lead_to_the_given_warren(tmp_path: Path) -> None:
    export(tmp_path, "--url", "https://warren.example/")

    content = json.loads((tmp_path / "grafana" / "prometheus" / "group.json").read_text())
    [variable] = [one for one in content["templating"]["list"] if one["name"] == "warren"]
    assert variable["query"] == variable["current"]["value"] == "https://warren.example"


def test_alerts_link_to_the_given_docs(tmp_path: Path) -> None:
    export(tmp_path, "--docs-url", "https://docs.example/warren/")

    text = (tmp_path / "prometheus" / "alerts.yml").read_text()
    assert "runbook_url: https://docs.example/warren/alerts.md#warrendown" in text


def test_a_second_export_changes_nothing_and_says_so(tmp_path: Path) -> None:
    export(tmp_path)
    again = export(tmp_path)

    assert (again.exit_code, again.stdout) == (0, "")
    assert "already" in again.stderr


def test_a_changed_file_stays_and_stops_the_export(tmp_path: Path) -> None:
    changed = tmp_path / "prometheus" / "alerts.yml"
    changed.parent.mkdir()
    changed.write_text("groups: []")

    refused = export(tmp_path).exception
    assert isinstance(refused, ExportError)
    assert "prometheus/alerts.yml" in str(refused)
    assert "--force" in str(refused)
    assert files_in(tmp_path) == {"prometheus/alerts.yml"}
    assert changed.read_text() == "groups: []"


def test_force_replaces_a_changed_file(tmp_path: Path) -> None:
    export(tmp_path)
    changed = tmp_path / "prometheus" / "alerts.yml"
    shipped = changed.read_text()
    changed.write_text("groups: []")

    assert export(tmp_path, "--force").exit_code == 0
    assert changed.read_text() == shipped


def test_an_unwritable_directory_is_reported_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "grafana").write_text("a file where a directory should be")

    refused = export(tmp_path).exception
    assert isinstance(refused, ExportError)
    assert "cannot be written" in str(refused)


@pytest.mark.parametrize("source", ["prometheus", "influxdb", "elasticsearch"])
def test_addresses_and_secrets_of_data_sources_come_from_the_environment(tmp_path: Path, source: str) -> None:
    export(tmp_path, "--for", source)

    content = yaml.safe_load((tmp_path / "provisioning" / "datasources" / f"warren-{source}.yaml").read_text())
    [one] = content["datasources"]
    assert one["type"] == source
    assert one["url"].startswith("$")
    assert all("$" in secret for secret in one.get("secureJsonData", {}).values())
