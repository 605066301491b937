"""HTTP as Burrow's `http` speaks it: headers, redirects, proxies, TLS, connections that are kept."""

from __future__ import annotations

import base64
import os
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.certificates import Authority
from tests.support.receivers.samples import AT_MS, CLOSED, OPENED
from tests.support.receivers.web_server import Asked, Reply, WebServer, web_server
from tests.support.waiting import eventually
from warren.errors import ConfigError, WarrenError
from warren.notify.receivers.burrow_http import Http, HttpCall, HttpSettings
from warren.notify.receivers.contract import DELIVERED, Outcome, Result
from warren.webclient.client import WebSettings, canonical, retry_after_s
from warren.webclient.connection import Origin, Trust, proxy_for
from warren.webclient.hiding import Hider, secrets_of_login

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
PATIENCE_S = 60.0


def call(url: str, method: str = "POST", body: str = "{}") -> HttpCall:
    return HttpCall(lambda event: url, lambda event: body, method)


def send(url: str, method: str = "POST", body: str = "{}", **web: object) -> Outcome:
    settings = WebSettings(**{"timeout_s": PATIENCE_S, **web})  # type: ignore[arg-type]
    receiver = Http(HttpSettings(call(url, method, body), web=settings))
    try:
        return receiver.deliver([OPENED], "key-1", now_ms=AT_MS)
    finally:
        receiver.close()


def asked(url: str = "/", method: str = "POST", body: str = "{}", **web: object) -> Asked:
    with web_server() as server:
        assert send(server.url + url, method, body, **web) == DELIVERED
        [found] = server.asked
        return found


# -- requests ----------------------------------------------------------------------------------------------------


def test_a_request_has_burrows_headers_and_our_name() -> None:
    found = asked("/a", body='{"ü": 1}')

    assert (found.method, found.path, found.body) == ("POST", "/a", '{"ü": 1}'.encode())
    assert found.headers["content-type"] == "application/json"
    assert found.headers["user-agent"].startswith("warren/")
    assert found.headers["content-length"] == "9"


def test_headers_of_the_configuration_replace_the_content_type_but_not_the_host() -> None:
    found = asked(headers={"content-type": "text/xml", "x-api-key": "k", "host": "other"})

    assert (found.headers["content-type"], found.headers["x-api-key"]) == ("text/xml", "k")
    assert found.headers["host"].startswith("127.0.0.1:")


def test_names_of_headers_are_written_as_go_writes_them() -> None:
    assert [canonical(name) for name in ("x-api-key", "X-API-KEY", "accept")] == ["X-Api-Key", "X-Api-Key", "Accept"]


def test_the_user_logs_in() -> None:
    found = asked(username="u", password="pä:ss")

    assert base64.b64decode(found.headers["authorization"].removeprefix("Basic ")).decode() == "u:pä:ss"


def test_a_user_in_the_address_logs_in() -> None:
    with web_server() as server:
        send(server.url.replace("://", "://me:it%40@"))

    assert base64.b64decode(server.asked[0].headers["authorization"].removeprefix("Basic ")) == b"me:it@"


def test_a_blank_in_an_address_goes_out_escaped() -> None:
    assert asked("/a b/ü?x=1 2&y=%20").path == "/a%20b/%C3%BC?x=1%202&y=%20"


@pytest.mark.parametrize("method", ["PUT", "GET", "DELETE", "PATCH"])
def test_other_methods_are_used(method: str) -> None:
    assert asked(method=method).method == method


def test_the_close_of_an_incident_has_its_own_address_and_method() -> None:
    with web_server() as server:
        receiver = Http(HttpSettings(call(f"{server.url}/open"), call(f"{server.url}/close", "DELETE", "over")))
        receiver.deliver([CLOSED], "key-1", now_ms=AT_MS)
        receiver.close()

    assert [(one.method, one.path, one.body) for one in server.asked] == [("DELETE", "/close", b"over")]


def test_a_close_that_is_not_configured_is_refused_with_a_reason() -> None:
    outcome = Http(HttpSettings(call("http://x"))).deliver([CLOSED], "key-1", now_ms=AT_MS)

    assert outcome.result is Result.PERMANENT
    assert "url-close" in outcome.reason


