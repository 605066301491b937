"""The windows at a million group-partitions, without Kafka and Spark: speed, memory, pauses. Prints JSON lines.

Run in a process of its own, so that its memory is that of the store.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa

from warren.clusters.keeper import Keeper
from warren.clusters.state import ClusterState
from warren.codec.commits import incarnation_of
from warren.machine.memory import give_back
from warren.rules.listing import Selection
from warren.rules.rule import Settings
from warren.windows.rows import COMMIT_ROWS, HEAD_ROWS, RowKind
from warren.windows.store import Limits

GROUPS = 5_000
TOPICS_OF_A_GROUP = 10
TOPICS = 2_000
PARTITIONS = 20
INTERVALS = 10
ROWS = GROUPS * TOPICS_OF_A_GROUP * PARTITIONS

START_MS = 1_700_000_000_000
STEP_MS = 10_000
REPEATS = 5


def main(directory: Path) -> None:
    """Measure one thing after the other, on the same store."""
    new_state().apply_commit_rows("bench", commits(0, START_MS), now_ms=START_MS)
    give_back()  # what it takes to make up commits and to bring them in is not the store's
    before_bytes = _memory_bytes()
    state, now_ms = new_state(), START_MS
    apply_s = []
    for step in range(INTERVALS + REPEATS):
        now_ms = START_MS + step * STEP_MS
        state.apply_head_rows(heads(now_ms - 1, step), now_ms=now_ms)
        table = commits(step, now_ms)
        started_s = time.perf_counter()
        state.apply_commit_rows("bench", table, now_ms=now_ms)
        apply_s.append(time.perf_counter() - started_s)
    del table
    state.apply_head_rows(heads(now_ms + 1, step), now_ms=now_ms)
    give_back()
    used_bytes = _memory_bytes() - before_bytes
    tell(rows=ROWS, first_apply_s=apply_s[0], apply_s=apply_s[-REPEATS:], bytes_per_row=used_bytes / ROWS)

    tell(
        evaluate_mixed_s=evaluation_s(state, "burrow", now_ms),
        evaluate_mixed_warren_s=evaluation_s(state, "warren", now_ms),
    )
    state.apply_head_rows(heads(now_ms + STEP_MS, step, behind=1_000_000), now_ms=now_ms + STEP_MS)
    tell(
        evaluate_all_behind_s=evaluation_s(state, "burrow", now_ms),
        evaluate_all_behind_warren_s=evaluation_s(state, "warren", now_ms),
    )
    tell(evaluate_and_list_s=list(_timed(lambda: state.list_groups(Selection(), now_ms=_moment(now_ms)))))

    measure_snapshot(state, directory, now_ms)
    measure_shrinking(state, before_bytes, now_ms)


def new_state() -> ClusterState:
    """A cluster without anything yet."""
    return ClusterState("bench", Limits(INTERVALS), Settings(), {"bench": "__consumer_offsets"})


def commits(step: int, now_ms: int, pairs: range = range(GROUPS * TOPICS_OF_A_GROUP)) -> pa.Table:
    """A commit of every partition of every group; one partition in ten is behind, more with every step."""
    partitions = np.tile(np.arange(PARTITIONS, dtype=np.int32), len(pairs))
    offset = np.full(len(partitions), 1_000 * (step + 1), np.int64)
    offset[::10] = 10 * (step + 1)
    order = np.full(len(partitions), step, np.int64)
    bounds = pa.array(np.arange(0, len(partitions) + 1, PARTITIONS, dtype=np.int32))

    def lists(values: np.ndarray) -> pa.Array:
        return pa.ListArray.from_arrays(bounds, pa.array(values))

    columns = {
        "kind": pa.array(np.full(len(pairs), RowKind.COMMIT, np.int8)),
        "source_partition": pa.array(np.zeros(len(pairs), np.int32)),
        "group": pa.array([f"group-{pair // TOPICS_OF_A_GROUP:05}" for pair in pairs]),
        "topic": pa.array([f"topic-{pair % TOPICS:05}" for pair in pairs]),
        "partition": lists(partitions),
        "offset": lists(offset),
        "timestamp_ms": lists(np.full(len(partitions), now_ms, np.int64)),
        "order": lists(order),
        "incarnation": lists(np.repeat([_incarnation(pair % TOPICS) for pair in pairs], PARTITIONS).astype(np.int32)),
    }
    nothing = {field.name: pa.nulls(len(pairs), field.type) for field in COMMIT_ROWS}
    position = {"kind": RowKind.POSITION, "partition": [0], "offset": [step + 1]}
    return pa.concat_tables(
        [pa.table({**nothing, **columns}, schema=COMMIT_ROWS), pa.Table.from_pylist([position], COMMIT_ROWS)]
    )


def _id_of(topic: int) -> str:
    """As Kafka writes it."""
    return urlsafe_b64encode(topic.to_bytes(16, "big")).decode().rstrip("=")


def _incarnation(topic: int) -> int:
    return incarnation_of(topic.to_bytes(16, "big"))


def heads(now_ms: int, step: int, behind: int = 0) -> pa.Table:
    """The end of every partition of every topic."""
    rows = TOPICS * PARTITIONS
    topics = pa.array([f"topic-{number:05}" for number in range(TOPICS)]).take(pa.array(np.arange(rows) // PARTITIONS))
    columns = [
        topics,
        pa.array(np.tile(np.arange(PARTITIONS, dtype=np.int32), TOPICS)),
        pa.array(np.full(rows, 1_000 * (step + 1) + behind, np.int64)),
        pa.array(np.zeros(rows, np.int64)),
        pa.array(np.full(rows, now_ms, np.int64)),
        pa.array([""] * rows),
        pa.array(np.full(rows, 1_000 * (step + 1) + behind, np.int64)),
        pa.array(np.ones(rows, np.bool_)),
        pa.array([_id_of(number) for number in range(TOPICS)]).take(pa.array(np.arange(rows) // PARTITIONS)),
    ]
    return pa.table(columns, schema=HEAD_ROWS)


def evaluation_s(state: ClusterState, rule_set: str, now_ms: int) -> list[float]:
    """How long it takes to judge everything anew."""
    return list(_timed(lambda: state._judgements.evaluation(_moment(now_ms), rule_set)))


_moments = iter(range(0, 10**9, 2_000))


def _moment(now_ms: int) -> int:
    """Another moment each time, so that nothing is answered from what was found before."""
    return now_ms + next(_moments)


def _timed(call: Callable[[], object]) -> Iterator[float]:
    for _ in range(REPEATS):
        started_s = time.perf_counter()
        call()
        yield time.perf_counter() - started_s


def measure_snapshot(state: ClusterState, directory: Path, now_ms: int) -> None:
    """Save while commits come in, and see how long each of them has to wait; then read it in a new process."""
    keeper = Keeper({"bench": state}, directory, 30, lambda: int(time.time() * 1000))
    saved = threading.Event()
    saving_s = []

    def save() -> None:
        for _ in range(REPEATS):
            started_s = time.perf_counter()
            keeper.save()
            saving_s.append(time.perf_counter() - started_s)
        saved.set()

    batches = [commits(INTERVALS + REPEATS + n, now_ms, range(n * 100, n * 100 + 100)) for n in range(400)]
    alone_s = [_apply_s(state, table, now_ms) for table in batches[:20]]
    thread = threading.Thread(target=save)
    thread.start()
    waited_s = []
    for table in batches[20:]:
        if saved.is_set():
            break
        waited_s.append(_apply_s(state, table, now_ms))
        time.sleep(0.02)
    thread.join()
    tell(
        save_s=saving_s,
        longest_wait_s=max(waited_s) - float(np.median(alone_s)),
        waits=len(waited_s),
        file_mb=(directory / "bench.snapshot").stat().st_size / 1e6,
    )
    started_s = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.store", "--restore", str(directory)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    tell(restart_s=time.perf_counter() - started_s, **json.loads(done.stdout.splitlines()[-1]))


def _apply_s(state: ClusterState, table: pa.Table, now_ms: int) -> float:
    started_s = time.perf_counter()
    state.apply_commit_rows("bench", table, now_ms=now_ms)
    return time.perf_counter() - started_s


def measure_restart(directory: Path) -> None:
    """In a new process: read a snapshot, answer once."""
    state = new_state()
    started_s = time.perf_counter()
    Keeper({"bench": state}, directory, 30, lambda: int(time.time() * 1000)).restore()
    restore_s = time.perf_counter() - started_s
    page = state.list_groups(Selection(), now_ms=int(time.time() * 1000))
    tell(restore_s=restore_s, groups=sum(page.by_status.values()))


def measure_shrinking(state: ClusterState, before_bytes: int, now_ms: int) -> None:
    """Nine of ten groups fall silent for good."""
    later_ms = now_ms + Limits().expire_group_ms + 1
    few = commits(INTERVALS + REPEATS + 500, later_ms, range(GROUPS * TOPICS_OF_A_GROUP // 10))
    state.apply_commit_rows("bench", few, now_ms=later_ms)
    full_bytes = _memory_bytes() - before_bytes
    started_s = time.perf_counter()
    state.apply_head_rows(heads(later_ms, 0), now_ms=later_ms)
    took_s = time.perf_counter() - started_s
    give_back()
    tell(expire_s=took_s, full_mb=full_bytes / 1e6, shrunk_mb=(_memory_bytes() - before_bytes) / 1e6)


def _memory_bytes() -> int:
    return int(psutil.Process().memory_info().rss)


def tell(**figures: object) -> None:
    """One JSON line."""
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--restore":
        measure_restart(Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]))
