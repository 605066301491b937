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
from warren.sinks.http import Poster, Web, compressed, sent_in_parts
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


class Otlp:
    """Posts gauges in the order of time; the same one again is the same data point."""

    def __init__(self, options: OtlpOptions) -> None:
        self._options = options
        self._poster = Poster(options.web, [options.token])
        self._reason = ""

    def send(self, points: pa.RecordBatch) -> Sent:
        """Send all of them, some thousand at a time."""
        gauges = Gauges(points)
        return sent_in_parts(
            len(gauges),
            self._options.batch_points,
            lambda start, stop: self._send(gauges.between(start, stop), stop - start),
            lambda: self._reason,
        )

    def close(self) -> None:
        """Let go of the connection."""
        self._poster.close()

    def _send(self, message: bytes, count: int) -> Sent | None:
        answer = self._poster.ask(self._request(compressed(message)))
        if 200 <= answer.status < 300:
            refused, reason = _partial_success(answer)
            return Sent(count - min(refused, count), min(refused, count), self._poster.told(reason))
        self._reason = self._poster.reason(answer)
        return None

    def _request(self, body: bytes) -> Request:
        login = [("Authorization", f"Bearer {self._options.token}")] if self._options.token else []
        return Request("POST", self._options.web.url, body, "application/x-protobuf", (*_HEADERS, *login))


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
