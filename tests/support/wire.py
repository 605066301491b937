"""Requests and answers as they are on the wire, in a form that people can read and files can keep.

    > GET /v3/kafka
    HTTP/1.1 200 OK
    Content-Length: 4

    GOOD
    \\ no newline at the end

After the request `:` begins a header of it, `::` its body. The date of an answer is always now, and chunks are put
together.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

NO_NEWLINE = "\\ no newline at the end"


class Sent(NamedTuple):
    """A request."""

    method: str
    target: str
    headers: tuple[str, ...] = ()
    body: str = ""

    @property
    def text(self) -> str:
        """As a file has it."""
        lines = [f"> {self.method} {self.target}", *(f": {one}" for one in self.headers)]
        return "\n".join([*lines, *([f":: {self.body}"] if self.body else [])])

    def to_bytes(self) -> bytes:
        """As it goes out."""
        body = self.body.encode()
        headers = ["Host: warren", "Connection: close", *self.headers]
        headers += [f"Content-Length: {len(body)}"] if body else []
        return "\r\n".join([f"{self.method} {self.target} HTTP/1.1", *headers, "", ""]).encode() + body


class Received(NamedTuple):
    """An answer."""

    status_line: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def text(self) -> str:
        """As a file has it."""
        headers = [f"{name}: {value}" for name, value in self.headers]
        body = self.body.decode("utf-8", "surrogateescape")
        end = "" if body.endswith("\n") else f"\n{NO_NEWLINE}\n"
        return "\n".join([self.status_line, *headers, "", body]) + end

    @property
    def status(self) -> int:
        """The number of the status."""
        return int(self.status_line.split()[1])

    def header(self, name: str) -> str | None:
        """A header, by its name in lower case."""
        return next((value for one, value in self.headers if one.lower() == name), None)


def read_to_end(connection: socket.socket) -> bytes:
    """Everything until the other side closes."""
    return b"".join(iter(lambda: connection.recv(65_536), b""))


def ask(address: tuple[str, int], sent: Sent) -> Received:
    """Send a request over a connection of its own and take the answer."""
    with socket.create_connection(address, timeout=10) as connection:
        connection.sendall(sent.to_bytes())
        return parse(read_to_end(connection))


def parse(answer: bytes) -> Received:
    """Take an answer apart."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status_line, *lines = head.split(b"\r\n")
    headers = [line.split(b": ", 1) for line in lines]
    if any(name.lower() == b"transfer-encoding" for name, _ in headers):
        body = b"".join(_chunks(body))
    told = [(name.decode(), "now" if name == b"Date" else value.decode("latin-1")) for name, value in headers]
    return Received(status_line.decode(), told, body)


def _chunks(body: bytes) -> Iterator[bytes]:
    while body:
        size, _, rest = body.partition(b"\r\n")
        yield rest[: int(size, 16)]
        body = rest[int(size, 16) + 2 :]


class Case(NamedTuple):
    """A request with the answer that is expected."""

    sent: Sent
    answer: str


def cases_of(path: Path) -> Iterator[Case]:
    """The cases of a file, a blank line after each, up to a line with `=`; before the first are words for people."""
    text = "\n" + path.read_text("utf-8", "surrogateescape")
    cases, _, _ = text.partition("\n= ")
    for case in cases.split("\n> ")[1:]:
        yield _case(case)


def _case(text: str) -> Case:
    first, _, rest = text.partition("\n")
    method, target = first.split(" ", 1)
    headers, body = [], ""
    while rest.startswith(":"):
        line, _, rest = rest.partition("\n")
        if line.startswith(":: "):
            body = line[3:]
        else:
            headers.append(line[2:])
    return Case(Sent(method, target, tuple(headers), body), rest)
