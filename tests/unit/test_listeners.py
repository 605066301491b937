"""Listeners over real sockets: TLS, client certificates, and what a connection may cost."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from tests.support.certificates import Authority, protected
from tests.support.waiting import eventually
from tests.support.wire import parse, read_to_end
from warren.config.model import HttpServer, Tls
from warren.errors import ConfigError, SetupError
from warren.serve import server as server_module
from warren.serve.protocol import HEAD_BYTES
from warren.serve.server import HttpListener

GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
KEEP = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LONG = b"x" * 20_000_000
"""More than the buffers of two sockets hold."""
PATIENCE_S = 60.0
"""How long a client waits before it gives up: much longer than any timeout of a listener under test."""


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Says hello; at /long a lot, and at /wait when the whole request is there."""
    while scope["path"] == "/wait":
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        if not message["more_body"]:
            break
    body = LONG if scope["path"] == "/long" else b"hello"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def listening(tls: Tls | None = None, **server: Any) -> Iterator[tuple[str, int]]:
    settings = HttpServer(address="127.0.0.1:0", tls="t" if tls else "", **server)
    listener = HttpListener(settings, tls)
    listener.start(app)
    try:
        yield "127.0.0.1", int(listener.url.rpartition(":")[2])
    finally:
        listener.stop()


def connected(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address, timeout=PATIENCE_S)


def ask(connection: socket.socket, request: bytes = GET) -> bytes:
    connection.sendall(request)
    return read_to_end(connection)


def says_hello(connection: socket.socket, request: bytes = KEEP) -> bool:
    """Send a request over a connection that stays open, and read up to the end of the greeting."""
    connection.sendall(request)
    answer = b""
    while not answer.endswith(b"hello"):
        piece = connection.recv(65_536)
        assert piece, answer
        answer += piece
    return True


def is_served(address: tuple[str, int]) -> bool:
    """Whether a new connection gets the greeting; others get a 503, or nothing when too many want one."""
    try:
        with connected(address) as connection:
            return ask(connection).endswith(b"hello")
    except (BrokenPipeError, ConnectionResetError):
        return False


def read_until_closed(connection: socket.socket) -> bytes:
    """Return what comes before the listener closes the connection; the client itself never does."""
    received = bytearray()
    with suppress(ConnectionResetError):
        while piece := connection.recv(65_536):
            received += piece
    return bytes(received)


@contextmanager
def lasting_at_least(seconds: float) -> Iterator[None]:
    """Fail if the block ends earlier: then something else than a timeout of `seconds` has ended it.

    There is no upper bound: a client that waits in vain fails after PATIENCE_S, on any machine.
    """
    started_s = time.monotonic()
    yield
    assert time.monotonic() - started_s > 0.9 * seconds  # event loops round their timers


# -- limits ----------------------------------------------------------------------------------------------------------


def is_refused(connection: socket.socket) -> bool:
    """Send one more byte of a request; whether the listener has closed the connection."""
    try:
        connection.sendall(b"x")
    except (BrokenPipeError, ConnectionResetError):
        return True
    return False


def test_a_request_that_never_ends_is_cut_off() -> None:
    with listening(timeout=1) as address, lasting_at_least(1), connected(address) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
        eventually(lambda: is_refused(connection), PATIENCE_S)


