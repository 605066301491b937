"""`/metrics` for Prometheus: how Warren itself is doing, made at each scrape from the live state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from warren.rules.listing import Selection
from warren.serve.v1.answers import QueryHealth
from warren.state import ClusterState

Family = GaugeMetricFamily | CounterMetricFamily
Values = dict[tuple[str, ...], float]
"""By the values of the labels."""


class Metrics:
    """The page."""

    def __init__(
        self,
        clusters: Mapping[str, ClusterState],
        now_ms: Callable[[], int],
        queries: Callable[[], Mapping[str, QueryHealth]],
    ) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(_State(clusters, now_ms, queries))

    def page(self, request: Request) -> Response:
        """A plain function, so that a thread waits for the state's lock and not the server."""
        return Response(generate_latest(self._registry), headers={"Content-Type": CONTENT_TYPE_LATEST})


class _State(Collector):
    def __init__(
        self,
        clusters: Mapping[str, ClusterState],
        now_ms: Callable[[], int],
        queries: Callable[[], Mapping[str, QueryHealth]],
    ) -> None:
        self._clusters = clusters
        self._now_ms = now_ms
        self._queries = queries

    def collect(self) -> Iterable[Family]:
        clusters = sorted(self._clusters.items())
        yield _gauge(
            "warren_cluster_ready",
            "Whether answers about the cluster are worth reading.",
            {(name,): state.is_ready for name, state in clusters},
        )
        yield _gauge(
            "warren_offsets_behind_records",
            "Records of the offsets topic that are known to be unread.",
            {(name,): state.behind_records for name, state in clusters},
        )
        yield self._stale(clusters)
        yield self._groups(clusters)
        yield _counter(
            "warren_undecodable_records",
            "Records of the offsets topic that could not be decoded, by kind.",
            {(name, kind): count for name, state in clusters for kind, count in sorted(state.skipped().items())},
            "cluster",
            "kind",
        )
        yield _counter(
            "warren_query_restarts",
            "How often a query of the pipeline has been started again.",
            {(name,): health.restarts for name, health in sorted(self._queries().items())},
            "query",
        )

    def _stale(self, clusters: list[tuple[str, ClusterState]]) -> Family:
        found = {name: state.staleness(now_ms=self._now_ms()) for name, state in clusters}
        values: Values = {(name, "transaction"): len(one.held) for name, one in found.items()}
        values |= {(name, "unread"): len(one.since_ms) - len(one.held) for name, one in found.items()}
        says = "Partitions of the offsets topic of which nothing new is known, by what keeps it."
        return _gauge("warren_offsets_stale_partitions", says, values, "cluster", "reason")

    def _groups(self, clusters: list[tuple[str, ClusterState]]) -> Family:
        pages = {name: state.list_groups(Selection(limit=0), now_ms=self._now_ms()) for name, state in clusters}
        values: Values = {
            (name, status.name): count for name, page in pages.items() for status, count in page.by_status.items()
        }
        return _gauge("warren_groups", "Groups by their status.", values, "cluster", "status")


def _gauge(name: str, says: str, values: Values, *labels: str) -> Family:
    return _filled(GaugeMetricFamily(name, says, labels=labels or ("cluster",)), values)


def _counter(name: str, says: str, values: Values, *labels: str) -> Family:
    return _filled(CounterMetricFamily(name, says, labels=labels), values)


def _filled(family: Family, values: Values) -> Family:
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family
