"""Burrow's `http`: a request whose address and body are templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from warren.errors import UnsendableError
from warren.notify.events import Event, Turn
from warren.notify.receivers.webhook import WebReceiver
from warren.notify.words import readable
from warren.webclient.client import DEFAULTS, Request, WebSettings

Render = Callable[[Event], str]

_NO_CHARACTER = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class HttpCall:
    """What is sent on one occasion."""

    url: Render
    body: Render
    method: str = "POST"


@dataclass(frozen=True)
class HttpSettings:
    """What is sent while an incident is open and, if that is wanted, when it closes."""

    opened: HttpCall
    closed: HttpCall | None = None
    web: WebSettings = DEFAULTS


class Http(WebReceiver):
    """Any web server; templates are of one group, so it takes one event at a time."""

    def __init__(self, settings: HttpSettings) -> None:
        super().__init__(settings.web)
        self._settings = settings

    def build(self, events: Sequence[Event], *, now_ms: int) -> Request:
        """What the templates of the occasion say."""
        [event] = events
        call = self._settings.closed if event.turn is Turn.CLOSED else self._settings.opened
        if call is None:
            message = "There is no url-close and no template-close."
            raise UnsendableError(message)
        return Request(call.method, readable(call.url(event).strip()), _body(call.body(event)))


def _body(text: str) -> bytes:
    """Bytes of names that are no UTF-8 become the replacement character, as in Go; all else stays as it is."""
    return _NO_CHARACTER.sub("\ufffd", text).encode()