def test_a_template_that_fails_is_not_tried_again() -> None:
    def fails(event: object) -> str:
        message = "template: 1: nil pointer"
        raise WarrenError(message)

    outcome = Http(HttpSettings(HttpCall(fails, fails))).deliver([OPENED], "key-1", now_ms=AT_MS)

    assert (outcome.result, outcome.reason) == (Result.PERMANENT, "template: 1: nil pointer")


def test_a_header_that_cannot_be_sent_is_told() -> None:
    with web_server() as server:
        outcome = send(server.url, headers={"x-key": "a\nb"})

    assert outcome.result is Result.PERMANENT
    assert "a\nb" not in outcome.reason


def test_a_short_header_is_no_secret_and_a_token_in_one_is() -> None:
    with web_server(Reply(400, body=b"1 is bad, and so is tok-12345")) as server:
        outcome = send(server.url, headers={"x-version": "1", "authorization": "Bearer tok-12345"})

    assert outcome.reason == "answered 400 Bad Request: 1 is bad, and so is ***"


@pytest.mark.parametrize(
    "spelling",
    [
        "p/ä s+1",
        "p%2F%C3%A4%20s%2B1",
        "p/%C3%A4%20s%2B1",
        "p%2F%C3%A4+s%2B1",
        r"p/\u00e4 s+1",
        base64.b64encode("u:p/ä s+1".encode()).decode(),
        base64.b64encode("\0u\0p/ä s+1".encode()).decode(),
    ],
)
def test_a_password_is_hidden_in_every_spelling(spelling: str) -> None:
    assert Hider(secrets_of_login("u", "p/ä s+1")).hide(f"it was {spelling}!") == "it was ***!"


def test_of_two_secrets_the_longer_one_is_hidden_first() -> None:
    assert Hider(["abc", "abcdef"]).hide("abcdef abc") == "*** ***"


# -- redirects ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303])
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_redirect_is_followed_without_the_body(status: int, method: str) -> None:
    with web_server(Reply(status, {"Location": "/there"}), Reply()) as server:
        assert send(f"{server.url}/here", method) == DELIVERED

    _, second = server.asked
    assert (second.method, second.path, second.body) == ("GET", "/there", b"")
    assert "content-type" not in second.headers


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_that_keeps_the_method_is_followed_with_the_body(status: int) -> None:
    with web_server(Reply(status, {"Location": "/there"}), Reply()) as server:
        assert send(f"{server.url}/here", "PUT", "x") == DELIVERED

    _, second = server.asked
    assert (second.method, second.path, second.body) == ("PUT", "/there", b"x")


def test_ten_requests_are_enough() -> None:
    with web_server(Reply(307, {"Location": "/"})) as server:
        outcome = send(server.url)

    assert len(server.asked) == 10
    assert outcome.result is Result.PERMANENT


def test_a_redirect_to_nowhere_is_refused() -> None:
    with web_server(Reply(302, body=b"")) as server:
        outcome = send(server.url)

    assert (outcome.result, outcome.reason) == (Result.PERMANENT, "answered 302 Found")


def test_a_password_does_not_go_to_another_host() -> None:
    with web_server() as other, web_server(Reply(307, {"Location": f"http://localhost:{other.port}/"})) as server:
        assert send(server.url, username="u", password="p") == DELIVERED

    assert "authorization" in server.asked[0].headers
    assert "authorization" not in other.asked[0].headers


# -- answers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        ("999999", 3600),
        ("Mon, 16 Nov 2026 09:01:00 GMT", 60),
        ("Mon, 16 Nov 2026 08:00:00 GMT", 0),
        ("Mon, 16 Nov 2027 08:00:00 GMT", 3600),
        ("soon", None),
        ("-5", None),
        ("", None),
        ("٣", None),
    ],
)
def test_retry_after_is_a_number_or_a_date_and_an_hour_at_most(text: str, seconds: float | None) -> None:
    assert retry_after_s(text, NOW) == seconds


