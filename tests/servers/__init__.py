"""Real servers that points are written to, on loopback; a test may stop one and start it again with its data."""

from tests.servers.influxdb import InfluxDB
from tests.servers.opensearch import OpenSearch
from tests.servers.prometheus import Prometheus
from tests.servers.victoria import VictoriaMetrics

__all__ = ["InfluxDB", "OpenSearch", "Prometheus", "VictoriaMetrics"]
