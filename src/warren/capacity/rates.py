"""Measures all groups of a cluster with Spark, from its history.

Commits and ends are first brought down to one number for each step of time, where they lie; then all partitions of one
group and topic come together in one task, which runs the kernel. Raw rows never reach the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from warren.capacity.condense import COMMITS, PIECES, Course, Piece, commit_pieces, course_of, head_rows
from warren.capacity.grid import Grid, Int, Points, ends_at_edges, positions_at_edges, series_bytes, series_of
from warren.capacity.holes import holes_in
from warren.capacity.measure import Assignment, Sides, measure
from warren.capacity.measured import MEASURED, NOTHING, SERIES, Measured
from warren.clusters.progress import own_group
from warren.errors import HistoryError
from warren.history.reader import HistoryReader, Span
from warren.history.tables import TABLES, WINDOWS, Kind
from warren.patterns import compile_pattern

ENDS = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("partitions", pa.int64()),
        ("end", pa.binary()),
        ("log_start", pa.binary()),
    ]
)
HEADS = pa.schema([TABLES["heads"].field(name) for name in ("epoch_ms", "seq", "at_ms", "topic", "end", "log_start")])
SHUFFLE_PARTS = "spark.sql.shuffle.partitions"
ROWS_A_TASK = 1_000_000


@dataclass(frozen=True)
class Wanted:
    """Which groups and topics of which time."""

    span: Span
    group_pattern: str = ""
    topic_pattern: str = ""


class Rates:
    """All groups and topics of a time, measured once; close it to give the memory back."""

    def __init__(self, reader: HistoryReader, wanted: Wanted) -> None:
        self._tables = _Tables(reader, wanted)
        self.grid = self._tables.grid
        if not self.grid.steps:
            message = (
                f"There is a history of {self.seen_s:.0f} s in that range, which is too short: rates are by the minute."
            )
            raise HistoryError(message, hint="Ask again in some minutes, or for a longer range.")
        self._conf, self._parts_before = reader.spark.conf, reader.spark.conf.get(SHUFFLE_PARTS)
        self._conf.set(SHUFFLE_PARTS, self._tables.tasks())
        self._found = _measured(self._tables).persist(StorageLevel.MEMORY_AND_DISK)

    @property
    def seen_s(self) -> float:
        """How much of that time was observed."""
        span = self._tables.span
        return (span.to_ms - span.from_ms - sum(hole.to_ms - hole.from_ms for hole in self.grid.holes)) / 1000

    def measured(self) -> list[Measured]:
        """One for each group and topic."""
        rows = self._found.drop(*SERIES).toArrow().to_pylist()
        return [Measured.from_row(row) for row in rows]

    def series(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], dict[str, Any]]:
        """What is plotted of some of them, by group and topic."""
        wanted = [F.struct(F.lit(group).alias("group"), F.lit(topic).alias("topic")) for group, topic in pairs]
        if not wanted:
            return {}
        rows = self._found.where(F.struct("group", "topic").isin(*wanted)).select("group", "topic", *SERIES)
        return {(row["group"], row["topic"]): row for row in rows.toArrow().to_pylist()}

    def silent_groups(self) -> list[str]:
        """Groups that were known in that time, and committed nothing that could be measured."""
        known = self._tables.samples().select("group").distinct()
        return sorted(row["group"] for row in known.join(self._found, "group", "left_anti").collect())

    def close(self) -> None:
        """Give the memory back."""
        self._found.unpersist()
        self._conf.set(SHUFFLE_PARTS, self._parts_before or "1")


class _Tables:
    """The tables of the history, from the keyframe before the time on: there everything was written down."""

    def __init__(self, reader: HistoryReader, wanted: Wanted) -> None:
        self._reader = reader
        self._wanted = wanted
        self.span = wanted.span
        self._cluster, self._to_ms = self.span.cluster, self.span.to_ms
        self._keyframe = reader.keyframe_before(self.span)
        self._since_ms = min(self._keyframe.at_ms, self.span.from_ms)
        events = reader.frame("events", self._cluster, self._since_ms, self._to_ms)
        sources = events.where("consumer is not null").select("consumer").distinct().collect()
        self._own = [own_group(row["consumer"]) for row in sources]
        observed = events.where(F.col("kind") == Kind.OBSERVED.value).select("at_ms").toArrow()
        self.observed_ms: Int = np.unique(observed["at_ms"].to_numpy())
        whole = (self.span.from_ms, self.span.to_ms)
        self.grid = Grid.of(*whole, holes_in(*whole, self.observed_ms))

    def commits(self) -> DataFrame:
        """The commits of each partition of a group, in pieces."""
        later = self._reader.frame("commits", self._cluster, self._since_ms, self._to_ms).select(*COMMITS)
        frame = self._of_groups(later.unionByName(self._commits_at_keyframe()))
        wanted = _matching(frame, "topic", self._wanted.topic_pattern)
        pieces = _batchwise(wanted, partial(commit_pieces, grid=self.grid), PIECES)
        return pieces.groupBy("group", "topic", "partition").agg(F.collect_list("piece").alias("pieces"))

    def _commits_at_keyframe(self) -> DataFrame:
        """The newest commit of each window: who stands still makes no other."""
        at = self._keyframe
        rows = self._reader.frame(WINDOWS, self._cluster, at.at_ms, at.at_ms)
        if "newest_order" not in rows.columns:  # there was no group yet
            return self._reader.frame("commits", self._cluster, 0, 0).select(*COMMITS)
        slots = range(sum(name.startswith("offset_") for name in rows.columns))

        def newest(name: str) -> Column:
            return F.get(F.array(*(f"{name}_{slot}" for slot in slots)), F.col("newest")).alias(name)

        mine = rows.where((F.col("epoch_ms") == at.epoch_ms) & (F.col("seq") == at.seq) & (F.col("count") > 0))
        renamed = mine.withColumnRenamed("newest_order", "order")
        return renamed.select(*(newest(name) if name in ("timestamp_ms", "offset") else name for name in COMMITS))

    def heads(self) -> DataFrame:
        """What was observed of topics, the first and the last of each step."""
        frame = self._reader.frame("heads", self._cluster, self._since_ms, self._to_ms)
        wanted = _matching(frame, "topic", self._wanted.topic_pattern).select(*HEADS.names)
        return _batchwise(wanted, partial(head_rows, grid=self.grid), HEADS)

    def owners(self) -> DataFrame:
        """All assignments up to the end: they are few, and what was never told again still holds."""
        frame = self._of_groups(self._reader.frame("owners", self._cluster, 0, self._to_ms))
        return frame.withColumnRenamed("topic", "topics")

    def samples(self) -> DataFrame:
        """How groups were doing each minute."""
        return self._of_groups(self._reader.frame("samples", self._cluster, self.span.from_ms, self._to_ms))

    def _of_groups(self, frame: DataFrame) -> DataFrame:
        """The groups that are wanted; those by which Warren tells how far it is itself are nobody's."""
        others = frame.where(~F.col("group").isin(self._own))
        return _matching(others, "group", self._wanted.group_pattern)

    def tasks(self) -> int:
        """So many that each has a moderate part."""
        rows = sum(
            one.rows for one in self._reader.catalog.select("commits", self._cluster, self._since_ms, self._to_ms)
        )
        cores = self._reader.spark.sparkContext.defaultParallelism
        return max(2 * cores if rows > ROWS_A_TASK // 10 else 2, -(-rows // ROWS_A_TASK))


def _matching(frame: DataFrame, column: str, pattern: str) -> DataFrame:
    """Rows with a name in which the pattern is found; names are few, so RE2 sees each of them once, in the driver."""
    if not pattern:
        return frame
    wanted = compile_pattern(pattern)
    names = [row[column] for row in frame.select(column).distinct().collect()]
    return frame.where(F.col(column).isin([name for name in names if wanted.search(name)]))


def _batchwise(frame: DataFrame, condense: Callable[[pa.Table], pa.Table], schema: pa.Schema) -> DataFrame:
    """What becomes of each batch of rows."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield from condense(pa.Table.from_batches([batch])).combine_chunks().to_batches()

    return frame.mapInArrow(run, from_arrow_schema(schema))


# -- the job ---------------------------------------------------------------------------------------------------------


def _measured(tables: _Tables) -> DataFrame:
    """One row of `MEASURED` for each group and topic; nothing has run yet."""
    commits = tables.commits()
    sides = commits.join(_ends(tables), ["topic", "partition"], "left").groupBy("group", "topic")
    owners = _owners(tables).groupBy("group", "topic")
    grid = tables.grid

    def run(partitions: pa.Table, assignments: pa.Table) -> pa.Table:
        rows = [_row(grid, partitions, assignments)] if partitions.num_rows else []
        return pa.Table.from_pylist(rows, MEASURED)

    return sides.cogroup(owners).applyInArrow(run, from_arrow_schema(MEASURED))


def _ends(tables: _Tables) -> DataFrame:
    """A row of `ENDS` for each partition of each topic."""
    grid, observed_ms = tables.grid, tables.observed_ms

    def run(heads: pa.Table) -> pa.Table:
        return pa.Table.from_pylist(_topic_rows(grid, heads.sort_by("at_ms"), observed_ms), ENDS)

    return tables.heads().groupBy("topic").applyInArrow(run, from_arrow_schema(ENDS))


def _topic_rows(grid: Grid, heads: pa.Table, observed_ms: Int) -> list[dict[str, Any]]:
    at_ms, (end, log_start) = heads["at_ms"].to_numpy(), (_matrix(heads[name]) for name in ("end", "log_start"))

    def series(offsets: Int) -> bytes:
        return series_bytes(ends_at_edges(grid, Points(at_ms, offsets), observed_ms))

    same = {"topic": heads["topic"][0].as_py(), "partitions": len(heads["end"][-1])}
    both = enumerate(zip(end.T, log_start.T, strict=True))
    return [same | {"partition": one, "end": series(ends), "log_start": series(begins)} for one, (ends, begins) in both]


def _matrix(lists: pa.ChunkedArray) -> Int:
    """Lists of any length under each other; -1 where there is nothing."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    found = np.full((len(lengths), int(lengths.max())), -1, np.int64)
    row = np.repeat(np.arange(len(lengths)), lengths)
    found[row, np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)] = pc.list_flatten(lists)
    return found


