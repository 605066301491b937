"""Prometheus, with its receiver of remote write; it scrapes nobody."""

from __future__ import annotations

from tests.support.programs import PROMETHEUS
from tests.support.servers.server import Server, with_query

Key = tuple[tuple[str, str], ...]
Series = dict[Key, dict[int, float]]
LONG = "10000000s"


def key_of(labels: dict[str, str]) -> Key:
    """Labels in an order, the name of the metric among them."""
    return tuple(sorted(labels.items()))


class Prometheus(Server):
    """A single node."""

    def command(self) -> list[str]:
        (self.directory / "prometheus.yml").write_text("global: {}\n")
        where = [f"--web.listen-address=127.0.0.1:{self.port}", f"--storage.tsdb.path={self.directory / 'data'}"]
        return [str(PROMETHEUS.path()), "--config.file=prometheus.yml", "--web.enable-remote-write-receiver", *where]

    def answers(self) -> bool:
        return self.ask("/-/ready").status == 200

    def samples(self, match: str) -> Series:
        """All samples of the series that match: values by time in milliseconds, by their labels."""
        answer = self.ask(with_query("/api/v1/query", query=f"{match}[{LONG}]")).json()
        return {
            key_of(one["metric"]): {round(seconds * 1000): float(value) for seconds, value in one["values"]}
            for one in answer["data"]["result"]
        }
