"""API v1 about Warren itself: its configuration without secrets, and what it is made of."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Annotated

import psutil
from fastapi import FastAPI
from pydantic import JsonValue, TypeAdapter
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from warren import __version__
from warren.clusters.state import ClusterState
from warren.config.effective import MASK, sections
from warren.config.model import Config
from warren.serve.v1 import answers
from warren.serve.v1.endpoints import add_get
from warren.serve.v1.models import Time, says

PACKAGES = {"PySpark": "pyspark", "confluent-kafka": "confluent-kafka", "NumPy": "numpy", "Arrow": "pyarrow"}
_AS_JSON: TypeAdapter[object] = TypeAdapter(object)


class ConfigKey(TypedDict):
    """One key with its value."""

    key: str
    value: Annotated[JsonValue, says("Null if it is not set; secrets are only told to be there.")]


class ConfigSection(TypedDict):
    """One section of the file, or one that is there without being written."""

    section: Annotated[str, says("As in the file.", examples=["cluster.prod"])]
    keys: list[ConfigKey]


class ConfigAnswer(TypedDict):
    """The configuration that Warren runs by."""

    sections: list[ConfigSection]


class Position(TypedDict):
    """How far a consumer module has read a partition of the offsets topic."""

    partition: int
    position: Annotated[int, says("The next offset that is read.")]


class Positions(TypedDict):
    """What one consumer module has read."""

    consumer: str
    cluster: str
    positions: list[Position]


class About(TypedDict):
    """What is running."""

    version: str
    started_at: Time
    python: str
    packages: Annotated[dict[str, str], says("Versions of what Warren is made of.")]
    positions: Annotated[list[Positions], says("Where the offsets topics are read.")]


def add_about_routes(app: FastAPI, api: AboutApi) -> None:
    """Everything below."""
    add_get(app, "/config", api.get_config, "The configuration without its secrets")
    add_get(app, "/about", api.get_about, "Versions and positions")


class AboutApi:
    """One method for each route."""

    def __init__(self, clusters: Mapping[str, ClusterState], config: Callable[[], Config]) -> None:
        self._clusters = clusters
        self._config = config

    def get_config(self) -> ConfigAnswer:
        """Every key of every section with the value that counts; secrets are masked."""
        found = [_section(name, keys) for name, keys in sections(self._config())]
        return {"sections": found}

    def get_about(self) -> About:
        """Versions of Warren and its parts, and how far the offsets topics are read."""
        return {
            "version": __version__,
            "started_at": answers.time(int(psutil.Process().create_time() * 1000)),
            "python": platform.python_version(),
            "packages": {name: version(package) for name, package in PACKAGES.items()},
            "positions": [
                _positions(state, consumer)
                for _, state in sorted(self._clusters.items())
                for consumer in sorted(state.consumers)
            ],
        }


def _section(name: str, keys: Mapping[str, object]) -> ConfigSection:
    shown: list[ConfigKey] = [{"key": key, "value": _json(_unhashed(key, value))} for key, value in keys.items()]
    return {"section": name, "keys": shown}


def _unhashed(key: str, value: object) -> object:
    """Not even the hash of a token leaves: somebody may have chosen one that can be guessed."""
    return [MASK] * len(value) if key in ("read-tokens", "write-tokens") and isinstance(value, list) else value


def _json(value: object) -> JsonValue:
    found: JsonValue = _AS_JSON.dump_python(value, mode="json")
    return found


def _positions(state: ClusterState, consumer: str) -> Positions:
    read = state.positions(consumer) or {}
    found: list[Position] = [{"partition": partition, "position": at} for partition, at in sorted(read.items())]
    return {"consumer": consumer, "cluster": state.name, "positions": found}
