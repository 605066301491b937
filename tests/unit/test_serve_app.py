"""The HTTP application: limits, failures, the log of changes, counts, and answers that are kept for a moment."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import structlog
from starlette.testclient import TestClient

from tests.golden.sites import CONFIGS, NOW_MS, WRITER, Level, told_state
from tests.support.scenario import commit_table
from warren.clusters.state import ClusterState
from warren.config.model import Config
from warren.serve.access import hash_token
from warren.serve.app import Site, make_app
from warren.serve.counts import RequestCounts, RequestKind
from warren.serve.kitchen import Kitchen
from warren.serve.rendered import Basis, Rendered, RenderedAnswers

LAG = "/v3/kafka/local/consumer/billing/lag"


class Warren:
    """An application whose clock, configuration and clusters can be changed."""

    def __init__(self) -> None:
        self.clusters: dict[str, ClusterState] = {}
        self.app: Site = make_app(self.clusters, lambda: self.config, lambda: self.now_ms, log_level=Level())
        self.client = TestClient(self.app, client=("127.0.0.1", 1), raise_server_exceptions=False)
        self.begin_again()

    def begin_again(self) -> None:
        self.now_ms = NOW_MS
        self.config: Config = CONFIGS["v2"]
        self.state = self.clusters["local"] = told_state()
        self.app.counts = RequestCounts()
        self.app._rendered = RenderedAnswers(self.clusters)

    def get(self, path: str) -> str:
        answer = self.client.get(path)
        assert answer.status_code == 200
        return answer.text

    def commit_again(self) -> None:
        table = commit_table(("billing", "orders", 0, 11, 30_000), first_order=21)
        self.state.apply_commit_rows("local", table, now_ms=30_000)


@pytest.fixture(scope="module")
def one_for_all() -> Warren:
    return Warren()


@pytest.fixture
def warren(one_for_all: Warren) -> Warren:
    one_for_all.begin_again()
    return one_for_all


# -- answers that are kept -------------------------------------------------------------------------------------------


def test_the_same_answer_is_written_once(warren: Warren, monkeypatch: pytest.MonkeyPatch) -> None:
    first = warren.get(LAG)
    monkeypatch.setattr(ClusterState, "judge", None)
    assert warren.get(LAG) == first


def test_the_same_answer_is_written_once_for_those_with_a_token(
    warren: Warren, monkeypatch: pytest.MonkeyPatch
) -> None:
    warren.config = CONFIGS["tokens"]
    headers = {"Authorization": f"Bearer {WRITER}"}
    first = warren.client.get(LAG, headers=headers)
    monkeypatch.setattr(ClusterState, "judge", None)
    assert first.status_code == 200
    assert warren.client.get(LAG, headers=headers).text == first.text
    assert warren.client.get(LAG).status_code == 401


def test_an_answer_at_hand_does_not_wait_for_the_state(warren: Warren) -> None:
    first = warren.get(LAG)
    with warren.state._lock:
        assert warren.get(LAG) == first


def test_a_commit_is_seen_at_once(warren: Warren) -> None:
    assert '"offset":11' not in warren.get(LAG)
    warren.commit_again()
    assert '"offset":11' in warren.get(LAG)


def test_a_batch_that_comes_again_changes_nothing(warren: Warren) -> None:
    before = warren.get(LAG)
    table = commit_table(("billing", "orders", 0, 10, 10_000), ("billing", "orders", 0, 10, 20_000))
    warren.state.apply_commit_rows("local", table, now_ms=30_000)
    assert warren.get(LAG) == before


@pytest.mark.parametrize("path", ["/v3/kafka/local/consumer/billing", "/v3/kafka/local/consumer/billing/topic/orders"])
def test_a_deletion_is_seen_at_once(warren: Warren, path: str) -> None:
    warren.get(LAG)
    warren.client.delete(path)
    assert warren.client.get(LAG).status_code == 404


def test_verdicts_change_with_time_alone(warren: Warren) -> None:
    warren.now_ms = 22_000
    assert '"status":"STOP"' not in warren.get(LAG)
    warren.now_ms = 41_500
    assert '"status":"STOP"' in warren.get(LAG)


def test_a_clock_that_goes_back_does_not_keep_an_answer(warren: Warren, monkeypatch: pytest.MonkeyPatch) -> None:
    warren.get(LAG)
    warren.now_ms -= 1
    monkeypatch.setattr(ClusterState, "judge", None)
    assert warren.client.get(LAG).status_code == 500


def test_a_state_that_was_replaced_is_not_answered_from(warren: Warren) -> None:
    warren.get(LAG)
    del warren.clusters["local"]
    assert warren.client.get(LAG).status_code == 404


def test_a_new_configuration_holds_at_once(warren: Warren) -> None:
    assert "access-control-allow-origin" not in warren.client.get(LAG).headers
    warren.config = CONFIGS["cors"]
    assert warren.client.get(LAG).headers["access-control-allow-origin"] == "*"
    warren.config = CONFIGS["tokens"]
    assert warren.client.get(LAG).status_code == 401


def test_what_is_not_found_is_not_kept(warren: Warren) -> None:
    for path in ("/v3/kafka/local/consumer/nobody/lag", "/v3/kafka/local/topic/nothing", "/v3/kafka/x/topic"):
        warren.client.get(path)
        warren.client.get(path.replace("v3", "v2"))
    assert warren.app._rendered.size_bytes == 0


def test_kept_answers_take_bounded_memory_and_those_not_asked_for_go_first(warren: Warren) -> None:
    kept = RenderedAnswers(warren.clusters, max_bytes=10_000)
    basis = Basis(warren.state, warren.state.version, warren.config, NOW_MS)
    for number in range(100):
        kept.put(b"%d" % number, basis, Rendered(200, [], b"x" * 1_000))
        kept.get(b"0", warren.config, NOW_MS)
    assert kept.size_bytes <= 10_000
    assert kept.get(b"0", warren.config, NOW_MS)
    assert kept.get(b"1", warren.config, NOW_MS) is None


def test_what_many_ask_for_at_once_is_made_once(warren: Warren) -> None:
    kitchen, open_door, made = Kitchen(), threading.Event(), []
    basis = Basis(warren.state, 1, warren.config, NOW_MS)

    def make() -> Rendered:
        made.append(open_door.wait(60))
        return Rendered(200, [], b"")

    shared = [kitchen.make_for_all(b"/x", basis, make) for _ in range(5)]
    after_a_change = kitchen.make_for_all(b"/x", basis._replace(version=2), make)
    open_door.set()
    assert {id(one.result(60)) for one in shared} == {id(shared[0].result(60))}
    assert after_a_change.result(60) is not shared[0].result(60)
    assert len(made) == 2


def test_a_failure_is_not_kept_for_those_who_ask_next(warren: Warren) -> None:
    kitchen, basis = Kitchen(), Basis(warren.state, 1, warren.config, NOW_MS)
    failed = kitchen.make_for_all(b"/x", basis, lambda: Rendered(*()))
    assert isinstance(failed.exception(60), TypeError)
    answer = Rendered(200, [], b"")
    assert kitchen.make_for_all(b"/x", basis, lambda: answer).result(60) is answer


def test_an_answer_that_would_drive_out_all_others_is_not_kept(warren: Warren) -> None:
    kept = RenderedAnswers(warren.clusters, max_bytes=10_000)
    basis = Basis(warren.state, warren.state.version, warren.config, NOW_MS)
    kept.put(b"long", basis, Rendered(200, [], b"x" * 9_000))
    assert kept.size_bytes == 0


# -- failures and limits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (LAG, '{"error":true,"message":"internal error, see the log","request":{"url":"'),
        (
            "/v2/kafka/local/consumer/billing/lag",
            '{"error":true,"message":"internal error, see the log","result":null,',
        ),
        ("/api/v1/clusters/local/groups/billing", '{"error":{"code":"internal_error","message":"'),
    ],
)
def test_a_failure_is_told_in_the_shape_of_its_api_and_logged(
    warren: Warren, monkeypatch: pytest.MonkeyPatch, path: str, body: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr(ClusterState, "judge", fail)
    with structlog.testing.capture_logs() as logged:
        answer = warren.client.get(path)

    assert answer.status_code == 500
    assert answer.text.startswith(body)
    assert "hunter2" not in answer.text
    assert [one["event"] for one in logged] == ["a request failed"]


@pytest.mark.parametrize("path", ["/v3/admin/loglevel", "/api/v1/clusters"])
def test_a_long_body_is_refused(warren: Warren, path: str) -> None:
    answer = warren.client.post(path, content=b"x" * 65_537)
    assert (answer.status_code, answer.headers["connection"]) == (413, "close")
    assert "65536 bytes" in answer.text


def test_a_long_body_that_does_not_tell_its_length_is_refused(warren: Warren) -> None:
    parts = (b"x" * 10_000 for _ in range(7))
    assert warren.client.post("/v3/admin/loglevel", content=parts).status_code == 413


def test_a_body_of_the_longest_length_is_taken(warren: Warren) -> None:
    body = b'{"level":"debug"}'.ljust(65_536)
    assert warren.client.post("/v3/admin/loglevel", content=body).status_code == 200


@pytest.mark.parametrize("body", [b"[" * 60_000, b'{"level":NaN}', b'{"level":"debug"', b"\xef\xbb\xbf{}", b""])
def test_nonsense_for_a_log_level_is_a_400(warren: Warren, body: bytes) -> None:
    assert warren.client.post("/v3/admin/loglevel", content=body).status_code == 400


def test_an_application_without_a_log_level_to_set_says_so(warren: Warren) -> None:
    app = make_app({}, lambda: CONFIGS["default"], lambda: NOW_MS)
    client = TestClient(app, client=("127.0.0.1", 1))
    assert client.get("/v3/admin/loglevel").json()["level"] == "warn"
    assert client.post("/v3/admin/loglevel", json={"level": "debug"}).status_code == 501


# -- changes are told ------------------------------------------------------------------------------------------------


def logged_by(client: TestClient, method: str, path: str, **headers: str) -> list[dict[str, Any]]:
    with structlog.testing.capture_logs() as logged:
        client.request(method, path, headers=headers)
    return list(logged)


def test_a_change_is_logged_with_who_did_it(warren: Warren) -> None:
    warren.config = CONFIGS["tokens"]
    path, by = "/v3/kafka/local/consumer/billing", "127.0.0.1"
    logged = logged_by(warren.client, "DELETE", path, Authorization=f"Bearer {WRITER}")
    digits = hash_token(WRITER).removeprefix("sha256:")[:8]
    expected = {"event": "changed", "log_level": "info", "what": f"DELETE {path}", "by": by, "status": 200}
    assert logged == [expected | {"token": digits}]


def test_deleting_what_is_not_there_is_logged_as_no_change(warren: Warren) -> None:
    logged = logged_by(warren.client, "DELETE", "/v3/kafka/local/consumer/nobody")
    assert [(one["event"], one["status"]) for one in logged] == [("nothing changed", 200)]


def test_a_refused_change_is_logged(warren: Warren) -> None:
    stranger = TestClient(warren.app, client=("192.0.2.7", 1))
    logged = logged_by(stranger, "DELETE", "/v3/kafka/local/consumer/billing")
    assert [(one["event"], one["by"], one["status"]) for one in logged] == [("change refused", "192.0.2.7", 403)]
    assert "billing" in warren.state.groups()


def test_no_token_is_logged(warren: Warren) -> None:
    warren.config = CONFIGS["tokens"]
    logged = logged_by(warren.client, "DELETE", "/v3/kafka/local/consumer/x", Authorization="Bearer some-token")
    assert "some-token" not in str(logged)


def test_reading_is_not_logged(warren: Warren) -> None:
    assert logged_by(warren.client, "GET", LAG) == []


# -- counts ----------------------------------------------------------------------------------------------------------


def test_every_request_is_counted_by_api_method_and_status(warren: Warren) -> None:
    for path in (LAG, LAG, "/v3/kafka/nowhere", "/v2/kafka", "/api/v1/clusters", "/metrics", "/burrow/admin", "/%zz"):
        warren.client.get(path)
    warren.client.delete("/v3/kafka/local/consumer/billing")
    counted = {kind: total.requests for kind, total in warren.app.counts.snapshot().items()}
    assert counted == {
        RequestKind("v3", "GET", 200): 2,
        RequestKind("v3", "GET", 404): 1,
        RequestKind("v3", "DELETE", 200): 1,
        RequestKind("v2", "GET", 200): 1,
        RequestKind("v1", "GET", 200): 1,
        RequestKind("metrics", "GET", 200): 1,
        RequestKind("other", "GET", 200): 1,
        RequestKind("other", "GET", 400): 1,
    }
    assert all(total.seconds > 0 for total in warren.app.counts.snapshot().values())


def test_methods_that_nobody_knows_are_counted_together() -> None:
    counts = RequestCounts()
    for method in ("BREW", "PROPFIND"):
        counts.add("v3", method, 405, 0.5)
    assert counts.snapshot() == {RequestKind("v3", "other", 405): (2, 1.0)}


# -- API v1 beside it ------------------------------------------------------------------------------------------------


def test_the_bare_path_of_v1_leads_to_its_start(warren: Warren) -> None:
    answer = warren.client.get("/api/v1", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "/api/v1/")


def test_a_path_that_only_begins_like_v1_is_nothing(warren: Warren) -> None:
    assert warren.client.get("/api/v10").status_code == 404
