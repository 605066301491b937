"""Sinks in the configuration: what each class needs, what is wrong, and what stays secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from warren.config.effective import sections
from warren.config.load import parse
from warren.config.model import Config
from warren.errors import ConfigError
from warren.sinks.elasticsearch import SearchOptions
from warren.sinks.http import Web
from warren.sinks.influxdb import InfluxOptions
from warren.sinks.kafka import KafkaSinkOptions
from warren.sinks.otlp import OtlpOptions
from warren.sinks.remote_write import RemoteWriteOptions
from warren.sinks.setup import make_sinks, sink_of

URL = "http://influx:8086"
INFLUX = {"class-name": "influxdb", "url": URL, "database": "lag"}


def config(**sink: Any) -> Config:
    return parse({"sink": {"one": sink}}, "a test")


def options(**sink: Any) -> object:
    return make_sinks(config(**sink))["one"].sink.options


def test_influxdb_of_version_1() -> None:
    found = options(**INFLUX, username="warren", password="s", **{"retention-policy": "week", "batch-points": 7})

    assert found == InfluxOptions(
        Web(URL, username="warren", password="s"), "lag", retention_policy="week", batch_points=7
    )


def test_influxdb_of_version_2() -> None:
    found = options(**{"class-name": "influxdb", "url": URL, "bucket": "lag", "org": "ops", "token": "t"})

    assert found == InfluxOptions(Web(URL), org="ops", bucket="lag", token="t")  # not a real one


@pytest.mark.parametrize("class_name", ["elasticsearch", "opensearch"])
def test_elasticsearch_and_opensearch_are_the_same(class_name: str) -> None:
    found = options(**{"class-name": class_name, "url": URL, "index": "lag-%Y", "manage-template": False})

    assert found == SearchOptions(Web(URL), daily_index="lag-%Y", manage_template=False)


def test_kafka_has_the_settings_of_its_profile() -> None:
    found = options(**{"class-name": "kafka", "servers": ["k:9092"], "to-topic": "lag", "timeout": 7})

    assert isinstance(found, KafkaSinkOptions)
    assert (found.topic, found.timeout_s, found.client["bootstrap.servers"]) == ("lag", 7.0, "k:9092")


def test_otlp_has_a_token() -> None:
    found = options(**{"class-name": "otlp", "url": URL, "token": "t"})

    assert found == OtlpOptions(Web(URL), token="t")  # not a real one


def test_remote_write_has_a_token() -> None:
    found = options(**{"class-name": "remote_write", "url": URL, "token": "t"})

    assert found == RemoteWriteOptions(Web(URL), token="t")  # not a real one


@pytest.mark.parametrize(
    ("sink", "told"),
    [
        ({"class-name": "influxdb"}, "url: is needed for class-name influxdb"),
        ({"class-name": "influxdb", "url": URL}, "database: is needed for version 1"),
        ({**INFLUX, "bucket": "b", "token": "t"}, "but not both"),
        ({"class-name": "influxdb", "url": URL, "bucket": "b"}, "token: is needed with bucket"),
        ({**INFLUX, "password": "p"}, "username: is needed with a password"),
        ({**INFLUX, "url": "influx:8086"}, "must be an address such as"),
        ({**INFLUX, "url": "http://warren:hunter2@influx:8086"}, "must not have a name and a password in it"),
        ({**INFLUX, "interval": 0}, "interval"),
        ({**INFLUX, "group": "("}, "not a regular expression"),
        ({**INFLUX, "client-profile": "x"}, "there is no [client-profile.x]"),
        ({"class-name": "elasticsearch", "url": URL, "index": "Burrow-%Y"}, "in lower case"),
        ({"class-name": "elasticsearch", "url": URL, "index": "burrow-%q"}, "codes such as %Y"),
        (
            {"class-name": "opensearch", "url": URL, "username": "u", "password": "p", "api-key": "k"},
            "api-key: stands beside username",
        ),
        ({"class-name": "kafka", "servers": ["k:1"]}, "to-topic: is needed for class-name kafka"),
        ({"class-name": "graphite", "url": URL}, "class-name"),
    ],
)
def test_what_is_wrong_is_told(sink: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as raised:
        config(**sink)

    assert told in str(raised.value)
    assert "hunter2" not in str(raised.value)


def test_a_file_of_certificates_that_cannot_be_used_is_told_with_its_sink(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"sink\.one: extra-ca .* cannot be used"):
        make_sinks(config(**INFLUX, **{"extra-ca": str(tmp_path / "none.pem")}))


def test_a_sink_is_had_by_its_name() -> None:
    found = sink_of(config(**INFLUX), "ONE", patience_s=9)

    assert found.options == InfluxOptions(Web(URL, patience_s=9), "lag")


def test_a_sink_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ConfigError, match=r"no \[sink\.two\].*There is one\."):
        sink_of(config(**INFLUX), "two")


def test_no_secret_is_shown() -> None:
    secret = {"password": "hunter2", "username": "u", "headers": {"x": "hunter2"}}
    shown = dict(sections(config(**INFLUX, **secret)))["sink.one"]

    assert "hunter2" not in str(shown)
    assert shown["url"] == URL
