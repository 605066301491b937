"""Prometheus' remote write 1.0: families of `/metrics` for groups, partitions, topics and Warren itself, pushed.

A WriteRequest is a list of series (field 1), a series has labels (field 1, each with name and value) and samples
(field 2, each a double and a time in milliseconds).
"""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from warren.sinks.columns import Runs
from warren.sinks.families import Family, families_of, labels_of
from warren.sinks.http import HttpSender, Prepared, Web, login
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
    sample = fields(2, joined([doubles(1, _doubles_of(family.values)), times]))
    own = [_label(*family.label)] if family.label else []
    series = fields(1, joined([_label("__name__", family.name), labels, *own, sample]))
    return pc.if_else(pc.is_valid(family.values), series, b"")


def _doubles_of(values: pa.Array) -> pa.DoubleArray:
    """The nearest ones: anybody may commit an offset beyond what a double has room for."""
    return values.cast(pa.float64(), safe=False)


def _known_label(name: str, value: str) -> bytes:
    return _label(name, value) if value else b""  # an empty one is the same as none


def _label(name: str, value: str) -> bytes:
    return field(1, field(1, name.encode()) + field(2, value.encode()))


class RemoteWrite(HttpSender):
    """Writes samples in the order of time; the newest one of a series again is the same sample."""

    def __init__(self, options: RemoteWriteOptions) -> None:
        super().__init__(options.web, options.batch_points, options.token)
        self._options = options

    def _prepared(self, points: pa.RecordBatch) -> Prepared:
        return Runs(series_of(points))

    def _request(self, body: bytes) -> Request:
        headers = (*_HEADERS, *login("Bearer", self._options.token))
        compressed = pa.compress(body, codec="snappy", asbytes=True)
        return Request("POST", self._options.web.url, compressed, "application/x-protobuf", headers)
