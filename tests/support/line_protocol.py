"""InfluxDB's line protocol, as far as telegraf writes it: for tests that read its output."""

from __future__ import annotations

import re
from typing import NamedTuple

_PART = r"(?:\\.|[^\\, =])+"
_LINE = re.compile(rf"(?P<name>{_PART})(?P<tags>(?:,{_PART}={_PART})*) (?P<fields>.+) (?P<time>\d+)")
_TAG = re.compile(rf",({_PART})=({_PART})")
_FIELD = re.compile(rf'({_PART})=("(?:\\.|[^"\\])*"|[^,]+)')


class Point(NamedTuple):
    """One line without its time."""

    name: str
    tags: dict[str, str]
    fields: dict[str, str | int]


def points(text: str) -> list[Point]:
    """All lines of a text."""
    return [_point(line) for line in text.splitlines()]


def _point(line: str) -> Point:
    found = _LINE.fullmatch(line)
    assert found is not None, f"not line protocol: {line}"
    tags = {_plain(name): _plain(value) for name, value in _TAG.findall(found["tags"])}
    fields = {_plain(name): _value(value) for name, value in _FIELD.findall(found["fields"])}
    return Point(_plain(found["name"]), tags, fields)


def _value(text: str) -> str | int:
    """Texts and whole numbers are all that Burrow's plugin has."""
    return _plain(text[1:-1]) if text.startswith('"') else int(text.removesuffix("i"))


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
