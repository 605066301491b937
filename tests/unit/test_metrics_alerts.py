"""`/metrics` about alerts: incidents, notifiers, and who sends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from tests.support.alerts import AlertsApi, Follower, alerts_api, config_with, deliver_some, record_incident, step
from tests.support.example_cluster import filled_state, ms
from tests.support.metrics_page import lines_of, page_of
from warren.model import Status
from warren.notify.events import Turn
from warren.serve.metrics import Metrics

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "metrics.md"


@pytest.fixture
def api(tmp_path: Path) -> Iterator[AlertsApi]:
    started = alerts_api(tmp_path, config_with())
    yield started
    started.alerts.stop()


def page_with(api: AlertsApi) -> str:
    return page_of(Metrics({"local": filled_state()}, lambda: ms(31), dict, alerts=api.alerts))


def test_events_are_counted_by_what_became_of_them(api: AlertsApi) -> None:
    deliver_some(api.alerts._outbox)

    assert lines_of(page_with(api), "warren_notifier_messages_total") == [
        '{notifier="chat",result="sent"} 1.0',
        '{notifier="chat",result="retried"} 1.0',
        '{notifier="chat",result="failed"} 1.0',
        '{notifier="idle",result="sent"} 0.0',
        '{notifier="idle",result="retried"} 0.0',
        '{notifier="idle",result="failed"} 0.0',
    ]


def test_events_that_wait_are_counted(api: AlertsApi) -> None:
    deliver_some(api.alerts._outbox)

    assert lines_of(page_with(api), "warren_notifier_waiting") == ['{notifier="chat"} 2.0', '{notifier="idle"} 0.0']


def test_open_incidents_are_counted_and_closed_ones_are_not(api: AlertsApi) -> None:
    record_incident(api, "open", 10)
    record_incident(api, "over", 11, step(20, Turn.CLOSED, Status.OK), group="other")
    record_incident(api, "unwatched", 12, cluster="gone")

    assert lines_of(page_with(api), "warren_incidents_open") == ['{cluster="local"} 1.0']


def test_a_cluster_without_incidents_has_none_open(api: AlertsApi) -> None:
    assert lines_of(page_with(api), "warren_incidents_open") == ['{cluster="local"} 0.0']


def test_it_is_told_whether_this_one_sends(api: AlertsApi) -> None:
    assert lines_of(page_with(api), "warren_leader") == [" 1.0"]

    leader, api.alerts.leader = api.alerts.leader, Follower()  # type: ignore[assignment]
    page = page_with(api)
    api.alerts.leader = leader
    assert lines_of(page, "warren_leader") == [" 0.0"]


def test_lags_are_told_also_if_nothing_can_be_said_about_notifiers(api: AlertsApi) -> None:
    api.alerts._database.close()
    with structlog.testing.capture_logs() as logs:
        page = page_with(api)

    assert lines_of(page, "burrow_kafka_consumer_lag_total")
    assert lines_of(page, "warren_notifier_waiting") == lines_of(page, "warren_incidents_open") == []
    assert "how the notifiers are doing is not known" in [one["event"] for one in logs]


def test_every_family_is_in_the_documentation(api: AlertsApi) -> None:
    documented = DOCUMENTATION.read_text()

    told = {line.split()[2] for line in page_with(api).splitlines() if line.startswith("# TYPE")}
    assert [name for name in told if f"`{name}`" not in documented and not name.startswith("process_")] == []