def test_a_body_that_never_comes_is_cut_off() -> None:
    with listening(timeout=1) as address, lasting_at_least(1), connected(address) as connection:
        connection.sendall(b"POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
        assert read_until_closed(connection) == b""


def test_a_connection_without_a_request_is_closed() -> None:
    with listening(timeout=1) as address, lasting_at_least(1), connected(address) as silent:
        assert read_until_closed(silent) == b""


def test_a_connection_without_a_further_request_is_closed() -> None:
    with listening(timeout=1) as address, lasting_at_least(1), connected(address) as idle:
        idle.sendall(KEEP)
        assert read_until_closed(idle).endswith(b"hello")


@pytest.mark.parametrize("header", [b"", b"Connection: close\r\n"])
def test_a_client_that_does_not_read_its_answer_is_cut_off(header: bytes) -> None:
    with listening(timeout=1, max_connections=1) as address, lasting_at_least(1), connected(address) as deaf:
        deaf.sendall(b"GET /long HTTP/1.1\r\nHost: x\r\n" + header + b"\r\n")
        eventually(lambda: is_served(address), PATIENCE_S)  # not before the only connection is cut off
        assert len(read_until_closed(deaf)) < len(LONG)


def test_a_connection_is_kept_for_further_requests() -> None:
    with listening(timeout=PATIENCE_S) as address, connected(address) as connection:
        assert all(says_hello(connection) for _ in range(3))


def test_connections_beyond_the_limit_hear_a_503_and_others_go_on() -> None:
    with listening(max_connections=2) as address:
        first, second = connected(address), connected(address)
        assert says_hello(first)
        assert says_hello(second)
        with connected(address) as third:
            assert ask(third).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert says_hello(first)
        first.close()
        eventually(lambda: is_served(address), PATIENCE_S)
        second.close()


@pytest.mark.parametrize("head", [b"X: " + b"y" * HEAD_BYTES, b"".join(b"X: %d\r\n" % n for n in range(10_000))])
def test_headers_that_are_too_long_are_refused(head: bytes) -> None:
    with listening() as address, connected(address) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n" + head + b"\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")


def test_headers_that_never_end_are_refused() -> None:
    with listening() as address, connected(address) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX: " + b"y" * (HEAD_BYTES + 1))
        assert connection.recv(100).startswith(b"HTTP/1.1 431 ")


def test_many_requests_on_one_connection_are_not_added_up() -> None:
    with listening() as address, connected(address) as connection:
        request = b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 30_000 + b"\r\n\r\n"
        assert all(says_hello(connection, request) for _ in range(5))


def test_what_is_not_http_is_a_400_as_go_says_it() -> None:
    with listening() as address, connected(address) as connection:
        answer = parse(ask(connection, b"hello\r\n\r\n"))
        assert (answer.status, answer.body) == (400, b"400 Bad Request")


def test_no_answer_tells_what_server_it_is() -> None:
    with listening() as address, connected(address) as connection:
        answer = ask(connection).lower()
        assert b"\r\ndate: " in answer
        assert b"server:" not in answer


# -- TLS -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"), "ours")


@pytest.fixture(scope="module")
def tls(authority: Authority) -> Tls:
    certificate, key = authority.sign("server")
    return Tls(certfile=str(certificate), keyfile=str(key))


def ask_tls(address: tuple[str, int], context: ssl.SSLContext) -> bytes:
    with connected(address) as plain, context.wrap_socket(plain, server_hostname="localhost") as connection:
        return ask(connection)


def trusting(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority.pem))


def test_a_listener_speaks_tls(tls: Tls, authority: Authority) -> None:
    with listening(tls) as address:
        assert ask_tls(address, trusting(authority)).endswith(b"hello")


def test_its_url_says_so(tls: Tls) -> None:
    listener = HttpListener(HttpServer(address="127.0.0.1:0", tls="t"), tls)
    assert listener.url.startswith("https://127.0.0.1:")
    listener.stop()


def test_old_versions_of_tls_are_refused(tls: Tls, authority: Authority) -> None:
    context = trusting(authority)
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    with listening(tls) as address, pytest.raises(ssl.SSLError):
        ask_tls(address, context)


def test_plain_http_to_a_tls_port_does_not_hang(tls: Tls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "HANDSHAKE_S", 10 * PATIENCE_S)  # so that no timeout closes it
    with listening(tls) as address, connected(address) as connection:
        connection.sendall(GET)
        assert not read_until_closed(connection).endswith(b"hello")


def test_with_a_client_ca_only_clients_with_a_certificate_get_in(
    tls: Tls, authority: Authority, tmp_path: Path
) -> None:
    with_certificate, without, with_foreign = (trusting(authority) for _ in range(3))
    with_certificate.load_cert_chain(*authority.sign("client"))
    with_foreign.load_cert_chain(*Authority(tmp_path, "theirs").sign("stranger"))
    with listening(tls, client_ca=str(authority.pem)) as address:
        assert ask_tls(address, with_certificate).endswith(b"hello")
        for context in (without, with_foreign):
            with suppress(ssl.SSLError, ConnectionResetError):  # some clients only see the end
                assert ask_tls(address, context) == b""


