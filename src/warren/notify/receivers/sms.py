"""Text messages, by Twilio's API or one of the same shape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlencode

from warren.notify import words
from warren.notify.events import Event
from warren.notify.receivers.webhook import WebReceiver
from warren.webclient.client import DEFAULTS, Request, WebSettings
from warren.webclient.hiding import secrets_of_login


@dataclass(frozen=True)
class SmsSettings:
    """An account, the number from which it sends, and the one to which."""

    account: str
    token: str = field(repr=False)
    from_number: str
    to_number: str
    url: str = "https://api.twilio.com"
    web: WebSettings = DEFAULTS


class Sms(WebReceiver):
    """A telephone."""

    most_events = 20

    def __init__(self, settings: SmsSettings) -> None:
        super().__init__(replace(settings.web, username=settings.account, password=settings.token))
        self._settings = settings

    def build(self, events: Sequence[Event], *, now_ms: int) -> Request:
        """One text message, as long as one may be."""
        account = quote(self._settings.account, safe="")
        url = f"{self._settings.url.rstrip('/')}/2010-04-01/Accounts/{account}/Messages.json"
        form = {"From": self._settings.from_number, "To": self._settings.to_number, "Body": words.text_message(events)}
        return Request("POST", url, urlencode(form).encode(), "application/x-www-form-urlencoded")

    def secrets(self) -> Iterable[str]:
        """The token."""
        return [*super().secrets(), *secrets_of_login(self._settings.account, self._settings.token)]
