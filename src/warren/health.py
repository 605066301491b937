"""How Warren itself is doing, in figures: worked out here once, for `/metrics` and for the sinks."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

import structlog
from prometheus_client import ProcessCollector

from warren.clusters.progress import Read
from warren.clusters.state import ClusterState
from warren.model import Status
from warren.rules.survey import Survey, groups_by_status

if TYPE_CHECKING:
    from warren.notify.outbox import Results
    from warren.notify.service import Alerts

log = structlog.get_logger()

RUNNING, RETRYING = "running", "retrying"
"""States of a query, in the words of the pipeline."""

PROCESS = ProcessCollector(registry=None)
"""Memory, CPU time and open files of this process, as Prometheus names them."""


class QueryHealth(Protocol):
    """How a query of the pipeline is doing; the pipeline has the real one, which needs Spark."""

    @property
    def state(self) -> str: ...

    @property
    def last_error(self) -> str: ...

    @property
    def restarts(self) -> int: ...


def is_running(query: QueryHealth) -> bool:
    """Whether it reads."""
    return query.state == RUNNING


class ModuleHealth(NamedTuple):
    """How far a consumer module has read; None where it has not begun."""

    batches: int
    records: int
    batch_age_s: float | None
    """Since the last batch was planned."""
    delay_s: float | None
    """Since the moment up to which everything has been read."""


class ClusterHealth(NamedTuple):
    """How well a cluster is known at one moment."""

    is_ready: bool
    is_reachable: bool
    groups: Mapping[Status, int]
    """How many are in each status; empty if nobody has looked."""
    modules: Mapping[str, ModuleHealth]
    behind_records: int
    stale_partitions: Mapping[str, int]
    """Partitions of the offsets topic of which nothing new is known, by what keeps it."""
    undecodable_records: Mapping[str, int]
    """By kind."""
    snapshot_age_s: float | None
    """None if there is no snapshot."""


def cluster_health(state: ClusterState, found: Survey | None, *, now_ms: int) -> ClusterHealth:
    """How well a cluster is known; its groups are counted in what was found of them."""
    stale = state.staleness(now_ms=now_ms)
    return ClusterHealth(
        is_ready=state.is_ready,
        is_reachable=state.unreachable is None,
        groups=groups_by_status(found) if found else {},
        modules={name: _module_health(one, now_ms) for name, one in state.read().items()},
        behind_records=state.behind_records,
        stale_partitions={"transaction": len(stale.held), "unread": len(stale.since_ms) - len(stale.held)},
        undecodable_records=state.skipped(),
        snapshot_age_s=age_s(state.saved_ms, now_ms),
    )


def _module_health(read: Read, now_ms: int) -> ModuleHealth:
    return ModuleHealth(read.batches, read.records, age_s(read.planned_ms, now_ms), age_s(read.until_ms, now_ms))


def age_s(then_ms: int, now_ms: int) -> float | None:
    """Seconds since a moment; None for the moment 0, which means never."""
    return max(now_ms - then_ms, 0) / 1000 if then_ms else None


class AlertHealth(NamedTuple):
    """How telling others is going; None where the database of alerts cannot say."""

    is_leader: bool
    open_incidents: Mapping[str, int] | None
    """By cluster, those that have any."""
    notifiers: Mapping[str, Results] | None


def alert_health(alerts: Alerts) -> AlertHealth:
    """Now; a database that fails is told in the log, and everything else goes on."""
    try:
        return AlertHealth(alerts.is_leader, alerts.incidents.count_open(), alerts.health())
    except sqlite3.Error as error:
        log.error("how the notifiers are doing is not known", error=str(error))
        return AlertHealth(alerts.is_leader, None, None)


class ProcessHealth(NamedTuple):
    """How the driver process of one Warren is doing."""

    instance: str
    """Which Warren it is: host and port."""
    alerts: AlertHealth
    queries: Mapping[str, QueryHealth]
    used: Mapping[str, float]
    """What it uses of its machine, by Prometheus' names; whatever the system does not tell is not there."""

    @property
    def queries_running(self) -> int:
        """How many queries run."""
        return sum(is_running(one) for one in self.queries.values())

    @property
    def queries_failing(self) -> int:
        """How many have failed and wait to be started again."""
        return sum(one.state == RETRYING for one in self.queries.values())


def used_by_process() -> dict[str, float]:
    """For `ProcessHealth`."""
    return {sample.name: sample.value for family in PROCESS.collect() for sample in family.samples}
