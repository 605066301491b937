"""How Warren itself is doing: the families with few lines, by way of the usual Prometheus client."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

import numpy as np
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

from warren import __version__
from warren.clusters.state import ClusterState
from warren.health import (
    PROCESS,
    AlertHealth,
    ClusterHealth,
    QueryHealth,
    age_s,
    alert_health,
    cluster_health,
    is_running,
)
from warren.history.service import History, HistoryHealth
from warren.model import Status
from warren.notify.outbox import Results
from warren.notify.service import Alerts
from warren.rules.survey import groups_by_status
from warren.serve.metrics.columns import Told
from warren.serve.metrics.formats import Format
from warren.sinks.courier import SinkHealth
from warren.sinks.service import Sinks

Values = Mapping[tuple[str, ...], float | None]
"""By the values of the labels; what is None is not told."""


class RequestTotals(Protocol):
    """By API, method and status code: how many requests, and in how many seconds all of them. Any such mapping fits."""

    def items(self) -> Iterable[tuple[tuple[str, str, int], tuple[int, float]]]: ...


class Health:
    """Writes the second part of the page."""

    def __init__(
        self,
        queries: Callable[[], Mapping[str, QueryHealth]],
        requests: Callable[[], RequestTotals],
        alerts: Alerts | None = None,
        sinks: Sinks | None = None,
        history: History | None = None,
    ) -> None:
        self._alerts = alerts
        self._sinks = sinks
        self._history = history
        self._queries = queries
        self._requests = requests

    def text(self, states: Mapping[str, ClusterState], told: Mapping[str, Told], chosen: Format, now_ms: int) -> bytes:
        """All families, and what a format wants at the end of a page."""
        clusters = {name: cluster_health(state, told[name].survey, now_ms=now_ms) for name, state in states.items()}
        families = [
            _gauge("warren_build_info", "Which Warren this is.", ["version"], {(__version__,): 1}),
            *_of_clusters(clusters),
            *_of_groups(clusters, told),
            *_of_reading(clusters),
            *_of_queries(self._queries()),
            *_of_requests(self._requests()),
            *(_of_alerts(alert_health(self._alerts), clusters) if self._alerts else ()),
            *(_of_sinks(self._sinks.health(), now_ms) if self._sinks else ()),
            *(_of_history(self._history.health, now_ms) if self._history and self._history.health.path else ()),
            *PROCESS.collect(),
        ]
        return _text(families, chosen)


class _Collected(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _text(families: list[Metric], chosen: Format) -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collected([one for one in families if one.samples]))
    if chosen.is_openmetrics:
        text: bytes = openmetrics.generate_latest(registry)  # type: ignore[no-untyped-call]
        return text
    return generate_latest(registry)


def _of_clusters(clusters: Mapping[str, ClusterHealth]) -> Iterator[Metric]:
    yield _gauge(
        "warren_cluster_ready",
        "Whether answers about the cluster are worth reading.",
        ["cluster"],
        {(name,): one.is_ready for name, one in clusters.items()},
    )
    yield _gauge(
        "warren_cluster_reachable",
        "Whether the cluster can be read.",
        ["cluster"],
        {(name,): one.is_reachable for name, one in clusters.items()},
    )
    yield _gauge(
        "warren_snapshot_age_seconds",
        "Time since the newest snapshot of the cluster was written.",
        ["cluster"],
        {(name,): one.snapshot_age_s for name, one in clusters.items()},
    )


def _of_groups(clusters: Mapping[str, ClusterHealth], told: Mapping[str, Told]) -> Iterator[Metric]:
    counts = {name: one.groups for name, one in clusters.items()}
    yield _gauge("warren_groups", "Groups by their status.", ["cluster", "status"], _by_status(counts))
    others = {name: ~one.choice.groups for name, one in told.items() if one.choice.groups is not None}
    yield _gauge(
        "warren_other_groups",
        "Groups that have no lines of their own, by their status.",
        ["cluster", "status"],
        _by_status({name: groups_by_status(told[name].survey, where) for name, where in others.items()}),
    )
    yield _gauge(
        "warren_other_groups_lag_records",
        "Records that the groups without lines of their own have not read yet, all together.",
        ["cluster"],
        {(name,): int(_total_lag(told[name])[where].sum()) for name, where in others.items()},
    )


def _total_lag(told: Told) -> np.ndarray:
    return told.survey.evaluation.total_lag[told.survey.shown.code]


def _by_status(counts: Mapping[str, Mapping[Status, int]]) -> Values:
    return {(name, status.name): count for name, one in counts.items() for status, count in one.items()}


def _flat(counts: Mapping[str, Mapping[str, int]]) -> Values:
    return {(name, label): count for name, one in counts.items() for label, count in sorted(one.items())}


def _of_reading(clusters: Mapping[str, ClusterHealth]) -> Iterator[Metric]:
    read = {(name, module): one for name, of in clusters.items() for module, one in of.modules.items()}
    labels = ["cluster", "consumer"]
    yield _counter(
        "warren_offsets_read_records",
        "Offsets of the offsets topic that were passed since the start, the first batch not counted.",
        labels,
        {at: one.records for at, one in read.items()},
    )
    yield _counter(
        "warren_batches", "Batches of the offsets topic.", labels, {at: one.batches for at, one in read.items()}
    )
    yield _gauge(
        "warren_batch_age_seconds",
        "Time since the last batch was planned; where nobody commits there are no batches.",
        labels,
        {at: one.batch_age_s for at, one in read.items()},
    )
    yield _gauge(
        "warren_offsets_delay_seconds",
        "Time since the moment up to which every partition of the offsets topic has been read.",
        labels,
        {at: one.delay_s for at, one in read.items()},
    )
    yield _gauge(
        "warren_offsets_behind_records",
        "Records of the offsets topic that are known to be unread.",
        ["cluster"],
        {(name,): one.behind_records for name, one in clusters.items()},
    )
    yield _gauge(
        "warren_offsets_stale_partitions",
        "Partitions of the offsets topic of which nothing new is known, by what keeps it.",
        ["cluster", "reason"],
        _flat({name: one.stale_partitions for name, one in clusters.items()}),
    )
    yield _counter(
        "warren_undecodable_records",
        "Records of the offsets topic that could not be decoded, by kind.",
        ["cluster", "kind"],
        _flat({name: one.undecodable_records for name, one in clusters.items()}),
    )


def _of_queries(queries: Mapping[str, QueryHealth]) -> Iterator[Metric]:
    yield _gauge(
        "warren_query_running",
        "Whether a query of the pipeline runs.",
        ["query"],
        {(name,): is_running(health) for name, health in sorted(queries.items())},
    )
    yield _counter(
        "warren_query_restarts",
        "How often a query of the pipeline has been started again.",
        ["query"],
        {(name,): health.restarts for name, health in sorted(queries.items())},
    )


def _of_requests(requests: RequestTotals) -> Iterator[Metric]:
    labels = ["api", "method", "code"]
    found: dict[tuple[str, ...], tuple[int, float]]
    found = {(api, method, str(code)): one for (api, method, code), one in sorted(requests.items())}
    counts = {at: count for at, (count, _) in found.items()}
    seconds = {at: seconds for at, (_, seconds) in found.items()}
    yield _counter("warren_http_requests", "HTTP requests that were answered.", labels, counts)
    yield _counter("warren_http_request_seconds", "Time that answering them took.", labels, seconds)


def _of_alerts(alerts: AlertHealth, clusters: Iterable[str]) -> Iterator[Metric]:
    """Lags are told also if the database fails; the families that are of it are missing then, which is no 0."""
    yield _gauge("warren_leader", "Whether this Warren is the one that sends.", [], {(): alerts.is_leader})
    if alerts.open_incidents is not None:
        yield _gauge(
            "warren_incidents_open",
            "Groups with an open incident.",
            ["cluster"],
            {(name,): alerts.open_incidents.get(name, 0) for name in clusters},
        )
    if alerts.notifiers is not None:
        yield from _of_notifiers(alerts.notifiers)


def _of_notifiers(results: Mapping[str, Results]) -> Iterator[Metric]:
    found = sorted(results.items())
    counts: dict[tuple[str, ...], float] = {}
    for name, one in found:
        counts |= {(name, "sent"): one.sent, (name, "retried"): one.retried, (name, "failed"): one.failed}
    yield _counter(
        "warren_notifier_messages",
        "Events by what became of them: sent, not delivered and to be tried again, failed for good.",
        ["notifier", "result"],
        counts,
    )
    yield _gauge(
        "warren_notifier_waiting",
        "Events that are not delivered yet.",
        ["notifier"],
        {(name,): one.waiting for name, one in found},
    )


def _of_sinks(sinks: Mapping[str, SinkHealth], now_ms: int) -> Iterator[Metric]:
    counts: dict[tuple[str, ...], float] = {}
    for name, one in sinks.items():
        counts |= {(name, "sent"): one.sent_points, (name, "refused"): one.refused_points}
        counts |= {(name, "dropped"): one.dropped_points}
    yield _counter(
        "warren_sink_points",
        "Points by what became of them: sent, refused by the receiver, dropped since too many waited.",
        ["sink", "result"],
        counts,
    )
    gauges = (
        (
            "warren_sink_up",
            "Whether the last attempt to write to a sink was a good one.",
            lambda one: not one.is_failing,
        ),
        ("warren_sink_waiting_points", "Points that are not written yet.", lambda one: one.waiting_points),
        ("warren_sink_waiting_bytes", "What they take on disk.", lambda one: one.waiting_bytes),
        (
            "warren_sink_waiting_seconds",
            "Age of the oldest points that are not written yet, 0 when there are none.",
            lambda one: age_s(one.oldest_ms or 0, now_ms) or 0,
        ),
    )
    for family, says, value in gauges:
        yield _gauge(family, says, ["sink"], {(name,): value(one) for name, one in sinks.items()})
    yield _counter(
        "warren_sink_failed_attempts",
        "Attempts to write to a sink that have failed.",
        ["sink"],
        {(name,): one.failed_attempts for name, one in sinks.items()},
    )


def _of_history(health: HistoryHealth, now_ms: int) -> Iterator[Metric]:
    yield _counter("warren_history_commits", "Commits that were put into the history.", [], {(): health.commits})
    yield _counter("warren_history_lost_seconds", "Seconds of which nothing was kept.", [], {(): health.lost_pages})
    written_s = age_s(health.flushed_ms, now_ms) or 0
    gauges = {
        "warren_history_up": ("Whether the last attempt to write the history was a good one.", not health.last_error),
        "warren_history_files": ("Files that the history consists of.", health.files),
        "warren_history_waiting_bytes": ("What waits on this disk to be put into it.", health.spooled_bytes),
        "warren_history_written_seconds": ("Since it was written last, 0 before the first time.", written_s),
    }
    for name, (says, value) in gauges.items():
        yield _gauge(name, says, [], {(): value})


def _gauge(name: str, says: str, labels: list[str], values: Values) -> Metric:
    return _filled(GaugeMetricFamily(name, says, labels=labels), values)


def _counter(name: str, says: str, labels: list[str], values: Values) -> Metric:
    return _filled(CounterMetricFamily(name, says, labels=labels), values)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, values: Values) -> Metric:
    for labels, value in values.items():
        if value is not None:
            family.add_metric(labels, value)
    return family
