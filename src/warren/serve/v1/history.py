"""API v1 about the past: how the history is doing, and how the lag of a group went over hours and days."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import FastAPI, Query
from pydantic import AwareDatetime, BaseModel
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from warren.clusters.state import ClusterState
from warren.errors import HistoryError
from warren.history.service import History
from warren.serve.v1 import answers
from warren.serve.v1.endpoints import add_get
from warren.serve.v1.errors import RequestError, cluster_not_found
from warren.serve.v1.models import Time, says
from warren.serve.v1.parameters import ClusterName, GroupName, PartitionNumber, TopicName
from warren.serve.v1.words import GroupStatus

if TYPE_CHECKING:
    from warren.history.reader import Span

DAY_MS = 86_400_000
AT_ONCE = 2
MOST_WAITING = 12
"""With those whose turn it is; there are some dozen threads for all answers."""
Found = TypeVar("Found")


class HistoryAnswer(TypedDict):
    """How the history is doing."""

    is_kept: Annotated[bool, says("Whether one is configured.")]
    path: str | None
    commits: Annotated[int, says("Commits that were put into it since the start.")]
    files: Annotated[int, says("It consists of so many.")]
    waiting_bytes: Annotated[int, says("What waits on the disk of this machine to be put into it.")]
    last_written_at: Time | None
    last_error: Annotated[str | None, says("Why it cannot be written now; it waits, and is tried again.")]
    lost_seconds: Annotated[int, says("Of so many seconds nothing was kept, since too much waited.")]


class Times(BaseModel):
    """Which time."""

    since: AwareDatetime | None = says("From then on; a day before `until` if it is not given.", default=None)
    until: AwareDatetime | None = says("Until then; now if it is not given.", default=None)


class CourseQuery(Times):
    """In which steps."""

    points: int = says("In at most so many points; each has the worst of its time.", default=500, ge=2, le=5_000)


class OffsetsCourseQuery(Times):
    """In which steps."""

    points: int = says("In at most so many points; each is of the end of its time.", default=500, ge=2, le=5_000)


class CourseAnswer(TypedDict):
    """How the lag of a group went, by the history."""

    cluster: str
    group: str
    step_seconds: Annotated[float, says("The time that each point stands for.")]
    times: Annotated[list[Time], says("Oldest first.")]
    total_lag: Annotated[list[int], says("The highest in its time.")]
    lag_seconds: Annotated[list[float | None], says("The age of the oldest unread record; null if it was not known.")]
    status: Annotated[list[GroupStatus], says("The worst in its time.")]


class OffsetsCourseAnswer(TypedDict):
    """How a group moved through a partition, by the history."""

    cluster: str
    group: str
    topic: str
    partition: int
    step_seconds: Annotated[float, says("The time between two points.")]
    times: Annotated[list[Time], says("Oldest first.")]
    committed_offset: Annotated[list[int | None], says("Where the group stood then; null if that was not known.")]
    end_offset: Annotated[list[int | None], says("Where the partition ended then; null if that was not known.")]


def add_history_routes(app: FastAPI, api: HistoryApi) -> None:
    """Everything below."""
    add_get(app, "/history", api.get_history, "The history and how it is doing")
    path = "/clusters/{cluster}/groups/{group}/history"
    add_get(app, path, api.get_course, "How the lag of a group went over hours and days")
    path = "/clusters/{cluster}/groups/{group}/topics/{topic}/partitions/{partition}/history"
    add_get(app, path, api.get_offsets_course, "How a group moved through a partition over hours and days")


class HistoryApi:
    """One method for each route."""

    def __init__(self, history: History, clusters: Mapping[str, ClusterState], now_ms: Callable[[], int]) -> None:
        self._history = history
        self._clusters = clusters
        self._now_ms = now_ms
        self._waiting = threading.Semaphore(MOST_WAITING)
        self._reading = threading.Semaphore(AT_ONCE)

    def get_history(self) -> HistoryAnswer:
        """Tells whether one is kept, what is in it, and what went wrong."""
        health = self._history.health
        return {
            "is_kept": bool(health.path),
            "path": health.path or None,
            "commits": health.commits,
            "files": health.files,
            "waiting_bytes": health.spooled_bytes,
            "last_written_at": answers.time_or_null(health.flushed_ms or None),
            "last_error": health.last_error or None,
            "lost_seconds": health.lost_pages,
        }

    def get_course(
        self, cluster: ClusterName, group: GroupName, query: Annotated[CourseQuery, Query()]
    ) -> CourseAnswer:
        """Tells of each step the highest lag and the worst status; the last minutes may not be there yet."""
        found = self._asked(lambda span: self._history.course(group, span, query.points), cluster, query)
        return {
            "cluster": cluster,
            "group": group,
            "step_seconds": found.step_ms / 1000,
            "times": [answers.time(at_ms) for at_ms in found.at_ms],
            "total_lag": found.total_lag,
            "lag_seconds": [answers.rounded(one) for one in found.lag_s],
            "status": [GroupStatus[one.name] for one in found.status],
        }

    def get_offsets_course(
        self,
        cluster: ClusterName,
        group: GroupName,
        topic: TopicName,
        partition: PartitionNumber,
        query: Annotated[OffsetsCourseQuery, Query()],
    ) -> OffsetsCourseAnswer:
        """Tells of the end of each step where the group stood, and where the partition ended."""
        from warren.history.courses import Where

        where = Where(group, topic, partition)
        found = self._asked(lambda span: self._history.offsets_course(where, span, query.points), cluster, query)
        return {
            "cluster": cluster,
            "group": group,
            "topic": topic,
            "partition": partition,
            "step_seconds": found.step_ms / 1000,
            "times": [answers.time(at_ms) for at_ms in found.at_ms],
            "committed_offset": found.committed,
            "end_offset": found.end,
        }

    def _asked(self, ask: Callable[[Span], Found], cluster: str, query: Times) -> Found:
        from warren.history.reader import Span

        if cluster not in self._clusters:
            raise cluster_not_found(cluster, sorted(self._clusters))
        to_ms = answers.milliseconds(query.until) if query.until else self._now_ms()
        from_ms = answers.milliseconds(query.since) if query.since else to_ms - DAY_MS
        with self._turn():
            try:
                return ask(Span(cluster, from_ms, to_ms))
            except HistoryError as error:
                raise RequestError(HTTPStatus.NOT_FOUND, "no_history", error.message, hint=error.hint) from error

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Some wait, the others are told to: Spark has other things to do, and so has who answers requests."""
        if not self._waiting.acquire(blocking=False):
            message = "Too many ask about the history at this moment."
            raise RequestError(HTTPStatus.SERVICE_UNAVAILABLE, "busy", message, hint="Ask again in some seconds.")
        try:
            with self._reading:
                yield
        finally:
            self._waiting.release()
