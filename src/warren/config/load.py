"""Reads `burrow.toml` or `warren.toml` and says everything that is wrong with it at once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from warren.config.model import Cluster, Config, Consumer, HttpServer
from warren.errors import ConfigError

FILE_NAMES = ("warren.toml", "burrow.toml")
COMMAND_LINE = "the command line"
NOT_YET = ("notifier", "zookeeper")
"""Sections of Burrow's that are read over: Warren does not have these parts yet."""


def load_directory(directory: Path) -> tuple[Config, list[str]]:
    """The configuration in a directory, and warnings about what in it has no effect."""
    path = next((directory / name for name in FILE_NAMES if (directory / name).is_file()), None)
    if path is None:
        message = f"No configuration in {directory}: neither {' nor '.join(FILE_NAMES)} is there."
        raise ConfigError(message, hint="Give the directory of one with --config-dir, or use --bootstrap HOST:PORT.")
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"{path} is not valid TOML: {error}."
        raise ConfigError(message) from error
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}."
        raise ConfigError(message) from error
    raw = _lower_keys(raw)
    warnings = [f"[{name}] in {path} has no effect yet." for name in NOT_YET if name in raw]
    return parse(raw, str(path)), warnings


def parse(raw: dict[str, Any], origin: str) -> Config:
    """Check a configuration; `origin` is named in what is wrong with it."""
    try:
        config = Config.model_validate(raw)
    except ValidationError as error:
        problems = list(_problems(error))
        raise _refusal(origin, problems) from None
    config = _with_cluster_servers(config)
    problems = list(_dangling_references(config))
    if problems:
        raise _refusal(origin, problems)
    return config


def for_bootstrap(bootstrap: str, http: str) -> Config:
    """The configuration without a file: one cluster called `local`, and Burrow's defaults."""
    try:
        return Config(
            httpserver={"default": HttpServer(address=http)},
            cluster={"local": Cluster(servers=bootstrap.split(","))},
            consumer={"local": Consumer(cluster="local", servers=bootstrap.split(","))},
        )
    except ValidationError as error:
        raise _refusal(COMMAND_LINE, list(_problems(error))) from None


def _lower_keys(raw: dict[str, Any]) -> dict[str, Any]:
    """Keys do not know upper and lower case, as in Burrow; values keep theirs."""
    return {key.lower(): _lower_keys(value) if isinstance(value, dict) else value for key, value in raw.items()}


def _with_cluster_servers(config: Config) -> Config:
    """Names of clusters are lower case like every key; a consumer without servers reads its cluster's."""
    consumers = {}
    for name, consumer in config.consumer.items():
        cluster = config.cluster.get(consumer.cluster.lower())
        servers = consumer.servers or (cluster.servers if cluster else [])
        consumers[name] = consumer.model_copy(update={"cluster": consumer.cluster.lower(), "servers": servers})
    return config.model_copy(update={"consumer": consumers})


def _dangling_references(config: Config) -> Iterator[str]:
    for name, consumer in config.consumer.items():
        if consumer.cluster not in config.cluster:
            yield f"consumer.{name}.cluster: there is no [cluster.{consumer.cluster}]"
    users = [("cluster", name, one.client_profile) for name, one in config.cluster.items()]
    users += [("consumer", name, one.client_profile) for name, one in config.consumer.items()]
    for section, name, profile in users:
        if profile and profile.lower() not in config.client_profile:
            yield f"{section}.{name}.client-profile: there is no [client-profile.{profile}]"
    for name, one in config.client_profile.items():
        if one.tls and one.tls.lower() not in config.tls:
            yield f"client-profile.{name}.tls: there is no [tls.{one.tls}]"
        if one.sasl and one.sasl.lower() not in config.sasl:
            yield f"client-profile.{name}.sasl: there is no [sasl.{one.sasl}]"


def _problems(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_input=False, include_url=False, include_context=False):
        key = ".".join(str(part) for part in problem["loc"])
        message = "there is no such key" if problem["type"] == "extra_forbidden" else problem["msg"]
        yield f"{key}: {message.removeprefix('Value error, ')}"


def _refusal(origin: str, problems: list[str]) -> ConfigError:
    listed = "\n".join(f"  {problem}" for problem in problems)
    return ConfigError(f"{len(problems)} thing(s) to correct in {origin}:\n{listed}")
