"""An answer before it goes out, and the ones that Go's HTTP server gives by itself. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from warren.serve import gojson
from warren.serve.router import Nothing, Options, Outcome, Redirect, WrongMethod

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"

BUFFERED_BYTES = 2048
"""Go tells the length of a body that fits into its buffer, and sends longer ones in chunks."""

NO_SNIFFING = ("X-Content-Type-Options", "nosniff")
INVALID_REQUEST = '{"error":true,"message":"invalid request type","result":{}}'

Header = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client gets."""

    status: int
    body: bytes = b""
    content_type: str = ""
    headers: tuple[Header, ...] = ()
    is_miss: bool = False
    """Nothing of this name was found: another way to read the name may find it."""
    is_sniffed: bool = False
    """Go finds out the type of the body by itself, and tells it after all others."""
    is_cors: bool = False
    """Scripts of other pages may read it, if the configuration lets them."""
    closes: bool = False
    """The connection is of no use afterwards."""


def json_answer(body: object, status: int = 200, *, is_miss: bool = False) -> Answer:
    """A body as Burrow writes it."""
    return Answer(status, gojson.dumps(body), JSON, is_miss=is_miss, is_cors=True)


def page(text: str, status: int = 200) -> Answer:
    """A page for probes."""
    return Answer(status, text.encode(), TEXT, is_sniffed=True, is_cors=True)


def unrouted(outcome: Outcome, method: str) -> Answer:
    """The answer to a request that has no route."""
    match outcome:
        case Redirect(status, location):
            page = outcome.page.encode() if method == "GET" else b""
            return Answer(status, page, HTML if page else "", (("Location", location),))
        case Options(allow):
            return Answer(200, headers=(("Allow", allow),))
        case WrongMethod(allow):
            return _go_error("Method Not Allowed", HTTPStatus.METHOD_NOT_ALLOWED, ("Allow", allow))
        case _:
            assert isinstance(outcome, Nothing)
            return _go_error(INVALID_REQUEST, HTTPStatus.NOT_FOUND)


def bad_request() -> Answer:
    """The path is no path at all; Go's server says so without asking anybody."""
    return Answer(400, b"400 Bad Request", TEXT, closes=True)


def _go_error(text: str, status: HTTPStatus, *headers: Header) -> Answer:
    return Answer(status, f"{text}\n".encode(), TEXT, (*headers, NO_SNIFFING))


def asgi_headers(answer: Answer, allow_origin: str) -> list[tuple[bytes, bytes]]:
    """The headers that go out, in Go's order; whether the length is told is Go's decision."""
    headers, content_type = [*answer.headers], [("Content-Type", answer.content_type)] if answer.content_type else []
    if answer.is_cors and allow_origin:
        headers.append(("Access-Control-Allow-Origin", allow_origin))
    if not answer.is_sniffed:
        headers += content_type
    headers.sort()
    if len(answer.body) <= BUFFERED_BYTES:
        headers.append(("Content-Length", str(len(answer.body))))
    if answer.is_sniffed:
        headers += content_type
    if answer.closes:
        headers.append(("Connection", "close"))
    return [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in headers]
