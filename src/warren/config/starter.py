"""The configuration that a new installation starts from, as a file to edit."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from warren.config.documents import NAMES
from warren.config.load import parse
from warren.config.reference import toml_value
from warren.errors import ConfigError

FILE_NAME = "warren.toml"

STARTER = """\
# `warren check-config DIR` validates a change, `warren config reference` prints every key with its default.

[httpserver.default]
address = "127.0.0.1:8000"

[cluster.{key}]
class-name = "kafka"
servers = {servers}
offset-refresh = 10     # seconds between two observations of the ends of topics

[consumer.{key}]
class-name = "kafka"
cluster = {cluster}

# Warren's own rules raise fewer false alarms than Burrow's and name more causes. Choose "burrow" for groups whose
# alerts must match those of a Burrow. `group` and `cluster` take patterns; the first section that fits decides.
[rules.recommended]
use = "warren"
"""


def write_starter(directory: Path, servers: list[str], cluster: str) -> Path:
    """Write the file and return its path; `ConfigError` if the directory has a configuration, or for a wrong value."""
    if existing := [name for name in NAMES if (directory / name).exists()]:
        message = f"{directory / existing[0]} exists."
        raise ConfigError(message, hint="Edit it, or choose another directory.")
    text = STARTER.format(key=_key(cluster), cluster=toml_value(cluster), servers=toml_value(servers))
    parse(tomllib.loads(text), FILE_NAME)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / FILE_NAME).write_text(text)
    return directory / FILE_NAME


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else toml_value(name)
