"""What a configuration comes to: every key of every section that is there, its value and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from pydantic import SecretStr

from warren.config.documents import KeyPath
from warren.config.load import DEFAULT, Loaded
from warren.config.model import Config, Section
from warren.config.problems import keys_of
from warren.config.reference import toml_value

MASK = "***"


class Effective(NamedTuple):
    """One key; secrets are masked."""

    section: str
    key: str
    value: object
    origin: str


def effective(loaded: Loaded) -> Iterator[Effective]:
    """All keys, section by section."""
    for path, section in _sections(loaded.config):
        for name, value in _keys(section):
            origin = loaded.origins.get((*path, name), DEFAULT)
            if value != [] and origin == DEFAULT and (path[0], name) == ("consumer", "servers"):
                origin = "its cluster"
            yield Effective(".".join(path), name, masked(value), origin)


def sections(config: Config) -> Iterator[tuple[str, dict[str, object]]]:
    """All sections by name, with their keys; secrets are masked."""
    for path, section in _sections(config):
        yield ".".join(path), {name: masked(value) for name, value in _keys(section)}


def masked(value: object) -> object:
    """A value that may be shown: what is secret is only told to be there."""
    if isinstance(value, SecretStr):
        return MASK if value.get_secret_value() else ""
    if isinstance(value, dict):
        return {name: masked(item) for name, item in value.items()}
    return value


def _sections(config: Config) -> Iterator[tuple[KeyPath, Section]]:
    """All sections, and those that are there without being written."""
    implied = {
        "httpserver": config.listeners,
        "storage": config.storage or {"default": config.the_storage},
        "evaluator": config.evaluator or {"default": config.the_evaluator},
    }
    for name, section in _keys(config.model_copy(update=implied)):
        if isinstance(section, Section):
            yield (name,), section
        elif isinstance(section, dict):
            yield from (((name, module), one) for module, one in section.items())


def _keys(section: Section) -> Iterator[tuple[str, object]]:
    names = zip(keys_of(type(section)), type(section).model_fields, strict=True)
    yield from ((key, getattr(section, name)) for key, name in names)


def as_text(found: Iterable[Effective]) -> str:
    """The keys as people read them: sections like in the file, origins beside the values."""
    lines: list[str] = []
    for section, keys in groupby(found, key=lambda one: one.section):
        lines += [f"[{section}]", *(_line(one) for one in keys), ""]
    return "\n".join(lines).rstrip()


def _line(one: Effective) -> str:
    value = "not set" if one.value is None else toml_value(one.value)
    return f"  {f'{one.key} = {value}':<60}  # {one.origin}"
