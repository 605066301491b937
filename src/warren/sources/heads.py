"""The `heads` source: end and log-start offset of every partition, as a Spark stream of `HEAD_ROWS`.

Spark's offset is the number of the current interval of time, so one batch runs in each. A batch is an observation of
now: unlike records, the past cannot be read again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from confluent_kafka import Consumer
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from warren.sources.kafka import (
    EARLIEST,
    LATEST,
    REQUEST_TIMEOUT_S,
    ClientConfig,
    cache_key,
    kafka_errors,
    offsets_at,
    process_consumer,
)
from warren.windows.rows import HEAD_ROWS

UNKNOWN = -1


class HeadsOptions(NamedTuple):
    """Everything the source is told; travels to it as one JSON text."""

    client: ClientConfig
    offset_refresh_s: int = 10
    topic_refresh_s: int = 60

    def to_json(self) -> str:
        """As text."""
        return json.dumps(self._asdict())

    @classmethod
    def from_json(cls, text: str) -> HeadsOptions:
        """From text."""
        return cls(**json.loads(text))


class HeadsSource(DataSource):
    """Registered with Spark under its name; `secret_options` is a `HeadsOptions` as JSON."""

    @classmethod
    def name(cls) -> str:
        return "warren-heads"

    def schema(self) -> StructType:
        return from_arrow_schema(HEAD_ROWS)

    def streamReader(self, schema: StructType) -> HeadsReader:
        return HeadsReader(HeadsOptions.from_json(self.options["secret_options"]))


class HeadsReader(DataSourceStreamReader):
    """One task in each interval, so that an observation is whole or not there."""

    def __init__(self, options: HeadsOptions) -> None:
        self._options = options

    def initialOffset(self) -> dict[str, Any]:
        return {"interval": 0}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        return {"interval": int(time.time() / self._options.offset_refresh_s)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return [] if start == end else [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # High watermarks, as Burrow and Kafka's own tools measure lag.
        consumer = process_consumer(self._options.client, **{"isolation.level": "read_uncommitted"})
        known = _known_topics(consumer, self._options)
        partitions = known.partitions
        observed_ms = int(time.time() * 1000)  # before the question: the ends are those of a moment not earlier
        ends = offsets_at(consumer, partitions, LATEST)
        log_starts = offsets_at(consumer, partitions, EARLIEST)
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([topic for topic, _ in partitions], pa.string()),
                pa.array([number for _, number in partitions], pa.int32()),
                pa.array([ends.get(one, UNKNOWN) for one in partitions], pa.int64()),
                pa.array([log_starts.get(one, UNKNOWN) for one in partitions], pa.int64()),
                pa.array([observed_ms] * len(partitions), pa.int64()),
                pa.array([known.cluster_id] + [None] * (len(partitions) - 1), pa.string())[: len(partitions)],
            ],
            schema=HEAD_ROWS,
        )


class _TopicList(NamedTuple):
    cluster_id: str
    partitions: list[tuple[str, int]]
    read_at_s: float


_topic_lists: dict[str, _TopicList] = {}


def _known_topics(consumer: Consumer, options: HeadsOptions) -> _TopicList:
    """All partitions of the cluster; asked for anew when the list is older than topic-refresh."""
    key = cache_key(options.client)
    known = _topic_lists.get(key)
    if known is None or time.monotonic() - known.read_at_s >= options.topic_refresh_s:
        known = _topic_lists[key] = _list_topics(consumer)
    return known


def _list_topics(consumer: Consumer) -> _TopicList:
    with kafka_errors("listing topics"):
        metadata = consumer.list_topics(timeout=REQUEST_TIMEOUT_S)
    topics = sorted(metadata.topics.items())
    partitions = [(name, number) for name, topic in topics for number in sorted(topic.partitions)]
    return _TopicList(metadata.cluster_id or "", partitions, time.monotonic())
