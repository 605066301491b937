"""From the configuration to notifiers: receivers with their templates, whom they are for, and how they are told.

Nothing connects here; templates are read and tried with samples, so that a mistake in one shows at the start.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import time, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from warren.config import model
from warren.config.kafka_client import client_settings
from warren.config.model import Config
from warren.errors import ConfigError, WarrenError
from warren.model import Status
from warren.notify.batches import Grouping, by_event
from warren.notify.coordinator import Addressee, Terms
from warren.notify.decisions import Manner, Route
from warren.notify.delivery import Notifier, Receiving
from warren.notify.events import Event
from warren.notify.pace import Pace
from warren.notify.receivers.alertmanager import Alertmanager, AlertmanagerSettings
from warren.notify.receivers.burrow_http import Http, HttpCall, HttpSettings
from warren.notify.receivers.kafka import Kafka, KafkaSettings
from warren.notify.receivers.mail import Email, EmailSettings
from warren.notify.receivers.null import Null
from warren.notify.receivers.opsgenie import Opsgenie, OpsgenieSettings
from warren.notify.receivers.pagerduty import PagerDuty, PagerDutySettings
from warren.notify.receivers.slack import Slack, SlackSettings
from warren.notify.receivers.sms import Sms, SmsSettings
from warren.notify.receivers.teams import Teams, TeamsSettings
from warren.notify.receivers.telegram import Telegram, TelegramSettings
from warren.notify.silences import Maintenance, Scope
from warren.notify.templates.data import notification_data
from warren.notify.templates.samples import sample_data
from warren.notify.templates.template import Template, check_template, load_template, parse_template
from warren.patterns import GroupFilter, Pattern, compile_pattern
from warren.webclient.client import WebSettings
from warren.webclient.connection import Trust

GROUP_EVENTS = 50
"""So many events go into one message at most."""


class Notifiers(NamedTuple):
    """All notifiers of a configuration, and what is doubtful about their templates."""

    receivers: dict[str, Notifier]
    terms: Terms
    warnings: list[str]


def make_notifiers(config: Config) -> Notifiers:
    """All of them; `ConfigError` with everything that is wrong with their templates and files."""
    receivers: dict[str, Notifier] = {}
    problems: list[str] = []
    warnings: list[str] = []
    for name, one in config.notifier.items():
        try:
            receiver = _receiver(config, one, warnings)
        except (WarrenError, OSError) as error:
            problems.append(f"notifier.{name}: {error}")
        else:
            pace = Pace(one.per_minute, give_up_after_s=one.give_up_after)
            receivers[name] = Notifier(receiver, _grouping(one), pace)
    if problems:
        raise ConfigError("\n  ".join(["Some notifiers cannot be used:", *problems]))
    return Notifiers(receivers, terms_of(config), warnings)


def terms_of(config: Config) -> Terms:
    """What is told to whom."""
    return Terms(
        addressees={name: _addressee(one) for name, one in config.notifier.items()},
        maintenance=tuple(_maintenance(name, one) for name, one in config.maintenance.items()),
        page_url=config.alerts.page_url,
        keep_ms=config.alerts.keep_incidents * 1000,
    )


def _addressee(one: model.Notifier) -> Addressee:
    groups = GroupFilter((one.group_allowlist,), (one.group_denylist,))
    route = Route(groups, _pattern(one.cluster), _pattern(one.topic), _pattern(one.owner))
    send_interval_s = one.interval if one.send_interval is None else one.send_interval
    manner = Manner(
        threshold=max(Status(one.threshold), Status.WARN),
        interval_ms=one.interval * 1000,
        send_interval_ms=send_interval_s * 1000,
        send_once=one.send_once,
        send_close=one.send_close,
        report_ok=one.report_ok,
    )
    return Addressee(route, manner, one.damp * 1000)


def _pattern(text: str) -> Pattern | None:
    return compile_pattern(text) if text else None


def _maintenance(name: str, one: model.Maintenance) -> Maintenance:
    scope = Scope(one.cluster, one.group, one.topic)
    start, duration = time.fromisoformat(one.start), timedelta(seconds=one.duration)
    return Maintenance(name, scope, tuple(one.days), start, duration, ZoneInfo(one.zone))


def _grouping(one: model.Notifier) -> Grouping:
    return Grouping(_GROUP_BY[one.group_by], float(one.wait), GROUP_EVENTS if one.group_by else 1)


_GROUP_BY: dict[str, Callable[[Event], str]] = {
    "": by_event,
    "cluster": lambda event: event.cluster,
    "owner": lambda event: ",".join(event.owners),
    "topic": lambda event: ",".join(event.topics),
    "all": lambda event: "",
}


# -- receivers -------------------------------------------------------------------------------------------------------


def _receiver(config: Config, one: model.Notifier, warnings: list[str]) -> Receiving:
    make = _RECEIVERS[one.class_name]
    return make(config, one, warnings)


def _http(config: Config, one: model.Notifier, warnings: list[str]) -> Receiving:
    opened = HttpCall(
        _url(one, "url-open", one.url_open.get_secret_value(), warnings),
        _template(one, one.template_open, warnings),
        one.method_open,
    )
    closed = None
    if one.send_close:
        url = _url(one, "url-close", one.url_close.get_secret_value(), warnings)
        closed = HttpCall(url, _template(one, one.template_close, warnings), one.method_close)
    return Http(HttpSettings(opened, closed, _web(one)))


def _email(config: Config, one: model.Notifier, warnings: list[str]) -> Receiving:
    closed = _template(one, one.template_close, warnings) if one.send_close else None
    settings = EmailSettings(
        server=one.server,
        port=one.port,
        from_address=one.from_,
        to=one.to,
        opened=_template(one, one.template_open, warnings),
        closed=closed,
        auth_type=one.auth_type,
        username=one.username,
        password=one.password.get_secret_value(),
        trust=_trust(one),
    )
    return Email(settings)


def _kafka(config: Config, one: model.Notifier, warnings: list[str]) -> Receiving:
    return Kafka(KafkaSettings(one.to_topic, client_settings(config, one.servers, one.client_profile)))


def _alertmanager(config: Config, one: model.Notifier, warnings: list[str]) -> Receiving:
    url = one.url.get_secret_value()
    return Alertmanager(AlertmanagerSettings(url, tuple(sorted(one.labels.items())), web=_web(one)))


def _telegram(config: Config, one: model.Notifier, warnings: list[str]) -> Receiving:
    return Telegram(TelegramSettings(one.token.get_secret_value(), one.chat_id, **_other_url(one), web=_web(one)))


def _sms(config: Config, one: model.Notifier, warnings: list[str]) -> Receiving:
    token = one.token.get_secret_value()
    return Sms(SmsSettings(one.account, token, one.from_number, one.to_number, **_other_url(one), web=_web(one)))


def _pagerduty(config: Config, one: model.Notifier, warnings: list[str]) -> Receiving:
    return PagerDuty(PagerDutySettings(one.routing_key.get_secret_value(), **_other_url(one), web=_web(one)))


def _opsgenie(config: Config, one: model.Notifier, warnings: list[str]) -> Receiving:
    return Opsgenie(OpsgenieSettings(one.api_key.get_secret_value(), **_other_url(one), web=_web(one)))


_Make = Callable[[Config, model.Notifier, list[str]], Receiving]

_RECEIVERS: dict[model.NotifierClass, _Make] = {
    "http": _http,
    "email": _email,
    "null": lambda config, one, warnings: Null(),
    "slack": lambda config, one, warnings: Slack(SlackSettings(one.url.get_secret_value(), _web(one))),
    "teams": lambda config, one, warnings: Teams(TeamsSettings(one.url.get_secret_value(), _web(one))),
    "pagerduty": _pagerduty,
    "opsgenie": _opsgenie,
    "alertmanager": _alertmanager,
    "telegram": _telegram,
    "sms": _sms,
    "kafka": _kafka,
}


def _other_url(one: model.Notifier) -> dict[str, str]:
    """Another address than the usual one, where one is given."""
    url = one.url.get_secret_value()
    return {"url": url} if url else {}


def _web(one: model.Notifier) -> WebSettings:
    return WebSettings(
        timeout_s=float(one.timeout),
        keepalive_s=one.keepalive,
        disable_http_keepalive=one.disable_http_keepalive,
        trust=_trust(one),
        username=one.username,
        password=one.password.get_secret_value(),
        headers={name: value.get_secret_value() for name, value in one.headers.items()},
    )


def _trust(one: model.Notifier) -> Trust:
    return Trust(one.extra_ca, one.noverify)


# -- templates -------------------------------------------------------------------------------------------------------


def _template(one: model.Notifier, path: str, warnings: list[str]) -> Callable[[Event], str]:
    return _rendering(one, load_template(Path(path)), warnings)


def _url(one: model.Notifier, key: str, text: str, warnings: list[str]) -> Callable[[Event], str]:
    return _rendering(one, parse_template(text, key), warnings)


def _rendering(one: model.Notifier, template: Template, warnings: list[str]) -> Callable[[Event], str]:
    extras = {name: value.get_secret_value() for name, value in one.extras.items()}
    warnings += check_template(template, sample_data(extras))

    def render(event: Event) -> str:
        start_ms = event.opened_ms
        data = notification_data(event.cluster, event.group, event.incident, start_ms, extras, event.status_body)
        return template.render(data)

    return render
