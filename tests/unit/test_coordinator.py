"""From the status of groups to what is sent of it: incidents, routes, silences, damping, and restarts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from warren.model import Status
from warren.notify.book import Wanted
from warren.notify.coordinator import Addressee, Coordinator, Terms
from warren.notify.database import Database
from warren.notify.decisions import Manner, Route
from warren.notify.events import Turn
from warren.notify.outbox import Outbox
from warren.notify.silences import Maintenance, Scope, Silence
from warren.patterns import GroupFilter, compile_pattern

ANY = GroupFilter((), ())
MINUTE_MS = 60_000


class FakeVerdict:
    """As much of a verdict as an event needs."""

    def __init__(self, group: str, status: Status) -> None:
        self.group, self.status, self.total_lag = group, status, 7
        self.partitions: list[Any] = []
        self.worst = None
        self.max_lag = None
        self.complete = 1.0


class FakeCluster:
    """Groups whose status a test sets."""

    name = "prod"
    is_ready = is_evaluated = True

    def __init__(self) -> None:
        self.groups: dict[str, Status] = {}
        self.written_down: list[dict[str, object]] = []

    def statuses(self) -> dict[str, Status]:
        return dict(self.groups)

    def note_incident(self, at_ms: int, row: dict[str, object]) -> None:
        self.written_down.append(row)

    def judge(self, group: str, *, now_ms: int) -> FakeVerdict | None:
        if group not in self.groups:
            return None
        verdict = FakeVerdict(group, self.groups[group])
        return verdict


class Leads:
    is_leader = True


class Stage:
    """A coordinator whose time and groups a test moves."""

    def __init__(self, path: Path, **addressees: Addressee) -> None:
        self.now_ms = 1_000 * MINUTE_MS
        self.cluster, self.leader = FakeCluster(), Leads()
        self.clusters = {"prod": self.cluster}
        self.terms = Terms(addressees)
        self.path = path
        self.begin()

    def begin(self) -> None:
        """Start, or start again after a crash."""
        database = Database(self.path)
        self.outbox = Outbox(database)
        self.coordinator = Coordinator(
            self.clusters,  # type: ignore[arg-type]
            database,
            self.outbox,
            self.leader,
            lambda: self.terms,
            lambda: self.now_ms,
        )

    def is_now(self, status: Status | None, after_ms: int = 1_000, group: str = "g") -> None:
        """Time passes, then a group is in another status; None: it is gone."""
        self.now_ms += after_ms
        if status is None:
            self.cluster.groups.pop(group, None)
        else:
            self.cluster.groups[group] = status
        self.coordinator.look()

    def passes(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now_ms += 1_000
            self.coordinator.look()

    def sent(self, notifier: str = "all") -> list[str]:
        """What waits for a notifier and is due, as words; it counts as delivered then."""
        rows = self.outbox.due(notifier, self.now_ms, 1_000)
        if rows:
            self.outbox.take(rows, "batch")
            self.outbox.sent(rows, self.now_ms)
        return [f"{row.event.group} {row.event.turn.value} {row.event.now.name}" for row in rows]


def manner(**changed: Any) -> Manner:
    usual = Manner(Status.WARN, 60_000, 60_000, send_once=False, send_close=True)
    return usual._replace(**changed)


def addressee(damp_ms: int = 0, route: Route | None = None, **changed: Any) -> Addressee:
    return Addressee(route or Route(ANY), manner(**changed), damp_ms)


@pytest.fixture
def staged(tmp_path: Path) -> Callable[..., Stage]:
    return lambda **addressees: Stage(tmp_path / "alerts.db", **(addressees or {"all": addressee()}))


def test_an_incident_from_its_beginning_to_its_end(staged: Callable[..., Stage]) -> None:
    stage = staged()
    for status in (Status.OK, Status.WARN, Status.WARN, Status.ERR, Status.WARN, Status.OK, Status.OK):
        stage.is_now(status)

    assert stage.sent() == ["g opened WARN", "g worsened ERR", "g improved WARN", "g closed OK"]
    [incident] = stage.coordinator.incidents.find(Wanted())
    turns = [step.turn for step in incident.steps]
    assert turns == [Turn.OPENED, Turn.WORSENED, Turn.IMPROVED, Turn.CLOSED]
    assert (incident.worst, incident.closed_ms is not None) == (Status.ERR, True)


def test_every_turn_of_an_incident_goes_into_the_history(staged: Callable[..., Stage]) -> None:
    stage = staged()
    for status in (Status.WARN, Status.ERR, Status.OK):
        stage.is_now(status)

    turns = [(row["group"], row["turn"], row["status"]) for row in stage.cluster.written_down]
    assert turns == [("g", "opened", "WARN"), ("g", "worsened", "ERR"), ("g", "closed", "OK")]
    assert len({row["id"] for row in stage.cluster.written_down}) == 1


def test_all_events_of_an_incident_have_its_id_and_start(staged: Callable[..., Stage]) -> None:
    stage = staged()
    stage.is_now(Status.WARN)
    stage.is_now(Status.OK)
    rows = stage.outbox.due("all", stage.now_ms, 10)

    assert len({(row.event.incident, row.event.opened_ms) for row in rows}) == 1
    assert len({row.event.key for row in rows}) == 2


def test_a_restart_in_the_middle_neither_opens_it_again_nor_forgets_to_close_it(staged: Callable[..., Stage]) -> None:
    """D53."""
    stage = staged()
    stage.is_now(Status.ERR)
    stage.begin()
    stage.is_now(Status.ERR)
    stage.begin()
    stage.is_now(Status.OK)

    assert stage.sent() == ["g opened ERR", "g closed OK"]


def test_a_group_that_is_gone_closes_its_incident(staged: Callable[..., Stage]) -> None:
    """D48."""
    stage = staged()
    stage.is_now(Status.ERR)
    stage.is_now(None)

    assert stage.sent() == ["g opened ERR", "g closed NOTFOUND"]


def test_a_cluster_that_is_no_longer_watched_closes_its_incidents(staged: Callable[..., Stage]) -> None:
    stage = staged()
    stage.is_now(Status.ERR)
    del stage.clusters["prod"]
    stage.passes(1)

    assert stage.sent() == ["g opened ERR", "g closed NOTFOUND"]


def test_a_worse_status_is_sent_at_once(staged: Callable[..., Stage]) -> None:
    """D50: Burrow waits for the next send-interval."""
    stage = staged(all=addressee(send_interval_ms=3_600_000))
    stage.is_now(Status.WARN)
    stage.is_now(Status.ERR)

    assert stage.sent() == ["g opened WARN", "g worsened ERR"]


def test_an_incident_below_the_threshold_is_not_told_and_neither_is_its_end(staged: Callable[..., Stage]) -> None:
    """D47."""
    stage = staged(all=addressee(threshold=Status.ERR))
    stage.is_now(Status.WARN)
    stage.is_now(Status.OK)

    assert stage.sent() == []


def test_without_send_close_the_end_is_not_told(staged: Callable[..., Stage]) -> None:
    stage = staged(all=addressee(send_close=False))
    stage.is_now(Status.WARN)
    stage.is_now(Status.OK)

    assert stage.sent() == ["g opened WARN"]


def test_with_send_once_each_incident_is_told_once(staged: Callable[..., Stage]) -> None:
    """D46: in Burrow the second incident is silent, and all later ones."""
    stage = staged(all=addressee(send_once=True, send_close=False))
    for status in (Status.WARN, Status.ERR, Status.OK, Status.WARN):
        stage.is_now(status)
    stage.passes(200)

    assert stage.sent() == ["g opened WARN", "g opened WARN"]


def test_an_open_incident_is_told_again_after_each_send_interval(staged: Callable[..., Stage]) -> None:
    stage = staged(all=addressee(interval_ms=10_000, send_interval_ms=30_000))
    stage.is_now(Status.WARN)
    stage.passes(125)

    assert stage.sent() == ["g opened WARN"] + ["g reminder WARN"] * 3


def test_groups_that_are_ok_are_told_to_those_who_want_it(staged: Callable[..., Stage]) -> None:
    """D49: and to nobody else."""
    wants = addressee(interval_ms=10_000, send_interval_ms=30_000, report_ok=True)
    stage = staged(all=addressee(), wants=wants)
    stage.is_now(Status.OK)
    stage.passes(70)

    assert stage.sent() == []
    assert set(stage.sent("wants")) == {"g report OK"}


def test_routes_choose_who_is_told(staged: Callable[..., Stage]) -> None:
    other = addressee(route=Route(ANY, cluster=compile_pattern("staging")))
    payments = addressee(route=Route(GroupFilter(("^pay",), ())))
    stage = staged(other=other, payments=payments)
    stage.is_now(Status.ERR, group="payments")
    stage.is_now(Status.ERR, group="orders")

    assert stage.sent("payments") == ["payments opened ERR"]
    assert stage.sent("other") == []


# -- not too many ----------------------------------------------------------------------------------------------------


def test_damped_trouble_that_does_not_last_is_told_to_nobody(staged: Callable[..., Stage]) -> None:
    stage = staged(all=addressee(damp_ms=30_000))
    stage.is_now(Status.ERR)
    stage.is_now(Status.OK, after_ms=20_000)
    stage.passes(60)

    assert stage.sent() == []
    assert len(stage.coordinator.incidents.find(Wanted())) == 1


def test_a_group_that_flaps_is_told_as_one_trouble(staged: Callable[..., Stage]) -> None:
    stage = staged(all=addressee(damp_ms=30_000, send_once=True))
    stage.is_now(Status.ERR)
    stage.passes(31)
    assert stage.sent() == ["g opened ERR"]
    for _ in range(5):
        stage.is_now(Status.OK, after_ms=5_000)
        stage.is_now(Status.ERR, after_ms=5_000)
    stage.passes(60)
    assert stage.sent() == []
    stage.is_now(Status.OK)
    stage.passes(31)

    assert stage.sent() == ["g closed OK"]


def test_before_a_cluster_is_ready_and_judged_nothing_is_told(staged: Callable[..., Stage]) -> None:
    stage = staged()
    stage.cluster.is_evaluated = False
    stage.is_now(Status.ERR)

    assert stage.sent() == []
    assert stage.coordinator.incidents.find(Wanted()) == []


# -- silences --------------------------------------------------------------------------------------------------------


def silence(stage: Stage, seconds: int, **scope: str) -> None:
    until_ms = stage.now_ms + seconds * 1000
    stage.coordinator.silences.add(Silence("s", Scope(**scope), stage.now_ms, until_ms, "me", "why"))


def test_a_silenced_incident_is_told_when_the_silence_ends(staged: Callable[..., Stage]) -> None:
    stage = staged()
    silence(stage, 300, group="^g$")
    stage.is_now(Status.ERR)
    stage.passes(250)
    assert stage.sent() == []
    stage.passes(120)

    assert stage.sent() == ["g reminder ERR"]


def test_a_silence_is_for_those_that_it_names(staged: Callable[..., Stage]) -> None:
    stage = staged()
    silence(stage, 300, group="^other$")
    stage.is_now(Status.ERR)

    assert stage.sent() == ["g opened ERR"]


def test_the_end_of_what_was_told_is_told_in_a_silence_too(staged: Callable[..., Stage]) -> None:
    stage = staged()
    stage.is_now(Status.ERR)
    silence(stage, 300, cluster="prod")
    stage.is_now(Status.OK)

    assert stage.sent() == ["g opened ERR", "g closed OK"]


def test_maintenance_comes_again_every_week_in_its_own_time_zone() -> None:
    zone = ZoneInfo("Europe/Berlin")
    weekly = Maintenance("w", Scope(), ("sat",), time(23, 30), timedelta(hours=2), zone)
    saturday_2330_ms = 1_767_479_400_000  # 2026-01-03 22:30 UTC

    week_ms, hour_ms = 7 * 86_400_000, 3_600_000
    for begin_ms in (saturday_2330_ms, saturday_2330_ms + week_ms):
        moments = (begin_ms - 1, begin_ms, begin_ms + 2 * hour_ms - 1, begin_ms + 2 * hour_ms)
        assert [weekly.is_active(at_ms) for at_ms in moments] == [False, True, True, False]


# -- one leader ------------------------------------------------------------------------------------------------------


def test_who_does_not_lead_keeps_incidents_and_sends_nothing(staged: Callable[..., Stage]) -> None:
    stage = staged()
    stage.leader.is_leader = False
    stage.is_now(Status.ERR)

    assert stage.sent() == []
    assert len(stage.coordinator.incidents.find(Wanted(is_open=True))) == 1


def test_a_new_leader_tells_what_is_open(staged: Callable[..., Stage]) -> None:
    stage = staged()
    stage.leader.is_leader = False
    stage.is_now(Status.ERR)
    stage.leader.is_leader = True
    stage.passes(1)

    assert stage.sent() == ["g reminder ERR"]
    stage.is_now(Status.OK)
    assert stage.sent() == ["g closed OK"]


def test_a_new_leader_ends_what_the_one_before_may_have_left_open(staged: Callable[..., Stage]) -> None:
    stage = staged()
    stage.leader.is_leader = False
    stage.is_now(Status.ERR)
    stage.is_now(Status.OK)
    stage.leader.is_leader = True
    stage.passes(1)

    assert stage.sent() == ["g closed OK"]


def test_what_ended_long_before_is_not_told_by_a_new_leader(staged: Callable[..., Stage]) -> None:
    stage = staged()
    stage.leader.is_leader = False
    stage.is_now(Status.ERR)
    stage.is_now(Status.OK)
    stage.passes(61)
    stage.leader.is_leader = True
    stage.passes(1)

    assert stage.sent() == []


def test_a_leader_that_leads_again_repeats_nothing_that_it_has_told(staged: Callable[..., Stage]) -> None:
    stage = staged()
    stage.is_now(Status.ERR)
    assert stage.sent() == ["g opened ERR"]
    stage.leader.is_leader = False
    stage.passes(1)
    stage.leader.is_leader = True
    stage.passes(1)

    assert stage.sent() == []
