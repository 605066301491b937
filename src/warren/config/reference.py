"""The annotated reference file, made from the model: what it says cannot differ from what is read."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from warren.config.model import Config, Section
from warren.config.problems import has_modules, keys_of, section_kind
from warren.config.secrets import is_secret

HEAD = """\
# Every section and key of Warren's configuration, with its default where it has one.
#
# Warren reads warren.toml, or Burrow's burrow.toml, in the directory given with --config-dir; .yaml and .json as well.
# Keys do not know upper and lower case. An environment variable overrides a key of a section that is there:
# BURROW_CLUSTER_LOCAL_OFFSET_REFRESH or WARREN_CLUSTER_LOCAL_OFFSET_REFRESH; the items of lists with spaces between.
# A text that is "${NAME}" and nothing else is taken from the environment. Durations are seconds.
# Patterns are regular expressions of RE2 that are looked for anywhere in a name.
# Where a section has a name of its own ([cluster.local]) there can be several, but only one storage and one evaluator.
"""

_IN_A_FILE = "; or {name}-file: a file that holds it"

NAMES = {"cluster": "local", "consumer": "local"}
"""The names of modules in the example; the others are called `default`."""


def reference() -> str:
    """The file as text."""
    return HEAD + "".join(_section(name, field) for name, field in keys_of(Config).items())


def _section(name: str, field: FieldInfo) -> str:
    kind = section_kind(field)
    assert kind is not None
    header = f"{name}.{NAMES.get(name, 'default')}" if has_modules(field) else name
    return "\n".join(["", f"# {_about(kind)}", f"[{header}]", *_keys(kind), ""])


def _about(kind: type[Section]) -> str:
    """What its class says after the section's name."""
    return (kind.__doc__ or "").splitlines()[0].partition(": ")[2]


def _keys(kind: type[Section]) -> Iterator[str]:
    for name, field in keys_of(kind).items():
        yield f"# {field.description}{_IN_A_FILE.format(name=name) if is_secret(field) else ''}"
        yield _assignment(name, field)


def _assignment(name: str, field: FieldInfo) -> str:
    value = field.examples[0] if field.examples else field.default
    if value is None or value is PydanticUndefined:
        return f"# {name} ="
    return f"{name} = {toml_value(value)}"


def toml_value(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml_value(name)} = {toml_value(item)}" for name, item in value.items()) + "}"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        return f'"{escaped}"'
    return str(value)
