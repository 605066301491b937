"""Who may do what."""

from __future__ import annotations

from base64 import b64encode
from http import HTTPStatus

import pytest

from warren.config.model import Security
from warren.serve import access
from warren.serve.access import Access, Client, Permit, Refusal, hash_token, is_loopback, new_token

HERE, ELSEWHERE = "127.0.0.1", "192.0.2.7"
OPEN = Access(Security())
CLOSED = Access(Security(write_tokens=[hash_token("w1"), hash_token("w2")], read_tokens=[hash_token("r")]))


def client(address: str = ELSEWHERE, token: str = "", **headers: str) -> Client:
    bearer = {"authorization": f"Bearer {token}"} if token else {}
    return Client(address, bearer | {name.replace("_", "-"): value for name, value in headers.items()})


def test_everybody_may_read_without_read_tokens() -> None:
    assert OPEN.check("GET", "/v3/kafka", client()) == Permit()


@pytest.mark.parametrize("method", ["DELETE", "POST", "PUT", "PATCH"])
def test_without_tokens_only_this_machine_may_change(method: str) -> None:
    assert OPEN.check(method, "/x", client(HERE)) == Permit()
    assert OPEN.check(method, "/x", client(ELSEWHERE)) == access.NOT_FROM_HERE


@pytest.mark.parametrize("header", ["forwarded", "x_forwarded_for", "x_real_ip"])
def test_a_proxy_on_this_machine_does_not_make_its_clients_local(header: str) -> None:
    assert OPEN.check("DELETE", "/x", client(HERE, **{header: ELSEWHERE})) == access.NOT_FROM_HERE


def test_a_page_of_another_site_in_a_local_browser_may_not_change() -> None:
    page = {"host": "127.0.0.1:8000", "origin": "http://evil.example"}
    assert OPEN.check("POST", "/x", client(HERE, **page)) == access.FOREIGN_PAGE
    assert OPEN.check("POST", "/x", client(HERE, **page | {"origin": "null"})) == access.FOREIGN_PAGE
    assert OPEN.check("POST", "/x", client(HERE, **page | {"origin": "http://127.0.0.1:8000"})) == Permit()


def test_with_write_tokens_this_machine_needs_one_too() -> None:
    assert CLOSED.check("DELETE", "/x", client(HERE)) == access.NO_TOKEN


@pytest.mark.parametrize("token", ["w1", "w2"])
def test_any_write_token_may_change_and_is_told_by_its_first_digits(token: str) -> None:
    permit = CLOSED.check("DELETE", "/x", client(token=token))
    assert permit == Permit(hash_token(token).removeprefix("sha256:")[:8])


def test_a_token_may_come_as_the_password_of_a_client_that_knows_nothing_else() -> None:
    def basic(text: str) -> Client:
        return Client(ELSEWHERE, {"authorization": f"Basic {b64encode(text.encode()).decode()}"})

    assert isinstance(CLOSED.check("GET", "/x", basic("telegraf:r")), Permit)
    assert CLOSED.check("GET", "/x", basic("telegraf:x")) == access.WRONG_TOKEN
    assert CLOSED.check("GET", "/x", Client(ELSEWHERE, {"authorization": "Basic !"})) == access.NO_TOKEN


def test_a_read_token_may_not_change() -> None:
    assert CLOSED.check("DELETE", "/x", client(token="r")) == access.MAY_ONLY_READ


@pytest.mark.parametrize("token", ["r", "w1"])
def test_both_kinds_may_read(token: str) -> None:
    assert isinstance(CLOSED.check("GET", "/x", client(token=token)), Permit)


@pytest.mark.parametrize(
    ("sent", "refusal"),
    [
        ("", access.NO_TOKEN),
        ("Bearer", access.NO_TOKEN),
        ("Bearer x", access.WRONG_TOKEN),
        ("Bearer r r", access.NO_TOKEN),
        (f"Bearer {hash_token('r')}", access.WRONG_TOKEN),  # the hash itself opens nothing
        ("Bearer \udcff", access.WRONG_TOKEN),
    ],
)
def test_anything_else_is_refused(sent: str, refusal: Refusal) -> None:
    found = CLOSED.check("GET", "/x", Client(HERE, {"authorization": sent}))
    assert found == refusal
    assert refusal.status is HTTPStatus.UNAUTHORIZED


@pytest.mark.parametrize("path", ["/burrow/admin", "/burrow/admin/ready"])
def test_probes_need_no_token(path: str) -> None:
    assert CLOSED.check("GET", path, client()) == Permit()


def test_a_new_token_is_long_and_another_one_each_time() -> None:
    tokens = {new_token() for _ in range(10)}
    assert len(tokens) == 10
    assert min(map(len, tokens)) >= 40


def test_a_hash_tells_nothing_of_its_token() -> None:
    assert hash_token("a") == "sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"


@pytest.mark.parametrize(
    ("address", "is_local"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("::ffff:127.0.0.1", True), ("::1%lo", True),
     ("192.0.2.7", False), ("::ffff:192.0.2.7", False), ("", False), ("localhost", False)],
)  # fmt: skip
def test_addresses_of_this_machine_are_known(address: str, is_local: bool) -> None:
    assert is_loopback(address) is is_local
