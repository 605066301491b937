"""Whatever is asked, the server does not fail: requests made up from the OpenAPI document of v1 and the paths of v3."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote, quote_from_bytes, unquote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.types import ASGIApp, Message

from tests.support.example_cluster import QUERIES, STRANGE, filled_state, ms
from warren.clusters.state import ClusterState
from warren.config.load import for_bootstrap
from warren.config.model import Api
from warren.notify.service import Alerts
from warren.serve.app import make_app

V3 = (
    "/burrow/admin",
    "/burrow/admin/ready",
    "/metrics",
    "/v3/admin/loglevel",
    "/v3/config",
    "/v3/config/{section}",
    "/v3/config/{section}/{name}",
    "/v3/kafka",
    "/v3/kafka/{cluster}",
    "/v3/kafka/{cluster}/consumer",
    "/v3/kafka/{cluster}/consumer/{group}",
    "/v3/kafka/{cluster}/consumer/{group}/lag",
    "/v3/kafka/{cluster}/consumer/{group}/status",
    "/v3/kafka/{cluster}/consumer/{group}/topic/{topic}",
    "/v3/kafka/{cluster}/topic",
    "/v3/kafka/{cluster}/topic/{topic}",
    "/v3/kafka/{cluster}/topic/{topic}/consumers",
    "/{cluster}/{group}",
)
METHODS = ("GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")
KNOWN = {
    "cluster": ["local"],
    "group": ["billing", "settling", STRANGE, "burrow-local"],
    "topic": ["orders", "payments", "__consumer_offsets"],
    "partition": ["0", "1", "-1", "99999999999999999999"],
    "section": ["storage", "cluster", "consumer", "httpserver", "notifier", "evaluator"],
    "name": ["default", "local"],
}

HOME = TemporaryDirectory()
CLUSTERS: dict[str, ClusterState] = {}
"""Filled anew after a request that may have changed something."""


class Request(NamedTuple):
    method: str
    target: str
    """Path and query as they come over the wire."""
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


def made_app() -> ASGIApp:
    CLUSTERS["local"] = filled_state()
    config = for_bootstrap("127.0.0.1:1", "127.0.0.1:0")
    config = config.model_copy(update={"api": Api(v2=True)})
    alerts = Alerts(config, CLUSTERS, Path(HOME.name), lambda: ms(31))
    return make_app(CLUSTERS, lambda: config, lambda: ms(31), lambda: QUERIES, alerts=alerts)


APP = made_app()


def answer_to(request: Request) -> Answer:
    """Call the application as the server does; an exception that leaves it fails the test."""
    path, _, query = request.target.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
        "method": request.method, "path": unquote(path), "raw_path": path.encode(), "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in request.headers.items()],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000),
    }  # fmt: skip
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": request.body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(APP(scope, receive, send))
    if request.method not in ("GET", "HEAD", "OPTIONS"):
        CLUSTERS["local"] = filled_state()
    headers = {name.decode().lower(): value.decode("latin-1") for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], headers, b"".join(one.get("body", b"") for one in sent[1:]))


def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer_to(Request("GET", "/api/v1/openapi.json", {}, b"")).body)
    return found


DOCUMENT = document()

WILD = st.one_of(
    st.text(max_size=12).map(lambda text: quote(text.encode("utf-8", "surrogatepass"), safe="")),
    st.binary(max_size=8).map(lambda data: quote_from_bytes(data, safe="")),
    st.text("ab %/.*?-:;=&+#[]\"'<>\\", max_size=8).map(lambda text: quote(text, safe="/.*-:;=+[]")),
    st.sampled_from(["", ".", "..", "%", "%2", "%zz", "%2F", "%252F", "%00", "a" * 3_000, "*" * 50 + "a"]),
)


def segments(name: str) -> st.SearchStrategy[str]:
    """A value for a place in a path: mostly something that is there, once or twice escaped."""
    known = st.sampled_from(KNOWN.get(name, ["x"]))
    once = known.map(lambda value: quote(value, safe=""))
    return st.one_of(once, once, once.map(lambda value: quote(value, safe="")), WILD)


def query_values(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    """A value for a parameter: one that it takes, or anything."""
    taken = [str(value) for value in enums_in(schema)]
    numbers = st.integers(-(2**70), 2**70).map(str) | st.sampled_from(["0", "1", "1e3", "1.5", "NaN"])
    return st.one_of(st.sampled_from(taken) if taken else numbers, numbers, WILD)


def enums_in(schema: object) -> list[object]:
    """All values that a schema names, however deep."""
    if isinstance(schema, dict):
        if reference := schema.get("$ref"):
            return enums_in(DOCUMENT["components"]["schemas"][str(reference).rpartition("/")[2]])
        named = schema.get("enum", [])
        return [*named, *(value for part in schema.values() for value in enums_in(part))]
    return [value for part in schema for value in enums_in(part)] if isinstance(schema, list) else []


@st.composite
def targets(draw: st.DrawFn, template: str, parameters: list[dict[str, Any]]) -> str:
    """A path with all its places filled, and some parameters."""
    path = re.sub(r"{(\w+)}", lambda found: draw(segments(found[1])), template)
    chosen = draw(st.lists(st.sampled_from(parameters), max_size=4)) if parameters else []
    pairs = [f"{one['name']}={draw(query_values(one['schema']))}" for one in chosen]
    pairs += draw(st.lists(WILD, max_size=1))
    return path + ("?" + "&".join(pairs) if pairs else "") + draw(st.sampled_from(["", "", "", "/"]))


HEADERS = st.dictionaries(
    st.sampled_from(["Accept", "Accept-Encoding", "Content-Type", "Authorization", "Host", "Range", "Cookie"]),
    st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0"), max_size=20)
    | st.sampled_from(["gzip", "application/openmetrics-text;q=x;;", "bytes=0-1", "Bearer x", "application/json"]),
    max_size=2,
)


@st.composite
def requests(draw: st.DrawFn, template: str, parameters: list[dict[str, Any]]) -> Request:
    target = draw(targets(template, parameters))
    return Request(draw(st.sampled_from(METHODS)), target, draw(HEADERS), draw(st.binary(max_size=20)))


def is_for_v1(request: Request) -> bool:
    """What is no address is refused before anybody asks whom it is for."""
    return not re.search(r"%(?![0-9a-f]{2})", request.target.partition("?")[0].lower())


QUICKLY = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("template", V3)
@QUICKLY
@given(data=st.data())
def test_no_request_to_v3_makes_the_server_fail(template: str, data: st.DataObject) -> None:
    answer = answer_to(data.draw(requests(template, [])))

    assert answer.status < 500


@pytest.mark.parametrize("template", DOCUMENT["paths"])
@QUICKLY
@given(data=st.data())
def test_no_request_to_v1_makes_the_server_fail_or_answer_in_another_shape(template: str, data: st.DataObject) -> None:
    operation = DOCUMENT["paths"][template].get("get", {})
    parameters = [one for one in operation.get("parameters", []) if one["in"] == "query"]
    request = data.draw(requests(f"/api/v1{template}", parameters))
    answer = answer_to(request)

    assert answer.status < 500
    if request.method == "GET" and answer.status != 200 and "location" not in answer.headers and is_for_v1(request):
        assert set(json.loads(answer.body)) == {"error"}
        assert answer.headers["content-type"] == "application/json"
