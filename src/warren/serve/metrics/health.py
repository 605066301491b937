"""How Warren itself is doing: the families with few lines, by way of the usual Prometheus client."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

import numpy as np
import structlog
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

from warren import __version__
from warren.model import Status
from warren.notify.outbox import Results
from warren.notify.service import Alerts
from warren.serve.metrics.columns import Told
from warren.serve.metrics.formats import Format
from warren.serve.v1.answers import QueryHealth
from warren.state import ClusterState

log = structlog.get_logger()

Values = Mapping[tuple[str, ...], float]
"""By the values of the labels."""

GROUP_STATUSES = (Status.OK, Status.WARN, Status.ERR)


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
    ) -> None:
        self._alerts = alerts
        self._queries = queries
        self._requests = requests
        self._process = ProcessCollector(registry=None)

    def text(self, states: Mapping[str, ClusterState], told: Mapping[str, Told], chosen: Format, now_ms: int) -> bytes:
        """All families, and what a format wants at the end of a page."""
        families = [
            _gauge("warren_build_info", "Which Warren this is.", ["version"], {(__version__,): 1}),
            *_of_clusters(states, now_ms),
            *_of_groups(told),
            *_of_reading(states, now_ms),
            *_of_queries(self._queries()),
            *_of_requests(self._requests()),
            *(_of_alerts(self._alerts, states) if self._alerts else ()),
            *self._process.collect(),
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


def _of_clusters(states: Mapping[str, ClusterState], now_ms: int) -> Iterator[Metric]:
    yield _gauge(
        "warren_cluster_ready",
        "Whether answers about the cluster are worth reading.",
        ["cluster"],
        {(name,): state.is_ready for name, state in states.items()},
    )
    yield _gauge(
        "warren_cluster_reachable",
        "Whether the cluster can be read.",
        ["cluster"],
        {(name,): state.unreachable is None for name, state in states.items()},
    )
    yield _gauge(
        "warren_snapshot_age_seconds",
        "Time since the newest snapshot of the cluster was written.",
        ["cluster"],
        {(name,): _age_s(state.saved_ms, now_ms) for name, state in states.items() if state.saved_ms},
    )


def _of_groups(told: Mapping[str, Told]) -> Iterator[Metric]:
    counts = {name: _by_status(one, np.ones(len(one.survey.shown.code), np.bool_)) for name, one in told.items()}
    yield _gauge("warren_groups", "Groups by their status.", ["cluster", "status"], _flat(counts))
    others = {name: ~one.choice.groups for name, one in told.items() if one.choice.groups is not None}
    yield _gauge(
        "warren_other_groups",
        "Groups that have no lines of their own, by their status.",
        ["cluster", "status"],
        _flat({name: _by_status(told[name], where) for name, where in others.items()}),
    )
    yield _gauge(
        "warren_other_groups_lag_records",
        "Records that the groups without lines of their own have not read yet, all together.",
        ["cluster"],
        {(name,): int(_total_lag(told[name])[where].sum()) for name, where in others.items()},
    )


def _by_status(told: Told, where: np.ndarray) -> dict[Status, int]:
    status = told.survey.evaluation.group_status[told.survey.shown.code][where]
    return {one: int(np.count_nonzero(status == one)) for one in GROUP_STATUSES}


def _total_lag(told: Told) -> np.ndarray:
    return told.survey.evaluation.total_lag[told.survey.shown.code]


def _flat(counts: Mapping[str, Mapping[Status, int]]) -> Values:
    return {(name, status.name): count for name, one in counts.items() for status, count in one.items()}


def _of_reading(states: Mapping[str, ClusterState], now_ms: int) -> Iterator[Metric]:
    read = {(name, module): one for name, state in states.items() for module, one in state.read().items()}
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
        {at: _age_s(one.planned_ms, now_ms) for at, one in read.items() if one.planned_ms},
    )
    yield _gauge(
        "warren_offsets_delay_seconds",
        "Time since the moment up to which every partition of the offsets topic has been read.",
        labels,
        {at: _age_s(one.until_ms, now_ms) for at, one in read.items() if one.until_ms},
    )
    yield _gauge(
        "warren_offsets_behind_records",
        "Records of the offsets topic that are known to be unread.",
        ["cluster"],
        {(name,): state.behind_records for name, state in states.items()},
    )
    yield _stale(states, now_ms)
    yield _counter(
        "warren_undecodable_records",
        "Records of the offsets topic that could not be decoded, by kind.",
        ["cluster", "kind"],
        {(name, kind): count for name, state in states.items() for kind, count in sorted(state.skipped().items())},
    )


def _stale(states: Mapping[str, ClusterState], now_ms: int) -> Metric:
    found = {name: state.staleness(now_ms=now_ms) for name, state in states.items()}
    values: dict[tuple[str, ...], float] = {(name, "transaction"): len(one.held) for name, one in found.items()}
    values |= {(name, "unread"): len(one.since_ms) - len(one.held) for name, one in found.items()}
    says = "Partitions of the offsets topic of which nothing new is known, by what keeps it."
    return _gauge("warren_offsets_stale_partitions", says, ["cluster", "reason"], values)


def _of_queries(queries: Mapping[str, QueryHealth]) -> Iterator[Metric]:
    yield _gauge(
        "warren_query_running",
        "Whether a query of the pipeline runs.",
        ["query"],
        {(name,): health.state == "running" for name, health in sorted(queries.items())},
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


def _of_alerts(alerts: Alerts, states: Mapping[str, ClusterState]) -> Iterator[Metric]:
    yield _gauge("warren_leader", "Whether this Warren is the one that sends.", [], {(): alerts.leader.is_leader})
    try:
        results, is_open = alerts.health(), alerts.incidents.count_open()
    except sqlite3.Error as error:  # lags are told all the same; these families are missing, which is no 0
        log.error("how the notifiers are doing is not known", error=str(error))
        return
    yield _gauge(
        "warren_incidents_open",
        "Groups with an open incident.",
        ["cluster"],
        {(name,): is_open.get(name, 0) for name in states},
    )
    yield from _of_notifiers(results)


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


def _age_s(then_ms: int, now_ms: int) -> float:
    return max(now_ms - then_ms, 0) / 1000


def _gauge(name: str, says: str, labels: list[str], values: Values) -> Metric:
    return _filled(GaugeMetricFamily(name, says, labels=labels), values)


def _counter(name: str, says: str, labels: list[str], values: Values) -> Metric:
    return _filled(CounterMetricFamily(name, says, labels=labels), values)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, values: Values) -> Metric:
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family
