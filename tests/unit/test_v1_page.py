"""API v1 as the page needs it: trails, windows of a whole group, the configuration, and what Warren is made of."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.example_cluster import filled_state, iso, ms
from warren import __version__
from warren.clusters.state import ClusterState
from warren.config.load import parse
from warren.serve.access import hash_token
from warren.serve.app import make_app

SECRET = "hunter2-and-more"


@pytest.fixture
def state() -> ClusterState:
    return filled_state()


@pytest.fixture
def client(state: ClusterState) -> TestClient:
    config = parse(
        {
            "cluster": {"local": {"servers": ["127.0.0.1:9092"]}},
            "consumer": {"local": {"cluster": "local"}},
            "notifier": {"chat": {"class-name": "slack", "url": f"https://127.0.0.1/{SECRET}"}},
            "security": {"write-tokens": [hash_token(SECRET)]},
            "sasl": {"s": {"username": "ann", "password": SECRET}},
        },
        "a test",
    )
    app = make_app({"local": state}, lambda: config, lambda: ms(41))
    return TestClient(app, base_url="http://warren/api/v1/", client=("127.0.0.1", 1))


def get(client: TestClient, path: str) -> Any:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_trail_has_a_point_for_each_evaluation(client: TestClient, state: ClusterState) -> None:
    for second in (31, 36, 41):
        state.evaluate(now_ms=ms(second))
    told = get(client, "clusters/local/groups/reporting/trail")

    assert told["times"] == [iso(31), iso(36), iso(41)]
    assert told["total_lag"] == [180, 180, 180]
    assert [round(one) for one in told["lag_seconds"]] == [19, 24, 29]


def test_before_the_first_evaluation_a_trail_is_empty(client: TestClient) -> None:
    told = get(client, "clusters/local/groups/reporting/trail")

    assert (told["times"], told["total_lag"], told["lag_seconds"]) == ([], [], [])


def test_the_trail_of_a_group_that_is_not_there_is_not_found(client: TestClient) -> None:
    assert client.get("clusters/local/groups/nobody/trail").json()["error"]["code"] == "group_not_found"


def test_a_list_has_trails_in_the_order_of_its_groups(client: TestClient, state: ClusterState) -> None:
    state.evaluate(now_ms=ms(31))
    told = get(client, "clusters/local/groups?trail=true&sort=name")

    assert told["trails"]["times"] == [iso(31)]
    assert told["trails"]["total_lag"] == [[one["total_lag"]] for one in told["groups"]]


def test_a_list_has_no_trails_if_nobody_asks(client: TestClient) -> None:
    assert "trails" not in get(client, "clusters/local/groups")


def test_the_windows_of_all_partitions_come_at_once(client: TestClient) -> None:
    told = get(client, "clusters/local/groups/billing/windows")
    alone = get(client, "clusters/local/groups/billing/topics/orders/partitions/1")

    assert (told["matching"], told["window_size"], told["next"]) == (2, 3, None)
    assert [(one["topic"], one["partition"], one["status"]) for one in told["windows"]] == [
        ("orders", 0, "STALL"),
        ("orders", 1, "OK"),
    ]
    assert told["windows"][1]["window"] == alone["window"]


def test_windows_come_in_pages_and_by_topic(client: TestClient) -> None:
    first = get(client, "clusters/local/groups/billing/windows?topic=orders&limit=1")
    second = get(client, f"clusters/local/groups/billing/windows{first['next']}")

    assert [one["windows"][0]["partition"] for one in (first, second)] == [0, 1]
    assert get(client, "clusters/local/groups/billing/windows?topic=payments")["windows"] == []


def test_the_configuration_is_told_without_secrets(client: TestClient) -> None:
    answer = client.get("config")
    told = {one["section"]: {key["key"]: key["value"] for key in one["keys"]} for one in answer.json()["sections"]}

    assert SECRET not in answer.text
    assert told["security"]["write-tokens"] == ["***"]
    assert told["notifier.chat"]["url"] == "***"
    assert told["cluster.local"]["servers"] == ["127.0.0.1:9092"]
    assert told["storage.default"]["intervals"] == 10


def test_about_tells_versions_and_positions(client: TestClient) -> None:
    told = get(client, "about")

    assert told["version"] == __version__
    assert told["packages"].keys() == {"PySpark", "confluent-kafka", "NumPy", "Arrow"}
    assert told["positions"] == [
        {"consumer": "local", "cluster": "local", "positions": [{"partition": 0, "position": 24}]}
    ]