def test_the_words_of_the_receiver_are_told_but_not_all_of_them() -> None:
    with web_server(Reply(400, body=b"no\n such  channel" + b"x" * 9000)) as server:
        outcome = send(server.url)

    assert outcome.reason.startswith("answered 400 Bad Request: no such channelxxx")
    assert len(outcome.reason) < 300


def test_a_connection_that_is_dropped_is_tried_again_later() -> None:
    with web_server(Reply(drops=True)) as server:
        outcome = send(server.url)

    assert outcome.result is Result.RETRY
    assert outcome.reason.endswith("closed the connection without an answer")


def test_an_answer_that_is_not_http_is_tried_again_later() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            client, _ = listener.accept()
            with client:
                client.recv(65_536)
                client.sendall(b"220 mail.example ESMTP\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        outcome = send(f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread.join()

    assert outcome.result is Result.RETRY
    assert "not HTTP" in outcome.reason


def test_a_host_that_does_not_exist_is_tried_again_later() -> None:
    outcome = send("http://nowhere.invalid/")

    assert outcome.result is Result.RETRY
    assert outcome.reason.startswith("nowhere.invalid: ")


# -- connections -------------------------------------------------------------------------------------------------


def twice(server: WebServer, **web: object) -> list[tuple[str, int]]:
    """The connections of two messages."""
    settings = WebSettings(**{"timeout_s": PATIENCE_S, **web})  # type: ignore[arg-type]
    receiver = Http(HttpSettings(call(server.url), web=settings))
    for _ in range(2):
        assert receiver.deliver([OPENED], "key-1", now_ms=AT_MS) == DELIVERED
    receiver.close()
    return [one.connection for one in server.asked]


@pytest.fixture
def many_files() -> Iterator[None]:
    """Let this process open 4,096 files, if the system allows that many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(4_096, hard)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_a_connection_is_used_again_however_many_others_are_open() -> None:
    with web_server() as server, ExitStack() as others:
        for _ in range(1_100):
            others.enter_context(open(os.devnull))
        first, second = twice(server)

    assert first == second


def test_a_connection_is_used_again() -> None:
    with web_server() as server:
        first, second = twice(server)

    assert first == second


def test_a_connection_is_not_used_again_when_that_is_not_wanted() -> None:
    with web_server() as server:
        first, second = twice(server, disable_http_keepalive=True)

    assert first != second
    assert server.asked[0].headers["connection"] == "close"


def test_a_connection_that_the_server_has_closed_is_made_anew() -> None:
    with web_server(Reply(headers={"Connection": "close"})) as server:
        first, second = twice(server)

    assert first != second


@pytest.mark.parametrize("pauses_s", [0, 0.3])
def test_a_connection_with_an_answer_that_is_too_long_is_not_used_again(pauses_s: float) -> None:
    with web_server(Reply(body=b"x" * 100_000, pauses_s=pauses_s)) as server:
        first, second = twice(server)

    assert first != second


def test_a_connection_that_the_server_has_closed_without_a_word_is_made_anew() -> None:
    with web_server(Reply(hangs_up=True)) as server:
        receiver = Http(HttpSettings(call(server.url)))
        assert receiver.deliver([OPENED], "key-1", now_ms=AT_MS) == DELIVERED
        kept = receiver._client._kept
        assert kept is not None
        eventually(lambda: not kept.is_open())
        assert receiver.deliver([OPENED], "key-2", now_ms=AT_MS) == DELIVERED
        receiver.close()


# -- TLS ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"), "authority")


@pytest.fixture(scope="module")
def secured(authority: Authority) -> Iterator[WebServer]:
    with web_server(certificate=authority.sign("server")) as server:
        yield server


def test_a_certificate_of_an_unknown_authority_is_not_trusted(secured: WebServer) -> None:
    outcome = send(secured.url)

    assert outcome.result is Result.RETRY
    assert "its certificate is not trusted" in outcome.reason


def test_a_certificate_of_the_extra_authority_is_trusted(secured: WebServer, authority: Authority) -> None:
    assert send(secured.url, trust=Trust(extra_ca=str(authority.pem))) == DELIVERED


def test_a_certificate_of_another_name_is_not_trusted(secured: WebServer, authority: Authority) -> None:
    outcome = send(secured.url.replace("127.0.0.1", "127.0.0.2"), trust=Trust(extra_ca=str(authority.pem)))

    assert outcome.result is Result.RETRY


def test_any_certificate_is_taken_without_verification(secured: WebServer) -> None:
    assert send(secured.url, trust=Trust(noverify=True)) == DELIVERED


def test_a_connection_with_tls_is_used_again(secured: WebServer, authority: Authority) -> None:
    secured.asked.clear()
    first, second = twice(secured, trust=Trust(extra_ca=str(authority.pem)))

    assert first == second


def test_a_server_that_does_not_shake_hands_is_left_in_time(authority: Authority) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        outcome = send(f"https://127.0.0.1:{listener.getsockname()[1]}", timeout_s=0.2)

    assert "no answer within 0.2 s" in outcome.reason


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_extra_authority_that_cannot_be_read_is_told_at_once(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)

    with pytest.raises(ConfigError, match="extra-ca"):
        Http(HttpSettings(call("https://x"), web=WebSettings(trust=Trust(extra_ca=str(path)))))


# -- proxies -----------------------------------------------------------------------------------------------------


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with web_server() as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:it@127.0.0.1:{proxy.port}")
        assert send("http://receiver.test/a?b=1") == DELIVERED

    [found] = proxy.asked
    assert found.path == "http://receiver.test/a?b=1"
    assert found.headers["host"] == "receiver.test"
    assert base64.b64decode(found.headers["proxy-authorization"].removeprefix("Basic ")) == b"me:it"


def test_a_proxy_passes_tls_on(secured: WebServer, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    with tunnelling_proxy(secured.port) as (port, seen):
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        outcome = send("https://receiver.test/", trust=Trust(noverify=True))

    assert outcome == DELIVERED
    assert seen[0].startswith(b"CONNECT receiver.test:443 HTTP/1.1\r\n")


def test_a_proxy_that_refuses_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    with tunnelling_proxy(None) as (port, _):
        monkeypatch.setenv("https_proxy", f"http://me:proxy-secret@127.0.0.1:{port}")
        outcome = send("https://receiver.test/")

    assert outcome.result is Result.RETRY
    assert "the proxy refuses the connection and says 403" in outcome.reason
    assert "proxy-secret" not in outcome.reason


@pytest.mark.parametrize(
    ("host", "exempt", "is_used"),
    [
        ("receiver.test", "", True),
        ("receiver.test", "other.test", True),
        ("receiver.test", "receiver.test", False),
        ("a.receiver.test", "receiver.test", False),
        ("a.receiver.test", ".receiver.test", False),
        ("receiver.test", "*", False),
        ("receiver.test", "receiver.test:80", False),
        ("receiver.test", "receiver.test:81", True),
        ("10.1.2.3", "10.0.0.0/8", False),
        ("11.1.2.3", "10.0.0.0/8", True),
        ("10.1.2.3", "10.1.2.3", False),
        ("localhost", "", False),
        ("127.0.0.5", "", False),
        ("::1", "", False),
    ],
)
def test_some_hosts_need_no_proxy(host: str, exempt: str, is_used: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "proxy.test:3128")
    monkeypatch.setenv("no_proxy", exempt)

    assert (proxy_for(Origin("http", host, 80)) is not None) is is_used


class tunnelling_proxy:  # used like a function
    """Passes one connection on to a port of this machine, or refuses it."""

    def __init__(self, port: int | None) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._seen: list[bytes] = []
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> tuple[int, list[bytes]]:
        self._thread.start()
        return self._listener.getsockname()[1], self._seen

    def __exit__(self, *_: object) -> None:
        self._thread.join(5)
        self._listener.close()

    def _serve(self) -> None:
        client, _ = self._listener.accept()
        with client:
            self._seen.append(client.recv(65_536))
            if self._port is None:
                client.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")
                return
            with socket.create_connection(("127.0.0.1", self._port)) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=_copy, args=(server, client))
                back.start()
                _copy(client, server)
                back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(65_536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the other side has gone
