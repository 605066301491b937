"""What receivers have in common that take JSON or a form at some address."""

from __future__ import annotations

import json
from collections.abc import Iterable

from warren.notify.receivers.contract import DELIVERED, Outcome, Receiver, retry
from warren.notify.receivers.meaning import meaning
from warren.notify.words import readable
from warren.webclient.client import Answer, Request, UnreachableError, WebClient, WebSettings
from warren.webclient.hiding import Hider, secrets_of_url


class WebReceiver(Receiver[Request | None]):
    """A receiver at the end of HTTP; a message that is None needs not be sent."""

    def __init__(self, web: WebSettings) -> None:
        self._web = web
        self._client = WebClient(web)

    def send(self, message: Request | None, key: str) -> Outcome:
        """One request; None is delivered as it is."""
        if message is None:
            return DELIVERED
        hider = Hider([*self._web.secrets(), *secrets_of_url(message.url)])
        try:
            answer = self._client.exchange(message, {"Idempotency-Key": key})
        except UnreachableError as error:
            return retry(hider.hide(str(error)))
        return self.meaning(answer, meaning(answer, hider))

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
