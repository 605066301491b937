"""Points of every measurement that sinks write, as rows and Arrow batches."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from warren.sinks.health_points import HEALTH_POINTS
from warren.sinks.points import POINTS

TIME_MS = 1_700_000_000_123


def partition_row(group: str = "billing", topic: str = "orders", **more: object) -> dict[str, object]:
    """Return a point about a partition of a group; `more` replaces or adds columns."""
    return {
        "measurement": "burrow_partition", "time_ms": TIME_MS, "cluster": "prod", "group": group, "topic": topic,
        "partition": 3, "owner": "/10.0.0.1", "status": "STOP", "status_code": 5, "lag": 15, "offset": 5,
        "timestamp": 1_699_999_999_000, "lag_seconds": 2.5, "reason": "stopped", **more,
    }  # fmt: skip


def group_row(group: str = "billing", **more: object) -> dict[str, object]:
    """Return a point about a group; `more` replaces or adds columns."""
    return {
        "measurement": "burrow_group", "time_ms": TIME_MS, "cluster": "prod", "group": group, "status": "ERR",
        "status_code": 4, "partition_count": 2, "total_lag": 20, "lag": 15, "offset": 50, "timestamp": 7,
        "lag_seconds": None, "reason": "stopped", **more,
    }  # fmt: skip


TOPIC_ROW = {
    "measurement": "burrow_topic", "time_ms": TIME_MS, "cluster": "prod", "topic": "orders", "partition": 3,
    "offset": 20,
}  # fmt: skip

CLUSTER_ROW = {
    "measurement": "warren_cluster", "time_ms": TIME_MS, "instance": "warren-1:8000", "cluster": "prod", "ready": 1,
    "reachable": 0, "groups_ok": 7, "groups_warn": 1, "groups_err": 0, "delay_seconds": 2.0, "behind_records": 3,
}  # fmt: skip
PROCESS_ROW = {
    "measurement": "warren_process", "time_ms": TIME_MS, "instance": "warren-1:8000", "leader": 0,
    "notifier_failed": 2, "memory_bytes": 100_000_000, "cpu_seconds": 1.5,
}  # fmt: skip


def batch(*rows: dict[str, object]) -> pa.RecordBatch:
    """Return points about groups, partitions and topics as one batch."""
    return pa.Table.from_pylist(list(rows), POINTS).combine_chunks().to_batches()[0]


def health_batch(*rows: dict[str, Any]) -> pa.RecordBatch:
    """Return points about clusters and the process as one batch."""
    return pa.Table.from_pylist(list(rows), HEALTH_POINTS).combine_chunks().to_batches()[0]
