"""What receivers have in common that take JSON or a form at some address."""

from __future__ import annotations

import json
from collections.abc import Iterable

from warren.notify.receivers.contract import DELIVERED, Outcome, Receiver
from warren.notify.receivers.web import Answer, Request, WebClient, WebSettings
from warren.notify.words import readable


class WebReceiver(Receiver[Request | None]):
    """A receiver at the end of HTTP; a message that is None needs not be sent."""

    def __init__(self, web: WebSettings) -> None:
        self._web = web
        self._client = WebClient(web)

    def send(self, message: Request | None, key: str) -> Outcome:
        """One request; None is delivered as it is."""
        if message is None:
            return DELIVERED
        return self._client.post(message, key, self.meaning)

    def meaning(self, answer: Answer, outcome: Outcome) -> Outcome:
        """What an answer means here, after what it means everywhere."""
        return outcome

    def secrets(self) -> Iterable[str]:
        """Those of the connection."""
        return self._web.secrets()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def as_json(value: object) -> bytes:
    """JSON in UTF-8; bytes of names that are none become the replacement character."""
    return readable(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()
