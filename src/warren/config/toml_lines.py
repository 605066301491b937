"""In which line of a TOML file each key stands: the standard library's parser does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

Path = tuple[str, ...]

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'  # strings first: what looks like a bracket or a comment inside them is none
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{}=\n]"
    r"|[^\"'#\[\]{}=\n]+",
    re.DOTALL,
)


def lines_of(text: str) -> dict[Path, int]:
    """The line of each section and key of a sound file."""
    found: dict[Path, int] = {}
    section: Path = ()
    for line, statement in _statements(text):
        parsed = tomllib.loads(statement)
        if statement.lstrip().startswith("["):
            section = _header(parsed)
            for depth in range(1, len(section) + 1):
                found.setdefault(section[:depth], line)
        else:
            found.update({(*section, *path): line for path in _paths(parsed)})
    return found


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Headers and assignments, each with the line that it begins in; an assignment may go over several."""
    line, start, depth, is_value = 1, 1, 0, False
    parts: list[str] = []
    for token in _TOKEN.findall(text + "\n"):
        if token == "\n" and not depth:
            if "".join(parts).strip():
                yield start, "".join(parts)
            line, is_value, parts = line + 1, False, []
            start = line
            continue
        is_value = is_value or token == "="
        depth += (token in ("[", "{")) - (token in ("]", "}")) if is_value else 0
        line += token.count("\n")
        parts.append("" if token.startswith("#") else token)


def _header(parsed: dict[str, Any]) -> Path:
    """The names in `[a.b]`."""
    path: list[str] = []
    inner: Any = parsed
    while isinstance(inner, dict) and inner:
        name, inner = next(iter(inner.items()))
        path.append(name)
    return tuple(path)


def _paths(parsed: dict[str, Any]) -> Iterator[Path]:
    for name, value in parsed.items():
        yield (name,)
        if isinstance(value, dict):
            yield from ((name, *rest) for rest in _paths(value))
