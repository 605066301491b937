"""Points as samples: which families of `/metrics` their fields become, with which labels and values. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from warren.model import Status
from warren.sinks.columns import texts
from warren.sinks.health_points import CLUSTER, PROCESS
from warren.sinks.points import GROUP, PARTITION, TOPIC
from warren.sinks.protobuf import each_once, joined

LABELS = {
    "cluster": "cluster",
    "group": "consumer_group",
    "instance": "instance",
    "partition": "partition",
    "topic": "topic",
}
"""Columns with the names of their labels, in the order of those."""

FAMILIES = {
    GROUP: {
        "total_lag": "burrow_kafka_consumer_lag_total",
        "status": "burrow_kafka_consumer_status",
        "lag_seconds": "warren_group_lag_seconds",
    },
    PARTITION: {
        "offset": "burrow_kafka_consumer_current_offset",
        "lag": "burrow_kafka_consumer_partition_lag",
        "status": "burrow_kafka_topic_partition_status",
        "lag_seconds": "warren_partition_lag_seconds",
    },
    TOPIC: {"offset": "burrow_kafka_topic_partition_offset"},
    CLUSTER: {
        "ready": "warren_cluster_ready",
        "reachable": "warren_cluster_reachable",
        "groups_ok": "warren_groups",
        "groups_warn": "warren_groups",
        "groups_err": "warren_groups",
        "delay_seconds": "warren_offsets_delay_seconds",
        "behind_records": "warren_offsets_behind_records",
        "read_records": "warren_offsets_read_records_total",
        "stale_partitions": "warren_offsets_stale_partitions",
        "undecodable_records": "warren_undecodable_records_total",
        "snapshot_age_seconds": "warren_snapshot_age_seconds",
        "open_incidents": "warren_incidents_open",
    },
    PROCESS: {
        "leader": "warren_leader",
        "query_restarts": "warren_query_restarts_total",
        "notifier_waiting": "warren_notifier_waiting",
        "notifier_failed": "warren_notifier_messages_total",
        "memory_bytes": "process_resident_memory_bytes",
        "cpu_seconds": "process_cpu_seconds_total",
        "open_files": "process_open_fds",
    },
}
"""Of each measurement what becomes of its fields; how many queries run is told by none of the families."""
_OWN_LABELS = {
    "groups_ok": ("status", "OK"),
    "groups_warn": ("status", "WARN"),
    "groups_err": ("status", "ERR"),
    "notifier_failed": ("result", "failed"),
}
"""What tells a field from others of its family. They come after `instance`, and their points have no later label."""
_NEVER_COMMITTED = ("burrow_kafka_consumer_current_offset",)
"""Has no value where nothing was ever committed, as on the page."""


class Family(NamedTuple):
    """One family, with its value of each point; null where the point has none of it."""

    name: str
    values: pa.Array
    label: tuple[str, str] | None = None
    """One more than the points have, which belongs behind theirs."""


def families_of(points: pa.RecordBatch) -> Iterator[Family]:
    """All of them: whole numbers stay whole."""
    measurement = points.column("measurement").cast(pa.string())
    for kind, fields in FAMILIES.items():
        is_kind = pc.equal(measurement, kind)
        for field, name in fields.items():
            if field in points.schema.names:
                values = pc.if_else(is_kind, _values(points, field, name), None)
                yield Family(name, values, _OWN_LABELS.get(field))


def _values(points: pa.RecordBatch, field: str, name: str) -> pa.Array:
    column = points.column(field)
    if field == "status":  # Burrow's own number of it
        return texts(column, lambda value: str(int(Status[value])), missing="0").cast(pa.int64())
    if name in _NEVER_COMMITTED:
        return pc.if_else(pc.equal(points.column("timestamp"), 0), None, column)
    return column


def labels_of(points: pa.RecordBatch, write: Callable[[str, str], bytes]) -> pa.BinaryArray:
    """The labels of each point, as `write` has their names and values."""
    there = {column: label for column, label in LABELS.items() if column in points.schema.names}
    return joined([each_once(points.column(one).cast(pa.string()), partial(write, there[one])) for one in there])
