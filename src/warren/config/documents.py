"""A configuration file as it lies there, TOML, YAML or JSON: its values, and in which line each key stands."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from warren.config import toml_lines
from warren.errors import ConfigError

KeyPath = tuple[str, ...]

ENDINGS = (".json", ".toml", ".yaml", ".yml")
"""In the order in which Burrow looks for them."""

NAMES = tuple(f"{name}{ending}" for name in ("warren", "burrow") for ending in ENDINGS)

_AS_WRITTEN = {("spark", "settings")}


class Document(NamedTuple):
    """A file; keys are lower case, as Burrow reads them."""

    path: Path
    values: dict[str, Any]
    lines: dict[KeyPath, int]
    twice: list[KeyPath]
    """Keys that differ in upper and lower case only: one of them is lost."""


def find_document(directory: Path) -> tuple[Path, list[Path]]:
    """The file to read in a directory, and those that are there besides."""
    found = [directory / name for name in NAMES if (directory / name).is_file()]
    if not found:
        message = f"No configuration in {directory}: there is neither a warren.toml nor a burrow.toml (.yaml, .json)."
        raise ConfigError(message, hint="Give its directory with --config-dir, or use --bootstrap HOST:PORT.")
    return found[0], found[1:]


def read_document(path: Path) -> Document:
    """Read a file; `ConfigError` with the line if it cannot be understood at all."""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        message = f"{path} is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}."
        raise ConfigError(message, hint="Save it as UTF-8.") from error
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}."
        raise ConfigError(message) from error
    values, lines = _READERS[path.suffix](path, text)
    lowered = {_lowered(key): line for key, line in reversed(lines.items())}
    return Document(path, _lower_keys(values), lowered, list(_twice(values)))


def _read_toml(path: Path, text: str) -> tuple[dict[str, Any], dict[KeyPath, int]]:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"{path} is not valid TOML: {error}."
        raise ConfigError(message) from error
    return values, toml_lines.lines_of(text)


def _read_json(path: Path, text: str) -> tuple[dict[str, Any], dict[KeyPath, int]]:
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"{path}:{error.lineno} is not valid JSON: {error.msg} (column {error.colno})."
        raise ConfigError(message) from error
    # JSON is YAML but for tabs, which sound JSON has between its tokens only.
    return _mapping(path, values), dict(_lines(yaml.compose(text.replace("\t", " "), _Loader)))


def _read_yaml(path: Path, text: str) -> tuple[dict[str, Any], dict[KeyPath, int]]:
    try:
        root = yaml.compose(text, _Loader)
        values = yaml.load(text, _Loader) if root is not None else {}
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        message = f"{path}:{line} is not valid YAML: {error.problem}."
        raise ConfigError(message) from error
    except yaml.YAMLError as error:
        message = f"{path} is not valid YAML: {error}."
        raise ConfigError(message) from error
    return _mapping(path, values), dict(_lines(root))


_READERS: dict[str, Callable[[Path, str], tuple[dict[str, Any], dict[KeyPath, int]]]] = {
    ".toml": _read_toml,
    ".json": _read_json,
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
}


class _Loader(yaml.SafeLoader):
    """YAML 1.2 as Burrow's library reads it: `no` and `on` are words, 1:30 is a text and no number of seconds."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  # the library's own way to say it

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping; a key that stands there twice is refused."""
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<" and names.count(key.value) > 1:
                raise yaml.constructor.ConstructorError(None, None, f'"{key.value}" stands there twice', key.start_mark)
        return super().construct_mapping(node, deep)


_SCALARS = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?[0-9]+", list("-+0123456789")),
    "float": (r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
    "merge": ("<<", ["<"]),
}
for _kind, (_form, _first) in _SCALARS.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(f"^(?:{_form})$"), _first)


def _mapping(path: Path, values: object) -> dict[str, Any]:
    if isinstance(values, dict):
        return values
    message = f"{path} holds no sections."
    raise ConfigError(message, hint="`warren config reference` shows what a file looks like.")


def _lines(node: yaml.Node | None, above: KeyPath = ()) -> Iterator[tuple[KeyPath, int]]:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            path = (*above, str(name.value))
            yield path, name.start_mark.line + 1
            yield from _lines(value, path)


def _lowered(path: KeyPath) -> KeyPath:
    """Keys in lower case, as Burrow takes them; but names of Spark's settings are Spark's."""
    lower = tuple(name.lower() for name in path)
    return (*lower[:2], *path[2:]) if lower[:2] in _AS_WRITTEN else lower


def _lower_keys(values: dict[str, Any], above: KeyPath = ()) -> dict[str, Any]:
    """With keys in lower case; one without a value is not set."""
    found = {}
    for key, item in values.items():
        path = _lowered((*above, str(key)))
        if item is not None:
            found[path[-1]] = _lower_keys(item, path) if isinstance(item, dict) else item
    return found


def _twice(values: dict[str, Any], above: KeyPath = ()) -> Iterator[KeyPath]:
    seen: set[KeyPath] = set()
    for key, item in values.items():
        path = _lowered((*above, str(key)))
        if path in seen:
            yield path
        seen.add(path)
        if isinstance(item, dict):
            yield from _twice(item, path)
