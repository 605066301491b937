"""Sample events, and every receiver with secrets in its settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warren.model import Status
from warren.notify.events import Cause, Event, Turn
from warren.notify.receivers.alertmanager import Alertmanager, AlertmanagerSettings
from warren.notify.receivers.burrow_http import Http, HttpCall, HttpSettings
from warren.notify.receivers.opsgenie import Opsgenie, OpsgenieSettings
from warren.notify.receivers.pagerduty import PagerDuty, PagerDutySettings
from warren.notify.receivers.slack import Slack, SlackSettings
from warren.notify.receivers.sms import Sms, SmsSettings
from warren.notify.receivers.teams import Teams, TeamsSettings
from warren.notify.receivers.telegram import Telegram, TelegramSettings
from warren.notify.receivers.webhook import WebReceiver
from warren.webclient.client import WebSettings

AT_MS = 1_794_821_520_000  # 2026-11-16 09:32:00 UTC
MINUTE_MS = 60_000

CAUSE = Cause(
    topic="orders",
    partition=3,
    rule="stopped",
    reason="no commit for 12 min while 1,204 records wait",
    since_ms=AT_MS - 12 * MINUTE_MS,
    lag_records=1204,
    lag_seconds=735.0,
)

OPENED = Event(
    key="b7c1-opened-1",
    turn=Turn.OPENED,
    at_ms=AT_MS,
    cluster="prod",
    group="payments_v2",
    incident="b7c1",
    opened_ms=AT_MS,
    was=Status.OK,
    now=Status.ERR,
    cause=CAUSE,
    owners=["10.0.0.7"],
    topics=["orders"],
    total_lag=5000,
    status_body={"status": "ERR", "complete": 1},
    link="https://warren.example/groups/prod/payments_v2",
)
WORSENED = OPENED._replace(key="b7c1-worsened-2", turn=Turn.WORSENED, was=Status.WARN, opened_ms=AT_MS - MINUTE_MS)
REMINDER = OPENED._replace(key="b7c1-reminder-3", turn=Turn.REMINDER, was=Status.ERR, opened_ms=AT_MS - MINUTE_MS)
CLOSED = OPENED._replace(
    key="b7c1-closed-4",
    turn=Turn.CLOSED,
    was=Status.ERR,
    now=Status.OK,
    opened_ms=AT_MS - 30 * MINUTE_MS,
    cause=CAUSE._replace(rule="ok", reason="all is read", since_ms=None, lag_records=0, lag_seconds=0.0),
    total_lag=0,
)
REPORT = CLOSED._replace(key="report-5", turn=Turn.REPORT, incident="", was=Status.OK, opened_ms=None)
OTHER = OPENED._replace(key="d00d-opened-6", incident="d00d", group="audit", now=Status.WARN, link="")
WILD = OPENED._replace(
    key="wild-\udcff",
    group='<b>&amp;*_`[x](y)~|\\"\n\r\x00\udcff ü',
    cluster="<@U1>",
    cause=CAUSE._replace(topic="<!channel>", reason="*a* _b_ <c> \u2028 `d`"),
)
LONG = OPENED._replace(
    group="g" * 5000, cause=CAUSE._replace(topic="t" * 249, reason="r" * 9000), owners=["o" * 300] * 40
)

CASES = {
    "opened": [OPENED],
    "worsened": [WORSENED],
    "reminder": [REMINDER],
    "closed": [CLOSED],
    "report": [REPORT],
    "two": [OPENED, OTHER],
    "wild": [WILD],
}

SECRETS = {
    "http": ("path-secret-1", "hunter2-pass", "header-key-9"),
    "slack": ("T0SECRET", "B0SECRET", "XXSECRETXX"),
    "teams": ("wf-secret-id", "sig-secret"),
    "pagerduty": ("routing-secret-key",),
    "opsgenie": ("genie-secret-key",),
    "alertmanager": ("am-secret-password",),
    "telegram": ("123456:TG-secret-token", "TG-secret-token"),
    "sms": ("sms-secret-token",),
}
"""Secrets by receiver; none may appear in errors or logs."""


def _http(address: str, web: WebSettings) -> Http:
    def url(event: Event) -> str:
        return f"{address}/path-secret-1/{event.group}"

    call = HttpCall(url, lambda event: f'{{"group": "{event.group}"}}')
    more = {"username": "u", "password": "hunter2-pass", "headers": {"x-api-key": "header-key-9"}}
    return Http(HttpSettings(call, call, _with(web, **more)))


def _with(web: WebSettings, **more: Any) -> WebSettings:
    from dataclasses import replace

    return replace(web, **more)


MAKERS: dict[str, Callable[[str, WebSettings], WebReceiver]] = {
    "http": _http,
    "slack": lambda at, web: Slack(SlackSettings(f"{at}/services/T0SECRET/B0SECRET/XXSECRETXX", web)),
    "teams": lambda at, web: Teams(TeamsSettings(f"{at}/workflows/wf-secret-id/run?sig=sig-secret", web)),
    "pagerduty": lambda at, web: PagerDuty(PagerDutySettings("routing-secret-key", f"{at}/v2/enqueue", web)),
    "opsgenie": lambda at, web: Opsgenie(OpsgenieSettings("genie-secret-key", at, web)),
    "alertmanager": lambda at, web: Alertmanager(
        AlertmanagerSettings(at, (("team", "data"),), web=_with(web, username="am", password="am-secret-password"))
    ),
    "telegram": lambda at, web: Telegram(TelegramSettings("123456:TG-secret-token", "-100200", at, web)),
    "sms": lambda at, web: Sms(SmsSettings("AC123", "sms-secret-token", "+15550100", "+15550199", at, web)),
}
"""Constructors of the receivers that speak HTTP, by name; they take the base URL and the web settings."""
