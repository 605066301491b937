"""Answers that are at hand go out at once, and are no other ones for that."""

from __future__ import annotations

import re
import socket

import pytest

from tests.golden.files import FILES, site_of
from tests.golden.sites import listening
from tests.support.wire import cases_of
from warren.serve.protocol import plain_get
from warren.serve.router import decode_path

GET = b"GET /v3/kafka HTTP/1.1\r\nHost: x\r\n\r\n"


def received(connection: socket.socket, request: bytes) -> bytes:
    """One answer on a connection that stays, without its date."""
    connection.sendall(request)
    answer = b""
    while not _is_whole(answer):
        piece = connection.recv(1 << 20)
        assert piece, answer
        answer += piece
    return re.sub(rb"Date: [^\r]*", b"Date: ...", answer)


def _is_whole(answer: bytes) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"Content-Length: (\d+)", head)
    return bool(end) and (len(body) >= int(length[1]) if length else body.endswith(b"\r\n0\r\n\r\n"))


def plain_paths() -> list[bytes]:
    cases = [case.sent for path in FILES if site_of(path) == "default" for case in cases_of(path)]
    return sorted({one.target.encode() for one in cases if one.method == "GET"})


def test_an_answer_at_hand_is_the_one_that_was_made() -> None:
    paths = [path for path in plain_paths() if decode_path(path) is not None]  # others end the connection
    assert len(paths) > 20
    with listening() as address, socket.create_connection(address, timeout=60) as connection:
        for path in paths:
            request = b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n"
            made, at_hand, by_the_parser = (
                received(connection, one) for one in (request, request, request.replace(b"Host", b"Expect: \r\nHost"))
            )
            assert made == at_hand == by_the_parser, path


@pytest.mark.parametrize(
    "data",
    [
        GET[:-2],  # not all of it
        GET + GET,  # two at once
        GET.replace(b"1.1", b"1.0"),
        GET.replace(b"GET", b"HEAD"),
        GET.replace(b"Host: x\r\n", b""),
        GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"),
        GET.replace(b"\r\n\r\n", b"\r\ncontent-length: 5\r\n\r\nhello"),
        GET.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n"),
        GET.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n"),
        GET.replace(b"\r\n\r\n", b"\r\nAuthorization: Bearer x\r\n\r\n"),
        GET.replace(b"\r\n\r\n", b"\r\nUpgrade: h2c\r\n\r\n"),
        GET.replace(b"\r\n\r\n", b"\r\n folded\r\n\r\n"),
        GET.replace(b"/v3/kafka", b"http://x/v3/kafka"),
        b"\r\n" + GET,
        b"",
    ],
)
def test_what_asks_for_more_goes_the_usual_way(data: bytes) -> None:
    assert plain_get(data) is None


def test_a_plain_request_is_known_with_the_headers_that_clients_send() -> None:
    sent = b"Host: a:8000\r\nUser-Agent: python\r\nAccept-Encoding: gzip\r\nConnection: keep-alive\r\n\r\n"

    assert plain_get(b"GET /v3/kafka/local/consumer/a%20b/lag?x=1 HTTP/1.1\r\n" + sent) == (
        b"/v3/kafka/local/consumer/a%20b/lag"
    )


def test_a_change_is_seen_by_the_next_request_on_the_same_connection() -> None:
    lag = b"GET /v3/kafka/local/consumer/billing/lag HTTP/1.1\r\nHost: x\r\n\r\n"
    delete = b"DELETE /v3/kafka/local/consumer/billing HTTP/1.1\r\nHost: x\r\n\r\n"
    with listening() as address, socket.create_connection(address, timeout=60) as connection:
        assert b'"NOTFOUND"' not in received(connection, lag)
        assert b'"NOTFOUND"' not in received(connection, lag)
        received(connection, delete)
        assert b'"NOTFOUND"' in received(connection, lag)
