"""Looks at how all groups are doing, opens and closes incidents, and writes down what is to be sent to whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol
from urllib.parse import quote
from uuid import uuid4

import structlog

from warren.clusters.state import ClusterState
from warren.machine.periodic import Periodic
from warren.model import Status
from warren.notify.book import IncidentBook, SilenceBook
from warren.notify.database import Database
from warren.notify.decisions import Manner, Route, Told, is_asked, is_handed_over, is_sent
from warren.notify.events import Cause, Event, Turn
from warren.notify.incidents import Change, Incident, Step, after, changes
from warren.notify.outbox import Outbox
from warren.notify.silences import Maintenance, Silence
from warren.rules.verdict import GroupVerdict
from warren.serve import bodies

log = structlog.get_logger()

LOOK_S = 1.0
PRUNE_INTERVAL_MS = 3_600_000
HAND_OVER_MS = 60_000
"""What ended so short before this Warren began to lead may have been told by nobody."""


class Leader(Protocol):
    """Who knows whether this Warren is the one that sends."""

    @property
    def is_leader(self) -> bool:
        """Whether it is, now."""


class Addressee(NamedTuple):
    """A notifier, as far as it matters for what it is told."""

    route: Route
    manner: Manner
    damp_ms: int = 0


class Terms(NamedTuple):
    """What the configuration says; another one comes with a reload."""

    addressees: Mapping[str, Addressee]
    maintenance: tuple[Maintenance, ...] = ()
    page_url: str = ""
    keep_ms: int = 30 * 86_400_000


class Coordinator(Periodic):
    """One look a second at every cluster that is ready: before that its statuses mean nothing."""

    def __init__(  # noqa: PLR0917  # everything that it brings together
        self,
        clusters: Mapping[str, ClusterState],
        database: Database,
        outbox: Outbox,
        leader: Leader,
        terms: Callable[[], Terms],
        now_ms: Callable[[], int],
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__("coordinator", LOOK_S, self.look)
        self.incidents = IncidentBook(database)
        self.silences = SilenceBook(database)
        self._clusters = clusters
        self._database = database
        self._outbox = outbox
        self._leader = leader
        self._terms = terms
        self._now_ms = now_ms
        self._wake = wake
        self._looked_ms: dict[str, int] = {}
        self._follows_since_ms: int | None = None
        self._pruned_ms = 0

    def look(self) -> None:
        """One round."""
        now_ms, terms = self._now_ms(), self._terms()
        self._take_over_or_follow(terms, now_ms)
        for cluster in list(self._clusters.values()):
            if cluster.is_ready and cluster.is_evaluated:
                self._look_at(cluster, terms, now_ms)
                self._looked_ms[cluster.name] = now_ms
        for name in set(self.incidents.clusters_with_open()) - set(self._clusters):
            self._leave(name, terms, now_ms)
        self._wake()
        if now_ms - self._pruned_ms > PRUNE_INTERVAL_MS:
            self._pruned_ms = now_ms
            self.incidents.prune(now_ms - terms.keep_ms)
            self.silences.prune(now_ms - terms.keep_ms)

    def _look_at(self, cluster: ClusterState, terms: Terms, now_ms: int) -> None:
        is_open = self.incidents.open_incidents(cluster.name)
        statuses = cluster.statuses()
        for change in list(changes(is_open, statuses)):
            self._turn(cluster, is_open.get(change.group), change, terms, now_ms)
        if self._leader.is_leader:
            before_ms = self._looked_ms.get(cluster.name, now_ms)
            for incident in is_open.values():
                self._remind(cluster, incident, terms, before_ms, now_ms)
            self._report(cluster, statuses, terms, before_ms, now_ms)

    def _leave(self, cluster: str, terms: Terms, now_ms: int) -> None:
        """A cluster is no longer watched: its incidents are over, as far as anybody can tell."""
        for incident in self.incidents.open_incidents(cluster).values():
            self._turn(
                None, incident, Change(incident.group, Turn.CLOSED, incident.status, Status.NOTFOUND), terms, now_ms
            )

    # -- another Warren led before -------------------------------------------------------------------------------

    def _take_over_or_follow(self, terms: Terms, now_ms: int) -> None:
        if not self._leader.is_leader:
            self._follows_since_ms = now_ms if self._follows_since_ms is None else self._follows_since_ms
        elif self._follows_since_ms is not None:
            self._take_over(terms, max(self._follows_since_ms, now_ms - HAND_OVER_MS), now_ms)
            self._follows_since_ms = None

    def _take_over(self, terms: Terms, since_ms: int, now_ms: int) -> None:
        """Tell all that is open, and what has just ended: nobody knows what the other one still told."""
        for name, cluster in list(self._clusters.items()):
            if not (cluster.is_ready and cluster.is_evaluated):
                continue  # what is open there is told when its turn to be reminded of comes
            for incident in self.incidents.open_incidents(name).values():
                change = Change(incident.group, Turn.REMINDER, incident.status, incident.status)
                self._hand_over(cluster, incident, change, terms, now_ms)
            for incident in self.incidents.closed_since(name, since_ms):
                change = Change(incident.group, Turn.CLOSED, incident.status, incident.steps[-1].status)
                self._hand_over(cluster, incident, change, terms, now_ms)

    def _hand_over(self, cluster: ClusterState, incident: Incident, change: Change, terms: Terms, now_ms: int) -> None:
        """To those whom this Warren has told nothing of it yet; what may have been told as open must be ended, too."""
        verdict = cluster.judge(incident.group, now_ms=now_ms)
        event = _event(incident, change, verdict, terms.page_url, now_ms)
        if self.is_silenced(event, terms):
            return
        for name, addressee in terms.addressees.items():
            is_new = self.incidents.told(name, incident.id) is None
            if is_new and addressee.route.fits(event) and is_handed_over(event, addressee.manner, incident.worst):
                self._outbox.put(name, event, now_ms)
                self.incidents.tell(name, incident.id, now_ms)

    # -- turns of incidents --------------------------------------------------------------------------------------

    def _turn(
        self, cluster: ClusterState | None, incident: Incident | None, change: Change, terms: Terms, now_ms: int
    ) -> None:
        """The incident and what is to be sent of it are written down together, or not at all."""
        verdict = cluster.judge(change.group, now_ms=now_ms) if cluster else None
        if verdict is not None and verdict.status != change.now:
            return  # it has changed since everything was judged: the next evaluation tells
        step = Step(now_ms, change.turn, change.now, _cause(verdict), verdict.total_lag if verdict else 0)
        if incident is None:
            assert cluster is not None
            incident = Incident(str(uuid4()), cluster.name, change.group, now_ms, change.now, (step,))
        else:
            incident = after(incident, step)
        with self._database.change():
            self.incidents.write(incident)
            if self._leader.is_leader:
                self._send(_event(incident, change, verdict, terms.page_url, now_ms), terms)
        self.incidents.remember(incident)
        if cluster is not None:
            cluster.note_incident(now_ms, _written_down(incident, step))

    def _remind(self, cluster: ClusterState, incident: Incident, terms: Terms, before_ms: int, now_ms: int) -> None:
        asked = [one.manner.interval_ms for one in terms.addressees.values()]
        if not any(is_asked(incident.group, interval_ms, before_ms, now_ms) for interval_ms in asked):
            return
        verdict = cluster.judge(incident.group, now_ms=now_ms)
        if verdict is None or verdict.status != incident.status:
            return
        change = Change(incident.group, Turn.REMINDER, incident.status, incident.status)
        event = _event(incident, change, verdict, terms.page_url, now_ms)
        self._send(event, _asked(terms, incident.group, before_ms, now_ms))

    def _report(
        self, cluster: ClusterState, statuses: Mapping[str, Status], terms: Terms, before_ms: int, now_ms: int
    ) -> None:
        wanted = {name: one for name, one in terms.addressees.items() if one.manner.report_ok}
        if not wanted:
            return
        for group, status in statuses.items():
            asked = _asked(terms._replace(addressees=wanted), group, before_ms, now_ms)
            verdict = cluster.judge(group, now_ms=now_ms) if asked.addressees and status == Status.OK else None
            if verdict is not None and verdict.status == Status.OK:
                self._send(_report_of(cluster.name, verdict, terms.page_url, now_ms), asked)

    # -- to whom -------------------------------------------------------------------------------------------------

    def _send(self, event: Event, terms: Terms) -> None:
        silenced = event.turn is not Turn.CLOSED and self.is_silenced(event, terms)
        for name, addressee in terms.addressees.items():
            if addressee.route.fits(event) and not silenced:
                self._send_to(name, addressee, event)

    def is_silenced(self, event: Event, terms: Terms) -> bool:
        """Whether nobody is to be told now; the end of what was told is told all the same."""
        quiet: list[Silence | Maintenance] = [*self.silences.all(), *terms.maintenance]
        return any(
            one.is_active(event.at_ms) and one.scope.fits(event.cluster, event.group, event.topics) for one in quiet
        )

    def _send_to(self, name: str, addressee: Addressee, event: Event) -> None:
        told = self.incidents.told(name, _subject(event))
        if event.turn is Turn.OPENED and addressee.damp_ms and self._goes_on(name, event):
            return
        if event.turn is Turn.CLOSED and told and self._takes_back(name, event):
            return
        if is_sent(event, addressee.manner, told):
            damp_ms = addressee.damp_ms if event.turn in (Turn.OPENED, Turn.CLOSED) else 0
            self._outbox.put(name, event, event.at_ms + damp_ms)
            self.incidents.tell(name, _subject(event), event.at_ms)

    def _takes_back(self, name: str, event: Event) -> bool:
        """Whether nobody has heard of an incident yet: then nobody hears of its end."""
        dropped = self._outbox.drop(name, event.incident, event.at_ms)
        if not dropped or self._outbox.has_any(name, event.incident):
            return False
        self.incidents.untell(name, event.incident)
        return True

    def _goes_on(self, name: str, event: Event) -> bool:
        """Whether trouble is back before its end was told: then neither is."""
        last = self.incidents.last_closed(event.cluster, event.group)
        told: Told | None = self.incidents.told(name, last.id) if last else None
        if last is None or told is None or not self._outbox.drop(name, last.id, event.at_ms):
            return False
        self.incidents.tell(name, event.incident, told.at_ms)
        return True


def _asked(terms: Terms, group: str, before_ms: int, now_ms: int) -> Terms:
    """With those addressees only whose moment for this group has come."""
    found = {
        name: one
        for name, one in terms.addressees.items()
        if is_asked(group, one.manner.interval_ms, before_ms, now_ms)
    }
    return terms._replace(addressees=found)


def _subject(event: Event) -> str:
    """What was told is remembered by incident, or by group for reports."""
    return event.incident or f"{event.cluster}/{event.group}"


def _event(incident: Incident, change: Change, verdict: GroupVerdict | None, page_url: str, now_ms: int) -> Event:
    number = len(incident.steps) if change.turn is not Turn.REMINDER else f"at-{now_ms}"
    return Event(
        key=f"{incident.id}-{number}",
        turn=change.turn,
        at_ms=now_ms,
        cluster=incident.cluster,
        group=incident.group,
        incident=incident.id,
        opened_ms=incident.opened_ms,
        was=change.was,
        now=change.now,
        cause=_cause(verdict),
        owners=_owners(verdict),
        topics=_topics(verdict),
        total_lag=verdict.total_lag if verdict else 0,
        status_body=_body(incident.cluster, incident.group, verdict),
        link=_link(page_url, incident.cluster, incident.group),
    )


def _report_of(cluster: str, verdict: GroupVerdict, page_url: str, now_ms: int) -> Event:
    return Event(
        key=f"{cluster}/{verdict.group}-{now_ms}",
        turn=Turn.REPORT,
        at_ms=now_ms,
        cluster=cluster,
        group=verdict.group,
        incident="",
        opened_ms=None,
        was=verdict.status,
        now=verdict.status,
        cause=_cause(verdict),
        owners=_owners(verdict),
        topics=_topics(verdict),
        total_lag=verdict.total_lag,
        status_body=_body(cluster, verdict.group, verdict),
        link=_link(page_url, cluster, verdict.group),
    )


def _cause(verdict: GroupVerdict | None) -> Cause | None:
    if verdict is None or verdict.worst is None:
        return None
    worst = verdict.worst
    rule = worst.rule.name.lower()
    return Cause(
        worst.topic, worst.partition, rule, worst.reason, worst.since_ms, worst.current_lag, worst.insight.lag_s
    )


def _owners(verdict: GroupVerdict | None) -> list[str]:
    return sorted({one.owner.host for one in verdict.partitions if one.owner.host}) if verdict else []


def _topics(verdict: GroupVerdict | None) -> list[str]:
    return sorted({one.topic for one in verdict.partitions}) if verdict else []


def _body(cluster: str, group: str, verdict: GroupVerdict | None) -> dict[str, object]:
    if verdict is None:
        return bodies.group_not_found(cluster, group)
    return bodies.group_status(cluster, verdict, all_partitions=False)


def _link(page_url: str, cluster: str, group: str) -> str:
    if not page_url:
        return ""
    return f"{page_url.rstrip('/')}/ui/clusters/{quote(cluster, safe='')}/groups/{quote(group, safe='')}"


def _written_down(incident: Incident, step: Step) -> dict[str, object]:
    """A turn of an incident as a row of the history."""
    cause = step.cause._asdict() if step.cause else {}
    return {
        "id": incident.id,
        "group": incident.group,
        "opened_ms": incident.opened_ms,
        "turn": step.turn.value,
        "status": step.status.name,
        **{name: cause.get(name) for name in ("topic", "partition", "rule", "reason")},
        "total_lag": step.total_lag,
    }
