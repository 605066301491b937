"""API v1 about the past, where none is kept, and answers that did not change."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from tests.support.example_cluster import filled_state, ms
from tests.support.waiting import eventually
from warren.clusters.state import ClusterState
from warren.config.load import for_bootstrap
from warren.history.courses import Course, OffsetsCourse
from warren.history.service import History, Plan
from warren.serve.app import make_app
from warren.serve.v1.errors import RequestError
from warren.serve.v1.history import MOST_WAITING, CourseQuery, HistoryApi


@pytest.fixture
def state() -> ClusterState:
    return filled_state()


@pytest.fixture
def client(state: ClusterState, tmp_path: Path) -> TestClient:
    config = for_bootstrap("127.0.0.1:9092", "127.0.0.1:0")
    history = History(Plan(""), tmp_path, lambda: ms(41))
    app = make_app({"local": state}, lambda: config, lambda: ms(41), history=history)
    return TestClient(app, base_url="http://warren/api/v1/", client=("127.0.0.1", 1))


def test_without_a_history_that_is_told(client: TestClient) -> None:
    told = client.get("history").json()
    assert (told["is_kept"], told["path"], told["last_written_at"]) == (False, None, None)


def test_the_course_of_a_group_needs_a_history(client: TestClient) -> None:
    answer = client.get("clusters/local/groups/reporting/history")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no_history")
    assert answer.json()["error"]["hint"] == "A path in [history] makes Warren keep one."


def test_the_course_of_a_group_of_no_cluster_is_not_found(client: TestClient) -> None:
    assert client.get("clusters/none/groups/g/history").json()["error"]["code"] == "cluster_not_found"


@pytest.mark.parametrize("group", ["late night", "team/orders", "a:b%", "주문"])
def test_groups_are_found_by_their_names_whatever_these_are(
    client: TestClient, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(History, "course", lambda _, name, span, most: asked.append((name,)) or NOTHING)
    monkeypatch.setattr(History, "offsets_course", lambda _, where, span, most: asked.append(where) or NOWHERE)
    path = f"clusters/local/groups/{quote(group, safe='')}"
    answers = [client.get(f"{path}/history").json(), client.get(f"{path}/topics/t/partitions/3/history").json()]

    assert asked == [(group,), (group, "t", 3)]
    assert [one["group"] for one in answers] == [group, group]


NOTHING, NOWHERE = Course(1_000, [], [], [], []), OffsetsCourse(1_000, [], [], [])


def test_those_who_would_wait_for_too_long_are_told_to_ask_again(
    state: ClusterState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_read = threading.Event()
    monkeypatch.setattr(History, "course", lambda *_: is_read.wait(120) and NOTHING)
    api = HistoryApi(History(Plan(""), tmp_path, lambda: ms(41)), {"local": state}, lambda: ms(41))
    with ThreadPoolExecutor(MOST_WAITING) as pool:
        others = [pool.submit(api.get_course, "local", "g", CourseQuery()) for _ in range(MOST_WAITING)]
        eventually(lambda: api._waiting._value == 0)
        with pytest.raises(RequestError, match="Too many ask about the history"):
            api.get_course("local", "g", CourseQuery())
        is_read.set()
        assert [one.result()["group"] for one in others] == ["g"] * MOST_WAITING

    assert api.get_course("local", "g", CourseQuery())["times"] == []


def test_a_moment_without_a_zone_is_refused(client: TestClient) -> None:
    answer = client.get("clusters/local/groups/g/history?since=2026-01-01T00:00:00")
    assert answer.status_code == 400


# -- unchanged answers -----------------------------------------------------------------------------------------------


def test_an_answer_that_did_not_change_is_not_sent_again(client: TestClient) -> None:
    first = client.get("clusters/local/topics")
    again = client.get("clusters/local/topics", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", first.headers["ETag"])


def test_an_answer_that_is_only_judged_anew_counts_as_unchanged(state: ClusterState) -> None:
    config, now = for_bootstrap("127.0.0.1:9092", "127.0.0.1:0"), [ms(41)]
    client = TestClient(make_app({"local": state}, lambda: config, lambda: now[0]), base_url="http://warren/api/v1/")
    first = client.get("clusters/local/groups?name=team")
    assert len(first.json()["groups"]) == 1
    now[0] = ms(43)
    again = client.get("clusters/local/groups?name=team", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304


def test_an_answer_that_changed_is_sent(client: TestClient, state: ClusterState) -> None:
    first = client.get("clusters/local/groups")
    state.delete_group("reporting")
    again = client.get("clusters/local/groups", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 200
    assert again.headers["ETag"] != first.headers["ETag"]


def test_errors_have_no_tag(client: TestClient) -> None:
    assert "ETag" not in client.get("clusters/none").headers
