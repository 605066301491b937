"""Secrets that stand elsewhere: `KEY-file` names a file that holds one, `${NAME}` is an environment variable.

Both are looked up whenever the configuration is read, so SIGHUP brings in a new password.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from warren.config.documents import KeyPath
from warren.config.model import Config
from warren.config.problems import Problem, has_modules, keys_of, section_kind

FILE = "-file"

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def fill_in(values: dict[str, Any], environ: Mapping[str, str], directory: Path) -> list[Problem]:
    """Put what is meant in the place of files and variables; what cannot be found is told."""
    return [*_fill_in_variables(values, environ, ()), *_fill_in_files(values, directory)]


def _fill_in_variables(values: Any, environ: Mapping[str, str], above: KeyPath) -> Iterator[Problem]:
    items = values.items() if isinstance(values, dict) else enumerate(values)
    for name, value in list(items):
        if isinstance(value, dict | list):
            yield from _fill_in_variables(value, environ, (*above, str(name)))
        elif isinstance(value, str) and (found := _VARIABLE.fullmatch(value)):
            if environ.get(found[1]):
                values[name] = environ[found[1]]
            else:
                yield Problem((*above, str(name)), f"the environment variable {found[1]} is not set")


def _fill_in_files(values: dict[str, Any], directory: Path) -> Iterator[Problem]:
    for path, section, key in _secret_keys(values):
        name = section.pop(key + FILE, None)
        if name is None:
            continue
        if section.get(key):
            yield Problem((*path, key + FILE), f"stands beside {key}; remove one of them")
            continue
        try:
            section[key] = (directory / str(name)).read_text().rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            section[key] = "?"  # so that it is not told to be missing as well
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            yield Problem((*path, key + FILE), f"the file cannot be read: {reason}")


def _secret_keys(values: dict[str, Any]) -> Iterator[tuple[KeyPath, dict[str, Any], str]]:
    """Every key of the sections of a file that holds a secret, set or not."""
    for name, field in keys_of(Config).items():
        secret = [key for key, one in keys_of(section_kind(field) or Config).items() if is_secret(one)]
        found = values.get(name)
        if not secret or not isinstance(found, dict):
            continue
        sections = {(name, module): one for module, one in found.items()} if has_modules(field) else {(name,): found}
        for path, section in sections.items():
            if isinstance(section, dict):
                yield from ((path, section, key) for key in secret)


def is_secret(field: FieldInfo) -> bool:
    """Whether a key holds a secret."""
    return field.annotation is SecretStr
