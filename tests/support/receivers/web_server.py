"""A web server that answers as a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """How a request is answered."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b"ok"
    delay_s: float = 0.0
    drops: bool = False
    """The connection is closed without an answer."""
    drips: bool = False
    """The answer comes byte by byte, and never ends."""
    hangs_up: bool = False
    """The connection is closed after the answer, without a word."""
    pauses_s: float = 0.0
    """Before what is beyond the first 64 KB."""
    echoes: bool = False
    """The body repeats the whole request."""


class Asked(NamedTuple):
    """A request that came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: tuple[str, int]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class WebServer:
    """Listens on a port of 127.0.0.1; the last reply is given again and again."""

    def __init__(self, *replies: Reply, certificate: tuple[Path, Path] | None = None) -> None:
        self.replies = list(replies) or [Reply()]
        self.asked: list[Asked] = []
        self.ending = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
            scheme = "https"
        self.port = self._server.server_address[1]
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,), daemon=True)

    def next_reply(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.ending.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def web_server(*replies: Reply, certificate: tuple[Path, Path] | None = None) -> Iterator[WebServer]:
    """One that runs as long as the block."""
    server = WebServer(*replies, certificate=certificate)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _handler(site: WebServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # in one piece: else the client's system waits before it says that it has the first one

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            site.asked.append(Asked(self.command, self.path, headers, body, self.client_address))
            reply = site.next_reply()
            if reply.delay_s:
                site.ending.wait(reply.delay_s)
            if reply.drops:
                self.close_connection = True
                return
            told = reply.body
            if reply.echoes:
                told = f"{self.requestline}\n{self.headers}\n".encode() + body
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(10**6 if reply.drips else len(told)))
            self.end_headers()
            self.wfile.write(told[:65_536])
            if reply.pauses_s:
                self.wfile.flush()
                site.ending.wait(reply.pauses_s)
            self.wfile.write(told[65_536:])
            self.close_connection = self.close_connection or reply.hangs_up
            while reply.drips and not site.ending.wait(0.05):
                self.wfile.write(b".")
                self.wfile.flush()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _answer

        def handle(self) -> None:
            try:
                super().handle()
            except (OSError, ssl.SSLError):
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # as it is called
            pass

    return Handler


def wait_for(server: WebServer, count: int, limit_s: float = 5.0) -> list[Asked]:
    """The requests, once there are so many."""
    end = time.monotonic() + limit_s
    while len(server.asked) < count and time.monotonic() < end:
        time.sleep(0.01)
    return server.asked
