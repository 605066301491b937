"""Keeps the history of all clusters while Warren runs: journal -> spool -> Parquet. Read this first of `history/`.

The pipeline never waits for it: what the states write down is taken every second to a spool on this disk, and every few
minutes, or when enough has come together, Spark puts that into the history. Each has a thread of its own, since Spark
may take its time.
"""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

import structlog

from warren.clusters.progress import own_group
from warren.clusters.state import ClusterState
from warren.errors import HistoryError, WarrenError
from warren.history.journal import Journal
from warren.history.scribe import Scribe
from warren.history.spool import Spool, SpoolFormatError, spool_files
from warren.machine.names import file_name
from warren.machine.periodic import Periodic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from warren.history.courses import Course, OffsetsCourse, Where
    from warren.history.reader import HistoryReader, Span
    from warren.history.writer import HistoryWriter

log = structlog.get_logger()

SPOOL_S = 1.0
FLUSH_S = 1.0
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
    """What was written down in about a second each, and not kept, since the disk or the spool was full."""


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
    flushed_ms: int
    must_begin_again: bool = False
    """Something is missing from what was written down."""


class History:
    """One history for all clusters; it begins once Spark is there."""

    def __init__(self, plan: Plan, home: Path, now_ms: Callable[[], int]) -> None:
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
        self._spooler = Periodic("history-spool", SPOOL_S, self.spool)
        self._flusher = Periodic("history", FLUSH_S, self.write)

    def start(self) -> None:
        """Begin to spool and to write."""
        self._spooler.start()
        self._flusher.start()

    def stop(self) -> None:
        """Stop; what is not in the history yet stays in the spool for the next time."""
        self._spooler.stop()
        self._flusher.stop()
        for cluster, kept in list(self._kept.items()):
            try:
                self.sync(cluster)
                kept.spool.finish_file()
            except OSError as error:
                self._failed(error)

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
                writer = HistoryWriter(spark, self._plan.path)
                for one in self._wanted.values():
                    self._begin(writer, one)
            except Exception as error:  # whatever it is: Warren goes on without a history, and it is tried again
                self._failed(error)
                return
            self._writer, self.health.last_error = writer, ""
            self._take_in_forgotten(writer)

    def keep(self, state: ClusterState, judging: Callable[[], str]) -> None:
        """Keep the history of a cluster from now on, or from when the path can be used."""
        with self._beginning:
            self._wanted[state.name] = _Wanted(state, judging)
            if self._writer is not None:
                try:
                    self._begin(self._writer, self._wanted[state.name])
                except Exception as error:  # it begins when the history is opened again
                    self._failed(error)
                    self._writer = None

    def _begin(self, writer: HistoryWriter, wanted: _Wanted) -> None:
        state, now_ms = wanted.state, self._now_ms()
        if (kept := self._kept.get(state.name)) and kept.state is state:
            return
        self._take_in_left_over(writer, state.name)
        journal = Journal(now_ms, wanted.judging(), frozenset(own_group(one) for one in state.consumers))
        journal.resume(writer.recorded(state.name, spool_files(self._directory(state.name))))
        state.keep_history(journal, self._plan.sample_ms, now_ms=now_ms)
        spool = Spool(self._directory(state.name), now_ms, self._plan.flush_bytes)
        self._kept[state.name] = _Kept(state, spool, Scribe(), now_ms // DAY_MS, now_ms)

    def leave(self, cluster: str) -> None:
        """A cluster is no longer watched; what was written down of it is kept, if need be in the spool."""
        with self._beginning:
            self._wanted.pop(cluster, None)
            if cluster not in self._kept:
                return
            try:
                self.sync(cluster)
                self._flush(cluster)
            except Exception as error:  # it waits for the next start; nobody else is to suffer from it
                self._failed(error)
            del self._kept[cluster]

    def sync(self, cluster: str) -> None:
        """Everything that the cluster's windows hold is safely on disk when this returns, or counted as lost."""
        if kept := self._kept.get(cluster):
            with self._spooling:
                self._take_page(kept)
                kept.spool.secure()

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

    # -- to the spool --------------------------------------------------------------------------------------------

    def spool(self) -> None:
        """Take what was written down to the spool, each cluster by itself."""
        now_ms = self._now_ms()
        for kept in list(self._kept.values()):
            if now_ms // DAY_MS != kept.day:  # each day can be replayed by itself
                kept.day = now_ms // DAY_MS
                kept.state.write_keyframe(now_ms=now_ms)
            with self._spooling:
                self._take_page(kept)
        self.health.spooled_bytes = sum(kept.spool.used_bytes for kept in list(self._kept.values()))

    def _take_page(self, kept: _Kept) -> None:
        """One page, which is counted as lost if there is no room for it."""
        if kept.must_begin_again and not self._begins_again(kept):
            self.health.lost_pages += not kept.state.take_page().is_empty
            return
        page = kept.state.take_page()
        if page.is_empty:
            return
        try:
            if kept.spool.used_bytes > self._plan.most_spool_bytes:
                raise OSError(errno.ENOSPC, "too much waits in the spool")
            kept.spool.append(kept.scribe.tables(page))
        except OSError as error:
            self.health.lost_pages += 1
            kept.must_begin_again = True
            self._failed(error)

    def _begins_again(self, kept: _Kept) -> bool:
        """After something was lost the history begins anew, if there may be room again: a keyframe takes some."""
        if self._now_ms() < self._next_try_ms or kept.spool.used_bytes > self._plan.most_spool_bytes:
            return False
        kept.state.take_page()  # belongs to what is lost
        kept.state.begin_history_again(now_ms=self._now_ms())
        kept.must_begin_again = False
        return True

    # -- to the history ------------------------------------------------------------------------------------------

    def write(self) -> None:
        """Put into the history what has waited for long enough, or is much, and look after it."""
        now_ms = self._now_ms()
        if now_ms < self._next_try_ms:
            return
        if self._writer is None:
            if self._spark is not None:
                self._open(self._spark)
            return
        failures = [self._fails(partial(self._flush_if_due, cluster, now_ms)) for cluster in list(self._kept)]
        if now_ms - self._upkept_ms >= UPKEEP_MS:
            self._upkept_ms = now_ms
            failures.append(self._fails(self._maintain))
        if not any(failures):
            self.health.last_error = ""

    def _fails(self, do: Callable[[], None]) -> bool:
        """Whether something fails; whatever it is, Warren goes on, and it is tried again."""
        try:
            do()
        except Exception as error:
            self._failed(error)
            return True
        return False

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

    def _flush_if_due(self, cluster: str, now_ms: int) -> None:
        kept = self._kept.get(cluster)
        if kept and (now_ms - kept.flushed_ms >= self._plan.flush_ms or kept.spool.finished_files()):
            self._flush(cluster)

    def _flush(self, cluster: str) -> None:
        if not (kept := self._kept.get(cluster)):
            return  # it was left just now
        with self._spooling:
            kept.spool.finish_file()
        for path in kept.spool.finished_files():
            self._take_in(self._open_writer(), cluster, path)
        kept.flushed_ms = self._now_ms()

    def _open_writer(self) -> HistoryWriter:
        if self._writer is None:
            message = f"The history in {self._plan.path} is not open."
            raise HistoryError(message)
        return self._writer

    def _take_in(self, writer: HistoryWriter, cluster: str, path: Path) -> None:
        with self._flushing:
            if not path.exists():
                return  # another thread was quicker
            now_ms = self._now_ms()
            try:
                self.health.commits += writer.take_in(cluster, path, now_ms=now_ms)
            except SpoolFormatError as error:
                _set_aside(path, error)
                return
            path.unlink()
            self.health.flushed_ms = now_ms
            self.health.files = writer.file_count

    def _take_in_left_over(self, writer: HistoryWriter, cluster: str) -> None:
        """Put into the history what an earlier run has left in its spool."""
        for path in spool_files(self._directory(cluster)):
            if self._fails(partial(self._take_in, writer, cluster, path)):
                return  # it waits

    def _take_in_forgotten(self, writer: HistoryWriter) -> None:
        """Also of clusters that are no longer configured."""
        for directory in self._home.glob("*"):
            cluster = unquote(directory.name)
            if cluster not in self._wanted:
                self._take_in_left_over(writer, cluster)

    def _maintain(self) -> None:
        from warren.history.writer import Upkeep

        with self._flushing:
            upkeep = Upkeep(self._plan.retention_days, self._plan.most_files)
            self._open_writer().maintain(upkeep, now_ms=self._now_ms())

    def _directory(self, cluster: str) -> Path:
        return self._home / file_name(cluster)


def _set_aside(path: Path, error: SpoolFormatError) -> None:
    """Keep a file that cannot be read under another name, so that it does not hold up those after it."""
    kept = path.rename(path.with_suffix(".unreadable"))
    log.error("history spool set aside", path=str(kept), error=str(error))
