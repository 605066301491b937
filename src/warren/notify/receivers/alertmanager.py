"""Alertmanager, by its API v2: a group in trouble is an alert that fires until it is over, or not told of any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from warren.model import Status
from warren.notify import words
from warren.notify.events import Event, Turn
from warren.notify.receivers.webhook import WebReceiver, as_json
from warren.webclient.client import DEFAULTS, Request, WebSettings

Alert = dict[str, object]

ALERT_NAME = "KafkaConsumerGroup"


@dataclass(frozen=True)
class AlertmanagerSettings:
    """`url` is that of its page, without `/api`; `labels` are added to each alert."""

    url: str
    labels: tuple[tuple[str, str], ...] = field(default=())
    valid_s: int = 3600
    """An alert of which nothing is heard any more ends after so long; at least twice the time between reminders."""
    web: WebSettings = DEFAULTS


class Alertmanager(WebReceiver):
    """An Alertmanager; reports of groups that are well mean nothing to it."""

    most_events = 100

    def __init__(self, settings: AlertmanagerSettings) -> None:
        super().__init__(settings.web)
        self._settings = settings

    def build(self, events: Sequence[Event], *, now_ms: int) -> Request | None:
        """One post of alerts; of one that is told more than once, what was told last."""
        alerts = {}
        for event in events:
            for alert in self._alerts(event, now_ms):
                alerts[str(alert["labels"])] = alert
        if not alerts:
            return None
        return Request("POST", f"{self._settings.url.rstrip('/')}/api/v2/alerts", as_json(list(alerts.values())))

    def _alerts(self, event: Event, now_ms: int) -> list[Alert]:
        """The alert of the status now, which fires, and that of the status before, which is over.

        The status is a label, so that people can route by it, and another label makes another alert.
        """
        if event.turn is Turn.REPORT:
            return []
        found = []
        if event.was not in (event.now, Status.OK, Status.NOTFOUND):
            found.append(self._alert(event, event.was, event.at_ms))
        if event.now > Status.OK:
            found.append(self._alert(event, event.now, now_ms + self._settings.valid_s * 1000))
        return found

    def _alert(self, event: Event, status: Status, ends_ms: int) -> Alert:
        started_ms = event.opened_ms if event.opened_ms is not None else event.at_ms
        labels = {
            **dict(self._settings.labels),
            "alertname": ALERT_NAME,
            "cluster": words.readable(event.cluster),
            "group": words.readable(event.group),
            "status": status.name,
            "severity": "warning" if status == Status.WARN else "critical",
        }
        return {
            "labels": labels,
            "annotations": _annotations(event),
            "startsAt": words.timestamp(started_ms),
            "endsAt": words.timestamp(max(ends_ms, started_ms)),
            "generatorURL": event.link,
        }


def _annotations(event: Event) -> dict[str, str]:
    """Changing ones do not make another alert, so here is what changes."""
    told = {fact.name.lower().replace(" ", "_"): fact.value for fact in words.facts(event)}
    told.pop("status")
    return {"summary": words.headline(event), "incident": event.incident, **told}
