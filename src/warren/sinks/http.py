"""What the sinks that speak HTTP share: patience, and what an answer means for points."""

from __future__ import annotations

import http.client
import json
import random
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import urlsplit

from isal import igzip

from warren.errors import SinkError, UnsendableError
from warren.machine.backoff import Backoff
from warren.sinks.contract import Sent
from warren.webclient.client import Answer, Request, UnreachableError, WebClient, WebSettings, retry_after_s
from warren.webclient.connection import Trust
from warren.webclient.hiding import Hider

MAX_TOLD = 300
MOST_SPLITS = 64
"""So many times is a batch cut in two to find what is wrong with it, before the rest is given up."""
MOST_ANSWER_BYTES = 16_000_000
_SOON = (408, 425, 429, 500, 502, 503, 504)
_REFUSED = (400, 413, 422)
"""It is the points that are wrong, or too many; anything else is about us, or about now."""
_BACKOFF = Backoff(0.5, 10.0)


class Web(NamedTuple):
    """How a receiver of points is reached; travels as JSON."""

    url: str
    timeout_s: float = 30.0
    username: str = ""
    password: str = ""
    headers: dict[str, str] = {}  # noqa: RUF012  # never changed
    extra_ca: str = ""
    noverify: bool = False
    patience_s: float = 5.0
    """So long a task tries again by itself."""

    @property
    def settings(self) -> WebSettings:
        """For the client."""
        return WebSettings(
            timeout_s=self.timeout_s,
            trust=Trust(self.extra_ca, self.noverify),
            username=self.username,
            password=self.password,
            headers=self.headers,
        )


class Poster:
    """Posts to one receiver, again and again if need be."""

    def __init__(self, web: Web, secrets: Iterable[str] = ()) -> None:
        self._web = web
        self._client = WebClient(web.settings, MOST_ANSWER_BYTES)
        parts = urlsplit(web.url)
        self._host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
        self._hider = Hider([*web.settings.secrets(), *secrets, parts.password or ""])

    def ask(self, request: Request) -> Answer:
        """An answer that is good, or says that the points are wrong; `SinkError` for any other."""
        end_s, attempt = time.monotonic() + self._web.patience_s, 0
        while True:
            attempt += 1
            try:
                return self._asked(request)
            except _LaterError as error:
                wait_s = error.after_s or _BACKOFF.wait_s(attempt, random.random())
                if time.monotonic() + wait_s > end_s:
                    raise SinkError(str(error)) from error
                time.sleep(wait_s)

    def _asked(self, request: Request) -> Answer:
        try:
            answer = self._client.exchange(request, {})
        except UnreachableError as error:
            raise _LaterError(self._hider.hide(str(error))) from error
        except UnsendableError as error:
            raise SinkError(self._hider.hide(str(error))) from error
        if 200 <= answer.status < 300 or answer.status in _REFUSED:
            return answer
        reason = self.reason(answer)
        if answer.status in _SOON:
            raise _LaterError(reason, retry_after_s(answer.headers.get("retry-after", ""), datetime.now(UTC)))
        raise SinkError(reason)

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def reason(self, answer: Answer) -> str:
        """What an answer that is not good says, in one line and without secrets."""
        phrase = http.client.responses.get(answer.status, "")
        said = self.told(_said(answer.body))
        return f"{self._host} answered {answer.status} {phrase}".rstrip() + (f": {said}" if said else "")

    def told(self, text: str) -> str:
        """A text of the receiver's, as it may be shown."""
        plain = self._hider.hide(" ".join(text.split()))
        return plain if len(plain) <= MAX_TOLD else plain[:MAX_TOLD] + "…"


class _LaterError(Exception):
    """It may work in a moment."""

    def __init__(self, reason: str, after_s: float | None = None) -> None:
        super().__init__(reason)
        self.after_s = after_s


def _said(body: bytes) -> str:
    """The sentence in an answer: InfluxDB and Elasticsearch wrap theirs in JSON."""
    text = body.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except ValueError:
        return text
    if isinstance(found, dict):
        error = found.get("error") or found.get("message")
        if isinstance(error, dict):
            error = error.get("reason")
        if isinstance(error, str):
            return error
    return text


def compressed(body: bytes) -> bytes:
    """By gzip, quickly."""
    return igzip.compress(body, 1)


def sent_in_parts(count: int, most: int, send: Callable[[int, int], Sent | None], reason: Callable[[], str]) -> Sent:
    """Send `count` points, `most` at a time; `send` answers None to points of which some are wrong, or too many.

    Those are cut in two, until it is found which.
    """
    waiting = [(start, min(start + most, count)) for start in reversed(range(0, count, most))]
    done, splits = Sent(), 0
    while waiting:
        start, stop = waiting.pop()
        sent = send(start, stop)
        if sent is not None:
            done += sent
        elif stop - start > 1 and splits < MOST_SPLITS:
            splits += 1
            middle = (start + stop) // 2
            waiting += [(middle, stop), (start, middle)]
        else:
            done += Sent(refused=stop - start, reason=reason())
    return done
