"""An OpenTelemetry Collector that receives OTLP over HTTP and prints it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from tests.support.programs import OTEL_COLLECTOR
from tests.support.servers.prometheus import Series, key_of
from tests.support.servers.server import Server

CONFIG = """
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:{port}
exporters:
  debug:
    verbosity: detailed
    use_internal_logger: false
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    metrics:
      receivers: [otlp]
      exporters: [debug]
"""
_METRIC = re.compile(r"     -> Name: (?P<name>\S+)")
_ATTRIBUTE = re.compile(r"     -> (?P<name>\w+): Str\((?P<value>.*)\)")
_TIME = re.compile(r"Timestamp: (?P<time>\S+ [\d:]+)(?P<fraction>\.\d+)? \+0000 UTC")
_VALUE = re.compile(r"Value: (?P<value>\S+)")


class Collector(Server):
    """A Collector whose log has everything it received."""

    def command(self) -> list[str]:
        (self.directory / "collector.yaml").write_text(CONFIG.format(port=self.port))
        return [str(OTEL_COLLECTOR.path()), "--config=file:collector.yaml"]

    def answers(self) -> bool:
        return self.ask("/v1/metrics", b"", headers={"Content-Type": "application/x-protobuf"}).status == 200

    def samples(self, name: str) -> Series:
        """Return all data points of a metric: values by time in milliseconds, by attributes."""
        series: Series = {}
        metric, labels, at_ms = "", {}, 0
        for line in self.log().splitlines():
            if found := _METRIC.match(line):
                metric = found["name"]
            elif line.startswith("NumberDataPoints"):
                labels = {"__name__": metric}
            elif found := _ATTRIBUTE.match(line):
                labels[found["name"]] = found["value"]
            elif found := _TIME.match(line):
                at_ms = _ms(found["time"], found["fraction"] or ".0")
            elif (found := _VALUE.match(line)) and metric == name:
                series.setdefault(key_of(labels), {})[at_ms] = float(found["value"])
        return series


def _ms(time: str, fraction: str) -> int:
    seconds = datetime.strptime(time, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
    return int(seconds) * 1000 + round(float(fraction) * 1000)
