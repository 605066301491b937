"""Sinks as Spark writes to them: a data source whose tasks batch, compress, send and try again.

Comes in: a data frame of `POINTS`, of one moment or of a whole range. Goes out: requests to the receiver, and how many
points arrived.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from warren.packing import packed, unpacked
from warren.sinks.contract import Sender, Sent
from warren.sinks.elasticsearch import Search, SearchOptions
from warren.sinks.http import Web
from warren.sinks.influxdb import Influx, InfluxOptions
from warren.sinks.kafka import KafkaSinkOptions, KafkaTopic
from warren.sinks.otlp import Otlp, OtlpOptions
from warren.sinks.points import POINTS
from warren.sinks.remote_write import RemoteWrite, RemoteWriteOptions
from warren.sinks.sink import Sink

_SENDERS: dict[str, Callable[[Any], Sender]] = {
    "InfluxOptions": Influx,
    "SearchOptions": Search,
    "KafkaSinkOptions": KafkaTopic,
    "RemoteWriteOptions": RemoteWrite,
    "OtlpOptions": Otlp,
}
_KINDS = {
    kind.__name__: kind for kind in (InfluxOptions, SearchOptions, KafkaSinkOptions, RemoteWriteOptions, OtlpOptions)
}

PLAIN_POINTS = pa.schema(
    [pa.field(one.name, one.type.value_type if pa.types.is_dictionary(one.type) else one.type) for one in POINTS]
)
"""As Spark has them, which knows no dictionaries."""

PACKED = "packed"
PACK_POINTS = 50_000
_PACKED_SCHEMA = pa.schema([(PACKED, pa.binary())])


def register(spark: SparkSession, sink: Sink) -> None:
    """Make a sink known to Spark."""
    spark.dataSource.register(_source(sink.format))


def write_points(spark: SparkSession, sink: Sink, points: DataFrame) -> Sent:
    """Write a data frame of `POINTS` to a sink; whatever Spark raises if some could not be written for now.

    It may be written again then, or at any time later: the same points are the same points.
    """
    register(spark, sink)
    if sink.is_in_order:
        series = ["measurement", "cluster", "group", "topic", "partition"]
        points = points.repartition(*series).sortWithinPartitions("time_ms")
    return _written(sink, points)


def write_tables(spark: SparkSession, sink: Sink, tables: Sequence[pa.Table]) -> Sent:
    """The same for tables of any points, by one task, in the order that they have; the sink is registered.

    Points travel packed: a row costs Spark's Java some microseconds whatever is in it, and so they are few.
    """
    pieces = [
        packed(points.slice(start, PACK_POINTS))
        for points in tables
        for start in range(0, points.num_rows, PACK_POINTS)
    ]
    return _written(sink, spark.createDataFrame(pa.table({PACKED: pieces}, _PACKED_SCHEMA)).coalesce(1))


def _unpacked(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The points of a batch, packed or not."""
    if PACKED not in batch.schema.names:
        yield batch
        return
    for piece in batch.column(PACKED):
        yield from unpacked(piece.as_buffer()).to_batches()


def _written(sink: Sink, points: DataFrame) -> Sent:
    """The tasks' accounts come back by way of a file: Spark has them put together in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="warren-sink-") as directory:
        account = Path(directory) / "account.json"
        told = json.dumps([type(sink.options).__name__, sink.options._asdict()])
        writing = points.write.format(sink.format).option("secret_options", told).option("account", str(account))
        writing.mode("append").save()
        return Sent(*json.loads(account.read_text()))


@lru_cache(maxsize=256)
def _source(name: str) -> type[DataSource]:
    return type("PointsSource", (PointsSource,), {"name": classmethod(lambda _: name)})


@dataclass(frozen=True)
class Account(WriterCommitMessage):
    """What a task has sent."""

    sent: Sent


class PointsSource(DataSource):
    """Registered with Spark under a name for each sink; `secret_options` has the kind of its options, and these."""

    def writer(self, schema: StructType, overwrite: bool) -> PointsWriter:
        return PointsWriter(self.options["secret_options"], self.options["account"])


class PointsWriter(DataSourceArrowWriter):
    """Writes in Spark's tasks, and adds up in the driver's helper what they have written."""

    def __init__(self, options: str, account: str) -> None:
        self._options = options
        self._account = account

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Send everything; `SinkError` if it must all be sent again."""
        sender, done = _sender(self._options), Sent()
        for batch in iterator:
            for points in _unpacked(batch):
                done += sender.send(points)
        return Account(done)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """All tasks are done."""
        total = sum((one.sent for one in messages if isinstance(one, Account)), Sent())
        Path(self._account).write_text(json.dumps([total.points, total.refused, total.reason]))

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Some task has failed; whoever writes learns it from Spark."""


@lru_cache(maxsize=16)
def _sender(options: str) -> Sender:
    """The one of this process, which keeps its connection."""
    kind, raw = json.loads(options)
    if "web" in raw:
        raw["web"] = Web(*raw["web"])
    return _SENDERS[kind](_KINDS[kind](**raw))
