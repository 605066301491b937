"""Values as JSON, as Go's encoder writes them. Pure."""

from __future__ import annotations

import math
from functools import lru_cache

from warren.notify.templates import floats, layouts, methods
from warren.notify.templates.errors import Failure, Problem
from warren.notify.templates.quoting import characters
from warren.notify.templates.values import Integer, List, Moment, Pointer, Real, Struct, Table, Text, Truth, Value
from warren.serve import gojson

LAG_NAME = "protocol.Lag"
"""A struct that is written as the number in it."""


def encode(value: Value | None) -> bytes:
    """A value as JSON, without spaces and line ends."""
    match value:
        case None | Pointer(target=None):
            return b"null"
        case Pointer(target=target):
            return encode(target)
        case Truth():
            return b"true" if value.value else b"false"
        case Text():
            return _string(value.value)
        case Integer():
            said = methods.string_of(value) if value.type is methods.STATUS else None
            return _string(said) if said is not None else str(value.value).encode()
        case Real():
            return _real(value)
        case Moment():
            return _string(layouts.layout(value, layouts.RFC3339_NANO.encode()))
        case List():
            return b"[" + b",".join(encode(one) for one in value.items) + b"]"
        case Table():
            return _object([(characters(key), one) for key, one in value.ordered()])
        case Struct():
            return _struct(value)


def _string(content: bytes) -> bytes:
    return gojson.dumps(characters(content))


def _object(members: list[tuple[str, Value]]) -> bytes:
    return b"{" + b",".join(_key(name) + encode(one) for name, one in members) + b"}"


@lru_cache(maxsize=256)  # the same few names come with every partition
def _key(name: str) -> bytes:
    return gojson.dumps(name) + b":"


def _struct(value: Struct) -> bytes:
    if value.type.name == LAG_NAME:
        return encode(value.values[0])
    named = zip(value.type.fields, value.values, strict=True)
    return _object([(field.json, one) for field, one in named if field.json is not None])


def _real(value: Real) -> bytes:
    number = value.value
    if not math.isfinite(number):
        raise Failure(Problem.DATA, "JSON has no infinite numbers")
    has_exponent = number != 0 and not 1e-6 <= abs(number) < 1e21
    shown = floats.written(number, value.type.bits, "e" if has_exponent else "f", None)
    return shown.replace("e-0", "e-").encode()
