"""Codec stage: how the flexible values of newer group records are laid out, said once for reading and writing.

A layout reads a thing and writes it back. The small ones are Kafka's wire types; `struct`, `array` and `nullable`
build larger ones of them. Every layout knows the least number of bytes it takes, which bounds what a hostile count can
make a reader allocate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Generic, NamedTuple, TypeVar

from warren.codec.primitives import UUID_BYTES, CompactReader, CompactWriter, Reader, Writer, malformed

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Layout(NamedTuple, Generic[T_co]):
    """How a thing is read, how it is written, and the least number of bytes of it.

    `write` takes what `read` gives. Its type does not say so, or a struct could not be built of fields of many types.
    """

    read: Callable[[Reader], T_co]
    write: Callable[[Writer, Any], None]
    least_bytes: int


class Tagged(NamedTuple):
    """A field that is written only when it differs from its default."""

    layout: Layout[object]
    default: object


INT8 = Layout(Reader.int8, Writer.int8, 1)
INT16 = Layout(Reader.int16, Writer.int16, 2)
UINT16 = Layout(Reader.uint16, Writer.uint16, 2)
INT32 = Layout(Reader.int32, Writer.int32, 4)
INT64 = Layout(Reader.int64, Writer.int64, 8)
UUID = Layout(Reader.uuid, Writer.uuid, UUID_BYTES)
STRING: Layout[str] = Layout(Reader.string, Writer.string, 1)
NULLABLE_STRING: Layout[str | None] = Layout(Reader.nullable_string, Writer.string, 1)
BLOB = Layout(Reader.blob, Writer.blob, 1)


def array(item: Layout[T]) -> Layout[list[T]]:
    """An array that may not be null."""

    def read(reader: Reader) -> list[T]:
        return [item.read(reader) for _ in range(reader.count(item.least_bytes))]

    def write(writer: Writer, items: list[T]) -> None:
        writer.count(len(items))
        for one in items:
            item.write(writer, one)

    return Layout(read, write, 1)


def nullable_array(item: Layout[T]) -> Layout[list[T] | None]:
    present = array(item)

    def read(reader: Reader) -> list[T] | None:
        count = reader.nullable_count(item.least_bytes)
        return None if count is None else [item.read(reader) for _ in range(count)]

    def write(writer: Writer, items: list[T] | None) -> None:
        if items is None:
            writer.count(-1)
        else:
            present.write(writer, items)

    return Layout(read, write, 1)


def nullable(layout: Layout[T]) -> Layout[T | None]:
    """A struct that may be null: a byte before it says whether it is there.

    For null Kafka writes -1 among the plain fields, and 0 within a tagged one.
    """

    def read(reader: Reader) -> T | None:
        return None if reader.int8() <= 0 else layout.read(reader)

    def write(writer: Writer, value: T | None) -> None:
        writer.int8(-1 if value is None else 1)
        if value is not None:
            layout.write(writer, value)

    return Layout(read, write, 1)


def struct(make: Callable[..., T], *fields: Layout[object], tagged: Mapping[int, Tagged] | None = None) -> Layout[T]:
    """A NamedTuple that has `fields` in order, and behind them the tagged ones in the order of their numbers."""
    tags = dict(sorted((tagged or {}).items()))

    def read(reader: Reader) -> T:
        values = [field.read(reader) for field in fields]
        found = reader.tags()
        return make(*values, *(_read_tagged(one, found.get(number)) for number, one in tags.items()))

    def write(writer: Writer, value: Any) -> None:
        for field, part in zip(fields, value, strict=False):
            field.write(writer, part)
        behind = zip(tags.items(), value[len(fields) :], strict=True)
        writer.tags({number: _tag_bytes(one, part) for (number, one), part in behind if part != one.default})

    return Layout(read, write, sum(field.least_bytes for field in fields) + 1)


def _read_tagged(tagged: Tagged, data: bytes | None) -> object:
    if data is None:
        return copy(tagged.default)  # it may be a list, and a record must not share it with others
    reader = CompactReader(data)
    value = tagged.layout.read(reader)
    if reader.remaining:
        message = f"tagged field of {len(data)} bytes, {reader.remaining} of them too many"
        raise malformed(message)
    return value


def _tag_bytes(tagged: Tagged, value: object) -> bytes:
    writer = CompactWriter()
    tagged.layout.write(writer, value)
    return writer.done()


INT32S = Layout(Reader.int32_array, array(INT32).write, 1)
PARTITIONS = INT32S._replace(read=Reader.partitions)
STRINGS = array(STRING)
