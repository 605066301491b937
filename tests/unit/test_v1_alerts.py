"""HTTP API v1 about alerts: incidents, silences and notifiers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr, TypeAdapter
from starlette.testclient import TestClient

from tests.support.alerts import (
    NOW_S,
    AlertsApi,
    Follower,
    alerts_api,
    config_with,
    deliver_some,
    record_incident,
    step,
)
from tests.support.example_cluster import iso, ms
from tests.support.receivers.web_server import web_server
from warren.config.model import Config, Notifier, Security
from warren.embedded.broker import free_port
from warren.model import Status
from warren.notify.events import Turn
from warren.notify.silences import Scope, Silence
from warren.serve.access import hash_token
from warren.serve.app import make_app
from warren.serve.v1 import alert_models


@pytest.fixture(scope="module")
def shared_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AlertsApi]:
    """One for all tests: starting it takes longer than they do."""
    started = alerts_api(tmp_path_factory.mktemp("home"), config_with())
    yield started
    started.alerts.stop()


@pytest.fixture
def api(shared_api: AlertsApi) -> AlertsApi:
    """The API without incidents, silences and messages."""
    with shared_api.alerts._database.change() as cursor:
        for table in ("incidents", "steps", "silences", "outbox", "outbox_results"):
            cursor.execute(f"DELETE FROM {table}")
    return shared_api


# -- incidents -------------------------------------------------------------------------------------------------------


def test_an_incident_tells_everything_that_happened(api: AlertsApi) -> None:
    record_incident(api, "one", 10, step(20, Turn.WORSENED, Status.ERR))

    cause = {
        "topic": "orders",
        "partition": 3,
        "rule": "stopped",
        "reason": "no commit for 6 s",
        "since": iso(9),
        "lag": 310,
        "lag_seconds": 12.346,
    }
    assert api.get("incidents/one") == {
        "id": "one",
        "cluster": "local",
        "group": "billing",
        "state": "open",
        "opened_at": iso(10),
        "closed_at": None,
        "status": "ERR",
        "worst": "ERR",
        "steps": [
            {"at": iso(10), "turn": "opened", "status": "WARN", "total_lag": 310, "cause": cause},
            {"at": iso(20), "turn": "worsened", "status": "ERR", "total_lag": 310, "cause": cause},
        ],
    }


def test_an_incident_that_is_over_tells_when_and_the_worst_that_it_was(api: AlertsApi) -> None:
    record_incident(api, "one", 10, step(20, Turn.WORSENED, Status.ERR), step(30, Turn.CLOSED, Status.OK))

    told = api.get("incidents/one")
    assert (told["state"], told["closed_at"], told["status"], told["worst"]) == ("closed", iso(30), "OK", "ERR")


def test_an_incident_of_a_group_that_went_ends_without_a_cause(api: AlertsApi) -> None:
    record_incident(api, "one", 10, step(30, Turn.CLOSED, Status.NOTFOUND, None))

    last = api.get("incidents/one")["steps"][-1]
    assert (last["status"], last["cause"]) == ("NOTFOUND", None)


def test_incidents_come_newest_first(api: AlertsApi) -> None:
    record_incident(api, "older", 10)
    record_incident(api, "newer", 20, group="reporting")

    assert api.incident_ids() == ["newer", "older"]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"cluster": "other"}, ["elsewhere"]),
        ({"group": "reporting"}, ["elsewhere"]),
        ({"group": "report"}, []),
        ({"state": "open"}, ["elsewhere"]),
        ({"state": "closed"}, ["over"]),
        ({"before": iso(20)}, ["over"]),
        ({"before": "2026-01-01T01:00:21+01:00"}, ["elsewhere", "over"]),
        ({"limit": 1}, ["elsewhere"]),
        ({"cluster": "local", "state": "open"}, []),
    ],
    ids=str,
)
def test_filters_leave_out_incidents_that_do_not_fit(
    api: AlertsApi, parameters: dict[str, Any], expected: list[str]
) -> None:
    record_incident(api, "over", 10, step(30, Turn.CLOSED, Status.OK))
    record_incident(api, "elsewhere", 20, cluster="other", group="reporting")

    assert api.incident_ids(**parameters) == expected


def test_paging_shows_each_incident_once_also_of_those_that_opened_together(api: AlertsApi) -> None:
    for number in range(5):
        record_incident(api, f"together-{number}", 10, group=f"g{number}")
    record_incident(api, "first", 5)

    seen, page = [], "incidents?limit=2&state=open"
    while page:
        answer = api.get(page)
        seen += [one["id"] for one in answer["incidents"]]
        page = f"incidents{answer['next']}" if answer["next"] else ""
    assert seen == [*(f"together-{number}" for number in range(5)), "first"]


def test_a_page_goes_on_where_the_last_one_ended_also_if_new_incidents_came(api: AlertsApi) -> None:
    record_incident(api, "first", 5)
    record_incident(api, "second", 10)
    next_page = api.get("incidents?limit=1")["next"]
    record_incident(api, "third", 15)

    assert [one["id"] for one in api.get(f"incidents{next_page}")["incidents"]] == ["first"]


def test_incidents_of_a_cluster_that_is_no_longer_watched_are_still_found(api: AlertsApi) -> None:
    record_incident(api, "one", 10, cluster="gone")

    assert api.incident_ids(cluster="gone") == ["one"]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("incidents/none", 404, "incident_not_found"),
        ("incidents?after=none", 404, "incident_not_found"),
        ("incidents?cluster=nowhere", 404, "cluster_not_found"),
        ("incidents?state=ajar", 400, "invalid_parameter"),
        ("incidents?limit=1001", 400, "invalid_parameter"),
        ("incidents?before=2026-01-01T00:00:00", 400, "invalid_parameter"),
        ("incidents?colour=red", 400, "invalid_parameter"),
    ],
)
def test_what_cannot_be_found_or_asked_for_is_an_error(api: AlertsApi, path: str, status: int, code: str) -> None:
    assert api.error("GET", path, status)["code"] == code


# -- silences --------------------------------------------------------------------------------------------------------


def test_a_silence_that_is_set_holds_from_now_on(api: AlertsApi) -> None:
    answer = api.client.post("silences", json={"group": "^bill", "duration_s": 90, "by": "ann", "comment": "disk"})

    assert answer.status_code == 201
    assert answer.json() == {
        "id": answer.json()["id"],
        "state": "active",
        "cluster": "",
        "group": "^bill",
        "topic": "",
        "from": iso(NOW_S),
        "until": iso(NOW_S + 90),
        "by": "ann",
        "comment": "disk",
    }


def test_a_silence_that_is_set_is_one_that_counts(api: AlertsApi) -> None:
    added = api.client.post("silences", json={"cluster": "loc", "topic": "orders", "duration_s": 90}).json()

    scope = Scope("loc", "", "orders")
    assert api.alerts.silences.all() == [Silence(added["id"], scope, ms(NOW_S), ms(NOW_S + 90), "", "")]


def test_a_silence_can_begin_later(api: AlertsApi) -> None:
    body = {"group": "a", "from": "2026-01-01T01:02:00+01:00", "until": iso(180)}

    added = api.client.post("silences", json=body).json()
    assert (added["state"], added["from"], added["until"]) == ("pending", iso(120), iso(180))


def test_silences_are_listed_whether_they_hold_will_hold_or_have_held(api: AlertsApi) -> None:
    for name, begin, end in (("ended", 10, NOW_S), ("active", NOW_S, 90), ("pending", 61, 90)):
        api.alerts.silences.add(Silence(name, Scope(group="a"), ms(begin), ms(end), "", ""))

    listed = api.get("silences")["silences"]
    assert [one["state"] for one in listed] == [one["id"] for one in listed] == ["pending", "active", "ended"]


def test_a_silence_that_is_removed_is_gone_and_told_once_more(api: AlertsApi) -> None:
    added = api.client.post("silences", json={"group": "a", "duration_s": 90}).json()

    assert api.client.delete(f"silences/{added['id']}").json() == added
    assert api.get("silences") == {"silences": []}


def test_a_silence_that_is_not_there_cannot_be_removed(api: AlertsApi) -> None:
    assert api.error("DELETE", "silences/none", 404) == {
        "code": "silence_not_found",
        "message": "There is no silence `none`.",
        "hint": "/api/v1/silences lists the known ones.",
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"duration_s": 90}, "The silence is for everything."),
        ({"group": "(", "duration_s": 90}, "Field `group` is '(': it is not a regular expression (missing ): ()."),
        ({"group": "a"}, "It is not told when the silence ends."),
        ({"group": "a", "duration_s": 90, "until": iso(90)}, "The end of the silence is told twice."),
        ({"group": "a", "duration_s": 30 * 86_400 + 1}, "The silence is longer than 30 days."),
        ({"group": "a", "until": iso(NOW_S)}, "The silence ends before it begins."),
        ({"group": "a", "from": iso(10), "until": iso(20)}, "The silence would be over already."),
        (
            {"group": "a", "from": "9999-12-31T23:59:59Z", "duration_s": 86_400},
            "The silence begins in more than a year.",
        ),
        (
            {"group": "a", "duration_s": 0},
            "Field `duration_s` is 0: it should be greater than or equal to 1.",
        ),
        (
            {"group": "a", "until": "2026-01-01T00:02:00"},
            "Field `until` is '2026-01-01T00:02:00': it should have timezone info.",
        ),
        ({"group": "a", "duration_s": 90, "colour": "red"}, "There is no field `colour`."),
        (["group"], "The body is not a JSON object."),
    ],
    ids=str,
)
def test_a_silence_that_makes_no_sense_is_refused_with_the_reason(api: AlertsApi, body: object, message: str) -> None:
    told = api.error("POST", "silences", 400, body)

    assert (told["code"], told["message"]) == ("invalid_body", message)
    assert api.get("silences") == {"silences": []}


@pytest.mark.parametrize("content", ["", "{", "\xff", "[" * 5_000])
def test_a_body_that_is_no_json_is_refused(api: AlertsApi, content: str) -> None:
    answer = api.client.post(
        "silences", content=content.encode("latin-1"), headers={"Content-Type": "application/json"}
    )

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_body")


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)
TIMES = st.sampled_from([iso(0), iso(90), "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", 1e300, -1])


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "group": st.text(max_size=5) | ANY_JSON,
            "cluster": st.sampled_from(["a", "", "(", "\x00", "\ud800"]),
            "from": TIMES | ANY_JSON,
            "until": TIMES | ANY_JSON,
            "duration_s": st.integers(-1, 10**20) | ANY_JSON,
            "comment": ANY_JSON,
        },
    )
    | ANY_JSON
)
def test_whatever_is_sent_as_a_silence_it_is_set_or_refused(api: AlertsApi, body: object) -> None:
    answer = api.client.post("silences", content=json.dumps(body), headers={"Content-Type": "application/json"})

    assert answer.status_code in (201, 400)
    assert api.client.get("silences").status_code == 200


@pytest.mark.parametrize(("method", "path"), [("POST", "silences"), ("DELETE", "silences/one")])
def test_silences_are_changed_from_this_machine_only(tmp_path: Path, method: str, path: str) -> None:
    api = alerts_api(tmp_path, config_with(), address="10.0.0.1")

    assert api.error(method, path, 403, {"group": "a", "duration_s": 90})["code"] == "forbidden"
    assert api.alerts.silences.all() == []
    api.alerts.stop()


def test_with_tokens_silences_are_changed_by_those_who_have_one(tmp_path: Path) -> None:
    api = alerts_api(tmp_path, config_with(security=Security(write_tokens=[hash_token("good")])), address="10.0.0.1")
    body = {"group": "a", "duration_s": 90}

    assert api.error("POST", "silences", 401, body)["code"] == "unauthorized"
    good = api.client.post("silences", json=body, headers={"Authorization": "Bearer good"})
    assert good.status_code == 201
    api.alerts.stop()


@pytest.mark.parametrize(
    ("method", "path", "allowed", "hint"),
    [
        ("PUT", "silences", "GET, HEAD, POST", "Possible here: GET, HEAD, POST."),
        ("GET", "silences/one", "DELETE", "Possible here: DELETE."),
        ("POST", "incidents", "GET, HEAD", "Everything here is read with GET."),
        ("POST", "openapi.json", "GET, HEAD", "Everything here is read with GET."),
    ],
)
def test_a_wrong_method_tells_all_that_are_possible(
    api: AlertsApi, method: str, path: str, allowed: str, hint: str
) -> None:
    answer = api.client.request(method, path)

    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert answer.json()["error"]["hint"] == hint


# -- notifiers -------------------------------------------------------------------------------------------------------


def test_notifiers_tell_how_they_are_doing(api: AlertsApi) -> None:
    deliver_some(api.alerts._outbox)

    assert api.get("notifiers")["notifiers"][0] == {
        "name": "chat",
        "class": "slack",
        "waiting": 2,
        "oldest_waiting_since": iso(11),
        "sent": 1,
        "retried": 1,
        "failed": 1,
        "last_sent_at": iso(20),
        "last_failed_at": iso(22),
        "last_error": "no answer",
    }


def test_a_notifier_that_never_had_anything_to_do_has_no_times(api: AlertsApi) -> None:
    idle = api.get("notifiers")["notifiers"][1]

    assert (idle["name"], idle["class"], idle["waiting"], idle["sent"]) == ("idle", "null", 0, 0)
    assert [name for name, value in idle.items() if value is None] == [
        "oldest_waiting_since",
        "last_sent_at",
        "last_failed_at",
        "last_error",
    ]


def test_notifiers_tell_nothing_secret(api: AlertsApi) -> None:
    assert "s3cret" not in json.dumps(api.get("notifiers"))


def test_it_is_told_whether_this_one_sends(api: AlertsApi) -> None:
    told = api.get("notifiers")
    assert (told["leader"], told["leader_state"]) == (True, "the only one")

    leader, api.alerts.leader = api.alerts.leader, Follower()  # type: ignore[assignment]
    told = api.get("notifiers")
    api.alerts.leader = leader
    assert (told["leader"], told["leader_state"]) == (False, "another one is the leader")


# -- every answer ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("incidents", "IncidentList"),
        ("incidents/one", "Incident"),
        ("silences", "SilenceList"),
        ("notifiers", "NotifierList"),
    ],
)
def test_an_answer_is_what_its_model_says_and_no_more(api: AlertsApi, path: str, model: str) -> None:
    record_incident(api, "one", 10, step(30, Turn.CLOSED, Status.NOTFOUND, None))
    api.client.post("silences", json={"group": "a", "duration_s": 90})
    deliver_some(api.alerts._outbox)
    answer, adapter = api.client.get(path), TypeAdapter(getattr(alert_models, model))

    assert json.loads(adapter.dump_json(adapter.validate_json(answer.content))) == answer.json()


@pytest.mark.parametrize("path", ["incidents", "silences", "notifiers"])
def test_without_alerts_there_are_no_paths_about_them(path: str) -> None:
    app = make_app({}, config_with, lambda: ms(NOW_S))

    assert TestClient(app, base_url="http://warren/api/v1/").get(path).json()["error"]["code"] == "path_not_found"


# -- trying notifiers out --------------------------------------------------------------------------------------------


def with_hook(url: str) -> Config:
    return config_with(notifier={"chat": Notifier(class_name="slack", url=SecretStr(url))})


def test_a_notifier_is_tried_out_with_a_message_that_says_it_is_a_test(tmp_path: Path) -> None:
    with web_server() as hook:
        api = alerts_api(tmp_path, with_hook(f"{hook.url}/s3cret"))
        answer = api.client.post("notifiers/chat/test")
        api.alerts.stop()

    assert answer.json() == {"notifier": "chat", "result": "delivered", "reason": None}
    assert b"this is a test of the notifier" in hook.asked[0].body


def test_a_notifier_that_does_not_get_through_says_why_without_its_secret(tmp_path: Path) -> None:
    api = alerts_api(tmp_path, with_hook(f"http://127.0.0.1:{free_port()}/s3cret"))
    told = api.client.post("notifiers/chat/test")
    api.alerts.stop()

    assert told.json()["result"] == "retry"
    assert "refused" in told.json()["reason"]
    assert "s3cret" not in told.text


def test_a_notifier_that_is_not_there_cannot_be_tried_out(api: AlertsApi) -> None:
    assert api.error("POST", "notifiers/nope/test", 404)["code"] == "notifier_not_found"


def test_only_who_may_change_things_tries_notifiers_out(tmp_path: Path) -> None:
    api = alerts_api(tmp_path, config_with(), address="10.0.0.1")

    assert api.error("POST", "notifiers/idle/test", 403)["code"] == "forbidden"
    api.alerts.stop()
