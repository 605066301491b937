"""What one connection may cost: uvicorn's protocol with limits on time, headers, and connections."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from warren.serve.cycle import GoCycle, RawHeaders

HEAD_BYTES = 65_536
"""Longer headers are refused."""
REFUSED_S = 5.0
"""A connection that is one too many may wait so long before it hears why."""


AtOnce = Callable[[bytes, RawHeaders], bytes | None]
"""A whole answer by the path of a request and the headers with the date; None if it is not at hand."""

_PLAIN_GET = re.compile(rb"GET (/[!->@-~]*)(?:\?[!-~]*)? HTTP/1\.1\r\n(?:[!-9;-~]+:[^\r\n\0]*\r\n)+\r\n")
_MEANS_MORE = re.compile(
    rb"\r\n(?:(?:authorization|content-length|expect|transfer-encoding|upgrade) *:|connection *:(?! *keep-alive *\r))",
    re.IGNORECASE,
)
_HOST = re.compile(rb"\r\nhost:", re.IGNORECASE)


def plain_get(data: bytes) -> bytes | None:
    """The path of a GET that came in one piece, alone, and without a header that asks for more than the answer."""
    found = _PLAIN_GET.fullmatch(data)
    if found is None or _MEANS_MORE.search(data) or not _HOST.search(data):
        return None
    return found[1]


@dataclass
class Limits:
    """Of one listener."""

    timeout_s: float
    max_connections: int
    refused: int = 0
    """Connections beyond the limit that are still to be told."""


class LimitedProtocol(HttpToolsProtocol):
    """One connection.

    A request must have come, be answered, and be followed by the next one within the timeout each. A timer looks at the
    deadline and sets itself again, so that a request costs no timer.
    """

    def __init__(self, limits: Limits, at_once: AtOnce, **of_uvicorn: Any) -> None:
        super().__init__(**of_uvicorn)
        self._limits = limits
        self._at_once = at_once
        self._head_bytes = 0
        self._is_in_head = True
        self._is_refused = False
        self._deadline_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    # -- the connection ------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count it; one too many is answered when it asks, so that the answer is not lost."""
        super().connection_made(transport)
        limits = self._limits
        self._wait(limits.timeout_s)
        if len(self.connections) > limits.max_connections:
            self.connections.discard(self)
            limits.refused += 1
            self._is_refused = True
            self._wait(min(REFUSED_S, limits.timeout_s))
            if limits.refused > limits.max_connections:
                transport.abort()
        self._timer = self.loop.call_later(self._deadline_s - self.loop.time(), self._look_at_deadline)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        if self._timer is not None:
            self._timer.cancel()
        if self._is_refused:
            self._limits.refused -= 1
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what the client sends."""
        if self._is_refused:
            self._end_with(HTTPStatus.SERVICE_UNAVAILABLE)
            return
        if self._answer_at_once(data):
            return
        if self._is_in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._is_in_head and self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
            self._end_with(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def _answer_at_once(self, data: bytes) -> bool:
        """Answer a plain request whose answer is at hand, without a parser, a task and all that: most of a second."""
        if self._head_bytes or not self._is_in_head or self.flow.write_paused or self.transport.is_closing():
            return False
        if self.cycle is not None and not self.cycle.response_complete:
            return False
        path = plain_get(data)
        answer = self._at_once(path, self.server_state.default_headers) if path is not None else None
        if answer is None:
            return False
        self.transport.write(answer)
        self._wait(self._limits.timeout_s)
        return True

    # -- requests ------------------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A request begins."""
        self._wait(self._limits.timeout_s)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The body follows; it has a limit of its own."""
        self._is_in_head = False
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > HEAD_BYTES:
            self._end_with(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            message = "headers too long"
            raise ValueError(message)  # ends the parser
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is here; its answer has time from now on."""
        self._is_in_head, self._head_bytes = True, 0
        self._wait(self._limits.timeout_s)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The answer is written; what is not sent yet has time from now on, and so has the next request."""
        self._wait(self._limits.timeout_s)
        super().on_response_complete()

    def timeout_keep_alive_handler(self) -> None:
        """Nothing: the deadline holds for idle connections, too."""

    def send_400_response(self, msg: str) -> None:
        """Not HTTP."""
        if not self.transport.is_closing():
            self._end_with(HTTPStatus.BAD_REQUEST)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        cycle.__class__ = GoCycle  # uvicorn makes them, and has no place to say of which class
        super()._start_asgi_task(cycle, app)

    # -- limits --------------------------------------------------------------------------------------------------

    def _wait(self, seconds: float) -> None:
        self._deadline_s = self.loop.time() + seconds

    def _look_at_deadline(self) -> None:
        left_s = self._deadline_s - self.loop.time()
        if left_s > 0:
            self._timer = self.loop.call_later(left_s, self._look_at_deadline)
        else:
            self._cut()

    def _cut(self) -> None:
        """End the connection now; to close it would wait until the client has taken everything."""
        if not self.transport.is_closing():
            self.transport.abort()
            return
        # A transport that is closing already does not let itself be aborted.
        with socket.socket(fileno=os.dup(self.transport.get_extra_info("socket").fileno())) as same:
            same.shutdown(socket.SHUT_RDWR)

    def _end_with(self, status: HTTPStatus) -> None:
        """Answer as Go's server does when it has not come to a request."""
        text = f"{status} {status.phrase}"
        head = f"HTTP/1.1 {text}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n{text}"
        self.transport.write(head.encode())
        self.transport.close()
