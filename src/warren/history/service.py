"""Keeps the history of all clusters while Warren runs: journal -> spool -> Parquet. Read this first of `history/`.

The pipeline never waits for it: what the states write down is taken every second to a spool on this disk, and every few
minutes, or when enough has come together, Spark puts that into the history.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import structlog

from warren.clusters.progress import own_group
from warren.clusters.state import ClusterState
from warren.errors import HistoryError, WarrenError
from warren.history.journal import Journal
from warren.history.scribe import Scribe
from warren.history.spool import Spool, spool_files
from warren.machine.names import file_name
from warren.machine.periodic import Periodic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from warren.history.courses import Course, OffsetsCourse, Where
    from warren.history.reader import HistoryReader, Span
    from warren.history.writer import HistoryWriter

log = structlog.get_logger()

SPOOL_S = 1.0
DAY_MS = 86_400_000
UPKEEP_MS = 600_000
RETRY_MS = 30_000


@dataclass(frozen=True)
class Plan:
    """Where a history lies, and how it is kept."""

    path: str
    flush_ms: int = 300_000
    flush_bytes: int = 32 << 20
    most_spool_bytes: int = 2 << 30
    sample_ms: int = 60_000
    retention_days: int = 30
    most_files: int = 24


@dataclass
class HistoryHealth:
    """How the history is doing, for people."""

    path: str = ""
    commits: int = 0
    """That were put into it since the start."""
    files: int = 0
    flushed_ms: int = 0
    spooled_bytes: int = 0
    last_error: str = ""
    lost_pages: int = 0
    """Seconds of which nothing was kept, since the spool was full."""


class _Wanted(NamedTuple):
    """A cluster whose history is to be kept, as soon as there is somewhere to keep it."""

    state: ClusterState
    judging: Callable[[], str]
    """How its groups are judged, as of now."""


@dataclass
class _Kept:
    """One cluster whose history is kept."""

    state: ClusterState
    spool: Spool
    scribe: Scribe
    day: int
    must_begin_again: bool = False


class History(Periodic):
    """One history for all clusters; it begins once Spark is there."""

    def __init__(self, plan: Plan, home: Path, now_ms: Callable[[], int]) -> None:
        super().__init__("history", SPOOL_S, self.step)
        self.health = HistoryHealth(plan.path)
        self._plan = plan
        self._home = home / "history"
        self._now_ms = now_ms
        self._wanted: dict[str, _Wanted] = {}
        self._kept: dict[str, _Kept] = {}
        self._spark: SparkSession | None = None
        self._writer: HistoryWriter | None = None
        self._beginning = threading.RLock()
        self._spooling = threading.Lock()
        self._flushing = threading.Lock()
        self._next_try_ms = 0
        self._upkept_ms = now_ms()

    # -- clusters come and go ------------------------------------------------------------------------------------

    def open(self, spark: SparkSession) -> None:
        """Begin to write with this Spark; a history that cannot be used is told, and tried again."""
        if self._plan.path:
            self._spark = spark
            self._open(spark)

    def _open(self, spark: SparkSession) -> None:
        from warren.history.writer import HistoryWriter

        with self._beginning:
            try:
                self._writer = HistoryWriter(spark, self._plan.path)
            except WarrenError as error:
                self._failed(error)
                return
            self.health.last_error = ""
            for one in self._wanted.values():
                self._begin(self._writer, one)

    def keep(self, state: ClusterState, judging: Callable[[], str]) -> None:
        """Keep the history of a cluster from now on, or from when the path can be used."""
        with self._beginning:
            self._wanted[state.name] = _Wanted(state, judging)
            if self._writer is not None:
                self._begin(self._writer, self._wanted[state.name])

    def _begin(self, writer: HistoryWriter, wanted: _Wanted) -> None:
        state, now_ms = wanted.state, self._now_ms()
        self._take_in_left_over(state.name)
        journal = Journal(now_ms, wanted.judging(), frozenset(own_group(one) for one in state.consumers))
        journal.resume(writer.recorded(state.name, spool_files(self._directory(state.name))))
        state.keep_history(journal, self._plan.sample_ms, now_ms=now_ms)
        spool = Spool(self._directory(state.name), now_ms)
        self._kept[state.name] = _Kept(state, spool, Scribe(), now_ms // DAY_MS)

    def leave(self, cluster: str) -> None:
        """A cluster is no longer watched; what was written down of it is kept, if need be in the spool."""
        with self._beginning:
            self._wanted.pop(cluster, None)
            if cluster not in self._kept:
                return
            self.sync(cluster)
            try:
                self._flush(cluster)
            except Exception as error:  # it waits for the next start; nobody else is to suffer from it
                self._failed(error)
            del self._kept[cluster]

    def sync(self, cluster: str) -> None:
        """Everything that the cluster's windows hold is safely on disk when this returns."""
        if kept := self._kept.get(cluster):
            with self._spooling:
                self._spool(kept)
                kept.spool.secure()

    def stop(self) -> None:
        """Stop; what is not in the history yet stays in the spool for the next time."""
        super().stop()
        for cluster in list(self._kept):
            self.sync(cluster)
            self._kept[cluster].spool.finish_file()

    # -- the past ------------------------------------------------------------------------------------------------

    def course(self, group: str, span: Span, most: int) -> Course:
        """How the lag of a group went; `HistoryError` if there is no history of that time."""
        from warren.history.courses import course_of

        reader = self._reader()
        return course_of(reader, reader.checked(span), group, most)

    def offsets_course(self, where: Where, span: Span, most: int) -> OffsetsCourse:
        """How a group moved through a partition; `HistoryError` if there is no history of that time."""
        from warren.history.courses import offsets_course_of

        reader = self._reader()
        return offsets_course_of(reader, reader.checked(span), where, most)

    def _reader(self) -> HistoryReader:
        from warren.history.reader import HistoryReader

        if self._writer is None:
            hint = "" if self._plan.path else "A path in [history] makes Warren keep one."
            raise HistoryError(self.health.last_error or "No history is kept.", hint=hint)
        return HistoryReader(self._writer.spark, self._plan.path)

    # -- what is done all the time -------------------------------------------------------------------------------

    def step(self) -> None:
        """One round."""
        now_ms = self._now_ms()
        for kept in list(self._kept.values()):
            if now_ms // DAY_MS != kept.day:  # each day can be replayed by itself
                kept.day = now_ms // DAY_MS
                kept.state.write_keyframe(now_ms=now_ms)
            with self._spooling:
                self._spool(kept)
        self.health.spooled_bytes = sum(kept.spool.used_bytes for kept in list(self._kept.values()))
        if now_ms < self._next_try_ms:
            return
        if self._writer is not None:
            self._write(now_ms)
        elif self._spark is not None:
            self._open(self._spark)

    def _spool(self, kept: _Kept) -> None:
        page = kept.state.take_page()
        if page.is_empty:
            return
        if kept.spool.used_bytes > self._plan.most_spool_bytes:
            self.health.lost_pages += 1
            kept.must_begin_again = True
            return
        kept.spool.append(kept.scribe.tables(page))

    def _write(self, now_ms: int) -> None:
        due = now_ms - self.health.flushed_ms >= self._plan.flush_ms
        try:
            for cluster, kept in list(self._kept.items()):
                if due or kept.spool.open_bytes >= self._plan.flush_bytes:
                    self._flush(cluster)
            if now_ms - self._upkept_ms >= UPKEEP_MS:
                self._upkept_ms = now_ms
                self._maintain()
            self.health.last_error = ""
        except Exception as error:  # whatever it is: Warren goes on, and it is tried again
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        from warren.pipeline.queries import cause_of

        reason = str(error) if isinstance(error, WarrenError) else cause_of(error)
        if reason != self.health.last_error:
            log.error("the history is not written; it waits in the spool", path=self._plan.path, error=reason)
        self.health.last_error = reason
        self._next_try_ms = self._now_ms() + RETRY_MS

    def flush(self) -> None:
        """Put everything that was written down into the history now; what fails is raised."""
        for cluster in list(self._kept):
            self.sync(cluster)
            self._flush(cluster)

    def _flush(self, cluster: str) -> None:
        kept = self._kept[cluster]
        with self._spooling:
            kept.spool.finish_file()
        with self._flushing:
            for path in kept.spool.finished_files():
                self._take_in(cluster, path)
        if kept.must_begin_again:
            kept.must_begin_again = False
            kept.state.begin_history_again(now_ms=self._now_ms())

    def _take_in(self, cluster: str, path: Path) -> None:
        if self._writer is None:
            message = f"The history in {self._plan.path} is not open."
            raise HistoryError(message)
        now_ms = self._now_ms()
        self.health.commits += self._writer.take_in(cluster, path, now_ms=now_ms)
        path.unlink()
        self.health.flushed_ms = now_ms
        self.health.files = self._writer.file_count

    def _take_in_left_over(self, cluster: str) -> None:
        """Put into the history what an earlier run has left in its spool."""
        for path in spool_files(self._directory(cluster)):
            try:
                self._take_in(cluster, path)
            except Exception as error:  # it waits, and is tried again
                self._failed(error)
                return

    def _maintain(self) -> None:
        from warren.history.writer import Upkeep

        if self._writer is not None:
            with self._flushing:
                upkeep = Upkeep(self._plan.retention_days, self._plan.most_files)
                self._writer.maintain(upkeep, now_ms=self._now_ms())

    def _directory(self, cluster: str) -> Path:
        return self._home / file_name(cluster)
