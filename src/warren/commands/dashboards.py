"""`warren dashboards`: dashboards for Grafana and rules for Prometheus, out of the package."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from warren.commands import show
from warren.commands.options import DEFAULT_URL, AsJson

dashboard_commands = typer.Typer(help="Dashboards for Grafana, rules for Prometheus.", no_args_is_help=True)


class DataSource(StrEnum):
    """Where Grafana would find the data."""

    PROMETHEUS = "prometheus"
    INFLUXDB = "influxdb"
    ELASTICSEARCH = "elasticsearch"
    ALL = "all"


@dashboard_commands.command("export")
def export_dashboards(
    directory: Annotated[Path, typer.Argument(metavar="DIRECTORY", help="Where to; it is made if it is not there.")],
    *,
    source: Annotated[DataSource, typer.Option("--for", help="The data source.")] = DataSource.ALL,
    url: Annotated[str, typer.Option(envvar="WARREN_URL", help="Where people find Warren's page.")] = DEFAULT_URL,
    docs_url: Annotated[str, typer.Option(help="Where Warren's docs are, for the links of alerts.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace files that are different.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write dashboards, provisioning files and, for Prometheus, alert and recording rules."""
    from warren.dashboards.export import SOURCES, files_for, write

    sources = SOURCES if source is DataSource.ALL else (source.value,)
    files = files_for(sources, url=url.rstrip("/"), docs_url=docs_url)
    written = write(files, directory, force=force)
    if as_json:
        show.as_json({"directory": str(directory), "files": list(files), "written": written})
        return
    for name in written:
        typer.echo(directory / name)
    if not written:
        typer.echo(f"All {len(files)} files are already in {directory}.", err=True)
