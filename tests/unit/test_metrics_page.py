"""The page of `/metrics` as such: its formats, how they are chosen, and that any name survives them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from tests.support.example_cluster import filled_state, ms, new_state
from tests.support.examples import examples
from tests.support.metrics_page import OPENMETRICS_10, metrics_of, page_of
from tests.support.scenario import commit_table, head_table
from warren.serve.metrics.columns import FAMILIES
from warren.serve.metrics.formats import OPENMETRICS, TEXT, accepts_gzip, chosen_format

PROMETHEUS_2 = f"{OPENMETRICS_10},application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5"
PROMETHEUS_3 = f"{OPENMETRICS_10};escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;q=0.5,*/*;q=0.1"


@pytest.fixture(scope="module")
def page() -> str:
    return page_of(metrics_of(filled_state()))


def test_every_family_says_what_it_is(page: str) -> None:
    families = list(parse_text(page))

    assert {family.name for family in families} >= {one.name for one in FAMILIES}
    assert all(family.documentation and family.type in ("gauge", "counter") for family in families)


def test_every_family_is_in_the_documentation(page: str) -> None:
    documented = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()

    told = {line.split()[2] for line in page.splitlines() if line.startswith("# TYPE")}
    assert [name for name in told if f"`{name}`" not in documented and not name.startswith("process_")] == []


def test_openmetrics_has_the_same_samples() -> None:
    metrics = metrics_of(filled_state())
    text, openmetrics = (metrics.body(one, gzip=False).decode() for one in (TEXT, OPENMETRICS))

    def samples(families: object) -> set[tuple[object, ...]]:
        found = (sample for family in families for sample in family.samples)  # type: ignore[attr-defined]
        return {(one.name, *sorted(one.labels.items()), one.value) for one in found if "process_" not in one.name}

    assert samples(parse_openmetrics(openmetrics)) == samples(parse_text(text))


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", TEXT),
        ("*/*", TEXT),
        ("text/html", TEXT),
        ("text/plain", TEXT),
        ("application/openmetrics-text", OPENMETRICS),
        (PROMETHEUS_2, OPENMETRICS),
        (PROMETHEUS_3, OPENMETRICS),
        ("application/openmetrics-text; version=1.0.0; q=0", TEXT),
        ("application/openmetrics-text; version=1.0.0; q=0.1, text/plain", TEXT),
        ("application/openmetrics-text; version=9.9.9", TEXT),
        ("application/openmetrics-text; q=nonsense", TEXT),
        (";;;q=,,=", TEXT),
    ],
)
def test_the_format_is_the_one_that_is_liked_most(accept: str, expected: object) -> None:
    assert chosen_format(accept) is expected


@pytest.mark.parametrize(
    ("accept_encoding", "expected"),
    [("", False), ("gzip", True), ("br, GZIP;q=0.5", True), ("gzip;q=0, *", False), ("*", True), ("identity", False)],
)
def test_gzip_is_for_those_who_accept_it(accept_encoding: str, expected: bool) -> None:
    assert accepts_gzip(accept_encoding) is expected


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Starlette(routes=[Route("/metrics", metrics_of(filled_state()).page)]), "http://warren")


def test_plain_text_is_what_somebody_with_curl_gets(client: TestClient) -> None:
    answer = client.get("/metrics", headers={"Accept": "*/*", "Accept-Encoding": ""})

    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "content-encoding" not in answer.headers
    assert answer.headers["vary"] == "Accept, Accept-Encoding"


def test_prometheus_gets_compressed_openmetrics(client: TestClient) -> None:
    with client.stream("GET", "/metrics", headers={"Accept": PROMETHEUS_2, "Accept-Encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())

    assert answer.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(raw).endswith(b"# EOF\n")


# -- names -----------------------------------------------------------------------------------------------------------

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20) | st.text('\\"\n{},= #', min_size=1, max_size=6)


@examples(60)
@given(group=NAMES, topic=NAMES)
def test_any_name_comes_back_as_it_was(group: str, topic: str) -> None:
    state = new_state()
    state.apply_head_rows(head_table({topic: [100]}, ms(0)), now_ms=ms(0))
    state.apply_commit_rows("local", commit_table((group, topic, 0, 40, ms(1))), now_ms=ms(1))
    metrics = metrics_of(state)
    expected = {"cluster": "local", "consumer_group": group, "partition": "0", "topic": topic}

    for chosen, parse in ((TEXT, parse_text), (OPENMETRICS, parse_openmetrics)):
        families = {one.name: one for one in parse(metrics.body(chosen, gzip=False).decode())}
        [sample] = families["burrow_kafka_consumer_partition_lag"].samples
        assert (sample.labels, sample.value) == (expected, 60)
