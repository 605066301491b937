"""Strings and characters in quotes, as Go writes them. Pure."""

from __future__ import annotations

_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\"}
_REPLACEMENT = 0xFFFD


def characters(content: bytes) -> str:
    """The characters of a string; each byte that is no UTF-8 is one, too, a surrogate."""
    return content.decode("utf-8", "surrogateescape")


def is_stray_byte(character: str) -> bool:
    """Whether a character stands for a byte that is no UTF-8."""
    return "\udc80" <= character <= "\udcff"


def encoded(code: int) -> bytes:
    """A character as UTF-8; the replacement character for a number that is none."""
    is_character = 0 <= code <= 0x10FFFF and not 0xD800 <= code < 0xE000
    return chr(code if is_character else _REPLACEMENT).encode()


def quoted(content: bytes, *, ascii_only: bool) -> bytes:
    """A string in double quotes."""
    inside = "".join(_escaped(one, '"', ascii_only) for one in characters(content))
    return f'"{inside}"'.encode()


def quoted_character(code: int, *, ascii_only: bool) -> bytes:
    """A character in single quotes."""
    inside = _escaped(encoded(code).decode(), "'", ascii_only)
    return f"'{inside}'".encode()


def can_be_raw(content: bytes) -> bool:
    """Whether a string can stand between backquotes, in one line."""
    return not any(_needs_quotes(one) for one in characters(content))


def _needs_quotes(character: str) -> bool:
    return is_stray_byte(character) or character in "`\x7f\ufeff" or (character < " " and character != "\t")


def _escaped(character: str, quote: str, ascii_only: bool) -> str:
    if is_stray_byte(character):
        return f"\\x{ord(character) - 0xDC00:02x}"
    if character == quote:
        return "\\" + character
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable() and (character.isascii() or not ascii_only):
        return character
    return _numbered(ord(character))


def _numbered(code: int) -> str:
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
