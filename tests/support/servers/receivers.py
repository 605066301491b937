"""All receivers of points together, how Warren is told of them, and what each has of the lag of groups."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import NewTopic

from tests.support.kafka import Cluster
from tests.support.programs import INFLUXDB_18
from tests.support.servers.collector import Collector
from tests.support.servers.influxdb import DATABASE, PASSWORD, USER, InfluxDB
from tests.support.servers.opensearch import OpenSearch
from tests.support.servers.prometheus import Prometheus, Series
from tests.support.servers.victoria import VictoriaMetrics
from warren.embedded.broker import Broker, free_port

INTERVAL_S = 3
INTERVAL_MS = INTERVAL_S * 1000
WRONG = "not-the-pass-word"
QUICK_SINKS = ("influx", "search", "stream", "records", "victoria", "prometheus")
LONG_SINKS = ("influx2", "collector")
"""Their receivers are built from source, so that only the long suite has them."""
UNAUTHORIZED, NOT_FOUND = (
    "answered 401 Unauthorized: authorization failed",
    'answered 404 Not Found: database not found: "nowhere"',
)
QUICK_BAD_SINKS = {"stranger": UNAUTHORIZED, "homeless": NOT_FOUND}
LONG_BAD_SINKS = {"bucketless": NOT_FOUND}
EVERY = """
interval = {interval}
group = "sinks-"
topic = "sinks-"
"""
SINKS = f"""
[sink.influx]
class-name = "influxdb"
url = "{{influx}}"
database = "{DATABASE}"
username = "{USER}"
password = "{PASSWORD}"
{{every}}
[sink.search]
class-name = "opensearch"
url = "{{search}}"
{{every}}
[sink.stream]
class-name = "elasticsearch"
url = "{{search}}"
data-stream = "points"
{{every}}
[sink.records]
class-name = "kafka"
servers = ["{{kafka}}"]
to-topic = "points"
timeout = 5
{{every}}
[sink.victoria]
class-name = "remote_write"
url = "{{victoria}}/api/v1/write"
{{every}}
[sink.prometheus]
class-name = "remote_write"
url = "{{prometheus}}/api/v1/write"
{{every}}
[sink.stranger]
class-name = "influxdb"
url = "{{influx}}"
database = "{DATABASE}"
username = "{USER}"
password = "{WRONG}"
{{every}}
[sink.homeless]
class-name = "influxdb"
url = "{{influx}}"
database = "nowhere"
username = "{USER}"
password = "{PASSWORD}"
{{every}}
"""
SINKS_OF_THE_LONG_SUITE = f"""
[sink.influx2]
class-name = "influxdb"
url = "{{influx2}}"
org = "burrow"
bucket = "{DATABASE}/autogen"
token = "{USER}:{PASSWORD}"
{{every}}
[sink.collector]
class-name = "otlp"
url = "{{collector}}/v1/metrics"
{{every}}
[sink.bucketless]
class-name = "influxdb"
url = "{{influx2}}"
bucket = "nowhere/autogen"
token = "{USER}:{PASSWORD}"
{{every}}
"""

LATE = """
[sink.late]
class-name = "influxdb"
url = "{victoria}"
database = "any"
{every}
"""
"""VictoriaMetrics takes the same lines, and makes a series of each field."""

Lags = dict[tuple[int, str], int]
"""The total lag of each group at each moment."""


Readiness = dict[tuple[int, str], int]
"""Whether the cluster was ready for each Warren at each moment."""


class Receivers:
    """Everything that points are written to."""

    def __init__(self, directory: Path, *, is_long: bool) -> None:
        self._is_long = is_long
        self.sinks = QUICK_SINKS + (LONG_SINKS if is_long else ())
        self.bad_sinks = {**QUICK_BAD_SINKS, **(LONG_BAD_SINKS if is_long else {})}
        self.influx = InfluxDB(directory / "influx")
        self.influx2 = InfluxDB(directory / "influx2", INFLUXDB_18)
        self.search = OpenSearch(directory / "search")
        self.victoria = VictoriaMetrics(directory / "victoria")
        self.prometheus = Prometheus(directory / "prometheus")
        self.collector = Collector(directory / "collector")
        self.kafka = Broker(directory / "kafka", port=free_port())
        built = (self.influx2, self.collector) if is_long else ()
        self.servers = (self.influx, self.search, self.victoria, self.prometheus, *built)

    def start(self) -> None:
        for server in self.servers:
            server.launch()
        self.kafka.start()
        for server in self.servers:
            server.wait_until_ready()

    def make_topic(self) -> None:
        topic = NewTopic("points", 1, 1, config={"cleanup.policy": "compact"})
        kafka = Cluster(self.kafka.bootstrap)
        kafka.admin.create_topics([topic])["points"].result(30)

    def stop(self) -> None:
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda server: server.stop(), (*self.servers, self.kafka)))

    def config(self) -> str:
        every = EVERY.format(interval=INTERVAL_S)
        urls = {
            name: getattr(self, name).url
            for name in ("influx", "influx2", "search", "victoria", "prometheus", "collector")
        }
        text = SINKS + (SINKS_OF_THE_LONG_SUITE if self._is_long else "")
        return text.format(**urls, kafka=self.kafka.bootstrap, every=every)

    def late_config(self) -> str:
        return LATE.format(victoria=self.victoria.url, every=EVERY.format(interval=INTERVAL_S))

    def lags(self, sink: str) -> Lags:
        """What a sink's receiver has of groups."""
        readers: dict[str, Callable[[], Lags]] = {
            "influx": lambda: _of_influx(self.influx),
            "influx2": lambda: _of_influx(self.influx2),
            "search": lambda: lags_of_documents(self.search.hits("burrow-*", GROUPS)),
            "stream": lambda: lags_of_documents(self.search.hits("points", GROUPS)),
            "records": lambda: {(one["time"], one["group"]): one["total_lag"] for one in self.records("burrow_group")},
            "victoria": lambda: _of_series(self.victoria.samples(LAG)),
            "prometheus": lambda: _of_series(self.prometheus.samples(LAG)),
            "collector": lambda: _of_series(self.collector.samples(LAG)),
        }
        return readers[sink]()

    def readiness(self, sink: str) -> Readiness:
        """What a sink's receiver has of how well the cluster is known."""
        readers: dict[str, Callable[[], Readiness]] = {
            "influx": lambda: _readiness_of_influx(self.influx),
            "influx2": lambda: _readiness_of_influx(self.influx2),
            "search": lambda: _readiness_of_documents(self.search.hits("burrow-*", CLUSTERS)),
            "stream": lambda: _readiness_of_documents(self.search.hits("points", CLUSTERS)),
            "records": lambda: {(one["time"], one["instance"]): one["ready"] for one in self.records("warren_cluster")},
            "victoria": lambda: _readiness_of_series(self.victoria.samples(READY)),
            "prometheus": lambda: _readiness_of_series(self.prometheus.samples(READY)),
            "collector": lambda: _readiness_of_series(self.collector.samples(READY)),
        }
        return readers[sink]()

    def records(self, measurement: str) -> list[dict[str, Any]]:
        """What was written to the topic, each point once."""
        found = {(record.key(), record.timestamp()[1]): json.loads(record.value()) for record in self.messages()}
        return [one for one in found.values() if one["measurement"] == measurement]

    def messages(self) -> list[Any]:
        consumer = Consumer({"bootstrap.servers": self.kafka.bootstrap, "group.id": "reader", "log_level": 0})
        try:
            start, end = consumer.get_watermark_offsets(TopicPartition("points", 0), timeout=10)
            consumer.assign([TopicPartition("points", 0, start)])
            found: list[Any] = []
            while len(found) < end - start:
                found += [one for one in consumer.consume(1000, timeout=1) if not one.error()]
            return found
        finally:
            consumer.close()


