"""Every query of the dashboards for Elasticsearch, sent to a real OpenSearch as Grafana would send it.

Documents are in two indices: one with a template like that of telegraf and Warren, which maps tags to keywords, and one
of telegraf's points without any template, whose tags are text with a `.keyword` field beside it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.support.elasticsearch_requests import search, search_for_terms, values
from tests.support.grafana import (
    EVERYTHING,
    Chosen,
    Found,
    Key,
    Target,
    Variable,
    as_lucene,
    assert_finds_only_what_was_chosen,
    filled,
    targets,
    variables,
)
from tests.support.servers import OpenSearch
from tests.support.telegraf_points import CHOSEN, as_document, points, tags_of

JSON_TYPE = {"Content-Type": "application/json"}
TELEGRAF_TARGETS = [target for target in targets("elasticsearch") if target.dashboard != "warren"]
QUARTER_MS = 15 * 60 * 1000
KEYWORDS = {"tags": {"match_mapping_type": "string", "path_match": "tag.*", "mapping": {"type": "keyword"}}}
TEMPLATE = {
    "index_patterns": ["burrow-*"],
    "template": {
        "mappings": {
            "dynamic_templates": [KEYWORDS],
            "properties": {"@timestamp": {"type": "date"}, "measurement_name": {"type": "keyword"}},
        }
    },
}
PLAIN = {"mappings": {"properties": {"@timestamp": {"type": "date"}}}}


class Index(NamedTuple):
    """An index, and what its users enter in the box `Suffix of tags`."""

    name: str
    suffix: str


WARREN, TELEGRAF = Index("burrow-2026.01.01", ""), Index("plain", ".keyword")

VARIABLES = [
    (variable, index)
    for variable in variables("elasticsearch")
    for index in (WARREN, TELEGRAF)
    if variable.dashboard != "warren" or index is WARREN  # telegraf writes nothing about Warren
]


class Filled(NamedTuple):
    """A server with the documents up to `now_ms`, which all queries take for now."""

    server: OpenSearch
    now_ms: int

    def send(self, method: str, path: str, body: str) -> Any:
        """Return the JSON of a successful request."""
        answer = self.server.ask(path, body.encode(), method=method, headers=JSON_TYPE)
        assert answer.status == 200, answer.body.decode()
        content = answer.json()
        assert not content.get("errors"), content
        return content

    def bulk(self, index: Index) -> None:
        """Write all documents of an index."""
        documents = (as_document(point) for point in points(by_warren=index is WARREN, until_ms=self.now_ms))
        lines = "".join(f'{{"create":{{}}}}\n{json.dumps(document)}\n' for document in documents)
        self.send("POST", f"/{index.name}/_bulk?refresh=true", lines)


@pytest.fixture(scope="module")
def opensearch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    with OpenSearch(tmp_path_factory.mktemp("opensearch")) as server:
        filled_server = Filled(server, time.time_ns() // 1_000_000)
        filled_server.send("PUT", "/_index_template/burrow", json.dumps(TEMPLATE))
        filled_server.send("PUT", f"/{TELEGRAF.name}", json.dumps(PLAIN))
        for index in (WARREN, TELEGRAF):
            filled_server.bulk(index)
        yield filled_server


Rows = list[tuple[tuple[str, ...], float]]


def rows_of(server: Filled, target: Target, chosen: Chosen, index: Index = WARREN, top: int = 10) -> Rows:
    """Return what a query finds, in its order: the values of the tags that it groups by, and a value."""
    built_in = {"top": str(top), "suffix": index.suffix}
    texts = {**target.target, "alias": "", "datasource": None}  # none of them is for Elasticsearch
    query = filled(texts.pop("query"), chosen, built_in, as_lucene, "*")
    search_target = {**json.loads(filled(json.dumps(texts), {}, built_in, as_lucene, "*")), "query": query}
    body = json.dumps(search(search_target, server.now_ms - QUARTER_MS, server.now_ms, "30s"))
    return list(values(search_target, server.send("POST", f"/{index.name}/_search", body)))


def found_by(server: Filled, target: Target, chosen: Chosen) -> Found:
    """Return the values that a query finds, by tags."""
    buckets = [bucket for bucket in target.target["bucketAggs"] if bucket["type"] == "terms"]
    names = [bucket["field"].removeprefix("tag.").removesuffix("${suffix}") for bucket in buckets]
    found: dict[Key, list[float]] = {}
    for keys, value in rows_of(server, target, chosen):
        found.setdefault(tuple(sorted(zip(names, keys, strict=True))), []).append(value)
    return found


def named(dashboard: str, panel: str) -> list[Target]:
    return [one for one in targets("elasticsearch") if (one.dashboard, one.panel) == (dashboard, panel)]


@pytest.mark.parametrize("target", targets("elasticsearch"), ids=str)
def test_a_query_finds_something(opensearch: Filled, target: Target) -> None:
    assert rows_of(opensearch, target, EVERYTHING)


@pytest.mark.parametrize("target", TELEGRAF_TARGETS, ids=str)
def test_a_query_finds_what_telegraf_writes_which_is_no_lag_in_seconds(opensearch: Filled, target: Target) -> None:
    found = rows_of(opensearch, target, EVERYTHING, TELEGRAF)

    needs_seconds = all("lag_seconds" in metric["field"] for metric in target.target["metrics"])
    assert bool(found) != needs_seconds


@pytest.mark.parametrize("target", targets("elasticsearch"), ids=str)
def test_a_query_finds_only_what_was_chosen(opensearch: Filled, target: Target) -> None:
    [measurement] = re.findall(r"measurement_name:(\w+)", target.target["query"])

    assert_finds_only_what_was_chosen(
        target, tags_of(measurement), CHOSEN, lambda chosen: found_by(opensearch, target, chosen)
    )


@pytest.mark.parametrize("index", [WARREN, TELEGRAF])
def test_groups_of_any_name_can_be_chosen(opensearch: Filled, index: Index) -> None:
    [lag, _] = named("group", "Unread records")

    assert {keys[1] for keys, _ in rows_of(opensearch, lag, CHOSEN, index)} == set(CHOSEN["group"])


@pytest.mark.parametrize(("variable", "index"), VARIABLES, ids=str)
def test_a_variable_has_values(opensearch: Filled, variable: Variable, index: Index) -> None:
    query = {
        name: filled(text, EVERYTHING, {"suffix": index.suffix}, as_lucene, "*") if isinstance(text, str) else text
        for name, text in json.loads(variable.query).items()
    }
    body = json.dumps(search_for_terms(query, opensearch.now_ms - QUARTER_MS, opensearch.now_ms))

    assert opensearch.send("POST", f"/{index.name}/_search", body)["aggregations"]["1"]["buckets"]


def test_groups_are_counted_by_their_status(opensearch: Filled) -> None:
    newest = {
        target.target["alias"].split()[-1]: rows_of(opensearch, target, {**CHOSEN, "group": ()})[-1][1]
        for target in named("overview", "Groups by status")[:3]
    }

    assert newest == {"OK": 2, "WARN": 2, "ERR": 2}


def test_the_groups_furthest_behind_come_first_and_only_as_many_of_each_cluster_as_were_chosen(
    opensearch: Filled,
) -> None:
    [top] = named("overview", "Groups furthest behind")
    lags_and_seconds = rows_of(opensearch, top, EVERYTHING, top=2)

    assert lags_and_seconds[::2] == [
        (("test", "stuck"), 2900),
        (("test", "reports"), 1450),
        (("prod", "stuck"), 1740),
        (("prod", "gone"), 1160),
    ]


def test_speed_is_in_records_a_second(opensearch: Filled) -> None:
    [written] = named("topic", "Records written by partition")
    speeds = [value for _, value in rows_of(opensearch, written, CHOSEN)]

    assert sorted(speeds)[len(speeds) // 2] == 2


def test_each_warren_reports_which_clusters_it_can_read(opensearch: Filled) -> None:
    [reachable] = named("warren", "Cluster can be read")
    newest = dict(rows_of(opensearch, reachable, EVERYTHING))

    assert {keys for keys, value in newest.items() if not value} == {("warren-2:8000", "test")}
    assert len(newest) == 4


def test_incidents_that_two_warrens_report_are_not_added_up(opensearch: Filled) -> None:
    now, _ = named("warren", "Open incidents")

    assert dict(rows_of(opensearch, now, EVERYTHING)) == {("prod",): 3, ("test",): 3}


def test_undecodable_records_are_counted_over_five_minutes(opensearch: Filled) -> None:
    """One in ten steps of ten seconds, so three."""
    [undecodable] = named("warren", "Records that could not be decoded")
    counts = [value for _, value in rows_of(opensearch, undecodable, CHOSEN)]

    assert sum(counts) / len(counts) == pytest.approx(3, abs=1)
