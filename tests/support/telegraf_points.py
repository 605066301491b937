"""Ten minutes of points as telegraf's burrow plugin makes them, or with what Warren's own sinks add.

minute   0 ... 5 ... 10
billing  OK
slow     OK    WARN          falls behind
gone     OK    ERR (STOP)    no longer commits
odd name OK                  with every character that some language takes for its own

Two Warrens watch both clusters, and tell of themselves, too. The second has lost `test` in the middle.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

ODD = 'odd/na"me (1)+ a,b=c \\ ü:*?'
GROUPS = ("billing", "slow", "gone", ODD)
CODES = {"OK": 1, "WARN": 3, "ERR": 4, "STOP": 5}
STEP_S, STEPS = 10, 60
PARTITIONS = 2
CLUSTERS = ("prod", "test")
INSTANCES = ("warren-1:8000", "warren-2:8000")

Field = int | float | str


class Point(NamedTuple):
    """One measurement at one moment."""

    measurement: str
    tags: dict[str, str]
    fields: dict[str, Field]
    at_ms: int


def points(*, by_warren: bool, until_ms: int | None = None) -> Iterator[Point]:
    """Of two clusters, up to now."""
    last_ms = until_ms or time.time_ns() // 1_000_000
    for step in range(STEPS):
        at_ms = last_ms - (STEPS - 1 - step) * STEP_S * 1000
        for cluster in CLUSTERS:
            for group in GROUPS:
                yield from _of_group(cluster, group, step, at_ms, by_warren)
            for partition in range(PARTITIONS):
                tags = {"cluster": cluster, "topic": "orders", "partition": str(partition)}
                yield Point("burrow_topic", tags, {"offset": 1000 + 20 * step}, at_ms)
        if by_warren:
            yield from _of_warrens(step, at_ms)


def _of_warrens(step: int, at_ms: int) -> Iterator[Point]:
    for number, instance in enumerate(INSTANCES):
        for cluster in CLUSTERS:
            is_lost = step > STEPS // 2 and (number, cluster) == (1, "test")
            tags = {"cluster": cluster, "instance": instance}
            yield Point("warren_cluster", tags, _of_reading(step, is_lost), at_ms)
        fields: dict[str, Field] = {"leader": 1 - number, "queries_running": 4, "queries_failing": 0}
        counts: dict[str, Field] = {"query_restarts": step // 10, "notifier_waiting": 1, "notifier_failed": step // 20}
        used: dict[str, Field] = {"memory_bytes": 100_000_000, "cpu_seconds": 0.5 * STEP_S * step, "open_files": 50}
        yield Point("warren_process", {"instance": instance}, {**fields, **counts, **used}, at_ms)


def _of_reading(step: int, is_lost: bool) -> dict[str, Field]:
    late = max(0, step - STEPS // 2) if is_lost else 0
    known: dict[str, Field] = {"ready": 1, "reachable": int(not is_lost), "groups_ok": 2, "groups_warn": 1}
    lateness: dict[str, Field] = {"delay_seconds": 0.5 + STEP_S * late, "behind_records": 7 * late}
    counts: dict[str, Field] = {"read_records": 30 * step, "stale_partitions": late, "undecodable_records": step // 10}
    return {**known, **lateness, **counts, "groups_err": 1, "snapshot_age_seconds": 12.5, "open_incidents": 2}


def _of_group(cluster: str, group: str, step: int, at_ms: int, by_warren: bool) -> Iterator[Point]:
    status, lag, offset = _standing(group, step)
    extras: dict[str, Field] = {"lag_seconds": lag / 2, "reason": "stopped"} if by_warren else {}
    tags = {"cluster": cluster, "group": group}
    worst = "ERR" if status == "STOP" else status
    counts: dict[str, Field] = {"partition_count": PARTITIONS, "total_lag": lag * PARTITIONS, "lag": lag}
    about: dict[str, Field] = {"offset": offset * PARTITIONS, "timestamp": at_ms}
    yield Point(
        "burrow_group", tags, {"status": worst, "status_code": CODES[worst], **counts, **about, **extras}, at_ms
    )
    for partition in range(PARTITIONS):
        where = {**tags, "topic": "orders", "partition": str(partition), "owner": "10.0.0.1"}
        fields = {"status": status, "status_code": CODES[status], "lag": lag, "offset": offset, "timestamp": at_ms}
        yield Point("burrow_partition", where, {**fields, **extras}, at_ms)


def _standing(group: str, step: int) -> tuple[str, int, int]:
    late = max(0, step - STEPS // 2)
    if late and group == "slow":
        return "WARN", 10 * late, 1000 + 10 * step
    if late and group == "gone":
        return "STOP", 20 * late, 1000 + 20 * (STEPS // 2)
    return "OK", 0, 1000 + 20 * step


def as_line(point: Point) -> str:
    """InfluxDB's line protocol."""
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
    """What telegraf's elasticsearch output makes of it."""
    return {
        "@timestamp": point.at_ms,
        "measurement_name": point.measurement,
        "tag": point.tags,
        point.measurement: point.fields,
    }
