"""VictoriaMetrics, which accepts remote write and InfluxDB's line protocol, and answers PromQL."""

from __future__ import annotations

import json

from tests.support.programs import VICTORIA_METRICS
from tests.support.servers.prometheus import Series, key_of
from tests.support.servers.server import Server, with_query


class VictoriaMetrics(Server):
    """A single node."""

    def command(self) -> list[str]:
        listen, data = f"-httpListenAddr={self.address}", f"-storageDataPath={self.directory / 'data'}"
        return [str(VICTORIA_METRICS.path()), listen, data, "-retentionPeriod=100y"]

    def answers(self) -> bool:
        return self.ask("/health").status == 200

    def samples(self, match: str) -> Series:
        """Return all samples of the matching series: values by time in milliseconds, by labels."""
        self.ask("/internal/force_flush")
        lines = self.ask(with_query("/api/v1/export", **{"match[]": match})).body.splitlines()
        series: Series = {}
        for one in map(json.loads, lines):  # it exports a series block by block
            found = dict(zip(one["timestamps"], map(float, one["values"]), strict=True))
            series.setdefault(key_of(one["metric"]), {}).update(found)
        return series
