"""How it went over hours and days, by a history: the lag of a group, and the offsets of one of its partitions."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from warren.history.reader import HistoryReader, Span
from warren.history.tables import TOPICS, WINDOWS
from warren.model import Status

SHORTEST_STEP_MS = 1_000


class Course(NamedTuple):
    """Columns of equal length, oldest first; each element stands for a step of time, with the worst that was in it."""

    step_ms: int
    at_ms: list[int]
    total_lag: list[int]
    lag_s: list[float | None]
    status: list[Status]


def course_of(reader: HistoryReader, span: Span, group: str, most: int) -> Course:
    """A group over a time, in at most so many steps; steps without a sample are left out."""
    step_ms = _step_ms(span, most)
    samples = reader.frame("samples", span.cluster, span.from_ms, span.to_ms).where(F.col("group") == group)
    ranks = F.create_map(*(F.lit(one) for status in Status for one in (status.name, int(status))))
    steps = samples.groupBy(_step_of(F.col("at_ms"), span, step_ms)).agg(
        F.max("at_ms").alias("at_ms"),
        F.max("total_lag").alias("total_lag"),
        F.max("lag_s").alias("lag_s"),
        F.max(ranks[F.col("status")]).alias("status"),
    )
    rows = steps.orderBy("step").toArrow().to_pydict()
    statuses = [Status(one) for one in rows["status"]]
    return Course(step_ms, rows["at_ms"], rows["total_lag"], rows["lag_s"], statuses)


class Where(NamedTuple):
    """A partition that a group reads."""

    group: str
    topic: str
    partition: int


class OffsetsCourse(NamedTuple):
    """Columns of equal length, oldest first: what was known at the end of each step of time; None before anything."""

    step_ms: int
    at_ms: list[int]
    committed: list[int | None]
    end: list[int | None]


def offsets_course_of(reader: HistoryReader, span: Span, where: Where, most: int) -> OffsetsCourse:
    """Where a group stood in a partition and where that ended, over a time in at most so many steps."""
    step_ms = _step_ms(span, most)
    edges_ms = np.minimum(np.arange(span.from_ms, span.to_ms, step_ms) + step_ms, span.to_ms)
    since_ms = reader.keyframe_ms_before(span)  # who stands still may have come there long before
    told = reduce(
        DataFrame.unionAll,
        [
            _as_told("committed", _commits(reader, span, where, since_ms)),
            _as_told("committed", _committed_at_keyframe(reader, span.cluster, where, since_ms)),
            _as_told("end", _ends(reader, span, where, since_ms)),
            _as_told("end", _end_at_keyframe(reader, span.cluster, where, since_ms)),
        ],
    )
    newest = F.max_by("offset", F.struct("at_ms", "order")).alias("offset")
    rows = told.groupBy("what", _step_of(F.col("at_ms"), span, step_ms)).agg(newest).collect()
    by_step = {(row["what"], row["step"]): row["offset"] for row in rows}
    courses = (_carried_on(by_step, what, len(edges_ms)) for what in ("committed", "end"))
    return OffsetsCourse(step_ms, edges_ms.tolist(), *courses)


def _as_told(what: str, offsets: DataFrame) -> DataFrame:
    return offsets.select(F.lit(what).alias("what"), "at_ms", F.col("order").cast("long"), F.col("offset").cast("long"))


def _commits(reader: HistoryReader, span: Span, where: Where, since_ms: int) -> DataFrame:
    commits = reader.frame("commits", span.cluster, since_ms, span.to_ms)
    commits = commits.where((F.col("group") == where.group) & _is_of(where))
    has_time = F.col("timestamp_ms") >= 0  # else it was found missing in a place that is looked at
    at_ms = F.when(has_time, F.col("timestamp_ms")).otherwise(F.col("at_ms")).alias("at_ms")
    return commits.select(at_ms, "order", "offset")


def _ends(reader: HistoryReader, span: Span, where: Where, since_ms: int) -> DataFrame:
    heads = reader.frame("heads", span.cluster, since_ms, span.to_ms).where(F.col("topic") == where.topic)
    ends = heads.select("at_ms", F.col("seq").alias("order"), F.get("end", F.lit(where.partition)).alias("offset"))
    return ends.where(F.col("offset") >= 0)


def _committed_at_keyframe(reader: HistoryReader, cluster: str, where: Where, at_ms: int) -> DataFrame:
    """The newest commit of the window; its time is not asked for, so what is told later wins."""
    rows = reader.frame(WINDOWS, cluster, at_ms, at_ms)
    slots = sorted((name for name in rows.columns if name.startswith("offset_")), key=lambda name: int(name[7:]))
    newest = F.get(F.array(*slots), F.col("newest")) if slots else F.lit(None)
    mine = rows.where(
        (F.col("at_ms") == at_ms) & (F.col("group") == where.group) & _is_of(where) & (F.col("count") > 0)
    )
    return mine.select(F.lit(0).cast("long").alias("at_ms"), F.lit(0).alias("order"), newest.alias("offset"))


def _end_at_keyframe(reader: HistoryReader, cluster: str, where: Where, at_ms: int) -> DataFrame:
    rows = reader.frame(TOPICS, cluster, at_ms, at_ms).where((F.col("at_ms") == at_ms) & _is_of(where))
    seen = rows.select(F.explode(F.arrays_zip("slot_ms", "slot_end")).alias("seen"))
    at, end = F.col("seen.slot_ms").alias("at_ms"), F.col("seen.slot_end").alias("offset")
    return seen.where(at > 0).select(at, F.lit(0).alias("order"), end)


def _carried_on(by_step: dict[tuple[str, int], int], what: str, steps: int) -> list[int | None]:
    """What holds until something else is said; step -1 is everything before, and a commit that was removed is none."""
    found, now = [], by_step.get((what, -1))
    for step in range(steps):
        now = by_step.get((what, step), now)
        found.append(now if now is not None and now >= 0 else None)
    return found


def _is_of(where: Where) -> Column:
    return (F.col("topic") == where.topic) & (F.col("partition") == where.partition)


def _step_ms(span: Span, most: int) -> int:
    return max(-(-(span.to_ms - span.from_ms + 1) // most), SHORTEST_STEP_MS)


def _step_of(at_ms: Column, span: Span, step_ms: int) -> Column:
    """Which step a moment is in; -1 before the first."""
    return F.greatest(F.floor((at_ms - span.from_ms) / step_ms), F.lit(-1)).cast("long").alias("step")
