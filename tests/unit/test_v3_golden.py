"""HTTP v3 and v2: whole answers over a real socket, as the files in tests/golden have them."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.golden.files import FILES, HERE, site_of
from tests.golden.sites import CONFIGS, listening
from tests.support.wire import Case, ask, cases_of, parse, read_to_end
from warren.serve import gojson
from warren.serve.answer import JSON, Answer, asgi_headers
from warren.serve.burrow_api import METRICS
from warren.serve.router import Found, Router
from warren.serve.v2 import ROUTES as V2_ROUTES
from warren.serve.v3 import ROUTES

GO = HERE / "go.txt"


def test_every_file_is_found() -> None:
    assert len(FILES) >= 17


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_answers_are_byte_for_byte_those_of_the_file(path: Path) -> None:
    with listening(site_of(path)) as address:
        for case in cases_of(path):
            assert ask(address, case.sent).text == case.answer, case.sent


@pytest.mark.parametrize("route", [*ROUTES, *V2_ROUTES], ids=lambda route: f"{route.method} {route.pattern}")
def test_every_route_has_a_golden_file(route: tuple[str, str, str]) -> None:
    router = Router([*ROUTES, *V2_ROUTES])
    asked = [case.sent for path in FILES for case in cases_of(path)]
    found = [router.resolve(one.method, one.target.partition("?")[0]) for one in asked]
    assert route[2] in {one.name for one in found if isinstance(one, Found)} | {METRICS}


def test_no_secret_of_the_configuration_is_in_any_answer() -> None:
    assert "hunter2" in str([one.password.get_secret_value() for one in CONFIGS["default"].sasl.values()])
    for path in FILES:
        for case in cases_of(path):
            assert "hunter2" not in case.answer
            assert "secret-group" not in case.answer


def test_a_client_of_http_1_0_gets_no_chunks() -> None:
    with listening() as address, socket.create_connection(address, timeout=60) as connection:
        connection.sendall(b"GET /v3/kafka/local/consumer/wide/lag HTTP/1.0\r\n\r\n")
        answer = parse(read_to_end(connection))
    assert answer.header("transfer-encoding") is None
    assert answer.header("content-length") == str(len(answer.body))


# -- what Go's standard library does ---------------------------------------------------------------------------------


def test_what_go_answers_by_itself_is_the_same() -> None:
    with listening() as address:
        for case in cases_of(GO):
            assert ask(address, case.sent).text == _as_ours(case), case.sent


def _as_ours(case: Case) -> str:
    """When Go has not come to a request it tells neither date nor length; we do."""
    told = "Connection: close\n"
    is_bare = "Date: now" not in case.answer
    return case.answer.replace(told, f"Date: now\nContent-Length: 15\n{told}", 1) if is_bare else case.answer


def told_by_go(kind: str) -> dict[str, str]:
    """The results of one kind, by their names."""
    parts = GO.read_text("utf-8").split(f"\n= {kind} ")[1:]
    return {part.split("\n")[0]: part.split("\n")[1] for part in parts}


@pytest.mark.parametrize(("size", "framing"), list(told_by_go("size").items()))
def test_the_length_of_a_body_is_told_when_go_would_tell_it(size: str, framing: str) -> None:
    headers = dict(asgi_headers(Answer(200, b"x" * int(size), JSON), ""))
    assert (b"content-length" in headers) == (framing == "length")


THIRD, TWO_THIRDS = 0.33333334, 0.6666667
VALUES: dict[str, object] = {
    "html": "<a href='x'>&\"</a>",
    "control": "\x00\x01\b\t\n\v\f\r\x1b\x1f\x7f",
    "backslash": "a\\b/c",
    "unicode": "üñ漢😀\u2028\u2029\u0085\ufffd\ufeff",
    "invalid": b"a\xffb\xc3(\xe2\x82c".decode("utf-8", "surrogateescape"),
    "surrogate": b"\xed\xa0\x80".decode("utf-8", "surrogateescape"),
    "empty": [],
    "null": {"lag": None},
    "keys": {"<": 5, "Z": 4, "a": 2, "b": 1, "ü": 3},
    "int64": [2**63 - 1, -(2**63)],
    "uint64": [2**64 - 1],
    "float32": [
        gojson.number(one)
        for one in [
            0.0, 1.0, 0.5, 0.1, 0.7, THIRD, TWO_THIRDS, 0.9999999,
            1e-4, 5e-5, 3.3333334e-5, 1e-6, 9e-7, 3.3333333e-7,
        ]
    ],
}  # fmt: skip
"""The same as in tests/go/oracle.go."""


@pytest.mark.parametrize(("name", "expected"), list(told_by_go("json").items()))
def test_json_is_written_as_go_writes_it(name: str, expected: str) -> None:
    assert gojson.dumps(VALUES[name]).decode() == expected


def test_a_small_number_in_a_name_stays_as_it_is() -> None:
    body = {"n": '1e-05,"x":1e-05', "complete": 1e-05}
    assert gojson.dumps(body) == b'{"n":"1e-05,\\"x\\":1e-05","complete":0.00001}'
