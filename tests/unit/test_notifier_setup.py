"""Notifiers as the configuration describes them: each class becomes its receiver, and mistakes show at the start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from warren.config.load import parse
from warren.config.model import Config
from warren.errors import ConfigError
from warren.model import Status
from warren.notify.setup import make_notifiers

EACH: dict[str, dict[str, Any]] = {
    "null": {},
    "slack": {"url": "https://hooks.example.com/x"},
    "teams": {"url": "https://hooks.example.com/x"},
    "pagerduty": {"routing-key": "k"},
    "opsgenie": {"api-key": "k"},
    "alertmanager": {"url": "http://127.0.0.1:9093", "labels": {"team": "core"}},
    "telegram": {"token": "t", "chat-id": "1"},
    "sms": {"account": "a", "token": "t", "from-number": "1", "to-number": "2"},
    "kafka": {"servers": ["127.0.0.1:9092"], "to-topic": "alerts"},
}


def config(**notifiers: dict[str, Any]) -> Config:
    return parse({"notifier": notifiers}, "a test")


def with_template(path: Path, text: str, **keys: Any) -> dict[str, Any]:
    path.write_text(text)
    return {"class-name": "http", "url-open": "http://127.0.0.1:1/{{.Group}}", "template-open": str(path), **keys}


@pytest.mark.parametrize("kind", EACH)
def test_every_class_has_its_receiver(kind: str) -> None:
    made = make_notifiers(config(one={"class-name": kind, **EACH[kind]}))

    assert type(made.receivers["one"].receiver).__name__.lower() == kind


@pytest.mark.parametrize("kind", [kind for kind, keys in EACH.items() if keys])
def test_what_a_class_needs_is_asked_for(kind: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config(one={"class-name": kind})

    for key in set(EACH[kind]) - {"labels"}:
        assert f"notifier.one.{key}: is needed for class-name {kind}" in str(caught.value)


def test_a_field_that_is_not_there_shows_at_the_start_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "open.tmpl"
    with pytest.raises(ConfigError) as caught:
        make_notifiers(config(one=with_template(path, "{{.Group}}\n{{.Grupp}}"), two=with_template(path, "{{")))

    assert f"notifier.one: {path}:1:" in str(caught.value) or f"notifier.one: {path}:2:" in str(caught.value)
    assert "notifier.two: " in str(caught.value)


def test_a_template_of_an_address_has_no_helpers(tmp_path: Path) -> None:
    keys = with_template(tmp_path / "a", "x") | {"url-open": "http://x/{{jsonencoder .}}"}

    with pytest.raises(ConfigError, match="jsonencoder"):
        make_notifiers(config(one=keys))


def test_burrows_keys_say_how_a_notifier_is_told(tmp_path: Path) -> None:
    keys = {"interval": 30, "threshold": 3, "send-once": True, "send-interval": 300, "damp": 5}
    told = make_notifiers(config(one=with_template(tmp_path / "a", "x", **keys))).terms.addressees["one"]

    assert (told.manner.interval_ms, told.manner.send_interval_ms, told.damp_ms) == (30_000, 300_000, 5_000)
    assert (told.manner.threshold, told.manner.send_once, told.manner.send_close) == (Status.ERR, True, False)


def test_without_send_interval_a_message_is_repeated_after_interval(tmp_path: Path) -> None:
    told = make_notifiers(config(one=with_template(tmp_path / "a", "x", interval=30))).terms.addressees["one"]

    assert told.manner.send_interval_ms == 30_000


@pytest.mark.parametrize("keys", [{"send-interval": 3_600}, {"interval": 3_600}, {"send-once": True}])
def test_an_alertmanager_that_would_not_hear_in_time_is_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="for class-name alertmanager"):
        config(one={"class-name": "alertmanager", "url": "http://x", **keys})
