"""Real servers that points are written to, on loopback; a test may stop one and start it again with its data."""

from tests.support.servers.influxdb import InfluxDB
from tests.support.servers.opensearch import OpenSearch
from tests.support.servers.prometheus import Prometheus
from tests.support.servers.victoria import VictoriaMetrics

__all__ = ["InfluxDB", "OpenSearch", "Prometheus", "VictoriaMetrics"]
