"""Every query of the dashboards for Elasticsearch, asked of a real OpenSearch as Grafana would ask it.

Documents are in two indices: one with a template as telegraf and Warren put it, which makes keywords of tags, and one
of telegraf's points without any, whose tags are text that has a `.keyword` beside it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.support.elasticsearch_requests import search, search_for_terms, values
from tests.support.grafana import ALL, Chosen, Target, Variable, as_lucene, filled, targets, variables
from tests.support.servers import OpenSearch
from tests.support.telegraf_points import INSTANCES, ODD, as_document, points

JSON_TYPE = {"Content-Type": "application/json"}
ALL_OF_IT: Chosen = {"cluster": ALL, "group": ALL, "topic": ALL, "instance": ALL}
SOME: Chosen = {"cluster": ["prod"], "group": ["gone", ODD], "topic": ["orders"], "instance": [INSTANCES[0]]}
OF_TELEGRAF = [one for one in targets("elasticsearch") if one.dashboard != "warren"]
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
    """Where documents are, and what has to be in the box `Suffix of tags`."""

    name: str
    suffix: str


WARREN, TELEGRAF = Index("burrow-2026.01.01", ""), Index("plain", ".keyword")

VARIABLES = [
    (one, index)
    for one in variables("elasticsearch")
    for index in (WARREN, TELEGRAF)
    if one.dashboard != "warren" or index is WARREN  # telegraf knows nothing of it
]


class Filled(NamedTuple):
    """A server whose documents are of the time up to a moment, which is taken for now."""

    server: OpenSearch
    now_ms: int

    def send(self, method: str, path: str, body: str) -> Any:
        """Do it, and have the answer, which must be a good one."""
        answer = self.server.ask(path, body.encode(), method=method, headers=JSON_TYPE)
        assert answer.status == 200, answer.body.decode()
        told = answer.json()
        assert not told.get("errors"), told
        return told

    def bulk(self, index: Index) -> None:
        """Write all documents of an index."""
        documents = (as_document(one) for one in points(by_warren=index is WARREN, until_ms=self.now_ms))
        lines = "".join(f'{{"create":{{}}}}\n{json.dumps(one)}\n' for one in documents)
        self.send("POST", f"/{index.name}/_bulk?refresh=true", lines)


@pytest.fixture(scope="module")
def opensearch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    with OpenSearch(tmp_path_factory.mktemp("opensearch")) as server:
        filled_one = Filled(server, time.time_ns() // 1_000_000)
        filled_one.send("PUT", "/_index_template/burrow", json.dumps(TEMPLATE))
        filled_one.send("PUT", f"/{TELEGRAF.name}", json.dumps(PLAIN))
        for index in (WARREN, TELEGRAF):
            filled_one.bulk(index)
        yield filled_one


def asked(server: Filled, one: Target, chosen: Chosen, index: Index = WARREN) -> list[tuple[tuple[str, ...], float]]:
    """What a query finds."""
    built_in = {"top": "10", "suffix": index.suffix}
    texts = {**one.target, "alias": "", "datasource": None}  # none of them is for Elasticsearch
    query = filled(texts.pop("query"), chosen, built_in, as_lucene, "*")
    target = {**json.loads(filled(json.dumps(texts), {}, built_in, as_lucene, "*")), "query": query}
    body = json.dumps(search(target, server.now_ms - QUARTER_MS, server.now_ms, "30s"))
    return list(values(target, server.send("POST", f"/{index.name}/_search", body)))


def named(dashboard: str, panel: str) -> list[Target]:
    return [one for one in targets("elasticsearch") if (one.dashboard, one.panel) == (dashboard, panel)]


@pytest.mark.parametrize("one", targets("elasticsearch"), ids=str)
def test_a_query_finds_something(opensearch: Filled, one: Target) -> None:
    assert asked(opensearch, one, ALL_OF_IT)


@pytest.mark.parametrize("one", OF_TELEGRAF, ids=str)
def test_a_query_finds_something_that_telegraf_has_written_but_for_seconds(opensearch: Filled, one: Target) -> None:
    found = asked(opensearch, one, ALL_OF_IT, TELEGRAF)

    of_seconds_alone = all("lag_seconds" in metric["field"] for metric in one.target["metrics"])
    assert bool(found) != of_seconds_alone


@pytest.mark.parametrize("one", targets("elasticsearch"), ids=str)
def test_a_query_finds_only_what_was_chosen(opensearch: Filled, one: Target) -> None:
    fields = [bucket["field"] for bucket in one.target["bucketAggs"] if bucket["type"] == "terms"]

    for keys, _ in asked(opensearch, one, SOME):
        tags = dict(zip(fields, keys, strict=True))
        assert tags.get("tag.cluster${suffix}", "prod") == "prod"
        assert tags.get("tag.group${suffix}", ODD) in ("gone", ODD)
        assert tags.get("tag.instance${suffix}", INSTANCES[0]) == INSTANCES[0]


@pytest.mark.parametrize("index", [WARREN, TELEGRAF])
def test_groups_of_any_name_can_be_chosen(opensearch: Filled, index: Index) -> None:
    [lag, _] = named("group", "Unread records")

    assert {keys[1] for keys, _ in asked(opensearch, lag, SOME, index)} == {"gone", ODD}


@pytest.mark.parametrize(("one", "index"), VARIABLES, ids=str)
def test_a_variable_has_values(opensearch: Filled, one: Variable, index: Index) -> None:
    asks = {
        name: filled(text, ALL_OF_IT, {"suffix": index.suffix}, as_lucene, "*") if isinstance(text, str) else text
        for name, text in json.loads(one.query).items()
    }
    body = json.dumps(search_for_terms(asks, opensearch.now_ms - QUARTER_MS, opensearch.now_ms))

    assert opensearch.send("POST", f"/{index.name}/_search", body)["aggregations"]["1"]["buckets"]


def test_groups_are_counted_by_their_status(opensearch: Filled) -> None:
    newest = {
        one.target["alias"].split()[-1]: asked(opensearch, one, SOME | {"group": ALL})[-1][1]
        for one in named("overview", "Groups by status")[:3]
    }

    assert newest == {"OK": 2, "WARN": 1, "ERR": 1}


def test_the_groups_furthest_behind_come_first_and_only_as_many_as_were_chosen(opensearch: Filled) -> None:
    [top] = named("overview", "Groups furthest behind")
    found = asked(opensearch, top, ALL_OF_IT)

    assert found[:2] == [(("prod", "gone"), 1160), (("prod", "gone"), 290)]


def test_speed_is_in_records_a_second(opensearch: Filled) -> None:
    [written] = named("topic", "Records written by partition")
    speeds = [value for _, value in asked(opensearch, written, ALL_OF_IT)]

    assert sorted(speeds)[len(speeds) // 2] == 2


def test_each_warren_tells_which_clusters_it_can_read(opensearch: Filled) -> None:
    [reachable] = named("warren", "Cluster can be read")
    newest = dict(asked(opensearch, reachable, ALL_OF_IT))

    assert {keys for keys, value in newest.items() if not value} == {("warren-2:8000", "test")}
    assert len(newest) == 4


def test_incidents_are_not_counted_twice(opensearch: Filled) -> None:
    """They are told by every Warren that watches the cluster."""
    now, _ = named("warren", "Open incidents")

    assert dict(asked(opensearch, now, ALL_OF_IT)) == {("prod",): 2, ("test",): 2}


def test_what_is_counted_over_five_minutes_is_so(opensearch: Filled) -> None:
    """One in ten steps of ten seconds, so three."""
    [undecodable] = named("warren", "Records that could not be decoded")
    values_found = [value for _, value in asked(opensearch, undecodable, SOME)]

    assert sum(values_found) / len(values_found) == pytest.approx(3, abs=1)
