"""Real third-party servers on loopback; a test may stop one and start it again with its data."""

from tests.support.servers.alertmanager import Alertmanager
from tests.support.servers.influxdb import InfluxDB
from tests.support.servers.opensearch import OpenSearch
from tests.support.servers.prometheus import Prometheus
from tests.support.servers.victoria import VictoriaMetrics
from tests.support.servers.zookeeper import ZooKeeper

__all__ = ["Alertmanager", "InfluxDB", "OpenSearch", "Prometheus", "VictoriaMetrics", "ZooKeeper"]