def refusal(server: HttpServer, tls: Tls | None) -> str:
    with pytest.raises((ConfigError, SetupError)) as caught:
        HttpListener(server, tls)
    return str(caught.value)


SECURE = HttpServer(address="127.0.0.1:0", tls="corp")


@pytest.mark.parametrize("tls", [None, Tls(), Tls(certfile="only.pem"), Tls(keyfile="only.key")])
def test_a_missing_certificate_or_key_is_told(tls: Tls | None) -> None:
    assert "Set certfile and keyfile in [tls.corp]" in refusal(SECURE, tls)


def test_a_missing_file_is_told(tls: Tls, tmp_path: Path) -> None:
    gone = str(tmp_path / "gone.pem")
    assert f"{gone} cannot be read: No such file" in refusal(SECURE, tls.model_copy(update={"keyfile": gone}))
    assert f"{gone} cannot be read: No such file" in refusal(SECURE.model_copy(update={"client_ca": gone}), tls)


def test_a_key_of_another_certificate_is_told(tls: Tls, authority: Authority) -> None:
    _, other = authority.sign("other")
    assert "key values mismatch" in refusal(SECURE, tls.model_copy(update={"keyfile": str(other)}))


def test_a_key_behind_a_password_is_told_and_nobody_is_asked_for_it(tls: Tls) -> None:
    key = protected(Path(tls.keyfile))
    assert "not protected by a password" in refusal(SECURE, tls.model_copy(update={"keyfile": str(key)}))


def test_a_file_that_is_no_certificate_is_told(tls: Tls, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    assert "cannot be used" in refusal(SECURE, tls.model_copy(update={"certfile": str(empty)}))
    assert "No certificate was found" in refusal(SECURE.model_copy(update={"client_ca": str(empty)}), tls)


def test_client_certificates_without_tls_are_refused() -> None:
    assert "has client-ca, but no tls" in refusal(HttpServer(address="127.0.0.1:0", client_ca="ca.pem"), None)


def test_a_busy_port_is_told() -> None:
    with listening() as (host, port):
        assert "is in use" in refusal(HttpServer(address=f"{host}:{port}"), None)


# -- renewal ---------------------------------------------------------------------------------------------------------


def shown(listener: HttpListener, authority: Authority) -> bytes:
    """The certificate that new connections are shown."""
    context = ssl.create_default_context(cafile=str(authority.pem))
    address = "127.0.0.1", int(listener.url.rpartition(":")[2])
    with connected(address) as plain, context.wrap_socket(plain, server_hostname="localhost") as secured:
        found = secured.getpeercert(binary_form=True)
    assert found
    return found


@pytest.fixture
def renewable(authority: Authority, tmp_path: Path) -> Iterator[tuple[HttpListener, Path, Path]]:
    """A listener, and the files of its certificate and key."""
    pem, key = tmp_path / "own.pem", tmp_path / "own.key"
    for source, target in zip(authority.sign("localhost"), (pem, key), strict=True):
        target.write_bytes(source.read_bytes())
    settings = HttpServer(address="127.0.0.1:0", tls="t")
    listener = HttpListener(settings, Tls(certfile=str(pem), keyfile=str(key)))
    listener.start(app)
    yield listener, pem, key
    listener.stop()


def test_a_certificate_that_was_renewed_is_shown_from_then_on(
    renewable: tuple[HttpListener, Path, Path], authority: Authority
) -> None:
    listener, pem, key = renewable
    before = shown(listener, authority)
    new_pem, new_key = authority.sign("renewed")
    pem.write_bytes(new_pem.read_bytes())
    listener.renew_certificate()  # its key is not there yet
    assert shown(listener, authority) == before
    key.write_bytes(new_key.read_bytes())
    listener.renew_certificate()

    assert shown(listener, authority) != before
