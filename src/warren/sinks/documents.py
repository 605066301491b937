"""Points as JSON documents: those that telegraf's output for Elasticsearch makes, and flat ones for Kafka. Pure."""

from __future__ import annotations

from hashlib import blake2b

import pyarrow as pa

from warren.sinks.columns import by_moment, joined, json_text, numbers, rfc3339, texts
from warren.sinks.points import FIRST, fields_in, tags_in

_ID_BYTES = 16


def documents_of(points: pa.RecordBatch) -> pa.StringArray:
    """`@timestamp`, `measurement_name`, `tag` and an object that has the measurement's name and fields."""
    return joined(
        [
            '{"@timestamp":"',
            by_moment(points.column("time_ms"), rfc3339),
            texts(points.column("measurement"), lambda name: f'","measurement_name":{json_text(name)},"tag":{{'),
            tags_of(points),
            texts(points.column("measurement"), lambda name: f"}},{json_text(name)}:{{"),
            _fields(points),
            "}}",
        ]
    )


def flat_documents_of(points: pa.RecordBatch) -> pa.StringArray:
    """Everything on one level, `time` in milliseconds and `partition` as a number."""
    return joined(
        [
            texts(points.column("measurement"), lambda name: f'{{"measurement":{json_text(name)}'),
            numbers(points.column("time_ms"), ',"time":'),
            *(_value(points, name) for name in tags_in(points)),
            ",",
            _fields(points),
            "}",
        ]
    )


def ids_of(points: pa.RecordBatch) -> list[str]:
    """The same text for the same point, whoever sends it and however often."""
    named = joined([points.column("measurement").cast(pa.string()), "\n", numbers(points.column("time_ms"), ""), "\n"])
    return [_digest(text) for text in joined([named, tags_of(points)]).to_pylist()]


def tags_of(points: pa.RecordBatch) -> pa.StringArray:
    """The inside of an object; values are texts, as all tags are."""
    first, *others = tags_in(points)
    return joined([_tag(points, first, ""), *(_tag(points, name, ",") for name in others)])


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=_ID_BYTES).hexdigest()


def _tag(points: pa.RecordBatch, name: str, before: str) -> pa.StringArray:
    column = points.column(name)
    if pa.types.is_integer(column.type):
        return numbers(column, f'{before}"{name}":"', '"')
    return texts(column, lambda value: f'{before}"{name}":{json_text(value)}')


def _fields(points: pa.RecordBatch) -> pa.StringArray:
    return joined([_value(points, name, "" if name in FIRST else ",") for name in fields_in(points)])


def _value(points: pa.RecordBatch, name: str, before: str = ",") -> pa.StringArray:
    column = points.column(name)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return numbers(column, f'{before}"{name}":')
    return texts(column, lambda value: f'{before}"{name}":{json_text(value)}')
