"""A sink: a name, and all that Spark's tasks need to know to write to it."""

from __future__ import annotations

from typing import NamedTuple

from warren.sinks.elasticsearch import SearchOptions
from warren.sinks.influxdb import InfluxOptions
from warren.sinks.kafka import KafkaSinkOptions
from warren.sinks.otlp import OtlpOptions
from warren.sinks.remote_write import RemoteWriteOptions

Options = InfluxOptions | SearchOptions | KafkaSinkOptions | RemoteWriteOptions | OtlpOptions


class Sink(NamedTuple):
    """Somewhere that points are written to."""

    name: str
    options: Options

    @property
    def is_in_order(self) -> bool:
        """Whether samples of a series must come in the order of time."""
        return isinstance(self.options, RemoteWriteOptions | OtlpOptions)

    @property
    def format(self) -> str:
        """The name of its data source; one for each, since Spark changes what it keeps of one without a lock."""
        return f"warren-sink-{self.name}"
