"""Reads a filled offsets topic through the real pipeline, in a process of its own, and prints one JSON line a pass.

The first pass is cold (Spark has just started), the later ones are warm: the same session, windows emptied. With
`history` every other pass keeps one, and tells how much room its commits take.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from warren.app import now_ms
from warren.clusters.state import ClusterState
from warren.history.judging import Judging
from warren.history.service import History, Plan
from warren.pipeline.queries import QueryPlan, SupervisedQuery
from warren.pipeline.session import start_session, stop_session
from warren.rules.rule import Settings
from warren.sources.commits import CommitsOptions, CommitsSource
from warren.sources.folding import FoldSettings
from warren.windows.store import Limits

LIMIT_S = 300


def main(bootstrap: str, home: Path, passes: int, *, with_history: bool) -> None:
    """Catch up `passes` times."""
    started_s = time.monotonic()
    spark = start_session("local[2]", home)
    print(json.dumps({"session_s": time.monotonic() - started_s}), flush=True)
    for number in range(passes):
        state = ClusterState("bench", Limits(), Settings(), {"bench": "__consumer_offsets"})
        options = CommitsOptions({"bootstrap.servers": bootstrap}, "__consumer_offsets", FoldSettings(10, 0))

        def apply(table: pa.Table, state: ClusterState = state) -> None:
            state.apply_commit_rows("bench", table, now_ms=now_ms())

        history = _history(spark, state, home / f"history-{number}") if with_history and number % 2 == 0 else None
        plan = QueryPlan(f"pass-{number}", CommitsSource, options.to_json, apply)
        query = _TimedQuery(spark, plan, home / "checkpoints", 1.0)
        started_s = time.monotonic()
        query.start()
        _wait_until_all_is_read(state, query)
        done_s = time.monotonic()
        query.stop()
        told = {
            "records": sum((state.positions("bench") or {}).values()),
            "since_query_start_s": done_s - started_s,
            "since_first_read_s": done_s - query.first_read_s,
        }
        print(json.dumps(told | (_kept(history) if history else {})), flush=True)
    stop_session(spark)


def _history(spark: SparkSession, state: ClusterState, directory: Path) -> History:
    history = History(Plan(str(directory / "parquet")), directory, now_ms)
    history.open(spark)
    history.keep(state, Judging().to_text)
    history.start()
    return history


def _kept(history: History) -> dict[str, float]:
    """What it takes on disk, and how long it takes until all is there."""
    started_s = time.monotonic()
    history.flush()
    history.stop()
    files = list(Path(history.health.path).glob("commits/*/*/*.parquet"))
    used_bytes = sum(one.stat().st_size for one in files)
    return {
        "history_commits": history.health.commits,
        "bytes_per_commit": used_bytes / max(history.health.commits, 1),
        "flush_s": time.monotonic() - started_s,
    }


class _TimedQuery(SupervisedQuery):
    """Knows when the first record was asked for: Spark hands over a batch before it runs its tasks."""

    first_read_s = 0.0

    def _apply(self, batch: DataFrame, batch_id: int) -> None:
        self.first_read_s = self.first_read_s or time.monotonic()
        super()._apply(batch, batch_id)


def _wait_until_all_is_read(state: ClusterState, query: SupervisedQuery) -> None:
    """Not until it says that it has caught up: that takes another batch, which tells that no more has come."""
    deadline_s = time.monotonic() + LIMIT_S
    while not state.positions("bench") or state.behind_records:
        if time.monotonic() > deadline_s or query.health.restarts:
            message = f"not caught up: {query.health.last_error or 'too slow'}"
            raise RuntimeError(message)
        time.sleep(0.01)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), with_history="history" in sys.argv[4:])
