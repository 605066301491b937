"""Connections to web servers: through the proxies of the environment, with TLS, never longer than a deadline."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies_environment

from warren.errors import ConfigError

PORTS = {"http": 80, "https": 443}
MAX_PROXY_ANSWER_BYTES = 65_536


@dataclass(frozen=True)
class Trust:
    """Whose certificates are good: those of the system's authorities, of `extra_ca`, or all with `noverify`."""

    extra_ca: str = ""
    noverify: bool = False

    def context(self) -> ssl.SSLContext:
        """What TLS needs; `ConfigError` if the extra file cannot be used."""
        context = ssl.create_default_context()
        if self.noverify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        elif self.extra_ca:
            self._add(context)
        return context

    def check(self) -> None:
        """`ConfigError` if the extra file cannot be used."""
        if self.extra_ca and not self.noverify:
            self.context()

    def _add(self, context: ssl.SSLContext) -> None:
        try:
            context.load_verify_locations(cafile=self.extra_ca)
        except (OSError, ssl.SSLError) as error:
            why = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
            message = f"extra-ca {self.extra_ca} cannot be used: {why}."
            raise ConfigError(message, hint="It takes a file of certificates in PEM format.") from error


SYSTEM = Trust()


class Deadline:
    """A moment after which nothing is waited for."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left_s(self) -> float:
        """What is left; `TimeoutError` if nothing is."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


@contextmanager
def cut_off_at(deadline: Deadline, sock: socket.socket) -> Iterator[None]:
    """End a connection at the deadline: a server that sends byte after byte never runs into a timeout."""
    cut = threading.Event()

    def end() -> None:
        cut.set()
        with suppress(OSError):  # it may be closed already
            socket.socket.shutdown(sock, socket.SHUT_RDWR)  # that of TLS would say goodbye first

    timer = threading.Timer(deadline.left_s(), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception as error:
        if cut.is_set():
            raise TimeoutError from error
        raise
    finally:
        timer.cancel()
    if cut.is_set():
        raise TimeoutError


class Origin(NamedTuple):
    """Whom a connection is to."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """As it stands in a Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def proxy_for(origin: Origin) -> SplitResult | None:
    """The proxy that the environment names for a server; never for this machine itself, as in Go."""
    proxies = getproxies_environment()
    proxy = proxies.get(origin.scheme, "")
    if not proxy or _is_loopback(origin.host) or _is_exempt(origin, proxies.get("no", "")):
        return None
    return urlsplit(proxy if "://" in proxy else f"http://{proxy}")


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _is_exempt(origin: Origin, exempt: str) -> bool:
    return any(_means(one.strip().lower(), origin) for one in exempt.split(",") if one.strip())


def _means(exempt: str, origin: Origin) -> bool:
    """Whether an entry of NO_PROXY is about a server: a name with those below it, an address, a network, or all."""
    name, colon, port = exempt.rpartition(":")
    if colon and port.isdigit() and ":" not in name:
        return int(port) == origin.port and _means(name, origin)
    address, network, host = _address(origin.host), _network(exempt), origin.host.lower()
    if address is not None:
        return exempt == "*" or (network is not None and address in network)
    return exempt in ("*", host) or host.endswith("." + exempt.lstrip("."))


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def connect(host: str, port: int, deadline: Deadline, keepalive_s: int) -> socket.socket:
    """A TCP connection to the first address of a host that answers; one that is silent leaves time for the others."""
    failure: OSError = OSError(f"{host} has no address")
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(deadline.left_s() / (len(addresses) - number))
            sock.connect(address)
        except OSError as error:
            sock.close()
            failure = error
        else:
            _keep_alive(sock, keepalive_s)
            return sock
    raise failure


def _keep_alive(sock: socket.socket, keepalive_s: int) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if keepalive_s <= 0:
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL"):  # not on every system
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), min(keepalive_s, 32_767))


def tunnel(sock: socket.socket, origin: Origin, proxy: SplitResult) -> None:
    """Have a proxy pass everything on to a server; `ConnectionError` if it does not want to."""
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    lines = [f"CONNECT {host}:{origin.port} HTTP/1.1", f"Host: {host}:{origin.port}"]
    if login := proxy_login(proxy):
        lines.append(f"Proxy-Authorization: {login}")
    sock.sendall("\r\n".join([*lines, "", ""]).encode("ascii"))
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        piece = sock.recv(1)  # one by one: what follows belongs to the server behind it
        if not piece or len(answer) > MAX_PROXY_ANSWER_BYTES:
            message = "the proxy broke off"
            raise ConnectionError(message)
        answer += piece
    status = answer.split(None, 2)[1:2]
    if status != [b"200"]:
        said = status[0].decode("ascii", "replace") if status else "nothing"
        message = f"the proxy refuses the connection and says {said}"
        raise ConnectionError(message)


def proxy_login(proxy: SplitResult) -> str:
    """What to show to a proxy; "" if its address has no name."""
    if not proxy.username:
        return ""
    return basic_auth(unquote(proxy.username), unquote(proxy.password or ""))


def basic_auth(username: str, password: str) -> str:
    """The value of an Authorization header."""
    return "Basic " + b64encode(f"{username}:{password}".encode("utf-8", "replace")).decode()
