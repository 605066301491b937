"""Telegram, by a bot: one message with some HTML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from warren.notify import words
from warren.notify.events import Event
from warren.notify.receivers.contract import Outcome, Result
from warren.notify.receivers.webhook import WebReceiver, as_json
from warren.webclient.client import DEFAULTS, MAX_RETRY_AFTER_S, Answer, Request, WebSettings

MESSAGE_LENGTH = 4096
VALUE_LENGTHS = (300, 80)
"""With the second one the longest message that there can be is short enough."""


@dataclass(frozen=True)
class TelegramSettings:
    """The bot's token, and the chat in which it writes."""

    token: str = field(repr=False)
    chat_id: str
    url: str = "https://api.telegram.org"
    web: WebSettings = DEFAULTS


class Telegram(WebReceiver):
    """A chat in Telegram."""

    most_events = 4

    def __init__(self, settings: TelegramSettings) -> None:
        super().__init__(settings.web)
        self._settings = settings

    def build(self, events: Sequence[Event], *, now_ms: int) -> Request:
        """One message, a paragraph for each event."""
        body = {
            "chat_id": self._settings.chat_id,
            "text": _text(events),
            "parse_mode": "HTML",
            "link_preview_options": {"is_disabled": True},
        }
        url = f"{self._settings.url.rstrip('/')}/bot{self._settings.token}/sendMessage"
        return Request("POST", url, as_json(body))

    def meaning(self, answer: Answer, outcome: Outcome) -> Outcome:
        """It says in its body how long to wait."""
        after_s = _retry_after_s(answer.body)
        if outcome.result is Result.RETRY and after_s is not None:
            return outcome._replace(after_s=after_s)
        return outcome

    def secrets(self) -> Iterable[str]:
        """The token, also without the bot's number before it, and those of the connection."""
        token = self._settings.token
        return [*super().secrets(), token, token.partition(":")[2]]


def _text(events: Sequence[Event]) -> str:
    for limit in VALUE_LENGTHS:
        text = "\n\n".join(_paragraph(event, limit) for event in events)
        if len(text) <= MESSAGE_LENGTH:
            break
    return text


def _paragraph(event: Event, limit: int) -> str:
    lines = [f"<b>{_value(words.headline(event), limit)}</b>"]
    lines += [f"{fact.name}: {_value(fact.value, limit)}" for fact in words.facts(event)]
    if event.link:
        lines.append(f'<a href="{escape(words.readable(event.link))}">Show</a>')
    return "\n".join(lines)


def _value(text: str, limit: int) -> str:
    return words.for_telegram(words.cut(text, limit))


def _retry_after_s(body: bytes) -> float | None:
    try:
        after_s = json.loads(body)["parameters"]["retry_after"]
    except (ValueError, KeyError, TypeError):
        return None
    return min(float(after_s), MAX_RETRY_AFTER_S) if isinstance(after_s, int) and after_s >= 0 else None
