"""Opsgenie, by its Alert API: the trouble of a group is an alert there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from warren.notify import words
from warren.notify.events import Event, Turn
from warren.notify.receivers.webhook import WebReceiver, as_json
from warren.webclient.client import DEFAULTS, Request, WebSettings

MESSAGE_LENGTH = 130
ALIAS_LENGTH = 512
DESCRIPTION_LENGTH = 15_000
ENTITY_LENGTH = 512
TAG_LENGTH = 50

PRIORITIES = {"critical": "P1", "warning": "P3", "info": "P5"}


@dataclass(frozen=True)
class OpsgenieSettings:
    """The key of an API integration; `url` is another one in Europe, https://api.eu.opsgenie.com."""

    api_key: str = field(repr=False)
    url: str = "https://api.opsgenie.com"
    web: WebSettings = DEFAULTS


class Opsgenie(WebReceiver):
    """A team in Opsgenie; it takes one event at a time, and reports of groups that are well not at all."""

    def __init__(self, settings: OpsgenieSettings) -> None:
        super().__init__(settings.web)
        self._settings = settings

    def build(self, events: Sequence[Event], *, now_ms: int) -> Request | None:
        """Create or close; a second alert of the same alias is counted with the first."""
        [event] = events
        if event.turn is Turn.REPORT:
            return None
        url, alias = f"{self._settings.url.rstrip('/')}/v2/alerts", words.identity(event, ALIAS_LENGTH)
        if event.turn is Turn.CLOSED:
            url += f"/{quote(alias, safe='')}/close?identifierType=alias"
            body: dict[str, object] = {"source": "Warren", "note": words.paragraph(event)[:DESCRIPTION_LENGTH]}
        else:
            body = {"alias": alias, **_alert(event)}
        login = ("Authorization", f"GenieKey {self._settings.api_key}")
        return Request("POST", url, as_json(body), headers=(login,))

    def secrets(self) -> Iterable[str]:
        """The key, and those of the connection."""
        return [*super().secrets(), self._settings.api_key]


def _alert(event: Event) -> dict[str, object]:
    return {
        "message": words.subject([event], MESSAGE_LENGTH),
        "description": words.cut(words.paragraph(event), DESCRIPTION_LENGTH),
        "priority": PRIORITIES[words.severity(event)],
        "entity": words.cut(f"{words.one_line(event.cluster)}/{words.one_line(event.group)}", ENTITY_LENGTH),
        "source": "Warren",
        "tags": [words.cut(tag, TAG_LENGTH) for tag in ("kafka", event.now.name, words.one_line(event.cluster))],
        "details": {fact.name: fact.value for fact in words.facts(event)},
    }
