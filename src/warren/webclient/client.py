"""One exchange with a web server, as Go's client does it."""

from __future__ import annotations

import http.client
import select
import socket
import ssl
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import NamedTuple
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

import warren
from warren.errors import UnsendableError
from warren.webclient.connection import (
    PORTS,
    SYSTEM,
    Deadline,
    Origin,
    Trust,
    basic_auth,
    connect,
    cut_off_at,
    proxy_for,
    proxy_login,
    tunnel,
)
from warren.webclient.hiding import secrets_of_header, secrets_of_login

USER_AGENT = f"warren/{warren.__version__}"
MAX_REQUESTS = 10
"""The first and those to which it is redirected."""
MAX_ANSWER_BYTES = 65_536
MAX_RETRY_AFTER_S = 3600.0

REDIRECTS = (301, 302, 303, 307, 308)
KEEP_BODY = (307, 308)
"""Of these the ones that want the same request once more."""
_FOR_ONE_HOST = ("Authorization", "Cookie", "Www-Authenticate")

_IN_PATH = "/%:@!$&'()*+,;=-._~[]|"
_IN_QUERY = _IN_PATH + "?"


@dataclass(frozen=True)
class WebSettings:
    """How web servers are talked to."""

    timeout_s: float = 5.0
    """For a whole exchange, with redirects."""
    keepalive_s: int = 300
    disable_http_keepalive: bool = False
    trust: Trust = SYSTEM
    username: str = ""
    password: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def secrets(self) -> Iterable[str]:
        """The password, and what stands in headers: often it is a key."""
        yield from secrets_of_login(self.username, self.password)
        for value in self.headers.values():
            yield from secrets_of_header(value)


DEFAULTS = WebSettings()


class Request(NamedTuple):
    """What is sent to a web server."""

    method: str
    url: str
    body: bytes
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    """More of them, which what is configured may replace."""


class Answer(NamedTuple):
    """What it answers."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_good(self) -> bool:
        """Whether it says that all went well."""
        return 200 <= self.status < 300


class UnreachableError(Exception):
    """There is no answer; the text says why, without any secret."""


class WebClient:
    """Sends requests, one after another, and keeps the connection in between."""

    def __init__(
        self,
        settings: WebSettings,
        most_answer_bytes: int = MAX_ANSWER_BYTES,
        redirects: Collection[int] = REDIRECTS,
    ) -> None:
        self._settings = settings
        self._most_answer_bytes = most_answer_bytes
        self._redirects = redirects
        """The answers that lead to another address; others of their kind are answers like any."""
        settings.trust.check()
        self._kept: _Connection | None = None

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """When it is needed: the system's authorities take some time to read, and many addresses are plain HTTP."""
        return self._settings.trust.context()

    def exchange(self, request: Request, headers: Mapping[str, str]) -> Answer:
        """The last answer after all redirects; `UnreachableError` if there is none."""
        deadline, first = Deadline(self._settings.timeout_s), _split(request.url)
        sent = self._headers(request, first, headers)
        for _ in range(MAX_REQUESTS):
            url = _split(request.url)
            answer = self._ask(request, url, _for_host(sent, first, url), deadline)
            location = answer.headers.get("location", "")
            if answer.status not in self._redirects or not location:
                return answer
            request = _redirected(request, answer.status, urljoin(request.url, location))
        message = f"It is redirected more than {MAX_REQUESTS - 1} times."
        raise UnsendableError(message)

    def close(self) -> None:
        """Close the connection that was kept."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.http.close()

    def _headers(self, request: Request, url: SplitResult, more: Mapping[str, str]) -> dict[str, str]:
        found = {"User-Agent": USER_AGENT, "Content-Type": request.content_type, **more, **dict(request.headers)}
        found |= {canonical(name): value for name, value in self._settings.headers.items()}
        found.pop("Host", None)  # has no effect in Burrow either
        settings = self._settings
        if settings.username:
            found["Authorization"] = basic_auth(settings.username, settings.password)
        elif url.username and "Authorization" not in found:
            found["Authorization"] = basic_auth(unquote(url.username), unquote(url.password or ""))
        if settings.disable_http_keepalive:
            found["Connection"] = "close"
        return found

    def _ask(self, request: Request, url: SplitResult, headers: dict[str, str], deadline: Deadline) -> Answer:
        origin = _origin(url)
        try:
            connection = self._connection(origin, deadline)
            with cut_off_at(deadline, connection.sock):
                return self._ask_over(connection, request, url, headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            message = f"{origin.authority}: {told(error, deadline.seconds)}"
            raise UnreachableError(message) from error
        except ValueError as error:  # of a header or a name, before anything is sent
            self.close()
            message = "The address or a header of it cannot be sent."
            raise UnsendableError(message) from error

    def _ask_over(self, connection: _Connection, request: Request, url: SplitResult, headers: dict[str, str]) -> Answer:
        has_body = bool(request.body) or request.method not in ("GET", "HEAD")
        if not has_body:
            headers = {name: value for name, value in headers.items() if name != "Content-Type"}
        if connection.proxy_login:
            headers = headers | {"Proxy-Authorization": connection.proxy_login}
        target = connection.target(url)
        connection.http.request(request.method, target, request.body if has_body else None, headers)
        response = connection.http.getresponse()
        body = response.read(self._most_answer_bytes)
        if not response.isclosed() or response.will_close or self._settings.disable_http_keepalive:
            self.close()  # what is left of it would be taken for the next answer
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)

    def _connection(self, origin: Origin, deadline: Deadline) -> _Connection:
        if self._kept is not None and self._kept.origin == origin and self._kept.is_open():
            self._kept.sock.settimeout(deadline.left_s())
            return self._kept
        self.close()
        self._kept = _open(origin, lambda: self._tls, deadline, self._settings.keepalive_s)
        return self._kept


class _Connection(NamedTuple):
    origin: Origin
    http: http.client.HTTPConnection
    sock: socket.socket
    is_proxied: bool
    """Whether requests go to a proxy, which wants whole addresses."""
    proxy_login: str

    def is_open(self) -> bool:
        """Whether the other side has neither closed it nor said anything out of turn."""
        if self.http.sock is None:
            return False
        heard = select.poll()  # `select` itself takes no more than 1,024 descriptors
        heard.register(self.sock, select.POLLIN)
        return not heard.poll(0)

    def target(self, url: SplitResult) -> str:
        """What stands in the first line of a request."""
        path = quote(url.path.encode("utf-8", "replace"), safe=_IN_PATH) or "/"
        if url.query:
            path += "?" + quote(url.query.encode("utf-8", "replace"), safe=_IN_QUERY)
        return f"{self.origin.scheme}://{self.origin.authority}{path}" if self.is_proxied else path


def _open(origin: Origin, tls: Callable[[], ssl.SSLContext], deadline: Deadline, keepalive_s: int) -> _Connection:
    proxy = proxy_for(origin)
    if proxy is not None and (proxy.scheme != "http" or not proxy.hostname):
        message = "the proxy of the environment is not of the form http://host:port"
        raise ConnectionError(message)
    host, port = (proxy.hostname or "", proxy.port or 80) if proxy else (origin.host, origin.port)
    sock = connect(host, port, deadline, keepalive_s)
    try:
        if proxy is not None and origin.scheme == "https":
            with cut_off_at(deadline, sock):
                tunnel(sock, origin, proxy)
        sock = _with_tls(sock, origin, tls(), deadline) if origin.scheme == "https" else sock
    except BaseException:
        sock.close()
        raise
    connection = http.client.HTTPConnection(origin.host, origin.port)
    connection.default_port = PORTS[origin.scheme]  # else it stands in the Host header
    connection.auto_open = 0
    connection.sock = sock
    is_proxied = proxy is not None and origin.scheme == "http"
    return _Connection(origin, connection, sock, is_proxied, proxy_login(proxy) if proxy and is_proxied else "")


def _with_tls(sock: socket.socket, origin: Origin, tls: ssl.SSLContext, deadline: Deadline) -> ssl.SSLSocket:
    """Shake hands; in a step of its own, since the deadline ends the wrapped socket, and the other one is gone."""
    wrapped = tls.wrap_socket(sock, server_hostname=origin.host, do_handshake_on_connect=False)
    try:
        with cut_off_at(deadline, wrapped):
            wrapped.do_handshake()
    except BaseException:
        wrapped.close()
        raise
    return wrapped


def retry_after_s(text: str, now: datetime) -> float | None:
    """The seconds of a Retry-After header, which has them as a number or as a date; None if it makes no sense."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return min(float(text), MAX_RETRY_AFTER_S)
    try:
        then = parsedate_to_datetime(text)
    except ValueError:
        return None
    then = then.replace(tzinfo=UTC) if then.tzinfo is None else then
    return min(max((then - now).total_seconds(), 0.0), MAX_RETRY_AFTER_S)


