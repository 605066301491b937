"""Sinks as Spark writes to them: tasks send, what they sent is added up, and what went wrong is told in a sentence."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import SparkSession

from tests.support.kafka import Cluster
from tests.support.receivers.web_server import Reply, WebServer, web_server
from tests.support.servers import InfluxDB
from tests.support.servers.influxdb import DATABASE, PASSWORD, USER
from tests.support.sink_rows import CLUSTER_ROW, PROCESS_ROW, batch, group_row, health_batch, partition_row
from warren.embedded.broker import Broker
from warren.pipeline.queries import cause_of
from warren.sinks.contract import Sent
from warren.sinks.http import Web
from warren.sinks.influxdb import Influx, InfluxOptions
from warren.sinks.kafka import KafkaSinkOptions
from warren.sinks.points import POINTS
from warren.sinks.remote_write import RemoteWriteOptions
from warren.sinks.sink import Sink
from warren.sinks.writers import PLAIN_POINTS, register, write_points, write_tables

SECRET = "hunter2-and-more"
KEPT = {"retention.ms": "-1"}  # the rows are years old, and the broker looks for such records every five minutes


def table(rows: int) -> pa.Table:
    return pa.Table.from_batches([batch(*(partition_row(partition=number) for number in range(rows)))], POINTS)


def influx(server: WebServer) -> Sink:
    web = Web(server.url, username="warren", password=SECRET, patience_s=0.0)
    return Sink("test", InfluxOptions(web, "lag"))


def lines(server: WebServer) -> list[str]:
    return [line for one in server.asked for line in gzip.decompress(one.body).decode().splitlines()]


def test_a_table_is_written_in_its_order(spark: SparkSession) -> None:
    with web_server(Reply(204)) as server:
        sink = influx(server)
        register(spark, sink)
        assert write_tables(spark, sink, [table(5)]) == Sent(5)

    assert [line.partition("partition=")[2][0] for line in lines(server)] == list("01234")


def test_tables_with_different_columns_are_written_together(spark: SparkSession) -> None:
    health = pa.Table.from_batches([health_batch(CLUSTER_ROW, PROCESS_ROW)])
    with web_server(Reply(204)) as server:
        sink = influx(server)
        register(spark, sink)
        assert write_tables(spark, sink, [table(2), health]) == Sent(4)

    measurements = [line.partition(",")[0] for line in lines(server)]
    assert measurements == ["burrow_partition", "burrow_partition", "warren_cluster", "warren_process"]


def test_a_data_frame_is_written_by_all_its_tasks(spark: SparkSession) -> None:
    frame = spark.createDataFrame(table(100).cast(PLAIN_POINTS)).repartition(4)
    with web_server(Reply(204)) as server:
        assert write_points(spark, influx(server), frame) == Sent(100)

    assert len(server.asked) == 4
    assert len(set(lines(server))) == 100


def test_samples_of_a_series_come_in_the_order_of_time(spark: SparkSession) -> None:
    rows = [partition_row(time_ms=at) for at in (3_000, 1_000, 2_000)]
    frame = spark.createDataFrame(pa.Table.from_batches([batch(*rows)], POINTS).cast(PLAIN_POINTS)).repartition(3)
    with web_server(Reply(204)) as server:
        assert write_points(spark, Sink("test", RemoteWriteOptions(Web(server.url))), frame) == Sent(3)

    assert len(server.asked) == 1  # one task has all of a series


def test_what_was_refused_comes_back_with_its_reason(spark: SparkSession) -> None:
    said = b'{"error":"partial write: points beyond retention policy dropped=2"}'
    with web_server(Reply(400, body=said)) as server:
        sink = influx(server)
        register(spark, sink)
        sent = write_tables(spark, sink, [table(3)])

    assert (sent.points, sent.refused) == (1, 2)
    assert "beyond retention policy" in sent.reason


def test_a_failure_is_a_sentence_without_secrets(spark: SparkSession) -> None:
    with web_server(Reply(401, echoes=True)) as server:
        sink = influx(server)
        register(spark, sink)
        with pytest.raises(Exception, match="answered 401") as raised:  # whatever Spark makes of it
            write_tables(spark, sink, [table(3)])

    assert cause_of(raised.value).startswith(f"127.0.0.1:{server.port} answered 401 Unauthorized")
    assert SECRET not in str(raised.value)


# -- Kafka -----------------------------------------------------------------------------------------------------------


def kafka_topic(broker: Broker, topic: str) -> Sink:
    return Sink("records", KafkaSinkOptions({"bootstrap.servers": broker.bootstrap}, topic, timeout_s=6.0))


def test_records_are_there_when_the_writing_is_over(spark: SparkSession, broker: Broker) -> None:
    kafka = Cluster(broker.bootstrap)
    sink = kafka_topic(broker, kafka.make_topic(**KEPT))
    register(spark, sink)

    assert write_tables(spark, sink, [table(500)]) == Sent(500)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "reader", "log_level": 0})
    try:
        options = sink.options
        assert isinstance(options, KafkaSinkOptions)
        assert consumer.get_watermark_offsets(TopicPartition(options.topic, 0), timeout=10) == (0, 500)
    finally:
        consumer.close()


def test_a_topic_that_is_not_there_is_told(spark: SparkSession, broker: Broker) -> None:
    sink = kafka_topic(broker, "no-such-topic")
    register(spark, sink)
    with pytest.raises(Exception, match="no-such-topic") as raised:  # whatever Spark makes of it
        write_tables(spark, sink, [table(1)])

    assert "topic no-such-topic: " in cause_of(raised.value)
    assert "Unknown topic" in cause_of(raised.value)


# -- names that nobody should give, in a real InfluxDB ---------------------------------------------------------------

STRANGE = [
    "late night", "a,b=c", 'say "so"', "back\\slash", "back\\,comma", "back\\ space", "주문", "🐇", "'", "=", "\\=",
    "#", "%", "a/b", "\u00a0", "x" * 200, "{}", "\\n",
]  # fmt: skip
REPLACED = {"two\nlines": "two\\nlines", "tab\there": "tab\\there", "ends\\": "ends%5C", "\\": "%5C"}


@pytest.fixture(scope="module")
def influxdb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InfluxDB]:
    with InfluxDB(tmp_path_factory.mktemp("influxdb")) as server:
        yield server


def test_influxdb_has_every_name_as_it_was(influxdb: InfluxDB) -> None:
    sender = Influx(InfluxOptions(Web(influxdb.url, username=USER, password=PASSWORD), DATABASE))
    names = [*STRANGE, *REPLACED]
    rows = [row for name in names for row in (group_row(name), partition_row(name, name, owner=name, lag_seconds=0.1))]
    try:
        assert sender.send(batch(*rows)) == Sent(len(rows))
    finally:
        sender.close()

    expected = {REPLACED.get(name, name) for name in names}
    assert {row["group"] for row in influxdb.rows("SELECT * FROM burrow_group")} == expected
    found = influxdb.rows("SELECT * FROM burrow_partition")
    assert {(row["group"], row["topic"], row["owner"]) for row in found} == {(name,) * 3 for name in expected}
    assert {row["lag_seconds"] for row in found} == {0.1}


def test_the_data_of_a_receiver_outlive_it(tmp_path: Path) -> None:
    with InfluxDB(tmp_path) as server:
        server.query(f"CREATE RETENTION POLICY week ON {DATABASE} DURATION 7d REPLICATION 1")
        server.stop()
        server.start()
        policies = [row["name"] for row in server.rows(f"SHOW RETENTION POLICIES ON {DATABASE}")]

    assert "week" in policies
