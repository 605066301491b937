"""What API v1 answers about the course of things: trails of lag, and the windows of all partitions of a group."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from warren.serve.v1.models import Judged, NextPage, Time, WindowEntry, says
from warren.serve.v1.words import PartitionStatus

MOST_WINDOWS = 1_000
"""In one page: each comes with all its commits."""


class Trail(TypedDict):
    """How the lag of a group has gone over the last hour, as far back as Warren has watched."""

    cluster: str
    group: str
    times: Annotated[list[Time], says("Oldest first; every few seconds lately, every half minute before.")]
    total_lag: Annotated[list[int | None], says("At each of these times, to seven digits; null if it was not known.")]
    lag_seconds: Annotated[list[float | None], says("How old the oldest unread record was then, at the least.")]


class WindowQuery(BaseModel):
    """Which partitions."""

    topic: str = says("Only partitions of this topic.", default="")
    limit: int = says("At most so many partitions.", default=100, ge=1, le=MOST_WINDOWS)
    offset: int = says("Leave out so many partitions from the start.", default=0, ge=0)


class PartitionCommits(TypedDict):
    """The commits that a partition is judged by."""

    topic: str
    partition: int
    status: PartitionStatus
    window: Annotated[list[WindowEntry], says("Oldest first.")]


class WindowList(Judged):
    """Windows of a group's partitions, by topic and number."""

    matching: Annotated[int, says("So many partitions were selected, on all pages.")]
    window_size: Annotated[int, says("So many commits are kept of each partition.")]
    windows: list[PartitionCommits]
    next: NextPage
