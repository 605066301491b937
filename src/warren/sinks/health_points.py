"""How Warren itself is doing at one moment as points: one of each cluster, and one of the process. Pure.

Every point has the tag `instance`, so that several Warrens that watch the same clusters do not overwrite each other's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from warren.sinks.points import TEXT

if TYPE_CHECKING:  # Spark's tasks need the columns only, and none of what the figures come from
    from warren.health import ClusterHealth, ProcessHealth

CLUSTER, PROCESS = ("warren_cluster", "warren_process")

_WHOLE, _REAL = pa.int64(), pa.float64()

CLUSTER_FIELDS = (
    ("ready", _WHOLE),
    ("reachable", _WHOLE),
    ("groups_ok", _WHOLE),
    ("groups_warn", _WHOLE),
    ("groups_err", _WHOLE),
    ("delay_seconds", _REAL),
    ("behind_records", _WHOLE),
    ("read_records", _WHOLE),
    ("stale_partitions", _WHOLE),
    ("undecodable_records", _WHOLE),
    ("snapshot_age_seconds", _REAL),
    ("open_incidents", _WHOLE),
)
PROCESS_FIELDS = (
    ("leader", _WHOLE),
    ("queries_running", _WHOLE),
    ("queries_failing", _WHOLE),
    ("query_restarts", _WHOLE),
    ("notifier_waiting", _WHOLE),
    ("notifier_failed", _WHOLE),
    ("memory_bytes", _WHOLE),
    ("cpu_seconds", _REAL),
    ("open_files", _WHOLE),
)
HEALTH_POINTS = pa.schema(
    [
        ("measurement", TEXT),
        ("time_ms", pa.int64()),
        ("instance", TEXT),
        ("cluster", TEXT),
        *CLUSTER_FIELDS,
        *PROCESS_FIELDS,
    ]
)
"""Both measurements in one table; what one does not have, or is not known, is null."""

Fields = dict[str, int | float | None]


def health_points(clusters: Mapping[str, ClusterHealth], process: ProcessHealth, *, at_ms: int) -> pa.Table:
    """The points of a moment, of these clusters by name."""
    common = {"time_ms": at_ms, "instance": process.instance}
    rows: list[dict[str, object]] = [
        {"measurement": CLUSTER, "cluster": name, **common, **_of_cluster(one), **_of_incidents(name, process)}
        for name, one in clusters.items()
    ]
    rows.append({"measurement": PROCESS, **common, **_of_process(process)})
    return pa.Table.from_pylist(rows, HEALTH_POINTS)


def _of_cluster(health: ClusterHealth) -> Fields:
    delays_s = [one.delay_s for one in health.modules.values() if one.delay_s is not None]
    return {
        "ready": int(health.is_ready),
        "reachable": int(health.is_reachable),
        **{f"groups_{status.name.lower()}": count for status, count in health.groups.items()},
        "delay_seconds": max(delays_s, default=None),
        "behind_records": health.behind_records,
        "read_records": sum(one.records for one in health.modules.values()),
        "stale_partitions": sum(health.stale_partitions.values()),
        "undecodable_records": sum(health.undecodable_records.values()),
        "snapshot_age_seconds": health.snapshot_age_s,
    }


def _of_incidents(cluster: str, process: ProcessHealth) -> Fields:
    counts = process.alerts.open_incidents
    return {"open_incidents": None if counts is None else counts.get(cluster, 0)}


def _of_process(health: ProcessHealth) -> Fields:
    notifiers = health.alerts.notifiers
    return {
        "leader": int(health.alerts.is_leader),
        "queries_running": health.queries_running,
        "queries_failing": health.queries_failing,
        "query_restarts": sum(one.restarts for one in health.queries.values()),
        "notifier_waiting": None if notifiers is None else sum(one.waiting for one in notifiers.values()),
        "notifier_failed": None if notifiers is None else sum(one.failed for one in notifiers.values()),
        "memory_bytes": health.used.get("process_resident_memory_bytes"),
        "cpu_seconds": health.used.get("process_cpu_seconds_total"),
        "open_files": health.used.get("process_open_fds"),
    }
