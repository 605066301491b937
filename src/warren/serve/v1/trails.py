"""API v1 about the course of things: trails of lag, and the windows of all partitions of a group. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from warren.clusters.state import ClusterState
from warren.rules.verdict import GroupVerdict, PartitionVerdict
from warren.serve.v1 import answers, models
from warren.serve.v1.trail_models import PartitionCommits, Trail, WindowList, WindowQuery
from warren.serve.v1.words import PartitionStatus

LIST_POINTS = 40
"""In a list: a sparkline is not wider."""
ALL_POINTS = 1_000
"""More than are ever kept."""


def with_trails(state: ClusterState, found: models.GroupList) -> models.GroupList:
    """A list whose groups have their trails."""
    trail = state.trail_of([one["group"] for one in found["groups"]], LIST_POINTS)
    found["trails"] = {
        "times": [answers.time(at_ms) for at_ms in trail.at_ms.tolist()],
        "total_lag": [_whole(column) for column in trail.lag.T.tolist()],
    }
    return found


def trail(state: ClusterState, group: str) -> Trail:
    """One group with everything that is kept of it."""
    found = state.trail_of([group], ALL_POINTS)
    return {
        "cluster": state.name,
        "group": group,
        "times": [answers.time(at_ms) for at_ms in found.at_ms.tolist()],
        "total_lag": _whole(found.lag[:, 0].tolist()),
        "lag_seconds": [None if math.isnan(one) else round(one, 3) for one in found.lag_s[:, 0].tolist()],
    }


def _whole(values: Sequence[float]) -> list[int | None]:
    return [None if math.isnan(one) else int(one) for one in values]


def windows(
    state: ClusterState, verdict: GroupVerdict, query: WindowQuery, *, now_ms: int, next_page: str | None
) -> WindowList:
    """A page of windows of the group's partitions."""
    wanted = selected(verdict, query)
    shown = wanted[query.offset : query.offset + query.limit]
    return {
        "evaluated_at": answers.time(now_ms),
        "restored_at": answers.time_or_null(state.restored_ms),
        "matching": len(wanted),
        "window_size": state.intervals,
        "windows": [_commits(one) for one in shown],
        "next": next_page,
    }


def selected(verdict: GroupVerdict, query: WindowQuery) -> list[PartitionVerdict]:
    """The partitions that are asked for, on all pages."""
    return [one for one in verdict.partitions if query.topic in ("", one.topic)]


def _commits(one: PartitionVerdict) -> PartitionCommits:
    return {
        "topic": one.topic,
        "partition": one.partition,
        "status": PartitionStatus[one.status.name],
        "window": [answers.entry(entry) for entry in one.entries],
    }
