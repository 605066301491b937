"""Replays a history that Spark itself has made, on one and on two executors of a real cluster, small and large.

    python -m benchmarks.replay [millions of commits, 50]

What is generated: 2,500 groups of 20 partitions, each committing every ten seconds or so, about where its topic ends;
one in ten of them is slower than its producer. The ends of 250 topics every ten seconds, and as many evaluations.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.spark_cluster import SparkCluster
from warren.history.catalog import Entry, Version, day_of
from warren.history.journal import Journal
from warren.history.judging import Judging
from warren.history.scribe import Scribe
from warren.history.tables import EVENTS, HEADS, Kind
from warren.history.writer import HistoryWriter, Place
from warren.pipeline.session import start_session, stop_session
from warren.rules.standing import Standings
from warren.windows.store import Windows

T0_MS = 1_767_225_600_000
STEP_MS = 10_000
GROUPS, PARTITIONS, TOPICS, SOURCES = 2_500, 20, 250, 50
KEYS = GROUPS * PARTITIONS
KEYS_A_SOURCE = KEYS // SOURCES
PER_STEP = 100
"""Records written to each partition in a step."""
STEPS_A_FILE = 100
LATEST_MS = 5_000
"""So long before its step a commit was made at the most."""
STRIDE, TURN = 383, 31
"""Put the commits of a step in an order that is another one each time; 383 has no divisor in common with 1,000."""


def main(millions: int) -> None:
    """Make a history, replay parts of it, and print one JSON line for each."""
    steps = -(-millions * 1_000_000 // KEYS)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "history"
        made = _generate(path, steps, Path(scratch))
        print(json.dumps(made), flush=True)
        cluster = SparkCluster(_directory(Path(scratch) / "cluster"))
        try:
            for share, executors in ((0.25, 2), (0.5, 1), (0.5, 2), (1.0, 2)):
                until_ms = T0_MS + int(steps * share) * STEP_MS
                print(json.dumps(_replay(path, cluster.master, executors, until_ms) | {"share": share}), flush=True)
        finally:
            cluster.stop()


def _directory(path: Path) -> Path:
    path.mkdir()
    return path


def _generate(path: Path, steps: int, scratch: Path) -> dict[str, Any]:
    started_s = time.monotonic()
    spark = start_session("local[2]", scratch / "spark", {"spark.driver.memory": "4g"})
    writer = HistoryWriter(spark, str(path))

    def write(first: int) -> Entry:
        last = min(first + STEPS_A_FILE, steps)
        span_ms = (T0_MS + first * STEP_MS, T0_MS + (last - 1) * STEP_MS)
        place = Place("commits", "bench", day_of(span_ms[0]))
        return writer.write_file(_commits(spark, first, last), place, span_ms, (last - first) * KEYS, is_sorted=True)

    with ThreadPoolExecutor(2) as pool:
        entries = list(pool.map(write, range(0, steps, STEPS_A_FILE)))
    for name, table in _small_tables(steps).items():
        entries += writer.write("bench", name, table)
    writer.commit(Version(T0_MS, tuple(entries)))
    stop_session(spark, limit_s=20)
    commits = [one for one in entries if one.table == "commits"]
    rows, used_bytes = sum(one.rows for one in commits), sum(one.bytes for one in commits)
    return {
        "commits": rows,
        "generated_s": round(time.monotonic() - started_s, 1),
        "bytes_per_commit": round(used_bytes / rows, 2),
    }


def _commits(spark: SparkSession, first: int, last: int) -> DataFrame:
    """Each step a commit of every key, those of a key together; the slow ones read only nine of ten records.

    When, where and among which others a commit lies differs from step to step, or files would shrink to nothing.
    """
    number, steps = F.col("id"), last - first
    step, key = first + number % steps, (number / steps).cast("long")
    group, partition = (key / PARTITIONS).cast("long"), key % PARTITIONS
    read = F.when(group % 10 == 0, PER_STEP * 9 / 10).otherwise(PER_STEP)
    at_ms, chance = T0_MS + step * STEP_MS, F.abs(F.hash(step, key))
    place = (group / SOURCES).cast("long") * PARTITIONS + partition
    return spark.range(steps * KEYS).select(
        F.lit(T0_MS).alias("epoch_ms"),
        (step * 4 + 2).alias("seq"),
        at_ms.alias("at_ms"),
        F.lit("bench").alias("source"),
        (group % SOURCES).cast("int").alias("source_partition"),
        (step * KEYS_A_SOURCE + (place * STRIDE + step * TURN) % KEYS_A_SOURCE).alias("order"),
        F.format_string("group-%05d", group).alias("group"),
        F.format_string("topic-%03d", group % TOPICS).alias("topic"),
        partition.cast("int").alias("partition"),
        ((step + 1) * read - chance % (PER_STEP // 2)).cast("long").alias("offset"),
        (at_ms - chance % LATEST_MS).alias("timestamp_ms"),
        F.lit(0).alias("incarnation"),
    )


def _small_tables(steps: int) -> dict[str, pa.Table]:
    """A keyframe of nothing, then in each step an observation, a batch and an evaluation."""
    journal = Journal(T0_MS, Judging().to_text())
    journal.keyframe(Windows(Judging().limits), Standings(), T0_MS)
    made = Scribe().tables(journal.take_page())
    events = [row for step in range(steps) for row in _events(step)]
    heads = [row for step in range(steps) for row in _heads(step)]
    return {
        "events": pa.concat_tables([made["events"], pa.Table.from_pylist(events, EVENTS)]),
        "heads": pa.Table.from_pylist(heads, HEADS),
    }


def _events(step: int) -> Iterator[dict[str, Any]]:
    at_ms = T0_MS + step * STEP_MS
    common = {"epoch_ms": T0_MS, "at_ms": at_ms}
    sources = list(range(SOURCES))
    positions = {
        "partition": sources,
        "start": [step * KEYS_A_SOURCE] * SOURCES,
        "end": [(step + 1) * KEYS_A_SOURCE] * SOURCES,
    }
    # the keyframe is number 1 of the run
    yield {**common, "seq": step * 4 + 2, "kind": Kind.BATCH.value, "consumer": "bench", "topic": "o", **positions}
    yield {**common, "seq": step * 4 + 3, "kind": Kind.OBSERVED.value, "names": []}
    yield {**common, "seq": step * 4 + 4, "kind": Kind.EVALUATED.value}


def _heads(step: int) -> Iterator[dict[str, Any]]:
    ends = [(step + 1) * PER_STEP] * PARTITIONS
    for topic in range(TOPICS):
        yield {
            **{"epoch_ms": T0_MS, "seq": step * 4 + 3, "at_ms": T0_MS + step * STEP_MS, "topic": f"topic-{topic:03d}"},
            **{"end": ends, "log_start": [0] * PARTITIONS, "last_stable": ends, "leaderless": []},
        }


def _replay(path: Path, master: str, executors: int, until_ms: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.replay", "job", str(path), master, str(executors), str(until_ms)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def _job(path: str, master: str, executors: int, until_ms: int) -> None:
    """One replay, in a process of its own."""
    from warren.history.reader import HistoryReader, Span
    from warren.replay.job import Request
    from warren.replay.verdicts import replayed_verdicts

    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.executor.memory": "1500m",
        "spark.executor.cores": "1",
        "spark.cores.max": str(executors),
        # as long as all are there: otherwise the first one would be given all the work
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    }
    with tempfile.TemporaryDirectory() as home:
        spark = start_session(master, Path(home), settings)
        reader = HistoryReader(spark, path)
        spark.range(executors).rdd.mapPartitions(lambda _: [1]).count()  # Python is up everywhere
        started_s = time.monotonic()
        span = reader.checked(Span("bench", T0_MS, until_ms))
        found = replayed_verdicts(reader, Request(span, {"allowed_lag": 0}, shards=16))
        took_s = time.monotonic() - started_s
        told = {"executors": executors, "took_s": round(took_s, 1), "changes": found.num_rows}
        print(json.dumps(told))
        stop_session(spark, limit_s=20)


if __name__ == "__main__":
    if sys.argv[1:2] == ["job"]:
        _job(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
