"""docs/receivers.md has every receiver, its settings, and how many events it takes."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from warren.notify.receivers.alertmanager import Alertmanager, AlertmanagerSettings
from warren.notify.receivers.burrow_http import Http
from warren.notify.receivers.contract import Receiver
from warren.notify.receivers.kafka import Kafka, KafkaSettings
from warren.notify.receivers.mail import Email, EmailSettings
from warren.notify.receivers.null import Null
from warren.notify.receivers.opsgenie import Opsgenie, OpsgenieSettings
from warren.notify.receivers.pagerduty import PagerDuty, PagerDutySettings
from warren.notify.receivers.slack import Slack, SlackSettings
from warren.notify.receivers.sms import Sms, SmsSettings
from warren.notify.receivers.teams import Teams, TeamsSettings
from warren.notify.receivers.telegram import Telegram, TelegramSettings
from warren.webclient.client import WebSettings

DOCS = (Path(__file__).parents[2] / "docs" / "receivers.md").read_text("utf-8")
RECEIVERS: dict[str, tuple[type[Receiver], type | None]] = {  # type: ignore[type-arg]  # of any message
    "http": (Http, None),
    "email": (Email, EmailSettings),
    "slack": (Slack, SlackSettings),
    "teams": (Teams, TeamsSettings),
    "pagerduty": (PagerDuty, PagerDutySettings),
    "opsgenie": (Opsgenie, OpsgenieSettings),
    "alertmanager": (Alertmanager, AlertmanagerSettings),
    "telegram": (Telegram, TelegramSettings),
    "sms": (Sms, SmsSettings),
    "kafka": (Kafka, KafkaSettings),
    "null": (Null, None),
}
NAMED_OTHERWISE = {
    "from-address": "from",
    "opened": "template-open",
    "closed": "template-close",
    "trust": "extra-ca",
    "client": "client-profile",
}
FIXED = ("timeout", "valid")
"""Of receivers that cannot be told otherwise."""


def section(name: str) -> str:
    found = re.search(rf"^## {name}$(.*?)(?=^## |\Z)", DOCS, re.MULTILINE | re.DOTALL)
    assert found, name
    return found[1]


def names_of(settings: type) -> list[str]:
    names = [re.sub("_s$", "", one.name).replace("_", "-") for one in fields(settings) if one.name != "web"]
    return [NAMED_OTHERWISE.get(name, name) for name in names]


@pytest.mark.parametrize("name", [name for name, (_, settings) in RECEIVERS.items() if settings])
def test_every_setting_of_a_receiver_is_in_its_section(name: str) -> None:
    settings = RECEIVERS[name][1]
    assert settings is not None
    for one in names_of(settings):
        key = "to-topic" if one == "topic" else one
        assert one in FIXED or f"`{key}`" in section(name)


def test_every_setting_of_http_is_documented() -> None:
    text = section("Settings of every receiver at the end of HTTP")
    for one in names_of(WebSettings):
        assert f"`{one}`" in text


@pytest.mark.parametrize("name", RECEIVERS)
def test_the_table_says_how_many_events_a_message_takes(name: str) -> None:
    assert f"| `{name}` | {RECEIVERS[name][0].most_events} |" in DOCS