def told(error: Exception, seconds: float = 0.0) -> str:
    """Why there is no answer, in words for people; what an exception says itself may repeat the request."""
    if isinstance(error, TimeoutError):
        return f"no answer within {seconds:g} s"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS fails: {(error.reason or 'unknown').replace('_', ' ').lower()}"
    if isinstance(error, http.client.RemoteDisconnected):
        return "closed the connection without an answer"
    if isinstance(error, OSError):
        return (error.strerror or str(error) or type(error).__name__).lower()
    return f"its answer is not HTTP ({type(error).__name__})"


def canonical(name: str) -> str:
    """A header's name as Go writes it: `x-api-key` is `X-Api-Key`."""
    return "-".join(part[:1].upper() + part[1:].lower() for part in name.strip().split("-"))


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in PORTS and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_good = False
    if not is_good:
        message = "The address is not of the form http://host/path or https://host/path."
        raise UnsendableError(message)
    return parts


def _origin(url: SplitResult) -> Origin:
    host = url.hostname or ""
    try:
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError as error:
        message = "The name of the host in the address cannot be looked up."
        raise UnsendableError(message) from error
    return Origin(url.scheme, host, url.port or PORTS[url.scheme])


def _redirected(request: Request, status: int, url: str) -> Request:
    """301, 302 and 303 are asked for without a body, whatever was sent; 307 and 308 want the same once more."""
    if status in KEEP_BODY:
        return request._replace(url=url)
    method = request.method if request.method in ("GET", "HEAD") else "GET"
    return request._replace(method=method, url=url, body=b"")


def _for_host(headers: dict[str, str], first: SplitResult, url: SplitResult) -> dict[str, str]:
    """What is secret goes to the host it is meant for and to those below it only."""
    meant, host = first.hostname or "", url.hostname or ""
    if host == meant or host.endswith(f".{meant}"):
        return headers
    return {name: value for name, value in headers.items() if name not in _FOR_ONE_HOST}
