"""Streaming queries that look after themselves: one for each source and cluster, restarted with backoff when it fails.

No query stops another one, and none stops the process.
"""

from __future__ import annotations

import random
import re
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource
from pyspark.sql.streaming.query import StreamingQuery

from warren.errors import SinkError, SourceError, StartOverError
from warren.machine.backoff import Backoff
from warren.machine.memory import give_back

log = structlog.get_logger()

FIRST_RETRY_S, LONGEST_RETRY_S = 1.0, 30.0
JOIN_S = 2.0
TICK_S = 0.1
HEALTHY_AFTER_S = 60.0
"""A query that ran for so long is started again soon."""


LARGE_BATCH_BYTES = 4_000_000
"""After such a batch memory is given back: the next one is small again."""


START_S = 10.0
"""The start of a query is over with its first batch, or after so long."""

_STARTS = threading.Semaphore(2)
"""So many queries start at once. Each takes several new processes of Python, and Spark waits 10 s for the one that
plans it: many that start together on a busy machine would all be too late, again and again."""


class QueryPlan(NamedTuple):
    """What a query reads and what becomes of its batches."""

    name: str
    source: type[DataSource]
    options: Callable[[], str]
    """Asked at each start, so that a restarted query goes on from where the windows are."""
    apply: Callable[[pa.Table], None]
    check: Callable[[], None] = lambda: None
    """Asked before each start; raises `SourceError` if there is nothing to read from, which saves the start."""
    failed: Callable[[str], None] = lambda _: None
    """Told what a query died of, each time."""
    start_over: Callable[[], None] = lambda: None
    """Called when the source or `apply` says that everything must be read again."""


class QueryState(StrEnum):
    """What a query is doing."""

    STARTING = "starting"
    RUNNING = "running"
    RETRYING = "retrying"
    STOPPED = "stopped"


@dataclass
class QueryHealth:
    """How a query is doing, for people."""

    state: QueryState = QueryState.STARTING
    last_error: str = ""
    restarts: int = 0


class SupervisedQuery:
    """Runs a query in a thread of its own until it is told to stop."""

    def __init__(
        self,
        spark: SparkSession,
        plan: QueryPlan,
        checkpoints: Path,
        trigger_s: float,
        longest_retry_s: float = LONGEST_RETRY_S,
    ) -> None:
        self.name = plan.name
        self.health = QueryHealth()
        self._spark = spark
        self._plan = plan
        self._checkpoint = checkpoints / plan.name
        self._trigger_s = trigger_s
        self._backoff = Backoff(FIRST_RETRY_S, longest_retry_s)
        self._stop = threading.Event()
        self._has_batch = threading.Event()
        self._query: StreamingQuery | None = None
        self._source = _own_copy(plan.source, plan.name)
        spark.dataSource.register(self._source)
        self._thread = threading.Thread(target=self._supervise, name=f"query {plan.name}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Stop as soon as the batch under way allows."""
        self._stop.set()
        query = self._query
        if query is not None:
            try:
                query.stop()
            except (PySparkException, Py4JError) as error:  # too slow, or Spark is gone already
                log.warning("query did not stop in time", query=self.name, error=cause_of(error))
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(JOIN_S)
        self.health.state = QueryState.STOPPED

    def _supervise(self) -> None:
        failures = 0
        while not self._stop.is_set():
            started_s = time.monotonic()
            error = self._run_once()
            if self._stop.is_set():
                return
            failures = 1 if time.monotonic() - started_s > HEALTHY_AFTER_S else failures + 1
            wait_s = self._backoff.wait_s(failures, random.random())
            self._note_failure(error, wait_s)
            self._stop.wait(wait_s)

    def _run_once(self) -> str:
        """Run the query until it ends; what ended it."""
        try:
            self._plan.check()
            with _STARTS:
                if self._stop.is_set():
                    return ""
                self._has_batch.clear()
                query = self._query = self._start_query()
                self._wait_for_batch(query)
            self.health.state = QueryState.RUNNING
            query.awaitTermination()
        except Exception as error:  # whatever a query dies of, it is told and tried again
            if StartOverError.__name__ in str(error):
                self._plan.start_over()
            return cause_of(error)
        return "it ended by itself"

    def _wait_for_batch(self, query: StreamingQuery) -> None:
        end_s = time.monotonic() + START_S
        while not self._has_batch.wait(TICK_S) and time.monotonic() < end_s:
            if self._stop.is_set() or not query.isActive:
                return

    def _start_query(self) -> StreamingQuery:
        # The windows know where to go on; Spark's checkpoint must not be a second opinion.
        shutil.rmtree(self._checkpoint, ignore_errors=True)
        stream = (
            self._spark.readStream.format(self._source.name()).option("secret_options", self._plan.options()).load()
        )
        return (
            stream.writeStream.queryName(self.name)
            .foreachBatch(self._apply)
            .option(
                "checkpointLocation", self._checkpoint.absolute().as_uri()
            )  # on this machine, whatever Spark runs on
            .trigger(processingTime=f"{int(self._trigger_s * 1000)} milliseconds")
            .start()
        )

    def _apply(self, batch: DataFrame, batch_id: int) -> None:
        try:
            table = batch.toArrow()
        except (PySparkException, Py4JError):
            if self._stop.is_set():
                return  # we cut it off ourselves; Spark would look for the reason until its stack is full
            raise
        self._plan.apply(table)
        self._has_batch.set()
        if table.nbytes > LARGE_BATCH_BYTES:
            del table
            give_back()

    def _note_failure(self, error: str, wait_s: float) -> None:
        self.health.state = QueryState.RETRYING
        self.health.last_error = error
        self.health.restarts += 1
        self._plan.failed(error)
        log.warning("query failed, starting it again", query=self.name, error=error, in_s=round(wait_s, 1))


def _own_copy(source: type[DataSource], query: str) -> type[DataSource]:
    """The source under a name that only this query uses.

    Spark keeps one map of environment variables for each registered source and changes it without a lock whenever a
    query plans. Two queries that start at once can break that map for good; then no task of that source runs again.
    """
    name = f"{source.name()}-{query}"
    return type(source.__name__, (source,), {"name": classmethod(lambda _: name)})


_CAUSE = re.compile(r"^(?:Caused by: |: )?(?:[\w.]+\.)?(?P<kind>\w+(?:Error|Exception)): (?P<message>.+)$")


_OURS = {one.__name__ for one in (SourceError, StartOverError, SinkError)}
"""What these say is a sentence by itself."""


def cause_of(error: BaseException) -> str:
    """The sentence of an error that a person needs: the last exception named in Spark's account of it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [found for line in lines if (found := _CAUSE.match(line))]
    if causes:
        kind, message = causes[-1]["kind"], causes[-1]["message"]
        return message if kind in _OURS else f"{kind}: {message}"
    return (lines or [type(error).__name__])[0]