def _owners(tables: _Tables) -> DataFrame:
    """The assignments of each group, cut to one topic each; those that give out nothing tell nothing."""
    joined = tables.owners().withColumn("topic", F.explode(F.array_distinct("topics")))
    all_of = F.arrays_zip(F.col("topics").alias("t"), F.col("partition").alias("p"), F.col("owner").alias("o"))
    mine = F.filter(all_of, lambda one: one["t"] == F.col("topic"))
    return joined.select(
        "group",
        "topic",
        "at_ms",
        "epoch_ms",
        "seq",
        "members",
        F.size("topics").alias("owned"),
        F.transform(mine, lambda one: one["p"]).alias("partition"),
        F.transform(mine, lambda one: one["o"]).alias("owner"),
    )


def _row(grid: Grid, partitions: pa.Table, assignments: pa.Table) -> dict[str, Any]:
    names = {name: partitions[name][0].as_py() for name in ("group", "topic")}
    partitions = partitions.sort_by("partition")
    courses = [course_of([Piece(**one) for one in pieces], grid) for pieces in partitions["pieces"].to_pylist()]
    counted = {"rewinds": sum(one.rewinds for one in courses)}
    rows = [(row, one) for row, one in zip(_ends_of(partitions), courses, strict=True) if row["end"] is not None]
    if not rows:
        return {**NOTHING, **names, **counted}
    ordered = assignments.sort_by([("epoch_ms", "ascending"), ("seq", "ascending")]).to_pylist()
    made = [Assignment(*(row[name] for name in Assignment._fields)) for row in ordered]
    counted["partitions"] = rows[0][0]["partitions"]
    return {**NOTHING, **names, **counted, **measure(_sides(grid, rows), made)}


def _ends_of(partitions: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = partitions.select(["partition", "partitions", "end", "log_start"]).to_pylist()
    return rows


def _sides(grid: Grid, rows: list[tuple[dict[str, Any], Course]]) -> Sides:
    partition = np.array([row["partition"] for row, _ in rows], np.int64)
    end, log_start = (np.stack([series_of(row[name]) for row, _ in rows]) for name in ("end", "log_start"))
    positions = [positions_at_edges(grid, one.points, begin) for (_, one), begin in zip(rows, log_start, strict=True)]
    return Sides(grid, partition, end, log_start, np.stack(positions))
