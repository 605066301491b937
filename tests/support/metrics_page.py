"""The page `/metrics` of example clusters, and its lines."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.example_cluster import NOW_S, QUERIES, ms
from warren.clusters.state import ClusterState
from warren.config.model import Metrics as Settings
from warren.serve.metrics import Metrics
from warren.serve.metrics.formats import TEXT

NOW_MS = ms(NOW_S)
REQUESTS = {("v3", "GET", 200): (7, 0.25), ("v1", "GET", 404): (1, 0.5)}
"""Requests served so far: their number and the seconds they took, by API, method and status."""
OPENMETRICS_10 = "application/openmetrics-text;version=1.0.0"


def metrics_of(*states: ClusterState, now_ms: Callable[[], int] = lambda: NOW_MS, **chosen: object) -> Metrics:
    """Return the metrics of clusters; `chosen` are settings of the section `[metrics]`."""
    clusters = {state.name: state for state in states}
    settings = Settings.model_validate(chosen)
    return Metrics(clusters, now_ms, lambda: QUERIES, lambda: settings, lambda: REQUESTS)


def page_of(metrics: Metrics) -> str:
    """Return the page in Prometheus' text format."""
    return metrics.body(TEXT, gzip=False).decode()


def lines_of(page: str, family: str) -> list[str]:
    """Return the samples of one family, each without the family's name."""
    return [line.removeprefix(family) for line in page.splitlines() if line.startswith((f"{family}{{", f"{family} "))]