LAG, READY = "burrow_kafka_consumer_lag_total", "warren_cluster_ready"
GROUPS = {"term": {"measurement_name": "burrow_group"}}
CLUSTERS = {"term": {"measurement_name": "warren_cluster"}}


def _of_influx(server: InfluxDB) -> Lags:
    return {(row["time"], row["group"]): row["total_lag"] for row in server.rows("SELECT * FROM burrow_group")}


def lags_of_documents(hits: list[dict[str, Any]]) -> Lags:
    sources = [hit["_source"] for hit in hits]
    return {(_ms(one["@timestamp"]), one["tag"]["group"]): one["burrow_group"]["total_lag"] for one in sources}


def _ms(text: str) -> int:
    return int(time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ")) - time.timezone) * 1000


def _of_series(series: Series) -> Lags:
    return {(at, dict(key)["consumer_group"]): int(value) for key, of in series.items() for at, value in of.items()}


def _readiness_of_influx(server: InfluxDB) -> Readiness:
    return {(row["time"], row["instance"]): row["ready"] for row in server.rows("SELECT * FROM warren_cluster")}


def _readiness_of_documents(hits: list[dict[str, Any]]) -> Readiness:
    sources = [hit["_source"] for hit in hits]
    return {(_ms(one["@timestamp"]), one["tag"]["instance"]): one["warren_cluster"]["ready"] for one in sources}


def _readiness_of_series(series: Series) -> Readiness:
    return {(at, dict(key)["instance"]): int(value) for key, of in series.items() for at, value in of.items()}
