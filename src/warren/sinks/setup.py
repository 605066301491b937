"""From the configuration to sinks: where each one writes to, what, and how often. Nothing connects here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from warren.config import model
from warren.config.kafka_client import client_settings
from warren.config.model import Config
from warren.errors import ConfigError, WarrenError
from warren.sinks.choice import Choice, choice
from warren.sinks.elasticsearch import SearchOptions
from warren.sinks.http import Web
from warren.sinks.influxdb import InfluxOptions
from warren.sinks.kafka import KafkaSinkOptions
from warren.sinks.otlp import OtlpOptions
from warren.sinks.remote_write import RemoteWriteOptions
from warren.sinks.sink import Options, Sink
from warren.webclient.connection import Trust


class SinkPlan(NamedTuple):
    """A sink as it is configured."""

    sink: Sink
    class_name: str
    choice: Choice
    interval_ms: int
    queue_bytes: int
    configured: tuple[object, ...]
    """Another plan with the same is the same."""


def make_sinks(config: Config) -> dict[str, SinkPlan]:
    """All of them by name; `ConfigError` with everything that is wrong with their files."""
    plans: dict[str, SinkPlan] = {}
    problems: list[str] = []
    for name, one in config.sink.items():
        try:
            Trust(one.extra_ca, one.noverify).check()
            plans[name] = _plan(config, name, one)
        except WarrenError as error:
            problems.append(f"sink.{name}: {error}")
    if problems:
        raise ConfigError("\n  ".join(["Some sinks cannot be used:", *problems]))
    return plans


def sink_of(config: Config, name: str, patience_s: float = 60.0) -> Sink:
    """One sink by name, to write a range of points to it; `ConfigError` if there is none.

    So long its tasks try by themselves: whoever writes a range does not begin again for a receiver that is busy.
    """
    one = config.sink.get(name.lower())
    if one is None:
        there = f"There is {', '.join(config.sink)}." if config.sink else "There is none at all."
        message = f"There is no [sink.{name}] in the configuration."
        raise ConfigError(message, hint=there)
    options = _OPTIONS[one.class_name](config, one)
    if not isinstance(options, KafkaSinkOptions):
        options = options._replace(web=options.web._replace(patience_s=patience_s))
    return Sink(name.lower(), options)


def _plan(config: Config, name: str, one: model.Sink) -> SinkPlan:
    options = _OPTIONS[one.class_name](config, one)
    wanted = choice(one.cluster, one.group, one.topic, partitions=one.partitions, topics=one.topics, warren=one.warren)
    return SinkPlan(Sink(name, options), one.class_name, wanted, one.interval * 1000, one.queue_bytes, (one, options))


def _influxdb(config: Config, one: model.Sink) -> Options:
    return InfluxOptions(
        _web(one),
        database=one.database,
        retention_policy=one.retention_policy,
        org=one.org,
        bucket=one.bucket,
        token=one.token.get_secret_value(),
        **_batch(one),
    )


def _search(config: Config, one: model.Sink) -> Options:
    return SearchOptions(
        _web(one),
        daily_index=one.index,
        data_stream=one.data_stream,
        api_key=one.api_key.get_secret_value(),
        manage_template=one.manage_template,
        **_batch(one),
    )


def _kafka(config: Config, one: model.Sink) -> Options:
    client = client_settings(config, one.servers, one.client_profile)
    return KafkaSinkOptions(client, one.to_topic, float(one.timeout))


def _remote_write(config: Config, one: model.Sink) -> Options:
    return RemoteWriteOptions(_web(one), token=one.token.get_secret_value(), **_batch(one))


def _otlp(config: Config, one: model.Sink) -> Options:
    return OtlpOptions(_web(one), token=one.token.get_secret_value(), **_batch(one))


_OPTIONS: dict[model.SinkClass, Callable[[Config, model.Sink], Options]] = {
    "influxdb": _influxdb,
    "elasticsearch": _search,
    "opensearch": _search,
    "kafka": _kafka,
    "remote_write": _remote_write,
    "otlp": _otlp,
}


def _batch(one: model.Sink) -> dict[str, int]:
    return {"batch_points": one.batch_points} if one.batch_points else {}


def _web(one: model.Sink) -> Web:
    return Web(
        one.url,
        timeout_s=float(one.timeout),
        username=one.username,
        password=one.password.get_secret_value(),
        headers={name: value.get_secret_value() for name, value in one.headers.items()},
        extra_ca=one.extra_ca,
        noverify=one.noverify,
    )
