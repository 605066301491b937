"""OpenTelemetry's protocol (OTLP) over HTTP: the families of `/metrics` as gauges, for a Collector and others.

A request holds one resource (Warren) with one scope, and in it a metric for each family with all its data points.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from warren.sinks.columns import Runs
from warren.sinks.contract import Sent
from warren.sinks.families import Family, families_of, labels_of
from warren.sinks.http import HttpSender, Prepared, Web, compressed, login
from warren.sinks.protobuf import doubles, field, fields, joined, longs, read
from warren.webclient.client import Answer, Request

_HEADERS = (("Content-Encoding", "gzip"),)
_NS_PER_MS = 1_000_000


class OtlpOptions(NamedTuple):
    """Where metrics are posted to."""

    web: Web
    token: str = ""
    batch_points: int = 5_000


class Gauges:
    """Points as gauges, of which any run is to be had as a request."""

    def __init__(self, points: pa.RecordBatch) -> None:
        attributes = labels_of(points, partial(_attribute, 7))
        times = longs(3, pc.multiply(points.column("time_ms"), _NS_PER_MS))
        self._count: int = points.num_rows
        self._runs = [(one.name, Runs(_data_points(one, attributes, times))) for one in families_of(points)]

    def __len__(self) -> int:
        return self._count

    def between(self, start: int, stop: int) -> bytes:
        """The request with the points from `start` on and before `stop`."""
        found: dict[str, bytes] = {}
        for name, run in self._runs:
            found[name] = found.get(name, b"") + run.between(start, stop)
        metrics = [field(2, field(1, name.encode()) + field(5, gauge)) for name, gauge in found.items() if gauge]
        resource = field(1, _attribute(1, "service.name", "warren"))
        scope = field(1, field(1, b"warren"))
        return field(1, resource + field(2, scope + b"".join(metrics)))


def _data_points(family: Family, attributes: pa.BinaryArray, times: pa.BinaryArray) -> pa.BinaryArray:
    """The data point that becomes of each point, nothing where there is no value."""
    is_whole = pa.types.is_integer(family.values.type)
    value = longs(6, family.values) if is_whole else doubles(4, family.values)
    own = [_attribute(7, *family.label)] if family.label else []
    return pc.if_else(pc.is_valid(family.values), fields(1, joined([times, value, attributes, *own])), b"")


def _attribute(number: int, name: str, value: str) -> bytes:
    return field(number, field(1, name.encode()) + field(2, field(1, value.encode())))


class Otlp(HttpSender):
    """Posts gauges in the order of time; the same one again is the same data point."""

    def __init__(self, options: OtlpOptions) -> None:
        super().__init__(options.web, options.batch_points, options.token)
        self._options = options

    def _prepared(self, points: pa.RecordBatch) -> Prepared:
        return Gauges(points)

    def _request(self, body: bytes) -> Request:
        headers = (*_HEADERS, *login("Bearer", self._options.token))
        return Request("POST", self._options.web.url, compressed(body), "application/x-protobuf", headers)

    def _taken(self, answer: Answer, count: int) -> Sent:
        refused, reason = _partial_success(answer)
        return Sent(count - min(refused, count), min(refused, count), self._poster.told(reason))


def _partial_success(answer: Answer) -> tuple[int, str]:
    """How many data points the receiver threw away in spite of a good status, and why."""
    try:
        partial = b"".join(one for number, one in read(answer.body) if number == 1 and isinstance(one, bytes))
        told = dict(read(partial))
    except ValueError:  # what is not OpenTelemetry's answers whatever it likes
        return 0, ""
    refused, reason = told.get(1, 0), told.get(2, b"")
    if not isinstance(refused, int) or not isinstance(reason, bytes) or not refused:
        return 0, ""
    return refused, reason.decode("utf-8", "replace")
