"""Keys that environment variables override: `BURROW_CLUSTER_LOCAL_OFFSET_REFRESH`, or `WARREN_...`, which comes first.

The names of modules come from the file alone, so a variable can only change or set a key of a module that is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, get_origin

from pydantic.fields import FieldInfo

from warren.config.documents import KeyPath
from warren.config.model import Config
from warren.config.problems import Problem, has_modules, keys_of, section_kind

OWN_PREFIX = "warren"


class Overrides(NamedTuple):
    """What the environment says."""

    values: dict[KeyPath, Any]
    variables: dict[KeyPath, str]
    problems: list[Problem]


def overrides(values: Mapping[str, Any], environ: Mapping[str, str], prefix: str) -> Overrides:
    """The keys of a file's sections that have a variable; an empty variable is none."""
    found = Overrides({}, {}, [])
    for path, field in leaves(values):
        names = [_variable(one, path) for one in (OWN_PREFIX, prefix)]
        name = next((one for one in names if environ.get(one)), None)
        if name is None or path == ("general", "env-var-prefix"):
            continue
        found.variables[path] = name
        try:
            found.values[path] = _value(environ[name], field)
        except ValueError:
            found.problems.append(Problem(path, f"{name} must hold a JSON object of texts"))
    return found


def leaves(values: Mapping[str, Any]) -> Iterator[tuple[KeyPath, FieldInfo]]:
    """Every key that there is for the sections and modules of a file, set or not."""
    for section, field in keys_of(Config).items():
        kind = section_kind(field)
        if kind is None:
            continue
        keys = keys_of(kind)
        if not has_modules(field):
            yield from (((section, name), one) for name, one in keys.items())
        elif isinstance(modules := values.get(section), dict):
            yield from (((section, module, name), one) for module in modules for name, one in keys.items())


def with_value(values: dict[str, Any], path: KeyPath, value: Any) -> None:
    """Set a key, whether or not its section is there."""
    *above, name = path
    for part in above:
        values = values.setdefault(part, {})
    if isinstance(values, dict):
        values[name] = value


def _variable(prefix: str, path: KeyPath) -> str:
    return "_".join((prefix, *path)).replace(".", "_").replace("-", "_").upper()


def _value(text: str, field: FieldInfo) -> Any:
    if get_origin(field.annotation) is dict:
        found = json.loads(text)
        if not isinstance(found, dict):
            raise ValueError
        return found
    return text.split() if get_origin(field.annotation) is list else text
