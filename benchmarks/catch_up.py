"""Reads a filled offsets topic through the real pipeline, in a process of its own, and prints one JSON line a pass.

The first pass is cold (Spark has just started), the later ones are warm: the same session, windows emptied.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pyarrow as pa

from warren.app import now_ms
from warren.pipeline.queries import QueryPlan, SupervisedQuery
from warren.pipeline.session import start_session, stop_session
from warren.rules.burrow import Settings
from warren.sources.commits import CommitsOptions, CommitsSource
from warren.sources.folding import FoldSettings
from warren.state import ClusterState
from warren.windows.store import Limits

LIMIT_S = 300


def main(bootstrap: str, home: Path, passes: int) -> None:
    """Catch up `passes` times."""
    started_s = time.monotonic()
    spark = start_session("local[2]", home)
    print(json.dumps({"session_s": time.monotonic() - started_s}), flush=True)
    for number in range(passes):
        state = ClusterState("bench", Limits(), Settings(), {"bench": "__consumer_offsets"})
        options = CommitsOptions({"bootstrap.servers": bootstrap}, "__consumer_offsets", FoldSettings(10, 0))
        first_s: list[float] = []
        rows: list[int] = []

        def apply(table: pa.Table, state: ClusterState = state, rows: list[int] = rows) -> None:
            state.apply_commit_rows("bench", table, now_ms=now_ms())
            rows.append(table.num_rows)

        def begin(options: CommitsOptions = options, first_s: list[float] = first_s) -> str:
            first_s.append(time.monotonic())
            return options.to_json()

        plan = QueryPlan(f"pass-{number}", CommitsSource.name(), begin, apply)
        query = SupervisedQuery(spark, plan, home / "checkpoints", 1.0)
        query.start()
        _wait_until_caught_up(state, query)
        seconds = time.monotonic() - first_s[0]
        query.stop()
        read = sum((state.positions("bench") or {}).values())
        print(json.dumps({"seconds": seconds, "records": read, "rows": rows}), flush=True)
    stop_session(spark)


def _wait_until_caught_up(state: ClusterState, query: SupervisedQuery) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not state.has_caught_up:
        if time.monotonic() > deadline_s or query.health.restarts:
            message = f"not caught up: {query.health.last_error or 'too slow'}"
            raise RuntimeError(message)
        time.sleep(0.01)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
