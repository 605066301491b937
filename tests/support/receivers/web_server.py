"""Web server with scripted replies that records its requests."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.waiting import eventually


class Reply(NamedTuple):
    """Scripted answer to one request."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b"ok"
    delay_s: float = 0.0
    drops: bool = False
    """Close the connection without an answer."""
    drips: bool = False
    """Send the answer byte by byte, without end."""
    hangs_up: bool = False
    """Close the connection after the answer without announcing it."""
    pauses_s: float = 0.0
    """Pause after the first 64 KB of the body."""
    echoes: bool = False
    """Answer with the whole request as the body."""


class Asked(NamedTuple):
    """Recorded request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: tuple[str, int]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class WebServer:
    """Server on a free port of 127.0.0.1; it repeats the last reply."""

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
    """Run a server while the block runs."""
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


def wait_for(server: WebServer, count: int) -> list[Asked]:
    """Wait until the server has got `count` requests, and return them."""
    eventually(lambda: len(server.asked) >= count, saw=lambda: server.asked)
    return server.asked
