"""The HTTP application: who asks, which API is meant, and the answer. Read this first of `serve/`.

It is an ASGI application of its own: an answer that is at hand goes out without a router, a thread or a state's lock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from http import HTTPStatus
from time import perf_counter
from urllib.parse import quote

import structlog
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from warren.config.model import Config
from warren.history.service import History
from warren.notify.service import Alerts
from warren.serve import gojson
from warren.serve.access import CHANGES, Access, Client, Permit, Refusal
from warren.serve.answer import BUFFERED_BYTES, JSON, Answer, asgi_headers, bad_request
from warren.serve.burrow_api import METRICS, Asked, BurrowApi, waits_for_state
from warren.serve.counts import RequestCounts
from warren.serve.cycle import RawHeaders, whole_answer
from warren.serve.kitchen import Kitchen
from warren.serve.metrics import Metrics
from warren.serve.page import Page
from warren.serve.rendered import Rendered, RenderedAnswers
from warren.serve.router import Found, Outcome, decode_path
from warren.serve.v1.routes import Queries, make_v1
from warren.serve.v3 import Clusters, LogLevel
from warren.sinks.service import Sinks

log = structlog.get_logger()

V1 = "/api/v1"


def make_app(
    clusters: Clusters,
    config: Callable[[], Config],
    now_ms: Callable[[], int],
    queries: Queries = lambda: {},
    *,
    log_level: LogLevel | None = None,
    alerts: Alerts | None = None,
    sinks: Sinks | None = None,
    history: History | None = None,
) -> Site:
    """The application; it reads `clusters`, which others fill, and asks for the configuration at each request."""
    return Site(clusters, config, now_ms, queries, log_level, alerts=alerts, sinks=sinks, history=history)


class Exchange:
    """One request, and what has been answered so far."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        self.raw_path: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
        self.status = 0
        """Of the answer; 0 as long as nothing has gone out."""
        self.is_miss = False
        self._send = send

    @property
    def client(self) -> Client:
        """Who asks."""
        address = self.scope.get("client") or ("", 0)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in self.scope["headers"]}
        return Client(address[0], headers)

    @property
    def api(self) -> str:
        """Under which name it is counted."""
        return _api_of(self.raw_path)

    async def send(self, message: Message) -> None:
        """Pass on what another application answers."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)

    async def reply(self, answer: Rendered) -> None:
        """Answer."""
        self.status, self.is_miss = answer.status, answer.is_miss
        headers = answer.headers
        if self.scope.get("http_version") == "1.0" and len(answer.body) > BUFFERED_BYTES:  # it does not know chunks
            headers = [*headers, (b"content-length", str(len(answer.body)).encode())]
        await self._send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": answer.body})


class Site:
    """Everything that is answered."""

    def __init__(
        self,
        clusters: Clusters,
        config: Callable[[], Config],
        now_ms: Callable[[], int],
        queries: Queries,
        log_level: LogLevel | None,
        *,
        alerts: Alerts | None,
        sinks: Sinks | None,
        history: History | None,
    ) -> None:
        self.counts = RequestCounts()
        self._config = config
        self._now_ms = now_ms
        self._burrow = BurrowApi(clusters, config, now_ms, log_level)
        self._v1 = make_v1(clusters, now_ms, queries, config, alerts, sinks=sinks, history=history)
        self._metrics = Metrics(
            clusters,
            now_ms,
            queries,
            lambda: config().metrics,
            self.counts.snapshot,
            alerts=alerts,
            sinks=sinks,
            history=history,
        )
        self._rendered = RenderedAnswers(clusters)
        self._kitchen = Kitchen()
        self._page = Page()
        self._access: tuple[Config, Access] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await _lifespan(scope, receive, send)
            return
        started_s, exchange = perf_counter(), Exchange(scope, send)
        try:
            await self._answer(exchange, receive)
        except Exception as error:  # whatever it is, the client gets an answer and the log gets the rest
            log.error("a request failed", method=exchange.method, path=scope["path"], exc_info=error)
            if exchange.status:
                raise
            await exchange.reply(self._written(self._refused(exchange, INTERNAL)))
        finally:
            self.counts.add(exchange.api, exchange.method, exchange.status, perf_counter() - started_s)

    def at_once(self, raw_path: bytes, date: RawHeaders) -> bytes | None:
        """The whole answer to a plain GET, if it is at hand and everybody may read it."""
        config = self._config()
        if not self._access_by(config).is_open:
            return None
        started_s = perf_counter()
        found = self._rendered.get(raw_path, config, self._now_ms())
        if found is None or found.status != HTTPStatus.OK:
            return None
        self.counts.add(_api_of(raw_path), "GET", found.status, perf_counter() - started_s)
        return whole_answer(found.status, found.headers, date, found.body)

    async def _answer(self, exchange: Exchange, receive: Receive) -> None:
        access = self._access_by(self._config())
        at_hand = self._at_hand(exchange) if access.is_open else None
        if at_hand is not None:
            await exchange.reply(at_hand)
            return
        path = decode_path(exchange.raw_path)
        if path is None:
            await exchange.reply(self._written(bad_request()))
            return
        page = self._page.answer(exchange.method, exchange.raw_path, dict(exchange.scope["headers"]))
        if page is not None:  # also for those without a token: it knows nothing, and asks for one
            await exchange.reply(self._written(page))
            return
        is_free = access.is_open and exchange.method not in CHANGES
        permit = Permit() if is_free else access.check(exchange.method, path, exchange.client)
        if isinstance(permit, Permit):
            await self._permitted(exchange, path, receive)
        else:
            await exchange.reply(self._written(self._refused(exchange, permit)))
        if exchange.method in CHANGES:
            _tell(exchange, path, permit)

    async def _permitted(self, exchange: Exchange, path: str, receive: Receive) -> None:
        limit_bytes = self._config().security.max_body_bytes
        body = await _body(exchange, receive, limit_bytes)
        if body is None:
            await exchange.reply(self._written(self._refused(exchange, _too_long(limit_bytes), closes=True)))
        elif path == V1:
            await exchange.reply(self._written(Answer(307, headers=(("Location", f"{V1}/"),))))
        elif path.startswith(f"{V1}/"):
            scope = {**exchange.scope, "root_path": exchange.scope.get("root_path", "") + V1}
            await self._v1(scope, _again(body), exchange.send)
        else:
            query = exchange.scope["query_string"].decode("latin-1")
            await self._by_burrow(exchange, Asked(exchange.method, exchange.raw_path, path, query, body))

    def _at_hand(self, exchange: Exchange) -> Rendered | None:
        if exchange.method != "GET" or not exchange.raw_path.startswith(b"/v"):
            return None
        return self._rendered.get(exchange.raw_path, self._config(), self._now_ms())

    async def _by_burrow(self, exchange: Exchange, asked: Asked) -> None:
        at_hand = self._at_hand(exchange)  # for those who had to show a token first
        if at_hand is not None:
            await exchange.reply(at_hand)
            return
        outcome = self._burrow.resolve(asked)
        if isinstance(outcome, Found) and outcome.name == METRICS:
            request = Request(exchange.scope)
            page = await asyncio.to_thread(self._metrics.page, request)
            await page(exchange.scope, request.receive, exchange.send)
        elif waits_for_state(outcome):
            making = asyncio.wrap_future(self._ordered(asked, outcome))
            await exchange.reply(await asyncio.shield(making))  # others may wait for it, too
        else:
            await exchange.reply(self._made(asked, outcome))

    def _ordered(self, asked: Asked, outcome: Outcome) -> Future[Rendered]:
        basis, make = self._burrow.basis(outcome), partial(self._made, asked, outcome)
        return self._kitchen.make_for_all(asked.raw_path, basis, make) if basis else self._kitchen.make(make)

    def _made(self, asked: Asked, outcome: Outcome) -> Rendered:
        answer, basis = self._burrow.answer(asked, outcome)
        written = self._written(answer)
        if basis is not None:
            self._rendered.put(asked.raw_path, basis, written)
        return written

    def _written(self, answer: Answer) -> Rendered:
        allow_origin = self._config().general.access_control_allow_origin
        return Rendered(int(answer.status), asgi_headers(answer, allow_origin), answer.body, answer.is_miss)

    def _refused(self, exchange: Exchange, refusal: Refusal, *, closes: bool = False) -> Answer:
        path = decode_path(exchange.raw_path) or ""
        headers = (("WWW-Authenticate", "Bearer"),) if refusal.status is HTTPStatus.UNAUTHORIZED else ()
        if exchange.api == "v1":
            told = {"code": refusal.code, "message": f"{refusal.message.capitalize()}.", "hint": refusal.hint}
            headers = (*headers, ("Cache-Control", "no-store"))
            return Answer(refusal.status, gojson.dumps({"error": told}), JSON, headers, closes=closes)
        answer = self._burrow.refusal(path, refusal.status, refusal.message)
        return Answer(answer.status, answer.body, JSON, headers, is_cors=True, closes=closes)

    def _access_by(self, config: Config) -> Access:
        """The rules of a configuration; a new one comes with a reload only."""
        known = self._access
        if known is None or known[0] is not config:
            known = self._access = (config, Access(config.security))
        return known[1]


INTERNAL = Refusal(
    HTTPStatus.INTERNAL_SERVER_ERROR,
    "internal_error",
    "internal error, see the log",
    "Its log tells why. Please report it.",
)


def _too_long(limit_bytes: int) -> Refusal:
    message, hint = (
        f"the request is longer than {limit_bytes} bytes",
        "`max-body-bytes` of `[security]` sets the limit.",
    )
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body_too_long", message, hint)


def _tell(exchange: Exchange, path: str, permit: Permit | Refusal) -> None:
    """Changes are written down: what, by whom, and what came of it."""
    told = {"what": f"{exchange.method} {path}", "by": exchange.client.address, "status": exchange.status}
    if isinstance(permit, Refusal):
        log.warning("change refused", **told, why=permit.message)
    elif exchange.status < HTTPStatus.MULTIPLE_CHOICES and not exchange.is_miss:
        log.info("changed", **told, token=permit.token or None)
    else:
        log.info("nothing changed", **told, token=permit.token or None)


def _api_of(raw_path: bytes) -> str:
    top, _, rest = raw_path[1:].partition(b"/")
    if top in (b"v2", b"v3", b"metrics"):
        return top.decode()
    return "v1" if top == b"api" and rest.startswith(b"v1") else "other"


async def _body(exchange: Exchange, receive: Receive, limit_bytes: int) -> bytes | None:
    """The body of a request that changes something, b"" of any other one; None if it is too long."""
    if any(name == b"content-length" and int(value) > limit_bytes for name, value in exchange.scope["headers"]):
        return None
    if exchange.method not in CHANGES:
        return b""
    body, more = bytearray(), True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > limit_bytes:
            return None
    return bytes(body)


def _again(body: bytes) -> Receive:
    """A body that has been read, for the application that is asked next."""
    told = False

    async def receive() -> Message:
        nonlocal told
        if told:
            await asyncio.Event().wait()  # nothing more will come
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def _lifespan(scope: Scope, receive: Receive, send: Send) -> None:
    """Nothing is to be done at start and end, but some servers ask."""
    while scope["type"] == "lifespan":
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
