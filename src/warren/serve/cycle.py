"""The head of an answer as Go writes it: names with capitals, and Date before the length of the body."""

from __future__ import annotations

from functools import cache

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

BODYLESS = (204, 304)

RawHeaders = list[tuple[bytes, bytes]]


class GoCycle(RequestResponseCycle):
    """One request with its answer; what is left to uvicorn is everything after the head."""

    async def send(self, message: ASGISendEvent) -> None:
        """Write the head, or pass on what follows it."""
        if self.response_started or message["type"] != "http.response.start":
            await super().send(message)
            return
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if not self.disconnected:
            self._write_head(message["status"], list(message.get("headers", [])))

    def _write_head(self, status: int, headers: RawHeaders) -> None:
        self.response_started = True
        self.waiting_for_100_continue = False
        told = {name: value for name, value in headers if name in (b"content-length", b"connection")}
        is_bodyless = self.scope["method"] == "HEAD" or status in BODYLESS
        self.chunked_encoding = b"content-length" not in told and not is_bodyless
        self.expected_content_length = int(told.get(b"content-length", 0))
        if told.pop(b"connection", b"").lower() == b"close":
            self.keep_alive = False
            headers = [one for one in headers if one[0] != b"connection"]
        headers = with_date(headers, self.default_headers)
        if not self.keep_alive:
            headers.append((b"connection", b"close"))
        if self.chunked_encoding:
            headers.append((b"transfer-encoding", b"chunked"))
        self.transport.write(head_bytes(status, headers))


def with_date(headers: RawHeaders, date: RawHeaders) -> RawHeaders:
    """The headers with the date where Go has it."""
    place = next((i for i, one in enumerate(headers) if one[0] == b"content-length"), len(headers))
    return [*headers[:place], *date, *headers[place:]]


def whole_answer(status: int, headers: RawHeaders, date: RawHeaders, body: bytes) -> bytes:
    """Everything that goes out for a GET on a connection that stays; what has no length goes out in one chunk."""
    headers = with_date(headers, date)
    if any(name == b"content-length" for name, _ in headers):
        return head_bytes(status, headers) + body
    head = head_bytes(status, [*headers, (b"transfer-encoding", b"chunked")])
    return b"".join((head, b"%x\r\n" % len(body), body, b"\r\n0\r\n\r\n"))


def head_bytes(status: int, headers: RawHeaders) -> bytes:
    """The status line and the headers; ValueError if one of them would end early and begin something else."""
    lines = [_canonical(name) + b": " + value for name, value in headers]
    head = STATUS_LINE[status] + b"\r\n".join(lines) + b"\r\n\r\n"
    if head.count(b"\n") != len(lines) + 2 or b"\0" in head:
        message = "a header has a line break in it"
        raise ValueError(message)
    return head


@cache
def _canonical(name: bytes) -> bytes:
    """`content-type` as `Content-Type`; names are those of our own answers, so there are few."""
    return b"-".join(part.capitalize() for part in name.split(b"-"))
