"""What is wrong with a configuration, in words: where, what, and what to write instead. Values are never shown, since
any of them may be a secret."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from warren.config.documents import KeyPath
from warren.config.model import Config, Section


class Problem(NamedTuple):
    """One thing to correct."""

    key: KeyPath
    says: str


def joined(key: KeyPath) -> str:
    """A key as one would write it: the name of a module may have dots of its own."""
    return ".".join(f'"{part}"' if "." in part else part for part in key)


def problems_of(error: ValidationError) -> Iterator[Problem]:
    """What pydantic found, in our words."""
    for found in error.errors(include_input=False, include_url=False):
        key = tuple(str(part) for part in found["loc"])
        yield Problem(key, _WORDS.get(found["type"], _as_told)(key, found))


def section_of(key: KeyPath) -> type[Section]:
    """The section that a key stands in; the whole file for a section's own name."""
    if len(key) < 2:
        return Config
    kind = section_kind(Config.model_fields[key[0].replace("-", "_")])
    return kind or Config


def section_kind(field: FieldInfo) -> type[Section] | None:
    """The class behind a field of the whole file: `[name]` or `[name.MODULE]`."""
    kinds = [field.annotation, *get_args(field.annotation)]
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Section)), None)


def has_modules(field: FieldInfo) -> bool:
    """Whether a section is written `[name.MODULE]`."""
    return not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel))


def keys_of(section: type[Section]) -> dict[str, FieldInfo]:
    """The keys of a section as they are written in a file."""
    return {field.alias or name: field for name, field in section.model_fields.items()}


def _unknown(key: KeyPath, found: ErrorDetails) -> str:
    section, name = section_of(key), key[-1]
    what = "section" if section is Config else "key"
    near = get_close_matches(name, keys_of(section), 1)
    return f"there is no such {what}" + (f"; did you mean {near[0]}?" if near else "")


def _missing(key: KeyPath, found: ErrorDetails) -> str:
    field = keys_of(section_of(key)).get(key[-1])
    return f"is needed: {field.description}" if field else "is needed"


def _not_a_section(key: KeyPath, found: ErrorDetails) -> str:
    if len(key) == 1:
        return f"must be a section: [{key[0]}]"
    return f"is no key of [{key[0]}]; the section needs a name: [{key[0]}.NAME]"


def _number(key: KeyPath, found: ErrorDetails) -> str:
    field = keys_of(section_of(key)).get(key[-1])
    example = field.default if field and isinstance(field.default, int | float) else 10
    return f"must be a number without a unit, such as {example}"


def _choice(key: KeyPath, found: ErrorDetails) -> str:
    expected = str(found.get("ctx", {}).get("expected", ""))
    return f"must be one of {expected}".replace(" or ", ", ")


def _limit(word: str, name: str) -> Callable[[KeyPath, ErrorDetails], str]:
    def say(key: KeyPath, found: ErrorDetails) -> str:
        return f"must be {word} {found.get('ctx', {}).get(name)}"

    return say


def _plain(says: str) -> Callable[[KeyPath, ErrorDetails], str]:
    return lambda key, found: says


def _as_told(key: KeyPath, found: ErrorDetails) -> str:
    return found["msg"].removeprefix("Value error, ")


_WORDS: Mapping[str, Callable[[KeyPath, ErrorDetails], str]] = {
    "extra_forbidden": _unknown,
    "missing": _missing,
    "model_type": _not_a_section,
    "model_attributes_type": _not_a_section,
    "dict_type": _not_a_section,
    "int_parsing": _number,
    "int_type": _number,
    "int_from_float": _number,
    "float_parsing": _number,
    "float_type": _number,
    "bool_parsing": _plain("must be true or false"),
    "bool_type": _plain("must be true or false"),
    "string_type": _plain('must be a text in quotes, such as "..."'),
    "list_type": _plain('must be a list, such as ["broker1:9092", "broker2:9092"]'),
    "literal_error": _choice,
    "greater_than_equal": _limit("at least", "ge"),
    "greater_than": _limit("more than", "gt"),
    "less_than_equal": _limit("at most", "le"),
    "string_too_short": _plain("must not be empty"),
    "too_short": _plain("must not be empty"),
}
