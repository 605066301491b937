"""Messages of protocol buffers made of columns: fields one after the other, each with its number. Pure.

There is no Python object for each point, as a library would have it: a field is one column of bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_FIXED_BYTES = {_FIXED64: 8, _FIXED32: 4}


def field(number: int, content: bytes) -> bytes:
    """Bytes, text or a message as a field."""
    return _tag(number, _LENGTH) + varint(len(content)) + content


def fields(number: int, contents: pa.BinaryArray) -> pa.BinaryArray:
    """The same for each of a column."""
    lengths = pc.dictionary_encode(pc.binary_length(contents))
    heads = [_tag(number, _LENGTH) + varint(length) for length in lengths.dictionary.to_pylist()]
    return joined([pa.array(heads, pa.binary()).take(lengths.indices), contents])


def whole_numbers(number: int, values: pa.Array) -> pa.BinaryArray:
    """Numbers that are not negative, each as a field that is as long as it needs."""
    return each_once(values, lambda value: _tag(number, _VARINT) + varint(value))


def doubles(number: int, values: pa.DoubleArray) -> pa.BinaryArray:
    """Each as a field of eight bytes; null is 0."""
    return _fixed(number, values, "<f8")


def longs(number: int, values: pa.Int64Array) -> pa.BinaryArray:
    """Each as a field of eight bytes; null is 0."""
    return _fixed(number, values, "<i8")


def _fixed(number: int, values: pa.Array, form: str) -> pa.BinaryArray:
    content = pa.py_buffer(np.ascontiguousarray(pc.fill_null(values, 0).to_numpy(zero_copy_only=False), form))
    return joined(
        [_tag(number, _FIXED64), pa.Array.from_buffers(pa.binary(8), len(values), [None, content]).cast(pa.binary())]
    )


def each_once(column: pa.Array, write: Callable[[Any], bytes]) -> pa.BinaryArray:
    """Each different value written once; nothing where it is null."""
    coded = pc.dictionary_encode(column)
    written = [write(value) if value is not None else b"" for value in coded.dictionary.to_pylist()]
    return pc.fill_null(pa.array(written, pa.binary()).take(coded.indices), b"")


def joined(pieces: Sequence[pa.Array | bytes]) -> pa.BinaryArray:
    """Row by row, one piece after the other."""
    return pc.binary_join_element_wise(*(pa.scalar(one) if isinstance(one, bytes) else one for one in pieces), b"")


def varint(value: int) -> bytes:
    """Seven bits at a time, the lowest first."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _tag(number: int, kind: int) -> bytes:
    return bytes([number << 3 | kind])


def read(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message by number; `ValueError` if it is none."""
    at = 0
    while at < len(message):
        tag, at = _read_varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _read_varint(message, at)
            yield number, value
            continue
        length, at = _read_varint(message, at) if kind == _LENGTH else (_FIXED_BYTES.get(kind, -1), at)
        if length < 0 or at + length > len(message):
            problem = f"field {number} of kind {kind} does not fit"
            raise ValueError(problem)
        yield number, message[at : at + length]
        at += length


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place, byte in enumerate(message[at : at + 10]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, at + place + 1
    problem = "a number does not end"
    raise ValueError(problem)
