"""Slack, by an incoming webhook: a header, facts and a button for each event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from warren.notify import words
from warren.notify.events import Event
from warren.notify.receivers.webhook import WebReceiver, as_json
from warren.webclient.client import DEFAULTS, Request, WebSettings
from warren.webclient.hiding import secrets_of_url

Block = dict[str, object]

HEADER_LENGTH = 150
TEXT_LENGTH = 3000
FIELD_LENGTH = 2000
MOST_FIELDS = 10
URL_LENGTH = 3000

MARKS = {"critical": ":red_circle:", "warning": ":large_yellow_circle:", "info": ":large_green_circle:"}


@dataclass(frozen=True)
class SlackSettings:
    """Where the webhook is; its address is the secret."""

    url: str = field(repr=False)
    web: WebSettings = DEFAULTS


class Slack(WebReceiver):
    """A channel in Slack."""

    most_events = 10  # 50 blocks are allowed

    def __init__(self, settings: SlackSettings) -> None:
        super().__init__(settings.web)
        self._settings = settings

    def build(self, events: Sequence[Event], *, now_ms: int) -> Request:
        """One post; the text stands in for the blocks where there is no room for them."""
        blocks = [block for event in events for block in _blocks(event)]
        text = words.for_slack(words.cut(words.headlines(events), TEXT_LENGTH // 6))
        return Request("POST", self._settings.url, as_json({"text": text, "blocks": blocks}))

    def secrets(self) -> Iterable[str]:
        """The address, and those of the connection."""
        return [*super().secrets(), *secrets_of_url(self._settings.url)]


def _blocks(event: Event) -> list[Block]:
    header = words.cut(f"{MARKS[words.severity(event)]} {words.headline(event)}", HEADER_LENGTH)
    blocks: list[Block] = [
        {"type": "header", "text": {"type": "plain_text", "text": header, "emoji": True}},
        {"type": "section", "fields": [_field(fact) for fact in words.facts(event)[:MOST_FIELDS]]},
    ]
    if event.link and len(event.link) <= URL_LENGTH:
        button = {"type": "button", "text": {"type": "plain_text", "text": "Show"}, "url": words.readable(event.link)}
        blocks.append({"type": "actions", "elements": [button]})
    return blocks


def _field(fact: words.Fact) -> Block:
    # Cut before it is escaped: half an escape would be shown as it is. An escape is up to five times as long.
    value = words.for_slack(words.cut(fact.value, FIELD_LENGTH // 6))
    return {"type": "mrkdwn", "text": f"*{fact.name}*\n{value}"}
