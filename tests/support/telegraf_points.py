"""Ten minutes of points as telegraf's burrow plugin writes them, or as Warren's own sinks do, with their extra fields.

group     topic      minutes 0 to 5   minutes 5 to 10
billing   orders     OK               OK
slow      orders     OK               WARN         reads half of what is written
gone      orders     OK               ERR (STOP)   reads nothing
ODD       orders     OK               OK           its name has the special characters of every query language
reports   payments   OK               WARN         reads half of what is written
stuck     payments   OK               ERR (STOP)   reads nothing

Both clusters have all groups; more is written to `payments` of `test` than of `prod`. Two Warrens monitor both clusters
and report their own health. In the middle the second one loses its connection to `test`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.support.grafana import Chosen

CODES = {"OK": 1, "WARN": 3, "ERR": 4, "STOP": 5}
STEP_S, STEPS = 10, 60
TROUBLE_STEP = STEPS // 2
PARTITIONS = 2
FIRST_OFFSET = 1000
INSTANCES = ("warren-1:8000", "warren-2:8000")
WRITTEN = {
    "prod": {"orders": 20, "payments": 30},
    "test": {"orders": 20, "payments": 50},
}
"""Records per partition and step."""

Field = int | float | str


class Group(NamedTuple):
    """A consumer group of one topic; the second half of the time has its `status`."""

    topic: str
    status: str = "OK"
    reads: float = 1.0
    """The share of the written records that it reads in the second half."""


ODD = 'odd/na"me (1)+ a,b=c \\ ü:*?'
GROUPS = {
    "billing": Group("orders"),
    "slow": Group("orders", "WARN", 0.5),
    "gone": Group("orders", "STOP", 0),
    ODD: Group("orders"),
    "reports": Group("payments", "WARN", 0.5),
    "stuck": Group("payments", "STOP", 0),
}
CHOSEN: Chosen = {
    "cluster": ["prod"],
    "group": ["slow", "gone", ODD],
    "topic": ["orders"],
    "instance": [INSTANCES[0]],
}
"""Values of the dashboards' variables; each status occurs in the chosen groups and in the others."""


class Point(NamedTuple):
    """One measurement at one time."""

    measurement: str
    tags: dict[str, str]
    fields: dict[str, Field]
    at_ms: int


def points(*, by_warren: bool, until_ms: int) -> Iterator[Point]:
    """Yield all points, the newest at `until_ms`; only Warren writes about itself."""
    for step in range(STEPS):
        at_ms = until_ms - (STEPS - 1 - step) * STEP_S * 1000
        for cluster in WRITTEN:
            for group in GROUPS:
                yield from _group_points(cluster, group, step, at_ms, by_warren)
            yield from _topic_points(cluster, step, at_ms)
        if by_warren:
            yield from _health_points(step, at_ms)


def tags_of(measurement: str) -> set[str]:
    """Return the names of the tags that the points of a measurement have."""
    return {
        tag for point in points(by_warren=True, until_ms=0) if point.measurement == measurement for tag in point.tags
    }


def _topic_points(cluster: str, step: int, at_ms: int) -> Iterator[Point]:
    for topic, written in WRITTEN[cluster].items():
        for partition in range(PARTITIONS):
            tags = {"cluster": cluster, "topic": topic, "partition": str(partition)}
            yield Point("burrow_topic", tags, {"offset": FIRST_OFFSET + written * step}, at_ms)


def _health_points(step: int, at_ms: int) -> Iterator[Point]:
    for number, instance in enumerate(INSTANCES):
        for cluster in WRITTEN:
            is_lost = step > TROUBLE_STEP and (number, cluster) == (1, "test")
            tags = {"cluster": cluster, "instance": instance}
            fields = {**_reading_fields(step, is_lost), "open_incidents": 2 + number}
            yield Point("warren_cluster", tags, fields, at_ms)
        state: dict[str, Field] = {"leader": 1 - number, "queries_running": 4, "queries_failing": 0}
        counts: dict[str, Field] = {"query_restarts": step // 10, "notifier_waiting": 1, "notifier_failed": step // 20}
        used: dict[str, Field] = {"memory_bytes": 100_000_000, "cpu_seconds": 0.5 * STEP_S * step, "open_files": 50}
        yield Point("warren_process", {"instance": instance}, {**state, **counts, **used}, at_ms)


def _reading_fields(step: int, is_lost: bool) -> dict[str, Field]:
    late = max(0, step - TROUBLE_STEP) if is_lost else 0
    groups: dict[str, Field] = {"groups_ok": 2, "groups_warn": 2, "groups_err": 2}
    state: dict[str, Field] = {"ready": 1, "reachable": int(not is_lost), "snapshot_age_seconds": 12.5}
    lateness: dict[str, Field] = {"delay_seconds": 0.5 + STEP_S * late, "behind_records": 7 * late}
    counts: dict[str, Field] = {"read_records": 30 * step, "stale_partitions": late, "undecodable_records": step // 10}
    return {**groups, **state, **lateness, **counts}


def _group_points(cluster: str, name: str, step: int, at_ms: int, by_warren: bool) -> Iterator[Point]:
    group = GROUPS[name]
    late = max(0, step - TROUBLE_STEP)
    status = group.status if late else "OK"
    written = WRITTEN[cluster][group.topic]
    lag = int(written * (1 - group.reads) * late)
    offset = FIRST_OFFSET + written * step - lag
    extras: dict[str, Field] = {"lag_seconds": lag / 2, "reason": "stopped"} if by_warren else {}
    tags = {"cluster": cluster, "group": name}
    worst = "ERR" if status == "STOP" else status
    counts: dict[str, Field] = {"partition_count": PARTITIONS, "total_lag": lag * PARTITIONS, "lag": lag}
    about: dict[str, Field] = {"offset": offset * PARTITIONS, "timestamp": at_ms}
    fields: dict[str, Field] = {"status": worst, "status_code": CODES[worst], **counts, **about, **extras}
    yield Point("burrow_group", tags, fields, at_ms)
    for partition in range(PARTITIONS):
        where = {**tags, "topic": group.topic, "partition": str(partition), "owner": "10.0.0.1"}
        fields = {"status": status, "status_code": CODES[status], "lag": lag, "offset": offset, "timestamp": at_ms}
        yield Point("burrow_partition", where, {**fields, **extras}, at_ms)


def as_line(point: Point) -> str:
    """Encode a point in InfluxDB's line protocol."""
    tags = "".join(f",{name}={_escaped(value)}" for name, value in point.tags.items())
    fields = ",".join(f"{name}={_value(value)}" for name, value in point.fields.items())
    return f"{point.measurement}{tags} {fields} {point.at_ms}"


def _escaped(text: str) -> str:
    return text.replace(",", "\\,").replace("=", "\\=").replace(" ", "\\ ")


def _value(value: Field) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value}i" if isinstance(value, int) else str(value)


def as_document(point: Point) -> dict[str, object]:
    """Encode a point as telegraf's elasticsearch output does."""
    return {
        "@timestamp": point.at_ms,
        "measurement_name": point.measurement,
        "tag": point.tags,
        point.measurement: point.fields,
    }
