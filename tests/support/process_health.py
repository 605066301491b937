"""Health of one Warren process, and the points that sinks write about it and its clusters."""

from __future__ import annotations

import pyarrow as pa

from tests.support.example_cluster import NOW_S, QUERIES, ms
from warren.clusters.state import ClusterState
from warren.health import AlertHealth, ProcessHealth, cluster_health
from warren.notify.outbox import Results
from warren.sinks.health_points import health_points

NOW_MS = ms(NOW_S)
NOTIFIERS = {"chat": Results(waiting=2, sent=5, failed=1), "mail": Results(waiting=1, failed=3)}
ALERTS = AlertHealth(is_leader=True, open_incidents={"local": 2, "gone": 9}, notifiers=NOTIFIERS)
USED = {"process_resident_memory_bytes": 100e6, "process_cpu_seconds_total": 12.5, "process_open_fds": 40.0}
PROCESS_HEALTH = ProcessHealth("warren-1:8000", ALERTS, QUERIES, USED)


def health_table(state: ClusterState, process: ProcessHealth = PROCESS_HEALTH) -> pa.Table:
    """Return two points at NOW_MS: one about the cluster, one about the process."""
    survey = state.survey(now_ms=NOW_MS) if state.is_ready else None
    return health_points({state.name: cluster_health(state, survey, now_ms=NOW_MS)}, process, at_ms=NOW_MS)
