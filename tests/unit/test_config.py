"""Configuration: Burrow's file is understood, and what is wrong with it is told at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from warren.config.kafka_client import client_settings
from warren.config.load import for_bootstrap, load_directory
from warren.errors import ConfigError

BURROW = """
[general]
pidfile = "burrow.pid"

[client-profile.Prod]
client-id = "watcher"
kafka-version = "2.0.0"
tls = "corp"
sasl = "user"

[tls.corp]
cafile = "ca.pem"

[sasl.user]
mechanism = "SCRAM-SHA-512"
username = "warren"
password = "hunter2"

[httpserver.default]
address = ":8000"

[storage.default]
class-name = "inmemory"
workers = 20
intervals = 15
expire-group = 3600
min-distance = 1

[cluster.Local]
class-name = "kafka"
servers = ["a:9092", "b:9092"]
client-profile = "Prod"
topic-refresh = 120
offset-refresh = 30

[consumer.local]
class-name = "kafka"
cluster = "Local"
client-profile = "Prod"
group-denylist = "^(console-consumer-).*$"
"""


def load(directory: Path, text: str, name: str = "burrow.toml") -> object:
    (directory / name).write_text(text)
    return load_directory(directory)[0]


def refused(directory: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(directory, text)
    return str(caught.value)


def test_a_burrow_file_is_understood(tmp_path: Path) -> None:
    (tmp_path / "burrow.toml").write_text(BURROW)
    config, warnings = load_directory(tmp_path)

    assert warnings == []
    assert config.the_storage.intervals == 15
    assert config.cluster["local"].offset_refresh == 30
    assert config.httpserver["default"].address == ":8000"


def test_names_of_clusters_do_not_know_upper_and_lower_case(tmp_path: Path) -> None:
    """D66: Burrow accepts the file, and then drops every commit."""
    config, _ = load_directory(_written(tmp_path, BURROW))

    assert config.consumer["local"].cluster == "local"


def test_a_consumer_without_servers_reads_its_clusters(tmp_path: Path) -> None:
    config, _ = load_directory(_written(tmp_path, BURROW))

    assert config.consumer["local"].servers == ["a:9092", "b:9092"]


def test_a_client_profile_becomes_settings_of_the_kafka_client(tmp_path: Path) -> None:
    config, _ = load_directory(_written(tmp_path, BURROW))

    assert client_settings(config, ["a:9092", "b:9092"], "Prod") == {
        "bootstrap.servers": "a:9092,b:9092",
        "client.id": "watcher",
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": "ca.pem",
        "enable.ssl.certificate.verification": True,
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "warren",
        "sasl.password": "hunter2",
    }


def test_everything_that_is_wrong_is_told_in_one_go_without_secrets(tmp_path: Path) -> None:
    text = BURROW.replace("intervals = 15", 'intervals = "ten"').replace("min-distance", "min-distanse")
    text = text.replace('group-denylist = "^(console-consumer-).*$"', 'group-denylist = "("')
    text = text.replace('password = "hunter2"', "password = [1]").replace('"a:9092"', '"a"')
    told = refused(tmp_path, text)

    assert "storage.default.intervals: " in told
    assert "storage.default.min-distanse: there is no such key" in told
    assert "consumer.local.group-denylist: not a regular expression" in told
    assert "sasl.user.password: " in told
    assert "cluster.local.servers.0: must be host:port" in told
    assert "hunter2" not in told


def test_a_reference_to_nothing_is_told(tmp_path: Path) -> None:
    told = refused(tmp_path, BURROW.replace("[client-profile.Prod]", "[client-profile.other]"))

    assert "cluster.local.client-profile: there is no [client-profile.Prod]" in told
    assert "consumer.local.client-profile: there is no [client-profile.Prod]" in told


def test_two_storages_are_refused(tmp_path: Path) -> None:
    assert "storage: " in refused(tmp_path, BURROW + '\n[storage.more]\nclass-name = "inmemory"\n')


def test_a_directory_without_a_configuration_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"neither warren.toml nor burrow.toml is there. Give the directory"):
        load_directory(tmp_path)


def test_a_file_that_is_not_toml_says_where(tmp_path: Path) -> None:
    assert "line 2" in refused(tmp_path, "[general]\npidfile = \n")


def test_sections_without_effect_are_told(tmp_path: Path) -> None:
    (tmp_path / "warren.toml").write_text('[notifier.default]\nclass-name = "null"\ntemplate-open = "a"\n')
    _, warnings = load_directory(tmp_path)

    assert warnings == [f"[notifier] in {tmp_path / 'warren.toml'} has no effect yet."]


def test_a_broker_alone_is_enough() -> None:
    config = for_bootstrap("127.0.0.1:9092", "127.0.0.1:8000")

    assert list(config.cluster) == ["local"]
    assert config.consumer["local"].servers == ["127.0.0.1:9092"]


def test_a_broker_without_a_port_is_refused() -> None:
    with pytest.raises(ConfigError, match="must be host:port"):
        for_bootstrap("127.0.0.1", "127.0.0.1:8000")


def _written(directory: Path, text: str) -> Path:
    (directory / "burrow.toml").write_text(text)
    return directory
