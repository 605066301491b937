"""Reads a configuration, with what the environment overrides, and says everything that is wrong with it at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from warren.config.checks import check, doubtful, log_level
from warren.config.documents import Document, KeyPath, find_document, read_document
from warren.config.environment import Overrides, overrides, with_value
from warren.config.kafka_client import unknown_properties, unusable_clients
from warren.config.model import Config, General
from warren.config.problems import Problem, joined, problems_of
from warren.config.secrets import FILE, fill_in
from warren.config.spellings import Renamed
from warren.errors import ConfigError

COMMAND_LINE = "the command line"
DEFAULT = "default"


class Loaded(NamedTuple):
    """A sound configuration."""

    config: Config
    origins: dict[KeyPath, str]
    """Where each key comes from that is not a default."""
    warnings: list[str]


def load_directory(directory: Path, environ: Mapping[str, str]) -> Loaded:
    """The configuration in a directory; `ConfigError` with all that is wrong with it."""
    path, others = find_document(directory)
    document = read_document(path)
    renamed = Renamed(document.values)
    over = overrides(document.values, environ, _prefix(document.values))
    for key, value in over.values.items():
        with_value(document.values, key, value)
    problems = [Problem(key, "stands there twice") for key in document.twice]
    problems += [*renamed.problems, *over.problems, *fill_in(document.values, environ, directory)]
    places = _Places(document, renamed, over)
    config = _checked(document.values, problems)
    if config is None:
        raise _refusal(places.told(problems))
    warnings = places.told(
        [*(Problem(*one) for one in renamed.warnings), *doubtful(document.values), *unusable_clients(config)]
    )
    warnings += [f"{other} is not read: {path.name} comes first." for other in others]
    return Loaded(_completed(config), places.origins(), warnings)


def parse(values: dict[str, Any], origin: str) -> Config:
    """A configuration that stands in no file; `origin` is named in what is wrong with it."""
    problems: list[Problem] = []
    config = _checked(values, problems)
    if config is None:
        raise _refusal(f"{origin}: {joined(one.key)}: {one.says}" for one in problems)
    return _completed(config)


def for_bootstrap(bootstrap: str, http: str) -> Config:
    """The configuration without a file: one cluster called `local`, Burrow's defaults, and Warren's own rules."""
    values = {
        "general": {"pidfile": ""},
        "httpserver": {"default": {"address": http}},
        "cluster": {"local": {"servers": bootstrap.split(",")}},
        "consumer": {"local": {"cluster": "local"}},
        "rules": {"recommended": {"use": "warren"}},
    }
    return parse(values, COMMAND_LINE)


def _prefix(values: Mapping[str, Any]) -> str:
    general = values.get("general")
    prefix = general.get("env-var-prefix", "") if isinstance(general, dict) else ""
    return str(prefix) or General().env_var_prefix


def _checked(values: dict[str, Any], problems: list[Problem]) -> Config | None:
    """The configuration, or None when there are problems; those that are found are added."""
    config: Config | None = None
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        problems += problems_of(error)
    problems += check(values)
    if config is not None and not problems:
        problems += unknown_properties(config)
    return None if problems else config


def _completed(config: Config) -> Config:
    """Names of clusters are lower case like every key; a consumer without servers reads its cluster's."""
    consumers = {}
    for name, consumer in config.consumer.items():
        cluster = consumer.cluster.lower()
        servers = consumer.servers or config.cluster[cluster].servers
        consumers[name] = consumer.model_copy(update={"cluster": cluster, "servers": servers})
    logging = config.logging.model_copy(update={"level": log_level(config.logging.level)})
    return config.model_copy(update={"consumer": consumers, "logging": logging})


class _Places:
    """Where each key stands: in which line, or in which variable."""

    def __init__(self, document: Document, renamed: Renamed, over: Overrides) -> None:
        self._document = document
        self._variables = over.variables
        self._old_names = renamed.paths

    def told(self, problems: Iterable[Problem]) -> list[str]:
        """Each problem as a line, in the order of the file."""
        found = sorted(problems, key=lambda one: self._line(one.key))
        return list(dict.fromkeys(f"{self._place(one.key)}: {joined(one.key)}: {one.says}" for one in found))

    def origins(self) -> dict[KeyPath, str]:
        """Where each key that is set comes from."""
        return {key: self._place(key) for key in (*_leaves(self._document.values), *self._variables)}

    def _place(self, key: KeyPath) -> str:
        if key in self._variables:
            return f"environment variable {self._variables[key]}"
        return f"{self._document.path.name}:{self._line(key)}"

    def _line(self, key: KeyPath) -> int:
        """The line of a key, or of the nearest that stands above it."""
        key = self._old_names.get(key, key)
        if key and key not in self._document.lines and (in_file := (*key[:-1], key[-1] + FILE)) in self._document.lines:
            return self._document.lines[in_file]
        while key and key not in self._document.lines:
            key = key[:-1]
        return self._document.lines.get(key, 1)


def _leaves(values: Mapping[str, Any], above: KeyPath = ()) -> Iterator[KeyPath]:
    for name, value in values.items():
        yield (*above, name)
        if isinstance(value, dict):
            yield from _leaves(value, (*above, name))


def _refusal(lines: Iterable[str]) -> ConfigError:
    told = list(lines)
    listed = "\n".join(f"  {line}" for line in told)
    what = "One thing is" if len(told) == 1 else f"{len(told)} things are"
    return ConfigError(f"{what} to be corrected in the configuration:\n{listed}")
