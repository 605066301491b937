"""JSON as Go writes it, byte for byte: clients of Burrow compare, hash and cache these bodies."""

from __future__ import annotations

import codecs
import json
import re
from decimal import Decimal

_ESCAPED = (("&", "\\u0026"), ("<", "\\u003c"), (">", "\\u003e"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"))
"""Go escapes what could end a script or a line in a page; everything else outside ASCII stays as it is."""

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
_SMALL_NUMBER = re.compile(r"\de-\d+[,}\]]")
_STRING_OR_SMALL_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?[\d.]+e-\d+')
_EXPONENT_BELOW = Decimal("1e-6")
"""Smaller numbers have an exponent in Go; in Python those below 1e-4 do."""


def _unknown(error: UnicodeError) -> tuple[str, int]:
    """Go writes each byte that is no UTF-8 as the escape of the replacement character."""
    assert isinstance(error, UnicodeEncodeError)
    return "\\ufffd" * (error.end - error.start), error.end


codecs.register_error("warren.gojson", _unknown)


def dumps(value: object) -> bytes:
    """Encode; whole floats must come as integers, see `number`."""
    text = _ENCODER.encode(value)
    for character, escape in _ESCAPED:
        text = text.replace(character, escape)
    if "e-" in text and _SMALL_NUMBER.search(text):
        text = _STRING_OR_SMALL_NUMBER.sub(_respelled, text)
    return text.encode("utf-8", "warren.gojson")


def number(value: float) -> float:
    """A float that prints as Go's does: `1`, not `1.0`."""
    return int(value) if value.is_integer() else value


def _respelled(found: re.Match[str]) -> str:
    """A small number as Go writes it, a string as it is."""
    text = found[0]
    if text.startswith('"'):
        return text
    exact = Decimal(text)
    return text.replace("e-0", "e-") if abs(exact) < _EXPONENT_BELOW else f"{exact:f}"
