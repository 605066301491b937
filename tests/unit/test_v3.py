"""HTTP v3: Burrow's endpoints, byte for byte where clients depend on it."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.scenario import commit_table, head_table
from warren.config.load import for_bootstrap
from warren.rules.rule import Settings
from warren.serve import gojson
from warren.serve.app import make_app
from warren.state import ClusterState
from warren.windows.store import Limits

HOST = socket.gethostname()
NOW_MS = 41_500


@pytest.fixture
def state() -> ClusterState:
    state = ClusterState("local", Limits(intervals=3), Settings(), {"local": "__consumer_offsets"})
    state.apply_head_rows(head_table({"__consumer_offsets": [3], "orders": [100, 50]}, 9_000), now_ms=9_000)
    table = commit_table(
        ("billing", "orders", 0, 10, 10_000), ("billing", "orders", 0, 10, 20_000), ("a b/<ü>", "orders", 1, 50, 9_500)
    )
    state.apply_commit_rows("local", table, now_ms=20_000)
    state.apply_head_rows(head_table({"__consumer_offsets": [3], "orders": [100, 50]}, 21_000), now_ms=21_000)
    return state


@pytest.fixture
def client(state: ClusterState) -> Iterator[TestClient]:
    app = make_app({"local": state}, lambda: for_bootstrap("127.0.0.1:9092", "127.0.0.1:8000"), lambda: NOW_MS)
    with TestClient(app, client=("127.0.0.1", 1)) as client:
        yield client


def body(client: TestClient, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    return answer.text


def request(path: str) -> str:
    return f'"request":{{"url":"{path}","host":"{HOST}"}}}}'


ENTRY_1 = '{"offset":10,"timestamp":10000,"observedAt":20000,"lag":90}'
ENTRY_2 = '{"offset":10,"timestamp":20000,"observedAt":20000,"lag":90}'
STALLED = (
    '{"topic":"orders","partition":0,"owner":"","client_id":"","status":"STOP",'
    f'"start":{ENTRY_1},"end":{ENTRY_2},"current_lag":90,"complete":0.6666667}}'
)
UNCOMMITTED = (
    '{"topic":"orders","partition":1,"owner":"","client_id":"","status":"OK",'
    '"start":null,"end":null,"current_lag":0,"complete":0}'
)


def test_clusters(client: TestClient) -> None:
    path = "/v3/kafka"
    assert body(client, path) == (
        f'{{"error":false,"message":"cluster list returned","clusters":["local"],{request(path)}'
    )


def test_cluster_detail(client: TestClient) -> None:
    path = "/v3/kafka/local"
    assert body(client, path) == (
        '{"error":false,"message":"cluster module detail returned","module":{"class-name":"kafka",'
        '"servers":["127.0.0.1:9092"],"client-profile":{"name":"","client-id":"burrow-lagchecker",'
        '"kafka-version":"2.8.0","tls":null,"sasl":null},"topic-refresh":60,"offset-refresh":10},' + request(path)
    )


def test_topics(client: TestClient) -> None:
    path = "/v3/kafka/local/topic"
    assert body(client, path) == (
        '{"error":false,"message":"topic list returned","topics":["__consumer_offsets","orders"],' + request(path)
    )


def test_topic_offsets(client: TestClient) -> None:
    path = "/v3/kafka/local/topic/orders"
    assert body(client, path) == (
        '{"error":false,"message":"topic offsets returned","offsets":[100,50],' + request(path)
    )


def test_consumers_of_a_topic(client: TestClient) -> None:
    path = "/v3/kafka/local/topic/orders/consumers"
    expected = '{"error":false,"message":"consumers of topic returned","consumers":["a b/\\u003cü\\u003e","billing"],'
    assert body(client, path) == expected + request(path)
    assert '"consumers":[]' in body(client, "/v3/kafka/local/topic/nothing/consumers")


def test_consumers_include_the_group_that_tells_how_far_warren_is(client: TestClient) -> None:
    path = "/v3/kafka/local/consumer"
    listed = '["a b/\\u003cü\\u003e","billing","burrow-local"]'
    expected = f'{{"error":false,"message":"consumer list returned","consumers":{listed},'
    assert body(client, path) == expected + request(path)


def test_consumer_detail(client: TestClient) -> None:
    path = "/v3/kafka/local/consumer/billing"
    assert body(client, path) == (
        '{"error":false,"message":"consumer detail returned","topics":{"orders":['
        f'{{"offsets":[null,{ENTRY_1},{ENTRY_2}],"owner":"","client_id":"","current-lag":90}},'
        '{"offsets":[],"owner":"","client_id":"","current-lag":0}]},' + request(path)
    )


def test_lag_lists_every_partition(client: TestClient) -> None:
    path = "/v3/kafka/local/consumer/billing/lag"
    assert body(client, path) == (
        '{"error":false,"message":"consumer status returned","status":{"cluster":"local","group":"billing",'
        f'"status":"ERR","complete":0,"partitions":[{STALLED},{UNCOMMITTED}],"partition_count":2,'
        f'"maxlag":{STALLED},"totallag":90}},' + request(path)
    )


def test_status_lists_the_partitions_in_trouble(client: TestClient) -> None:
    path = "/v3/kafka/local/consumer/billing/status"
    assert f'"partitions":[{STALLED}],"partition_count":2' in body(client, path)


@pytest.mark.parametrize("endpoint", ["lag", "status"])
@pytest.mark.parametrize("cluster", ["local", "elsewhere"])
def test_the_status_of_an_unknown_group_is_a_404_that_exporters_can_read(
    client: TestClient, cluster: str, endpoint: str
) -> None:
    path = f"/v3/kafka/{cluster}/consumer/nobody/{endpoint}"
    assert body(client, path, 404) == (
        f'{{"error":false,"message":"consumer status returned","status":{{"cluster":"{cluster}","group":"nobody",'
        '"status":"NOTFOUND","complete":1,"partitions":[],"partition_count":0,"maxlag":null,"totallag":0},'
        + request(path)
    )


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v3/kafka/nowhere", "cluster module not found"),
        ("/v3/kafka/nowhere/topic", "cluster not found"),
        ("/v3/kafka/nowhere/consumer", "cluster not found"),
        ("/v3/kafka/nowhere/topic/t/consumers", "cluster not found"),
        ("/v3/kafka/local/topic/nothing", "cluster or topic not found"),
        ("/v3/kafka/local/consumer/nobody", "cluster or consumer not found"),
    ],
)
def test_what_is_not_there_is_a_404_with_a_reason(client: TestClient, path: str, message: str) -> None:
    assert body(client, path, 404) == f'{{"error":true,"message":"{message}",{request(path)}'


def test_an_unknown_path_is_a_404_in_plain_text(client: TestClient) -> None:
    answer = client.get("/v4/kafka")

    assert answer.status_code == 404
    assert answer.text == '{"error":true,"message":"invalid request type","result":{}}\n'
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


def test_a_wrong_method_is_a_405(client: TestClient) -> None:
    assert client.post("/v3/kafka").status_code == 405


def test_a_group_can_be_deleted_from_this_machine(client: TestClient) -> None:
    path = "/v3/kafka/local/consumer/billing"
    answer = client.delete(path)

    assert answer.text == '{"error":false,"message":"consumer group removed",' + request(path)
    assert client.get(path).status_code == 404


def test_a_topic_of_a_group_can_be_deleted(client: TestClient) -> None:
    assert client.delete("/v3/kafka/local/consumer/billing/topic/orders").status_code == 200
    assert client.get("/v3/kafka/local/consumer/billing").status_code == 404


def test_strangers_cannot_delete(state: ClusterState) -> None:
    app = make_app({"local": state}, lambda: for_bootstrap("127.0.0.1:9092", "127.0.0.1:8000"), lambda: NOW_MS)
    with TestClient(app, client=("192.0.2.7", 1)) as stranger:
        assert stranger.delete("/v3/kafka/local/consumer/billing").status_code == 403
    assert "billing" in state.groups()


def test_names_with_spaces_and_unicode_are_found(client: TestClient, state: ClusterState) -> None:
    table = commit_table(("ü ß%", "orders", 0, 1, 30_000), source_partition=1)
    state.apply_commit_rows("local", table, now_ms=30_000)

    assert client.get("/v3/kafka/local/consumer/%C3%BC%20%C3%9F%25/lag").status_code == 200


def test_alive_and_ready(client: TestClient) -> None:
    assert client.get("/burrow/admin").text == "GOOD"
    assert client.get("/burrow/admin/ready").text == "READY"


def test_not_ready_before_everything_is_read() -> None:
    state = ClusterState("local", Limits(), Settings(), {"local": "__consumer_offsets"})
    state.apply_head_rows(head_table({"orders": [1]}, 1), now_ms=1)
    app = make_app({"local": state}, lambda: for_bootstrap("127.0.0.1:9092", "127.0.0.1:8000"), lambda: NOW_MS)
    with TestClient(app) as client:
        answer = client.get("/burrow/admin/ready")
    assert (answer.status_code, answer.text) == (503, "STARTING")


def test_a_batch_that_comes_again_changes_nothing(state: ClusterState, client: TestClient) -> None:
    path = "/v3/kafka/local/consumer/billing/lag"
    before = body(client, path)
    table = commit_table(
        ("billing", "orders", 0, 10, 10_000), ("billing", "orders", 0, 10, 20_000), ("a b/<ü>", "orders", 1, 50, 9_500)
    )
    state.apply_commit_rows("local", table, now_ms=30_000)

    assert body(client, path) == before


def test_json_is_written_as_go_writes_it() -> None:
    value = {"a": "<b>&\u2028ü", "f": [gojson.number(1.0), 0.5, 0.33333334], "n": None, "t": True}

    assert gojson.dumps(value) == (
        '{"a":"\\u003cb\\u003e\\u0026\\u2028ü","f":[1,0.5,0.33333334],"n":null,"t":true}'.encode()
    )
