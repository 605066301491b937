"""Numbers, characters and strings as Go writes them in its source. Pure."""

from __future__ import annotations

import math
import re

from warren.notify.templates.errors import Failure, Problem
from warren.notify.templates.nodes import Number

_WHOLE = re.compile(r"[+-]?(?:0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO]?(?:_?[0-7])+|0|[1-9](?:_?[0-9])*)")
_DIGITS, _HEX_DIGITS = r"[0-9](?:_?[0-9])*", r"[0-9a-fA-F](?:_?[0-9a-fA-F])*"
_DECIMAL_FLOAT = re.compile(rf"[+-]?(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?")
_HEXADECIMAL_FLOAT = re.compile(
    rf"[+-]?0[xX]_?(?:{_HEX_DIGITS}\.?(?:{_HEX_DIGITS})?|\.{_HEX_DIGITS})[pP][+-]?{_DIGITS}"
)
_ESCAPE = re.compile(
    r"\\(?:x(?P<byte>[0-9a-fA-F]{2})|(?P<octal>[0-7]{3})|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})"
    r"|(?P<one>[abfnrtv\\'\"]))"
)
_ONE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_MAX_INT, _MAX_UINT = 2**63 - 1, 2**64 - 1


def number(at: int, source: str) -> Number:
    """What a number can be taken for."""
    if source.endswith("i") and "x" not in source.lower():
        raise Failure(Problem.SYNTAX, f"{source} is a complex number, which templates here do not have")
    if _WHOLE.fullmatch(source):
        return _whole(at, source, _integer(source))
    value = _float(source)
    if value is None or math.isinf(value):
        raise Failure(Problem.SYNTAX, f"{source} is no number")
    if not set(source) & set(".eEpP"):
        raise Failure(Problem.SYNTAX, f"{source} is no whole number")
    whole = int(value) if value.is_integer() else None
    return Number(at, source, _within(whole, -_MAX_INT - 1, _MAX_INT), _within(whole, 0, _MAX_UINT), value, True)


def _whole(at: int, source: str, value: int) -> Number:
    as_int, as_uint = _within(value, -_MAX_INT - 1, _MAX_INT), _within(value, 0, _MAX_UINT)
    if as_int is None and as_uint is None:
        raise Failure(Problem.SYNTAX, f"{source} does not fit into 64 bits")
    if source[0] in "+-" and value:
        as_uint = None
    is_hexadecimal = source.lstrip("+-")[:2] in ("0x", "0X") and source[0] not in "+-"
    is_float = not is_hexadecimal and bool(set(source) & set(".eEpP"))
    return Number(at, source, as_int, as_uint, float(value), is_float)


def _within(value: int | None, low: int, high: int) -> int | None:
    return value if value is not None and low <= value <= high else None


def _integer(source: str) -> int:
    digits = source.replace("_", "")
    is_old_octal = re.fullmatch(r"[+-]?0[0-7]+", digits)
    return int(digits, 8 if is_old_octal else 0)


def _float(source: str) -> float | None:
    digits = source.replace("_", "")
    if _DECIMAL_FLOAT.fullmatch(source):
        return float(digits)
    if not _HEXADECIMAL_FLOAT.fullmatch(source):
        return None
    try:
        return float.fromhex(digits)
    except OverflowError:
        return None


def character(at: int, source: str) -> Number:
    """A character constant: the number of the character."""
    content = source[1:-1]
    found = _ESCAPE.match(content)
    if content == '\\"' or (found is None and (len(content) != 1 or content == "\\")):
        raise Failure(Problem.SYNTAX, f"{source} is not one character", 'Strings are written as "text".')
    if found is not None and found.end() != len(content):
        raise Failure(Problem.SYNTAX, f"{source} is not one character", 'Strings are written as "text".')
    code = _escaped_code(found, source) if found else _code_of(content)
    return Number(at, source, code, code, float(code), False)


def _code_of(one: str) -> int:
    """The number of a character; of a byte that is no UTF-8 that of the replacement character."""
    return 0xFFFD if "\udc80" <= one <= "\udcff" else ord(one)


def _escaped_code(found: re.Match[str], source: str) -> int:
    if found["one"]:
        return ord(_ONE.get(found["one"], found["one"]))
    if found["octal"]:
        code, limit = int(found["octal"], 8), 255
    else:
        code, limit = int(found["byte"] or found["short"] or found["long"], 16), 0x10FFFF
    if code > limit or (not found["byte"] and 0xD800 <= code < 0xE000):
        raise Failure(Problem.SYNTAX, f"{source} has an escape that stands for no character")
    return code


def string(source: str) -> bytes:
    """The content of a string in quotes, or of a raw one."""
    if source.startswith("`"):
        return source[1:-1].replace("\r", "").encode("utf-8", "surrogateescape")
    return b"".join(_pieces(source, source[1:-1]))


def _pieces(source: str, content: str) -> list[bytes]:
    pieces, at = [], 0
    while (slash := content.find("\\", at)) >= 0:
        found = _ESCAPE.match(content, slash)
        if found is None or found["one"] == "'":
            shown = content[slash : slash + 2]
            raise Failure(
                Problem.SYNTAX, f"{shown} is no escape in a string", "For a backslash write \\\\, or use `raw text`."
            )
        pieces += [content[at:slash].encode("utf-8", "surrogateescape"), _escaped_bytes(found, source)]
        at = found.end()
    return [*pieces, content[at:].encode("utf-8", "surrogateescape")]


def _escaped_bytes(found: re.Match[str], source: str) -> bytes:
    code = _escaped_code(found, source)
    return bytes([code]) if found["byte"] or found["octal"] else chr(code).encode()
