"""Points as lines of InfluxDB's line protocol, which are what telegraf would have written. Pure."""

from __future__ import annotations

import pyarrow as pa

from warren.sinks.columns import joined, numbers, texts
from warren.sinks.points import FIRST, fields_in, tags_in

_ESCAPES = str.maketrans(
    {",": "\\,", "=": "\\=", " ": "\\ ", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"},
)


def lines_of(points: pa.Table | pa.RecordBatch) -> pa.StringArray:
    """A line for each point, without its end; times are in milliseconds."""
    pieces: list[pa.Array | str] = [texts(_column(points, "measurement"), escaped)]
    pieces += [_tag(points, name) for name in sorted(tags_in(points))]
    pieces += [_field(points, name) for name in fields_in(points)]
    return joined([*pieces, " ", _column(points, "time_ms").cast(pa.string())])


def escaped(name: str) -> str:
    """A name where no quotes stand around it; it can have no backslash at its end, and no line can be broken."""
    ends = len(name) - len(name.rstrip("\\"))
    return name[: len(name) - ends].translate(_ESCAPES) + "%5C" * ends


def quoted(text: str) -> str:
    """The value of a field."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tag(points: pa.Table | pa.RecordBatch, name: str) -> pa.StringArray:
    """Empty tags cannot be written."""
    column = _column(points, name)
    if pa.types.is_integer(column.type):
        return numbers(column, f",{name}=")
    return texts(column, lambda value: f",{name}={escaped(value)}" if value else "")


def _field(points: pa.Table | pa.RecordBatch, name: str) -> pa.StringArray:
    column, before = _column(points, name), " " if name in FIRST else ","
    if pa.types.is_floating(column.type):
        return numbers(column, f"{before}{name}=")
    if pa.types.is_integer(column.type):
        return numbers(column, f"{before}{name}=", "i")
    return texts(column, lambda value: f"{before}{name}={quoted(value)}")


def _column(points: pa.Table | pa.RecordBatch, name: str) -> pa.Array:
    column = points.column(name)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
