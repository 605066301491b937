"""Prometheus: takes remote write, scrapes targets, and evaluates rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.programs import PROMETHEUS
from tests.support.servers.server import Server, with_query

Key = tuple[tuple[str, str], ...]
Series = dict[Key, dict[int, float]]
LONG = "10000000s"
CONFIG = """
global: {{ scrape_interval: 1s, evaluation_interval: 1s }}
rule_files: [{rule_files}]
scrape_configs:
  - job_name: warren
    static_configs: [{{ targets: [{targets}] }}]
"""


def key_of(labels: dict[str, str]) -> Key:
    """Return labels sorted, the metric's name among them."""
    return tuple(sorted(labels.items()))


class Prometheus(Server):
    """A single node that scrapes `targets` (`host:port`) and evaluates `rule_files` every second."""

    def __init__(self, directory: Path, targets: Sequence[str] = (), rule_files: Sequence[Path] = ()) -> None:
        super().__init__(directory)
        config = CONFIG.format(targets=_quoted(targets), rule_files=_quoted(rule_files))
        (self.directory / "prometheus.yml").write_text(config)

    def command(self) -> list[str]:
        where = [f"--web.listen-address={self.address}", f"--storage.tsdb.path={self.directory / 'data'}"]
        return [str(PROMETHEUS.path()), "--config.file=prometheus.yml", "--web.enable-remote-write-receiver", *where]

    def answers(self) -> bool:
        return self.ask("/-/ready").status == 200

    def data(self, path: str, **parameters: str) -> Any:
        """Return the `data` of a successful request to the HTTP API."""
        answer = self.ask(with_query(path, **parameters))
        assert answer.status == 200, answer.body.decode()
        return answer.json()["data"]

    def query(self, expression: str, **parameters: str) -> list[dict[str, Any]]:
        """Return the series of an instant query: `metric` has the labels, `value` the time and the value."""
        series: list[dict[str, Any]] = self.data("/api/v1/query", query=expression, **parameters)["result"]
        return series

    def query_range(self, expression: str, start_s: float, end_s: float) -> list[dict[str, Any]]:
        """Return the series of a range query with one value a second; `values` has times and values."""
        between = {"start": str(start_s), "end": str(end_s), "step": "1"}
        series: list[dict[str, Any]] = self.data("/api/v1/query_range", query=expression, **between)["result"]
        return series

    def samples(self, match: str) -> Series:
        """Return all samples of the matching series: values by time in milliseconds, by labels."""
        return {
            key_of(one["metric"]): {round(seconds * 1000): float(value) for seconds, value in one["values"]}
            for one in self.query(f"{match}[{LONG}]")
        }


def _quoted(items: Sequence[object]) -> str:
    return ", ".join(f'"{item}"' for item in items)
