"""The `heads` source: what is known of every partition, as a Spark stream of `HEAD_ROWS`.

Spark's offset is the number of the current interval of time, so one batch runs in each. A batch is an observation of
now: unlike records, the past cannot be read again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import DataSource, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from warren.kafka.clients import ClientConfig
from warren.sources.observing import KafkaBrokers, Observer
from warren.sources.stream_reader import StreamReader
from warren.windows.rows import HEAD_ROWS


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


class HeadsReader(StreamReader):
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
        yield _process_observer(self._options).observe()


_observers: dict[str, Observer] = {}


def _process_observer(options: HeadsOptions) -> Observer:
    """This process's observer of a cluster."""
    key = options.to_json()
    if key not in _observers:
        _observers[key] = Observer(KafkaBrokers(options.client), options.topic_refresh_s)
    return _observers[key]
