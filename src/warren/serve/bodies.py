"""The bodies of Burrow's v3 answers: which fields, in which order. Pure."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from warren.model import Status
from warren.rules.verdict import GroupVerdict, PartitionVerdict
from warren.serve import gojson
from warren.windows.rings import Entry

Body = dict[str, Any]


def found(message: str, request: Body, **fields: object) -> Body:
    """A body that says yes: the fields stand between the message and the request."""
    return {"error": False, "message": message, **fields, "request": request}


def failed(message: str, request: Body) -> Body:
    """A body that says no."""
    return {"error": True, "message": message, "request": request}


def group_status(cluster: str, verdict: GroupVerdict, *, all_partitions: bool) -> Body:
    """`status` of /lag (all partitions) and of /status (those in trouble; the sums are still of all)."""
    shown = [one for one in verdict.partitions if all_partitions or one.status > Status.OK]
    return {
        "cluster": cluster,
        "group": verdict.group,
        "status": verdict.status.name,
        "complete": gojson.number(verdict.complete),
        "partitions": [_partition_status(one) for one in shown],
        "partition_count": len(verdict.partitions),
        "maxlag": _partition_status(verdict.max_lag) if verdict.max_lag else None,
        "totallag": verdict.total_lag,
    }


def group_not_found(cluster: str, group: str) -> Body:
    """`status` of a group that is not known; clients read it even though the answer is a 404."""
    return {
        "cluster": cluster,
        "group": group,
        "status": Status.NOTFOUND.name,
        "complete": 1,
        "partitions": [],
        "partition_count": 0,
        "maxlag": None,
        "totallag": 0,
    }


def group_detail(verdict: GroupVerdict, intervals: int) -> Body:
    """`topics` of the consumer detail: every window, empty slots first."""
    return {
        topic: [_partition_detail(one, intervals) for one in partitions]
        for topic, partitions in groupby(verdict.partitions, key=lambda one: one.topic)
    }


def _partition_status(one: PartitionVerdict) -> Body:
    return {
        "topic": one.topic,
        "partition": one.partition,
        "owner": one.owner.host,
        "client_id": one.owner.client_id,
        "status": one.status.name,
        "start": _entry(one.start),
        "end": _entry(one.end),
        "current_lag": one.current_lag,
        "complete": gojson.number(one.complete),
    }


def _partition_detail(one: PartitionVerdict, intervals: int) -> Body:
    empty = [None] * (intervals - len(one.entries)) if one.complete > 0 else []
    return {
        "offsets": [*empty, *(_entry(entry) for entry in one.entries)],
        "owner": one.owner.host,
        "client_id": one.owner.client_id,
        "current-lag": one.current_lag,
    }


def _entry(entry: Entry | None) -> Body | None:
    if entry is None:
        return None
    return {
        "offset": entry.offset,
        "timestamp": entry.timestamp_ms,
        "observedAt": entry.observed_ms,
        "lag": entry.lag,
    }
