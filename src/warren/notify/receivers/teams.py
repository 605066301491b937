"""Microsoft Teams, by the webhook of a workflow: an adaptive card."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from warren.notify import words
from warren.notify.events import Event
from warren.notify.receivers.webhook import WebReceiver, as_json
from warren.webclient.client import DEFAULTS, Request, WebSettings
from warren.webclient.hiding import secrets_of_url

Element = dict[str, object]

CARD = "application/vnd.microsoft.card.adaptive"
SCHEMA = "http://adaptivecards.io/schemas/adaptive-card.json"
VALUE_LENGTH = 300
"""A message may have 28 KB."""

COLOURS = {"critical": "Attention", "warning": "Warning", "info": "Good"}


@dataclass(frozen=True)
class TeamsSettings:
    """Where the workflow is; its address is the secret."""

    url: str = field(repr=False)
    web: WebSettings = DEFAULTS


class Teams(WebReceiver):
    """A channel in Teams."""

    most_events = 6

    def __init__(self, settings: TeamsSettings) -> None:
        super().__init__(settings.web)
        self._settings = settings

    def build(self, events: Sequence[Event], *, now_ms: int) -> Request:
        """One card, with a part for each event."""
        links = [event for event in events if event.link]
        card: Element = {
            "$schema": SCHEMA,
            "type": "AdaptiveCard",
            "version": "1.4",
            "msteams": {"width": "Full"},
            "body": [element for event in events for element in _elements(event)],
            "actions": [_button(event, len(events)) for event in links],
        }
        attachment = {"contentType": CARD, "contentUrl": None, "content": card}
        return Request("POST", self._settings.url, as_json({"type": "message", "attachments": [attachment]}))

    def secrets(self) -> Iterable[str]:
        """The address, and those of the connection."""
        return [*super().secrets(), *secrets_of_url(self._settings.url)]


def _elements(event: Event) -> list[Element]:
    title = words.for_card(words.cut(words.headline(event), VALUE_LENGTH))
    head: Element = {"type": "TextBlock", "text": title, "wrap": True, "weight": "Bolder", "size": "Medium"}
    head["color"] = COLOURS[words.severity(event)]
    facts = [{"title": fact.name, "value": _value(fact)} for fact in words.facts(event)]
    return [head, {"type": "FactSet", "facts": facts}]


def _value(fact: words.Fact) -> str:
    return words.for_card(words.cut(fact.value, VALUE_LENGTH))


def _button(event: Event, count: int) -> Element:
    title = "Show" if count == 1 else words.cut(f"Show {words.one_line(event.group)}", 40)
    return {"type": "Action.OpenUrl", "title": title, "url": words.readable(event.link)}
