"""From groups in trouble to API v1 and back: incidents as they are really opened, silences as they really hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from tests.support.alerts import config_with
from tests.support.example_cluster import NOW_S, filled_state, iso, ms, recover
from warren.notify.service import Alerts
from warren.serve.app import make_app
from warren.serve.v1 import alert_models


class Live:
    """A cluster with groups in trouble, and what looks at it; a test says when."""

    def __init__(self, home: Path) -> None:
        self.state, self.second, config = filled_state(), NOW_S, config_with()
        clusters = {"local": self.state}
        self.alerts = Alerts(config, clusters, home, self.now_ms)
        app = make_app(clusters, lambda: config, self.now_ms, alerts=self.alerts)
        self.client = TestClient(app, base_url="http://warren/api/v1/", client=("127.0.0.1", 1))

    def now_ms(self) -> int:
        return ms(self.second)

    def look(self) -> None:
        self.state.evaluate(now_ms=self.now_ms())
        self.alerts._coordinator.look()

    def incidents(self, **parameters: str) -> dict[str, Any]:
        """By group."""
        answer = self.client.get("incidents", params=parameters)
        TypeAdapter(alert_models.IncidentList).validate_json(answer.content)
        return {one["group"]: one for one in answer.json()["incidents"]}

    def told(self) -> set[str]:
        """The groups of which something waits to be sent."""
        return {row.event.group for row in self.alerts._outbox.due("idle", self.now_ms(), 100)}


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    made = Live(tmp_path)
    yield made
    made.alerts.stop()


def test_groups_in_trouble_have_an_open_incident_each_with_the_reason(live: Live) -> None:
    live.look()

    found = live.incidents(state="open")
    [opened] = found["reporting"]["steps"]
    assert sorted(found) == ["billing", "newcomer", "reporting", "settling"]
    assert (opened["at"], opened["turn"], opened["status"], opened["total_lag"]) == (iso(NOW_S), "opened", "WARN", 180)
    assert (opened["cause"]["topic"], opened["cause"]["rule"], opened["cause"]["lag"]) == (
        "orders",
        "falling_behind",
        180,
    )


def test_an_incident_of_a_group_that_recovers_is_closed(live: Live) -> None:
    live.look()
    recover(live.state)
    live.second = 61
    live.look()

    over = live.incidents(state="closed", group="billing")["billing"]
    assert (over["status"], over["worst"], over["closed_at"]) == ("OK", "ERR", iso(61))
    assert over["steps"][-1]["cause"]["rule"] == "caught_up"


def test_nobody_is_told_of_groups_that_are_silenced_over_http(live: Live) -> None:
    live.client.post("silences", json={"group": "^bill", "duration_s": 60})
    live.look()

    assert "billing" in live.incidents()
    assert live.told() == {"newcomer", "reporting", "settling"}


def test_a_silence_that_was_removed_no_longer_holds(live: Live) -> None:
    added = live.client.post("silences", json={"group": "^bill", "duration_s": 60}).json()
    live.client.delete(f"silences/{added['id']}")
    live.look()

    assert "billing" in live.told()
