"""PagerDuty, by its Events API v2: the trouble of a group is an incident there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from warren.notify import words
from warren.notify.events import Event, Turn
from warren.notify.receivers.webhook import WebReceiver, as_json
from warren.webclient.client import DEFAULTS, Request, WebSettings

SUMMARY_LENGTH = 1024
KEY_LENGTH = 255


@dataclass(frozen=True)
class PagerDutySettings:
    """The integration key of a service."""

    routing_key: str = field(repr=False)
    url: str = "https://events.pagerduty.com/v2/enqueue"
    web: WebSettings = DEFAULTS


class PagerDuty(WebReceiver):
    """A service of PagerDuty; it takes one event at a time, and reports of groups that are well not at all."""

    def __init__(self, settings: PagerDutySettings) -> None:
        super().__init__(settings.web)
        self._settings = settings

    def build(self, events: Sequence[Event], *, now_ms: int) -> Request | None:
        """Trigger or resolve."""
        [event] = events
        if event.turn is Turn.REPORT:
            return None
        key = words.identity(event, KEY_LENGTH)
        body: dict[str, object] = {"routing_key": self._settings.routing_key}
        if event.turn is Turn.CLOSED:
            body |= {"event_action": "resolve", "dedup_key": key}
        else:
            body |= {"event_action": "trigger", "dedup_key": key, **_trigger(event)}
        return Request("POST", self._settings.url, as_json(body))

    def secrets(self) -> Iterable[str]:
        """The integration key, and those of the connection."""
        return [*super().secrets(), self._settings.routing_key]


def _trigger(event: Event) -> dict[str, object]:
    payload = {
        "summary": words.subject([event], SUMMARY_LENGTH),
        "source": words.one_line(event.cluster),
        "severity": words.severity(event),
        "timestamp": words.timestamp(event.at_ms),
        "component": words.place(event),
        "group": words.one_line(event.group),
        "class": words.one_line(event.cause.rule) if event.cause else "",
        "custom_details": {fact.name: fact.value for fact in words.facts(event)},
    }
    found: dict[str, object] = {"payload": payload, "client": "Warren"}
    if event.link:
        found |= {"client_url": event.link, "links": [{"href": event.link, "text": "Show the group"}]}
    return found
