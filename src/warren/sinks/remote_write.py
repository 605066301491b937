"""Prometheus' remote write 1.0: families of `/metrics` for groups, partitions, topics and Warren itself, pushed.

A WriteRequest is a list of series (field 1), a series has labels (field 1, each with name and value) and samples
(field 2, each a double and a time in milliseconds).
"""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from warren.sinks.columns import Runs
from warren.sinks.contract import Sent
from warren.sinks.families import Family, families_of, labels_of
from warren.sinks.http import Poster, Web, sent_in_parts
from warren.sinks.protobuf import doubles, field, fields, joined, whole_numbers
from warren.webclient.client import Request

_HEADERS = (("Content-Encoding", "snappy"), ("X-Prometheus-Remote-Write-Version", "0.1.0"))


class RemoteWriteOptions(NamedTuple):
    """Where samples are posted to."""

    web: Web
    token: str = ""
    batch_points: int = 5_000


def series_of(points: pa.RecordBatch) -> pa.BinaryArray:
    """Of each point the series that become of it: the pieces that a WriteRequest is made of."""
    labels, times = labels_of(points, _known_label), whole_numbers(2, points.column("time_ms"))
    return joined([_series(family, labels, times) for family in families_of(points)])


def _series(family: Family, labels: pa.BinaryArray, times: pa.BinaryArray) -> pa.BinaryArray:
    """One series of each point, nothing where there is no value."""
    sample = fields(2, joined([doubles(1, family.values.cast(pa.float64())), times]))
    own = [_label(*family.label)] if family.label else []
    series = fields(1, joined([_label("__name__", family.name), labels, *own, sample]))
    return pc.if_else(pc.is_valid(family.values), series, b"")


def _known_label(name: str, value: str) -> bytes:
    return _label(name, value) if value else b""  # an empty one is the same as none


def _label(name: str, value: str) -> bytes:
    return field(1, field(1, name.encode()) + field(2, value.encode()))


class RemoteWrite:
    """Writes samples in the order of time; the same one again is the same sample."""

    def __init__(self, options: RemoteWriteOptions) -> None:
        self._options = options
        self._poster = Poster(options.web, [options.token])
        self._reason = ""

    def send(self, points: pa.RecordBatch) -> Sent:
        """Send all of them, some thousand at a time."""
        series = Runs(series_of(points))
        return sent_in_parts(
            len(series),
            self._options.batch_points,
            lambda start, stop: self._send(series.between(start, stop), stop - start),
            lambda: self._reason,
        )

    def close(self) -> None:
        """Let go of the connection."""
        self._poster.close()

    def _send(self, message: bytes, count: int) -> Sent | None:
        answer = self._poster.ask(self._request(pa.compress(message, codec="snappy", asbytes=True)))
        if 200 <= answer.status < 300:
            return Sent(count)
        self._reason = self._poster.reason(answer)
        return None

    def _request(self, body: bytes) -> Request:
        login = [("Authorization", f"Bearer {self._options.token}")] if self._options.token else []
        return Request("POST", self._options.web.url, body, "application/x-protobuf", (*_HEADERS, *login))
