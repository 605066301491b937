"""What the sinks that speak HTTP share: patience, and what an answer means for points."""

from __future__ import annotations

import http.client
import json
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

import pyarrow as pa
from isal import igzip

from warren.errors import SinkError, UnsendableError
from warren.machine.backoff import Backoff
from warren.sinks.contract import Sent
from warren.webclient.client import (
    KEEP_BODY,
    Answer,
    Request,
    UnreachableError,
    WebClient,
    WebSettings,
    retry_after_s,
)
from warren.webclient.connection import Trust
from warren.webclient.hiding import Hider

MAX_TOLD = 300
MOST_SPLITS = 256
"""So many times is a request cut in two to find what is wrong with it, before the rest of it is given up."""
MOST_ANSWER_BYTES = 16_000_000
_SOON = (408, 425, 429, 500, 502, 503, 504)
REFUSED = (400, 413, 422)
"""It is the points that are wrong, or too many; anything else is about us, or about now."""
_BACKOFF = Backoff(0.5, 10.0)

Judged = TypeVar("Judged")


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
        # Points that are to be fetched somewhere else, as after a login, were not written there.
        self._client = WebClient(web.settings, MOST_ANSWER_BYTES, redirects=KEEP_BODY)
        parts = urlsplit(web.url)
        self._host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
        self._hider = Hider([*web.settings.secrets(), *secrets, parts.password or ""])

    def ask(self, request: Request, judge: Callable[[Answer], Judged]) -> Judged:
        """What `judge` makes of an answer that is good, or says that the points are wrong; `SinkError` for any other.

        `judge` may raise a `LaterError`, too.
        """
        end_s, attempt = time.monotonic() + self._web.patience_s, 0
        while True:
            attempt += 1
            try:
                return judge(self._asked(request))
            except LaterError as error:
                wait_s = error.after_s or _BACKOFF.wait_s(attempt, random.random())
                if time.monotonic() + wait_s > end_s:
                    raise SinkError(str(error)) from error
                time.sleep(wait_s)

    def _asked(self, request: Request) -> Answer:
        try:
            answer = self._client.exchange(request, {})
        except UnreachableError as error:
            raise LaterError(self._hider.hide(str(error))) from error
        except UnsendableError as error:
            raise SinkError(self._hider.hide(str(error))) from error
        if answer.is_good or answer.status in REFUSED:
            return answer
        reason = self.reason(answer)
        if answer.status in _SOON:
            raise LaterError(reason, retry_after_s(answer.headers.get("retry-after", ""), datetime.now(UTC)))
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


class LaterError(Exception):
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


class Refused(NamedTuple):
    """A whole request was refused: something in it is wrong, or it is too much at once."""

    reason: str


class Prepared(Protocol):
    """Points as they are sent, of which any run is to be had."""

    def __len__(self) -> int:
        """How many points."""

    def between(self, start: int, stop: int) -> bytes:
        """Those from `start` on and before `stop`."""


class HttpSender(ABC):
    """Posts points, some thousand at a time; each kind of receiver has its own requests, and its own answers."""

    def __init__(self, web: Web, batch_points: int, secret: str) -> None:
        self._poster = Poster(web, [secret])
        self._batch_points = batch_points

    def send(self, points: pa.RecordBatch) -> Sent:
        """Send all of them."""
        return sent_in_parts(self._prepared(points), self._batch_points, self._send)

    def close(self) -> None:
        """Let go of the connection."""
        self._poster.close()

    def _send(self, body: bytes, count: int) -> Sent | Refused:
        return self._poster.ask(self._request(body), lambda answer: self._judged(answer, count))

    def _judged(self, answer: Answer, count: int) -> Sent | Refused:
        """What an answer says about the `count` points that were sent."""
        return self._taken(answer, count) if answer.is_good else Refused(self._poster.reason(answer))

    def _taken(self, answer: Answer, count: int) -> Sent:
        """What a good answer says about them."""
        return Sent(count)

    @abstractmethod
    def _prepared(self, points: pa.RecordBatch) -> Prepared:
        """Points as they are sent."""

    @abstractmethod
    def _request(self, body: bytes) -> Request:
        """What is asked of the receiver with some of them."""


def login(scheme: str, secret: str) -> tuple[tuple[str, str], ...]:
    """The header that shows a token or key; none without one."""
    return (("Authorization", f"{scheme} {secret}"),) if secret else ()


def sent_in_parts(points: Prepared, most: int, send: Callable[[bytes, int], Sent | Refused]) -> Sent:
    """Send points, `most` at a time; those that are refused are cut in two, until it is found which are wrong."""
    starts = range(0, len(points), most)
    return sum((_sent_or_cut(points, start, min(start + most, len(points)), send) for start in starts), Sent())


def _sent_or_cut(points: Prepared, start: int, stop: int, send: Callable[[bytes, int], Sent | Refused]) -> Sent:
    waiting, done, splits = [(start, stop)], Sent(), 0
    while waiting:
        start, stop = waiting.pop()
        sent = send(points.between(start, stop), stop - start)
        if isinstance(sent, Sent):
            done += sent
        elif stop - start > 1 and splits < MOST_SPLITS:
            splits += 1
            middle = (start + stop) // 2
            waiting += [(middle, stop), (start, middle)]
        else:
            done += Sent(refused=stop - start, reason=sent.reason)
    return done
