"""`/metrics` about alerts: incidents, notifiers, and who sends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from tests.unit.test_metrics import lines_of, page_of
from tests.unit.test_v1 import filled_state, ms
from tests.unit.test_v1_alerts import Follower, Site, config_with, deliver_some, happened, make_site, step
from warren.model import Status
from warren.notify.events import Turn
from warren.serve.metrics import Metrics

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "metrics.md"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = make_site(tmp_path, config_with())
    yield made
    made.alerts.stop()


def page_with(site: Site) -> str:
    return page_of(Metrics({"local": filled_state()}, lambda: ms(31), dict, alerts=site.alerts))


def test_events_are_counted_by_what_became_of_them(site: Site) -> None:
    deliver_some(site.alerts._outbox)

    assert lines_of(page_with(site), "warren_notifier_messages_total") == [
        '{notifier="chat",result="sent"} 1.0',
        '{notifier="chat",result="retried"} 1.0',
        '{notifier="chat",result="failed"} 1.0',
        '{notifier="nobody",result="sent"} 0.0',
        '{notifier="nobody",result="retried"} 0.0',
        '{notifier="nobody",result="failed"} 0.0',
    ]


def test_events_that_wait_are_counted(site: Site) -> None:
    deliver_some(site.alerts._outbox)

    assert lines_of(page_with(site), "warren_notifier_waiting") == ['{notifier="chat"} 2.0', '{notifier="nobody"} 0.0']


def test_open_incidents_are_counted_and_closed_ones_are_not(site: Site) -> None:
    happened(site, "open", 10)
    happened(site, "over", 11, step(20, Turn.CLOSED, Status.OK), group="other")
    happened(site, "unwatched", 12, cluster="gone")

    assert lines_of(page_with(site), "warren_incidents_open") == ['{cluster="local"} 1.0']


def test_a_cluster_without_incidents_has_none_open(site: Site) -> None:
    assert lines_of(page_with(site), "warren_incidents_open") == ['{cluster="local"} 0.0']


def test_it_is_told_whether_this_one_sends(site: Site) -> None:
    assert lines_of(page_with(site), "warren_leader") == [" 1.0"]

    leader, site.alerts.leader = site.alerts.leader, Follower()  # type: ignore[assignment]
    page = page_with(site)
    site.alerts.leader = leader
    assert lines_of(page, "warren_leader") == [" 0.0"]


def test_lags_are_told_also_if_nothing_can_be_said_about_notifiers(site: Site) -> None:
    site.alerts._database.close()
    with structlog.testing.capture_logs() as logs:
        page = page_with(site)

    assert lines_of(page, "burrow_kafka_consumer_lag_total")
    assert lines_of(page, "warren_notifier_waiting") == lines_of(page, "warren_incidents_open") == []
    assert "how the notifiers are doing is not known" in [one["event"] for one in logs]


def test_every_family_is_in_the_documentation(site: Site) -> None:
    documented = DOCUMENTATION.read_text()

    told = {line.split()[2] for line in page_with(site).splitlines() if line.startswith("# TYPE")}
    assert [name for name in told if f"`{name}`" not in documented and not name.startswith("process_")] == []
