"""HTTP API v1: what Warren knows, one error shape, and a document that tells the truth about both."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urljoin

import pyarrow as pa
import pytest
import structlog
from pydantic import TypeAdapter
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.support.example_cluster import NOW_S, QUERIES, STRANGE, filled_state, iso, ms, new_state, recover
from tests.support.scenario import commit_table
from warren import __version__
from warren.clusters.keeper import Keeper
from warren.clusters.state import ClusterState
from warren.config.load import for_bootstrap
from warren.notify.service import Alerts
from warren.rules.listing import SortKey
from warren.rules.policy import Policy, RulesFor
from warren.rules.rule import Rule
from warren.rules.rule_sets import RULE_SETS
from warren.serve.app import make_app
from warren.serve.v1 import models
from warren.windows.rows import HEAD_ROWS

NEWCOMER_BY_WARREN = Policy(rules=(RulesFor(re.compile("newcomer"), "warren"),))


class Clock:
    """What the API takes for now; it can be broken."""

    def __init__(self) -> None:
        self.second = NOW_S
        self.error: Exception | None = None

    def __call__(self) -> int:
        if self.error:
            raise self.error
        return ms(self.second)


class Warren(NamedTuple):
    """One application for all tests; each puts its own state into `clusters`."""

    app: ASGIApp
    client: TestClient
    clusters: dict[str, ClusterState]
    clock: Clock


@pytest.fixture(scope="module")
def warren(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warren]:
    clusters: dict[str, ClusterState] = {}
    clock, config = Clock(), for_bootstrap("127.0.0.1:9092", "127.0.0.1:8000")
    alerts = Alerts(config, clusters, tmp_path_factory.mktemp("home"), clock)
    app = make_app(clusters, lambda: config, clock, lambda: QUERIES, alerts=alerts)
    with TestClient(app, base_url="http://warren/api/v1/", client=("127.0.0.1", 1)) as client:
        yield Warren(app, client, clusters, clock)
    alerts.stop()


@pytest.fixture
def clusters(warren: Warren) -> dict[str, ClusterState]:
    warren.clusters.clear()
    return warren.clusters


@pytest.fixture
def state(clusters: dict[str, ClusterState]) -> ClusterState:
    clusters["local"] = filled_state()
    return clusters["local"]


@pytest.fixture
def clock(warren: Warren) -> Clock:
    warren.clock.second, warren.clock.error = NOW_S, None
    return warren.clock


@pytest.fixture
def client(warren: Warren, state: ClusterState, clock: Clock) -> TestClient:
    return warren.client


def get(client: TestClient, path: str, **parameters: Any) -> Any:
    answer = client.get(path, params=parameters or None)
    assert answer.status_code == 200, answer.text
    return answer.json()


def groups(client: TestClient, **parameters: Any) -> list[str]:
    return [one["group"] for one in get(client, "clusters/local/groups", **parameters)["groups"]]


def error(client: TestClient, path: str, status: int) -> dict[str, str]:
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    assert answer.json().keys() == {"error"}
    return answer.json()["error"]


def partition_of(group: dict[str, Any], topic: str, number: int) -> dict[str, Any]:
    return next(one for one in group["partitions"] if (one["topic"], one["partition"]) == (topic, number))


# -- start, clusters, pipeline ---------------------------------------------------------------------------------------


def test_the_start_tells_the_version(client: TestClient) -> None:
    assert get(client, "")["version"] == __version__


@pytest.mark.parametrize("link", ["clusters", "pipeline", "openapi", "incidents", "silences", "notifiers"])
def test_the_links_of_the_start_lead_somewhere(client: TestClient, link: str) -> None:
    start = client.get("")

    assert client.get(urljoin(str(start.url), start.json()["links"][link])).status_code == 200


def test_the_start_is_found_without_the_last_slash(client: TestClient) -> None:
    assert client.get("http://warren/api/v1").json()["version"] == __version__


def test_clusters_are_listed_with_all_that_one_tells_of_itself(client: TestClient) -> None:
    assert get(client, "clusters") == {"clusters": [get(client, "clusters/local")]}


def test_a_cluster_tells_how_well_it_is_known_and_how_its_groups_are(client: TestClient) -> None:
    told = get(client, "clusters/local")
    del told["queries"]

    assert told == {
        "name": "local",
        "cluster_id": "kafka-1",
        "unreachable_since": None,
        "last_error": None,
        "ready": True,
        "caught_up": True,
        "behind_records": 0,
        "restored_at": None,
        "clock_skew_seconds": 0.0,
        "evaluated_at": iso(NOW_S),
        "group_count": 6,
        "groups_by_status": {"OK": 2, "WARN": 1, "ERR": 3},
        "total_lag": 1_590,
        "lag_seconds": 31.0,
        "topic_count": 3,
        "unseen_topics": [],
        "undecodable_records": {"unknown key type": 3},
        "undecodable_examples": [],
        "groups_by_type": {"classic": 1, "simple": 4, "consumer": 0, "share": 0, "streams": 0},
        "stale_partitions": [],
    }


def test_the_lag_of_a_cluster_is_that_of_all_its_groups(client: TestClient) -> None:
    told, groups = get(client, "clusters/local"), get(client, "clusters/local/groups")["groups"]
    assert told["total_lag"] == sum(one["total_lag"] or 0 for one in groups)
    assert told["lag_seconds"] == max(one["lag_seconds"] or 0 for one in groups)


def test_a_cluster_that_cannot_be_read_says_since_when_and_why(
    client: TestClient, clusters: dict[str, ClusterState]
) -> None:
    clusters["local"].note_failure("heads", "no broker answers", now_ms=ms(NOW_S - 20))
    clusters["local"].note_failure("heads", "still no broker answers", now_ms=ms(NOW_S - 5))
    told = get(client, "clusters/local")

    assert (told["unreachable_since"], told["last_error"]) == (iso(NOW_S - 20), "still no broker answers")


def test_topics_that_the_brokers_do_not_list_are_named(client: TestClient, clusters: dict[str, ClusterState]) -> None:
    table = commit_table(("g", "hidden", 0, 5, ms(30)), source_partition=1)
    clusters["local"].apply_commit_rows("local", table, now_ms=ms(30))

    assert get(client, "clusters/local")["unseen_topics"] == ["hidden"]


def test_a_cluster_that_nothing_is_known_of_yet_says_so(client: TestClient, clusters: dict[str, ClusterState]) -> None:
    clusters["local"] = new_state()
    told = get(client, "clusters/local")

    assert (told["cluster_id"], told["ready"], told["caught_up"], told["group_count"]) == (None, False, False, 0)


def test_a_cluster_shows_its_own_queries(client: TestClient) -> None:
    assert [one["name"] for one in get(client, "clusters/local")["queries"]] == ["commits-local", "heads-local"]


def test_the_pipeline_shows_all_queries(client: TestClient) -> None:
    assert get(client, "pipeline") == {
        "queries": [
            {"name": "commits-local", "state": "retrying", "last_error": "no broker answers", "restarts": 2},
            {"name": "heads-elsewhere", "state": "starting", "last_error": None, "restarts": 0},
            {"name": "heads-local", "state": "running", "last_error": None, "restarts": 0},
        ]
    }


# -- the list of groups ----------------------------------------------------------------------------------------------


def test_groups_are_listed_with_the_worst_first(client: TestClient) -> None:
    assert groups(client) == ["settling", "billing", "newcomer", "reporting", "burrow-local", STRANGE]


def test_a_group_in_the_list_says_what_made_it_so(client: TestClient) -> None:
    listed = get(client, "clusters/local/groups", name="billing")["groups"]

    assert listed == [
        {
            "group": "billing",
            "type": "classic",
            "state": "Stable",
            "member_count": 1,
            "rule_set": "burrow",
            "status": "ERR",
            "stale_since": None,
            "note": None,
            "since": None,
            "partition_count": 2,
            "complete": 1.0,
            "total_lag": 300,
            "lag_seconds": 30.9,
            "lost_records": 0,
            "topics": ["orders"],
            "cause": {
                "topic": "orders",
                "partition": 0,
                "status": "STALL",
                "rule": "stalled",
                "reason": "the last 3 commits are all of offset 100, lag 300",
            },
        }
    ]


def test_the_list_counts_what_fits_and_what_there_is(client: TestClient) -> None:
    told = get(client, "clusters/local/groups", name="billing")

    assert (told["matching"], told["by_status"]) == (1, {"OK": 2, "WARN": 1, "ERR": 3})


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"status": "WARN"}, ["reporting"]),
        ({"status": ["WARN", "OK"]}, ["reporting", "burrow-local", STRANGE]),
        ({"name": "port"}, ["reporting"]),
        ({"name": "b*"}, ["billing", "burrow-local"]),
        ({"name": "?EWCOMER"}, ["newcomer"]),
        ({"topic": "payments"}, ["settling"]),
        ({"owner": "10.0.0.1"}, ["billing"]),
        ({"owner": "billing-?"}, ["billing"]),
        ({"status": "ERR", "topic": "orders"}, ["billing", "newcomer"]),
        ({"name": "nobody"}, []),
    ],
    ids=str,
)
def test_filters_leave_out_what_does_not_fit(
    client: TestClient, parameters: dict[str, Any], expected: list[str]
) -> None:
    assert groups(client, **parameters) == expected


@pytest.mark.parametrize("key", ["total_lag", "lag_seconds", "lost_records", "partition_count"])
def test_sorting_puts_the_highest_first(client: TestClient, key: str) -> None:
    values = [one[key] for one in get(client, "clusters/local/groups", sort=key)["groups"]]

    assert values == sorted(values, reverse=True)


def test_sorting_by_since_puts_the_newest_first(changed: TestClient, clock: Clock) -> None:
    clock.second = 70
    values = [one["since"] for one in get(changed, "clusters/local/groups", sort="since")["groups"]]

    assert values == sorted(values, reverse=True)


def test_sorting_by_name_is_from_a_to_z(changed: TestClient) -> None:
    assert groups(changed, sort="name") == ["billing", "burrow-local", "newcomer", "reporting", STRANGE]


def test_sorting_by_severity_looks_at_the_worst_partition(client: TestClient) -> None:
    listed = get(client, "clusters/local/groups", sort="severity")["groups"]

    assert [one["cause"]["status"] for one in listed] == ["REWIND", "STALL", "STOP", "WARN", "OK", "OK"]


@pytest.mark.parametrize("key", list(SortKey))
def test_reverse_turns_the_list_round(client: TestClient, key: str) -> None:
    assert groups(client, sort=key, reverse=True) == groups(client, sort=key)[::-1]


def test_paging_through_all_groups_shows_each_once(client: TestClient) -> None:
    address, seen = "clusters/local/groups?limit=2&sort=name", []
    while address:
        answer = client.get(address)
        seen += [one["group"] for one in answer.json()["groups"]]
        address = urljoin(str(answer.url), answer.json()["next"]) if answer.json()["next"] else ""

    assert seen == groups(client, sort="name")


def test_the_next_page_has_the_same_filters(client: TestClient) -> None:
    told = get(client, "clusters/local/groups", status=["ERR", "WARN"], name="*i*", limit=1)

    assert told["next"] == "?status=ERR&status=WARN&name=%2Ai%2A&limit=1&offset=1"


def test_the_next_page_goes_on_from_this_one(client: TestClient) -> None:
    assert get(client, "clusters/local/groups", offset=1, limit=2)["next"] == "?limit=2&offset=3"


def test_the_last_page_has_no_next_one(client: TestClient) -> None:
    assert get(client, "clusters/local/groups", limit=2, offset=4)["next"] is None


def test_an_offset_beyond_the_end_is_an_empty_page(client: TestClient) -> None:
    assert groups(client, offset=1000) == []


def test_a_list_can_be_judged_by_another_rule_set(client: TestClient) -> None:
    (listed,) = get(client, "clusters/local/groups", rules="warren", name="newcomer")["groups"]

    assert (listed["rule_set"], listed["status"], listed["cause"]["rule"]) == ("warren", "OK", "too_few_commits")


def test_a_list_says_which_rule_set_judged_each_group(client: TestClient, clusters: dict[str, ClusterState]) -> None:
    clusters["local"] = filled_state(NEWCOMER_BY_WARREN)
    listed = get(client, "clusters/local/groups")["groups"]

    assert {one["group"]: one["rule_set"] for one in listed if one["cause"]["topic"] == "orders"} == {
        "billing": "burrow",
        "newcomer": "warren",
        "reporting": "burrow",
        STRANGE: "burrow",
    }


def test_names_of_rule_sets_are_those_of_the_rules() -> None:
    assert list(models.RuleSetName) == list(RULE_SETS)


# -- one group -------------------------------------------------------------------------------------------------------


def test_a_group_tells_what_the_list_tells(client: TestClient) -> None:
    (listed,) = get(client, "clusters/local/groups", name="billing")["groups"]
    told = get(client, "clusters/local/groups/billing")

    assert {key: told[key] for key in listed} == listed


def test_a_group_tells_its_highest_lag(client: TestClient) -> None:
    told = get(client, "clusters/local/groups/billing")

    assert told["max_lag"] == {"topic": "orders", "partition": 0, "lag": 300}


def test_a_group_tells_what_both_rule_sets_say(client: TestClient) -> None:
    told = get(client, "clusters/local/groups/newcomer")["by_rule_set"]

    assert {name: (one["status"], one["cause"]["rule"]) for name, one in told.items()} == {
        "burrow": ("ERR", "stopped"),
        "warren": ("OK", "too_few_commits"),
    }


def test_the_reason_of_a_rule_set_names_the_partition(client: TestClient) -> None:
    told = get(client, "clusters/local/groups/newcomer")["by_rule_set"]["burrow"]

    assert told["reason"] == "orders 0: no commit for 6 s, window spans 0 s, lag 310"


def test_a_group_goes_by_its_own_rule_set(client: TestClient, clusters: dict[str, ClusterState]) -> None:
    clusters["local"] = filled_state(NEWCOMER_BY_WARREN)
    told = get(client, "clusters/local/groups/newcomer")

    assert (told["rule_set"], told["status"]) == ("warren", "OK")


def test_a_partition_tells_all_its_numbers(client: TestClient) -> None:
    told = partition_of(get(client, "clusters/local/groups/reporting"), "orders", 0)

    assert told == {
        "topic": "orders",
        "partition": 0,
        "status": "WARN",
        "rule": "falling_behind",
        "reason": "lag did not fall in 3 commits: 30 then, 130 at the last commit, 180 now",
        "since": None,
        "owner": None,
        "committed_offset": 220,
        "committed_at": iso(25),
        "end_offset": 400,
        "log_start": 0,
        "lag": 180,
        "last_stable_offset": None,
        "lag_stable": None,
        "conditions": [],
        "lag_seconds": 18.9,
        "lag_seconds_at_least": 18.9,
        "consumed_per_second": 5.0,
        "produced_per_second": 10.0,
        "catch_up_seconds": None,
        "commit_age_seconds": 6.0,
        "lost_records": 0,
        "loss_in_seconds": None,
        "complete": 1.0,
    }


def test_what_is_not_known_of_a_partition_is_null(client: TestClient) -> None:
    told = partition_of(get(client, "clusters/local/groups/reporting"), "orders", 1)
    known = {key for key, value in told.items() if value is not None}

    of_the_topic = {"end_offset", "log_start", "produced_per_second"}
    assert known == {"topic", "partition", "status", "rule", "reason", "complete", "conditions", *of_the_topic}


def test_a_partition_tells_who_reads_it(client: TestClient) -> None:
    told = partition_of(get(client, "clusters/local/groups/billing"), "orders", 0)

    member = {"host": "/10.0.0.1", "client_id": "billing-7", "member_id": "billing-7-member", "instance_id": None}
    assert told["owner"] == member


def test_records_that_were_deleted_unread_are_counted(client: TestClient) -> None:
    told = get(client, "clusters/local/groups/settling")

    assert (told["lost_records"], told["partitions"][0]["loss_in_seconds"]) == (100, 0.0)


def test_only_trouble_leaves_out_partitions_that_are_ok(client: TestClient) -> None:
    told = get(client, "clusters/local/groups/billing", only="trouble")

    assert [(one["partition"], one["status"]) for one in told["partitions"]] == [(0, "STALL")]


def test_only_trouble_still_counts_all_partitions(client: TestClient) -> None:
    assert get(client, "clusters/local/groups/billing", only="trouble")["partition_count"] == 2


def test_a_partition_shows_the_commits_it_is_judged_by(client: TestClient) -> None:
    told = get(client, "clusters/local/groups/reporting/topics/orders/partitions/0")

    assert told["window"] == [
        {"offset": 120, "committed_at": iso(5), "observed_at": iso(5), "lag": 30, "lag_at_least": 0},
        {"offset": 180, "committed_at": iso(15), "observed_at": iso(15), "lag": 70, "lag_at_least": 20},
        {"offset": 220, "committed_at": iso(25), "observed_at": iso(25), "lag": 130, "lag_at_least": 80},
    ]


def test_a_partition_alone_tells_what_it_tells_in_its_group(client: TestClient) -> None:
    in_group = partition_of(get(client, "clusters/local/groups/reporting"), "orders", 0)
    alone = get(client, "clusters/local/groups/reporting/topics/orders/partitions/0")

    assert {key: alone[key] for key in in_group} == in_group


def test_a_commit_whose_time_is_no_date_has_none(client: TestClient, state: ClusterState) -> None:
    table = commit_table(("wild", "orders", 1, 50, 10**17), source_partition=1)
    state.apply_commit_rows("local", table, now_ms=ms(NOW_S))
    told = get(client, "clusters/local/groups/wild/topics/orders/partitions/1")

    assert (told["committed_offset"], told["committed_at"], told["window"][0]["committed_at"]) == (50, None, None)


# -- names -----------------------------------------------------------------------------------------------------------

NAMES = ["a/b", "/", "a/topics/t/partitions/0", "ü ß", "100%", "%2F", "a+b&c=d?e#f", "日本", "\t"]


@pytest.mark.parametrize("name", NAMES)
def test_a_group_is_found_whatever_its_name(client: TestClient, state: ClusterState, name: str) -> None:
    state.apply_commit_rows("local", commit_table((name, "orders", 0, 1, ms(30)), source_partition=1), now_ms=ms(30))

    assert get(client, f"clusters/local/groups/{quote(name, safe='')}")["group"] == name


def test_a_partition_of_a_group_with_slashes_is_found(client: TestClient) -> None:
    path = f"clusters/local/groups/{quote(STRANGE, safe='')}/topics/orders/partitions/1"

    assert get(client, path)["group"] == STRANGE


@pytest.mark.usefixtures("client")
def test_a_group_is_found_also_if_the_server_tells_only_the_decoded_path(warren: Warren) -> None:
    async def without_raw_path(scope: Scope, receive: Receive, send: Send) -> None:
        await warren.app({key: value for key, value in scope.items() if key != "raw_path"}, receive, send)

    assert get(TestClient(without_raw_path), "/api/v1/clusters/local/groups/billing")["group"] == "billing"


# -- since, changes, restored ----------------------------------------------------------------------------------------


def test_a_status_is_noted_with_its_time(client: TestClient, state: ClusterState, clock: Clock) -> None:
    state.evaluate(now_ms=ms(NOW_S))
    clock.second = 40
    told = get(client, "clusters/local/groups/billing")

    assert (told["since"], told["partitions"][0]["since"]) == (iso(NOW_S), iso(NOW_S))


def test_the_list_tells_since_when(client: TestClient, state: ClusterState) -> None:
    state.evaluate(now_ms=ms(NOW_S))
    (listed,) = get(client, "clusters/local/groups", name="billing")["groups"]

    assert listed["since"] == iso(NOW_S)


def test_the_time_of_another_status_is_not_told(client: TestClient, state: ClusterState, clock: Clock) -> None:
    state.evaluate(now_ms=ms(NOW_S))
    recover(state)
    clock.second = 60
    told = get(client, "clusters/local/groups/billing")

    assert (told["status"], told["since"]) == ("OK", None)


@pytest.fixture
def changed(state: ClusterState, client: TestClient) -> TestClient:
    """Four groups in trouble at 31, billing fine at 60, settling gone at 70."""
    state.evaluate(now_ms=ms(NOW_S))
    recover(state)
    state.evaluate(now_ms=ms(60))
    state.delete_group("settling")
    state.evaluate(now_ms=ms(70))
    return client


def test_changes_come_newest_first(changed: TestClient) -> None:
    told = get(changed, "clusters/local/changes")["changes"]

    times = [one["at"] for one in told]
    assert times == sorted(times, reverse=True)


def test_a_change_tells_what_made_it_so(changed: TestClient) -> None:
    told = get(changed, "clusters/local/changes", group="billing")["changes"]

    assert told[0] == {
        "at": iso(60),
        "group": "billing",
        "was": "ERR",
        "now": "OK",
        "cause": {"topic": "orders", "partition": 0, "status": "OK", "rule": "caught_up", "reason": "caught up"},
    }


def test_a_group_that_is_gone_is_a_change_without_a_cause(changed: TestClient) -> None:
    told = get(changed, "clusters/local/changes", group="settling")["changes"]

    assert (told[0]["was"], told[0]["now"], told[0]["cause"]) == ("ERR", "NOTFOUND", None)


@pytest.mark.parametrize("since", [iso(60), "2026-01-01T02:01:00+02:00"])
def test_changes_before_a_time_can_be_left_out(changed: TestClient, since: str) -> None:
    told = get(changed, "clusters/local/changes", since=since, group="b*")["changes"]

    assert [one["at"] for one in told] == [iso(60)]


def test_changes_beyond_the_limit_are_counted(changed: TestClient) -> None:
    told = get(changed, "clusters/local/changes", group="billing", limit=1)

    assert (len(told["changes"]), told["matching"]) == (1, 2)


JUDGED = ["clusters/local", "clusters/local/groups", "clusters/local/groups/billing", "clusters/local/topics/orders",
          "clusters/local/groups/billing/topics/orders/partitions/0"]  # fmt: skip


@pytest.mark.parametrize("path", JUDGED)
def test_answers_from_a_snapshot_say_so(
    client: TestClient, clusters: dict[str, ClusterState], tmp_path: Path, path: str
) -> None:
    Keeper(clusters, tmp_path, 30.0, lambda: ms(NOW_S)).save()
    clusters["local"] = new_state()
    Keeper(clusters, tmp_path, 30.0, lambda: ms(40)).restore()

    assert get(client, path)["restored_at"] == iso(NOW_S)


# -- topics ----------------------------------------------------------------------------------------------------------


def test_topics_are_listed_by_name(client: TestClient) -> None:
    assert get(client, "clusters/local/topics") == {
        "matching": 3,
        "topics": [
            {"topic": "__consumer_offsets", "partition_count": 1, "group_count": 1},
            {"topic": "orders", "partition_count": 2, "group_count": 4},
            {"topic": "payments", "partition_count": 1, "group_count": 1},
        ],
        "next": None,
    }


@pytest.mark.parametrize(("name", "expected"), [("OFFSETS", ["__consumer_offsets"]), ("p*", ["payments"]), ("x", [])])
def test_topics_can_be_chosen_by_name(client: TestClient, name: str, expected: list[str]) -> None:
    assert [one["topic"] for one in get(client, "clusters/local/topics", name=name)["topics"]] == expected


def test_topics_come_in_pages(client: TestClient) -> None:
    first = client.get("clusters/local/topics?limit=2")
    second = client.get(urljoin(str(first.url), first.json()["next"])).json()

    assert ([one["topic"] for one in second["topics"]], second["next"]) == (["payments"], None)


def test_a_topic_tells_where_its_partitions_begin_and_end_and_how_fast_they_grow(client: TestClient) -> None:
    other = {"last_stable_offset": None, "has_leader": True, "open_transaction_since": None}
    assert get(client, "clusters/local/topics/orders")["partitions"] == [
        {"partition": 0, "end_offset": 400, "log_start": 0, "produced_per_second": 10.0, **other},
        {"partition": 1, "end_offset": 50, "log_start": 0, "produced_per_second": 0.0, **other},
    ]


def test_a_topic_tells_how_its_groups_do_on_it(client: TestClient) -> None:
    readers = get(client, "clusters/local/topics/orders")["readers"]

    assert [(one["group"], one["status"], one["partition_count"], one["total_lag"]) for one in readers] == [
        ("billing", "STALL", 2, 300),
        ("newcomer", "STOP", 2, 310),
        ("reporting", "WARN", 2, 180),
        (STRANGE, "OK", 2, 0),
    ]


def test_an_end_that_was_never_seen_is_null(client: TestClient, state: ClusterState) -> None:
    row = {"topic": "new", "partition": 0, "end": -1, "log_start": -1, "observed_ms": ms(31)}
    state.apply_head_rows(pa.Table.from_pylist([row], HEAD_ROWS), now_ms=ms(31))

    (partition,) = get(client, "clusters/local/topics/new")["partitions"]
    known = {key: value for key, value in partition.items() if value is not None}
    assert known == {"partition": 0, "has_leader": True}


# -- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status", "expected"),
    [
        (
            "nothing/here",
            404,
            {
                "code": "path_not_found",
                "message": "There is nothing at /api/v1/nothing/here.",
                "hint": "A `/` in a name is written as %2F, and no path ends with one. "
                "/api/v1/openapi.json tells all paths.",
            },
        ),
        (
            "clusters/nowhere/groups",
            404,
            {"code": "cluster_not_found", "message": "There is no cluster `nowhere`.", "hint": "Known are `local`."},
        ),
        (
            "clusters/local/groups/biling",
            404,
            {
                "code": "group_not_found",
                "message": "The cluster `local` has no group `biling`.",
                "hint": "Did you mean `billing`?",
            },
        ),
        (
            "clusters/local/groups/zzz",
            404,
            {
                "code": "group_not_found",
                "message": "The cluster `local` has no group `zzz`.",
                "hint": "/api/v1/clusters/local/groups lists the known ones.",
            },
        ),
        (
            "clusters/local/topics/order",
            404,
            {
                "code": "topic_not_found",
                "message": "The cluster `local` has no topic `order`.",
                "hint": "Did you mean `orders`?",
            },
        ),
        (
            "clusters/local/groups/billing/topics/payments/partitions/0",
            404,
            {
                "code": "topic_not_found",
                "message": "The group `billing` does not use the topic `payments`.",
                "hint": "It uses `orders`.",
            },
        ),
        (
            "clusters/local/groups/billing/topics/orders/partitions/2",
            404,
            {
                "code": "partition_not_found",
                "message": "The topic `orders` has no partition 2.",
                "hint": "It has 2, counted from 0.",
            },
        ),
        (
            "clusters/local/groups?limit=0",
            400,
            {
                "code": "invalid_parameter",
                "message": "Parameter `limit` is '0': it should be greater than or equal to 1.",
                "hint": "`limit`: At most so many groups.",
            },
        ),
        (
            "clusters/local/groups?status=STOP",
            400,
            {
                "code": "invalid_parameter",
                "message": "Parameter `status` is 'STOP': it should be 'OK', 'WARN' or 'ERR'.",
                "hint": "`status`: Only groups in this status; may be given several times.",
            },
        ),
        (
            "clusters/local/groups/billing?only=good",
            400,
            {
                "code": "invalid_parameter",
                "message": "Parameter `only` is 'good': it should be 'trouble'.",
                "hint": "`only`: `trouble` leaves out the partitions that are OK.",
            },
        ),
        (
            "clusters/local/topics?colour=red",
            400,
            {
                "code": "invalid_parameter",
                "message": "There is no parameter `colour` here.",
                "hint": "Parameters here are `name`, `limit`, `offset`.",
            },
        ),
        (
            "pipeline?x=1",
            400,
            {
                "code": "invalid_parameter",
                "message": "There is no parameter `x` here.",
                "hint": "No parameters are taken here.",
            },
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_error_says_what_where_and_what_to_do(
    client: TestClient, path: str, status: int, expected: dict[str, str]
) -> None:
    assert error(client, path, status) == expected


@pytest.mark.parametrize(
    "path",
    [
        "clusters/local/groups?limit=10001",
        "clusters/local/groups?limit=many",
        "clusters/local/groups?offset=-1",
        "clusters/local/groups?sort=colour",
        "clusters/local/groups?reverse=perhaps",
        "clusters/local/groups?rules=none",
        "clusters/local/topics?limit=0",
        "clusters/local/changes?limit=1001",
        "clusters/local/changes?since=yesterday",
        "clusters/local/changes?since=2026-01-01T00:00:00",
        "clusters/local/groups/billing/topics/orders/partitions/first",
        "clusters/local/groups/billing/topics/orders/partitions/-1",
    ],
)
def test_a_wrong_parameter_is_refused(client: TestClient, path: str) -> None:
    assert error(client, path, 400)["code"] == "invalid_parameter"


def test_a_wrong_method_is_an_error_of_the_same_shape(client: TestClient) -> None:
    answer = client.delete("clusters/local/groups/billing")

    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert answer.json() == {
        "error": {
            "code": "method_not_allowed",
            "message": "DELETE is not possible at /api/v1/clusters/local/groups/billing.",
            "hint": "Everything here is read with GET.",
        }
    }


def test_a_failure_tells_nothing_of_what_is_inside(client: TestClient, clock: Clock) -> None:
    clock.error = RuntimeError("the password is 123")
    with structlog.testing.capture_logs():
        told = error(client, "clusters/local", 500)

    assert told == {
        "code": "internal_error",
        "message": "Warren failed to answer this.",
        "hint": "Its log tells why. Please report it.",
    }


def test_a_failure_is_logged_with_its_cause(client: TestClient, clock: Clock) -> None:
    clock.error = RuntimeError("no battery")
    with structlog.testing.capture_logs() as logs:
        client.get("clusters/local")

    assert [(one["event"], one["path"], one["exc_info"]) for one in logs] == [
        ("a request failed", "/api/v1/clusters/local", clock.error)
    ]


def test_paths_beside_the_api_are_still_answered_as_burrow_does(client: TestClient) -> None:
    answer = client.get("http://warren/api/v2/clusters")

    assert answer.text == '{"error":true,"message":"invalid request type","result":{}}\n'


# -- every answer ----------------------------------------------------------------------------------------------------

PATHS = {
    "": "Start",
    "pipeline": "Pipeline",
    "clusters": "ClusterList",
    "clusters/local": "Cluster",
    "clusters/local/groups": "GroupList",
    "clusters/local/groups?limit=1&rules=warren": "GroupList",
    "clusters/local/groups/billing": "Group",
    "clusters/local/groups/reporting?only=trouble": "Group",
    "clusters/local/groups/billing/topics/orders/partitions/0": "PartitionWindow",
    "clusters/local/groups/reporting/topics/orders/partitions/1": "PartitionWindow",
    "clusters/local/topics": "TopicList",
    "clusters/local/topics/orders": "Topic",
    "clusters/local/changes": "ChangeList",
    "incidents/none": "ErrorAnswer",
    "clusters/nowhere": "ErrorAnswer",
    "nothing": "ErrorAnswer",
    "pipeline?x=1": "ErrorAnswer",
}


@pytest.mark.parametrize("path", PATHS)
def test_an_answer_is_what_its_model_says_and_no_more(changed: TestClient, path: str) -> None:
    answer = changed.get(path)
    model = TypeAdapter(getattr(models, PATHS[path]))

    assert json.loads(model.dump_json(model.validate_json(answer.content))) == answer.json()


@pytest.mark.parametrize("path", [*PATHS, "openapi.json"])
def test_nothing_is_cached(client: TestClient, path: str) -> None:
    assert client.get(path).headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", [*PATHS, "openapi.json"])
def test_every_answer_is_json(client: TestClient, path: str) -> None:
    assert client.get(path).headers["content-type"] == "application/json"


def test_head_is_answered_like_get(client: TestClient) -> None:
    assert client.head("clusters/local").status_code == 200


# -- the documentation -----------------------------------------------------------------------------------------------


@pytest.fixture
def document(client: TestClient) -> dict[str, Any]:
    return get(client, "openapi.json")


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By method and path."""
    return {
        f"{method} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def model_names(value: Any) -> set[str]:
    """Everything that a part of the document refers to."""
    if isinstance(value, dict):
        own = {value["$ref"].removeprefix("#/components/schemas/")} if "$ref" in value else set()
        return own.union(*map(model_names, value.values()))
    return set().union(*map(model_names, value)) if isinstance(value, list) else set()


def test_the_document_is_openapi_3_1_of_this_place(document: dict[str, Any]) -> None:
    assert (document["openapi"][:3], document["servers"]) == ("3.1", [{"url": "/api/v1"}])


def test_everything_the_document_refers_to_is_in_it(document: dict[str, Any]) -> None:
    assert model_names(document) == document["components"]["schemas"].keys()


def test_operations_have_names_that_clients_can_use(document: dict[str, Any]) -> None:
    assert [one["operationId"] for one in operations(document).values()] == [
        "start",
        "list_clusters",
        "get_cluster",
        "list_groups",
        "get_group",
        "get_trail",
        "list_windows",
        "get_partition",
        "list_topics",
        "get_topic",
        "list_changes",
        "get_pipeline",
        "get_config",
        "get_about",
        "list_incidents",
        "get_incident",
        "list_silences",
        "add_silence",
        "remove_silence",
        "list_notifiers",
        "try_notifier",
    ]


def test_every_operation_is_explained(document: dict[str, Any]) -> None:
    assert all(one["summary"] and one["description"] for one in operations(document).values())


def test_every_parameter_is_explained(document: dict[str, Any]) -> None:
    parameters = [each for one in operations(document).values() for each in one.get("parameters", [])]

    assert [one["name"] for one in parameters if not one.get("description")] == []


def test_every_answer_has_a_model(document: dict[str, Any]) -> None:
    answers = [one["responses"] for one in operations(document).values()]

    assert all(model_names(one.get("200") or one["201"]) for one in answers)


@pytest.mark.parametrize("status", ["400", "404", "500", "default"])
def test_every_error_is_documented_in_the_one_shape(document: dict[str, Any], status: str) -> None:
    expected = [name for name in operations(document) if "{" in name or status != "404"]
    found = [
        name
        for name, one in operations(document).items()
        if model_names(one["responses"].get(status)) == {"ErrorAnswer"}
    ]

    assert found == expected


def test_no_other_error_is_documented(document: dict[str, Any]) -> None:
    statuses = {status for one in operations(document).values() for status in one["responses"]}

    assert statuses == {"200", "201", "400", "404", "500", "default"}


API_PAGE = Path(__file__).parents[2] / "docs" / "api.md"


def test_the_page_about_the_api_has_every_endpoint(document: dict[str, Any]) -> None:
    page = API_PAGE.read_text()

    assert [path for path in document["paths"] if f"`{path}`" not in page] == []


@pytest.mark.parametrize(
    "model",
    [
        *("Cluster", "GroupSummary", "Partition", "WindowEntry", "Reader", "Change"),
        *("Trail", "ListTrails", "PartitionCommits", "WindowList", "ConfigSection", "About"),
        *("Incident", "IncidentStep", "IncidentCause", "Silence", "NewSilence", "Notifier", "NotifierList"),
    ],
)
def test_the_page_about_the_api_has_every_field(document: dict[str, Any], model: str) -> None:
    page = API_PAGE.read_text()

    assert [name for name in document["components"]["schemas"][model]["properties"] if name not in page] == []


def test_the_page_about_the_api_has_every_rule() -> None:
    page = API_PAGE.read_text()

    assert [rule.name for rule in Rule if f"`{rule.name.lower()}`" not in page] == []
