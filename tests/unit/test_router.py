"""The router: httprouter's rules, each as it was seen to be."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.files import HERE
from warren.serve.burrow_api import METRICS
from warren.serve.router import Found, Nothing, Options, Redirect, Route, Router, WrongMethod, decode_path
from warren.serve.v3 import ROUTES

ROUTER = Router([*ROUTES, Route("GET", "/metrics", METRICS)])
GROUP = "/v3/kafka/c/consumer/g"


@pytest.mark.parametrize(
    ("method", "path", "name", "parameters"),
    [
        ("GET", "/v3/kafka", "cluster_list", {}),
        ("GET", "/v3/kafka/c", "cluster_detail", {"cluster": "c"}),
        ("GET", f"{GROUP}/lag", "consumer_lag", {"cluster": "c", "group": "g"}),
        ("DELETE", f"{GROUP}/topic/t", "delete_consumer_topic", {"cluster": "c", "group": "g", "topic": "t"}),
        ("GET", "/v3/kafka//topic", "topic_list", {"cluster": ""}),  # a name may be empty, except at the end
        ("GET", "/v3/kafka/../topic", "topic_list", {"cluster": ".."}),  # what fits is not cleaned
    ],
)
def test_a_path_that_fits_is_found(method: str, path: str, name: str, parameters: dict[str, str]) -> None:
    assert ROUTER.resolve(method, path) == Found(name, parameters)


@pytest.mark.parametrize(
    ("method", "path", "status", "location"),
    [
        ("GET", "/v3/kafka/", 301, "/v3/kafka"),
        ("GET", "/v3/kafka/c/topic/t/", 301, "/v3/kafka/c/topic/t"),
        ("GET", "/burrow/admin/", 301, "/burrow/admin"),
        ("GET", "/v3/config/", 301, "/v3/config"),
        ("GET", "/V3/KAFKA/C", 301, "/v3/kafka/C"),  # names keep their case
        ("GET", "/V3/KAFKA/", 301, "/v3/kafka"),
        ("GET", "//v3//kafka", 301, "/v3/kafka"),
        ("GET", "/x/../v3/kafka", 301, "/v3/kafka"),
        ("GET", "/v3/kafka/c d/topic/", 301, "/v3/kafka/c%20d/topic"),
        ("POST", "/v3/admin/loglevel/", 307, "/v3/admin/loglevel"),
        ("DELETE", f"{GROUP}/", 307, GROUP),
        ("DELETE", "/v3/kafka/c/", 307, "/v3/kafka/c"),  # nothing is there for DELETE; httprouter does not see that
    ],
)
def test_a_path_that_nearly_fits_is_redirected(method: str, path: str, status: int, location: str) -> None:
    assert ROUTER.resolve(method, path) == Redirect(status, location)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/v3"),
        ("GET", "/v3/kafka/c/"),  # two words with different first letters follow the name
        ("GET", f"{GROUP}/"),
        ("GET", f"{GROUP}/lag/more"),
        ("POST", "/v3/kafka/"),  # no route for POST is near
        ("OPTIONS", "/nowhere"),
    ],
)
def test_any_other_path_is_nothing(method: str, path: str) -> None:
    assert ROUTER.resolve(method, path) == Nothing()


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("HEAD", "/v3/kafka", "GET, OPTIONS"),
        ("POST", GROUP, "DELETE, GET, OPTIONS"),
        ("GET", f"{GROUP}/topic/t", "DELETE, OPTIONS"),
        ("DELETE", "/v3/admin/loglevel", "GET, OPTIONS, POST"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(method: str, path: str, allow: str) -> None:
    assert ROUTER.resolve(method, path) == WrongMethod(allow)


def test_options_tells_the_methods() -> None:
    assert ROUTER.resolve("OPTIONS", GROUP) == Options("DELETE, GET, OPTIONS")


def seen() -> list[tuple[str, str]]:
    """Requests, and what httprouter itself was seen to do with them."""
    _, *lines = (HERE / "httprouter.txt").read_text("utf-8").splitlines()
    return [(request, outcome.strip()) for request, outcome in zip(lines[::2], lines[1::2], strict=True)]


PATTERNS = {route.name: re.sub(r"{(\w+)}", r":\1", route.pattern) for route in ROUTES} | {METRICS: "/metrics"}


def as_seen(method: str, path: str) -> str:
    match ROUTER.resolve(method, path):
        case Found(name, parameters):
            told = [PATTERNS[name], *parameters.values()]
            return " ".join(["200", *(json.dumps(one, ensure_ascii=False) for one in told)])
        case Redirect(status, location):
            return f"{int(status)} {location}"
        case Options(allow):
            return f"200 {allow}"
        case WrongMethod(allow):
            return f"405 {allow}"
        case _:
            return "404"


def test_it_does_what_httprouter_was_seen_to_do() -> None:
    requests = [(*request.split(" ", 1), outcome) for request, outcome in seen()]
    ours = {(method, path): as_seen(method, decode_path(path.encode()) or "") for method, path, _ in requests}
    assert len(ours) > 700
    assert ours == {(method, path): outcome for method, path, outcome in requests}


def test_a_redirect_keeps_the_query() -> None:
    assert ROUTER.resolve("GET", "/v3/kafka/", "a=b&c") == Redirect(301, "/v3/kafka?a=b&c")


def test_the_page_of_a_redirect_cannot_be_broken_out_of() -> None:
    outcome = ROUTER.resolve("GET", "/v3/kafka/", "\"><script>'&")
    assert isinstance(outcome, Redirect)
    page = '<a href="/v3/kafka?&#34;&gt;&lt;script&gt;&#39;&amp;">Moved Permanently</a>.\n\n'
    assert outcome.page == page


def test_a_broken_escape_is_no_path() -> None:
    assert decode_path(b"/v3/%zz") is None
    assert decode_path(b"/v3/%4") is None


def test_bytes_that_are_no_text_are_kept() -> None:
    assert decode_path(b"/%FF%C3%BC") == "/\udcffü"


SEGMENTS = st.sampled_from(["", ".", "..", "v3", "V3", "kafka", "c", "consumer", "topic", "lag", "ü %", "config"])


@given(
    st.sampled_from(["GET", "DELETE", "POST", "HEAD", "OPTIONS"]),
    st.lists(SEGMENTS | st.text(max_size=3), min_size=1, max_size=8),
)
def test_any_path_has_an_outcome_and_a_redirect_leads_on_this_site(method: str, segments: list[str]) -> None:
    outcome = ROUTER.resolve(method, "/" + "/".join(segments))
    if isinstance(outcome, Redirect):
        assert outcome.location.startswith("/")
        assert not outcome.location.startswith("//")  # that would be another host
