"""Reads a history: which files have what was asked for, and whether they are as they were written."""

from __future__ import annotations

from typing import NamedTuple

import structlog
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from warren.errors import HistoryError
from warren.history.catalog import LOG, Catalog, Entry, HistoryLog
from warren.history.files import Files
from warren.history.tables import KEYFRAMES, TABLES, TOPICS, Kind
from warren.reports.moments import instant

log = structlog.get_logger()

NO_KEYFRAME = (
    "epoch_ms bigint, seq bigint, at_ms bigint, group string, topic string, partition int, "
    "newest int, count int, slot_ms array<bigint>, slot_end array<bigint>"
)
"""What is asked of a keyframe, where there is none."""

NEAR_MS = 2 * 86_400_000
"""While Warren runs there is a keyframe each day, so one is found without reading everything."""


class Keyframe(NamedTuple):
    """Where a replay can begin."""

    epoch_ms: int
    seq: int
    at_ms: int

    @property
    def is_start(self) -> bool:
        """Whether a run of Warren begins with it, or a history that begins anew."""
        return self.seq == 1


class Span(NamedTuple):
    """A time of a cluster."""

    cluster: str
    from_ms: int
    to_ms: int


class HistoryReader:
    """A history as it is when this is made; what is written later is not seen."""

    def __init__(self, spark: SparkSession, path: str, *, skips_damaged: bool = False) -> None:
        self.spark = spark
        self._files = Files(spark, path)
        self._skips_damaged = skips_damaged
        self._keyframes: dict[Span, list[Keyframe]] = {}
        if not self._files.exists(LOG):
            message = f"There is no history in {path}."
            raise HistoryError(
                message, hint="A Warren with that path in [history] writes one, some minutes after its start."
            )
        self.catalog: Catalog = HistoryLog(self._files).catalog

    # -- what there is -------------------------------------------------------------------------------------------

    def checked(self, span: Span) -> Span:
        """The time cut to what there is a history of; a `HistoryError` that says what there is if that is nothing."""
        clusters = self.catalog.clusters()
        if span.cluster not in clusters:
            message = f"There is no history of cluster {span.cluster or '(none)'}."
            raise HistoryError(message, hint=f"There is one of: {', '.join(clusters) or 'none yet'}.")
        if span.from_ms >= span.to_ms:
            message = f"The range from {instant(span.from_ms)} to {instant(span.to_ms)} is empty."
            raise HistoryError(message, hint="--from must be before --to.")
        known = self.catalog.span_ms(span.cluster)
        first_ms, last_ms = known or (0, 0)
        if known is None or span.to_ms <= first_ms or span.from_ms > last_ms:
            where = "before the history begins" if span.to_ms <= first_ms else "after the history ends"
            message = f"The range from {instant(span.from_ms)} to {instant(span.to_ms)} lies {where}."
            raise HistoryError(message, hint=f"It reaches from {instant(first_ms)} to {instant(last_ms)}.")
        return Span(span.cluster, max(span.from_ms, first_ms), min(span.to_ms, last_ms))

    def keyframe_before(self, span: Span) -> Keyframe:
        """The last one not after the beginning; the first one there is if the history begins later."""
        found = self.keyframes(span)
        if not found:
            message = f"The history of cluster {span.cluster} has no keyframe, so nothing can be replayed."
            raise HistoryError(message, hint="Warren writes one at each start and each day.")
        return _last_before(found, span) or found[0]

    def keyframe_ms_before(self, span: Span) -> int:
        """When the last one was not after the beginning, or the first one, by the files alone."""
        moments = sorted(one.first_ms for one in self.catalog.select(TOPICS, span.cluster, 0, span.to_ms))
        before = [at_ms for at_ms in moments if at_ms <= span.from_ms]
        return before[-1] if before else moments[0] if moments else 0

    def keyframes(self, span: Span) -> list[Keyframe]:
        """Those until the end of a time, in their order; older ones than it needs may be missing."""
        if span not in self._keyframes:
            found = self._find_keyframes(span.cluster, span.from_ms - NEAR_MS, span.to_ms)
            first = _last_before(found, span)
            if first is None or (first.is_start and first == found[0]):  # what was before a start counts, too
                found = self._find_keyframes(span.cluster, 0, span.to_ms)
            self._keyframes[span] = found
        return self._keyframes[span]

    def _find_keyframes(self, cluster: str, from_ms: int, to_ms: int) -> list[Keyframe]:
        events = self.frame("events", cluster, from_ms, to_ms).where(F.col("kind") == Kind.KEYFRAME.value)
        rows = events.select("epoch_ms", "seq", "at_ms").collect()
        return sorted(Keyframe(row["epoch_ms"], row["seq"], row["at_ms"]) for row in rows)

    # -- rows ----------------------------------------------------------------------------------------------------

    def frame(self, table: str, cluster: str, from_ms: int = 0, to_ms: int = 1 << 62) -> DataFrame:
        """The rows of a table in a time, both ends included; columns that a file does not have are null."""
        entries = self._whole(self.catalog.select(table, cluster, from_ms, to_ms))
        paths = [self._files.full(one.path) for one in entries]
        if table in KEYFRAMES:
            return self._keyframe_frame(paths)
        schema = from_arrow_schema(TABLES[table])
        self._tell_of_unknown(table, entries)
        if not paths:
            return self.spark.createDataFrame([], schema)
        frame = self.spark.read.schema(schema).parquet(*paths)
        return frame.where(F.col("at_ms").between(from_ms, to_ms))

    def _keyframe_frame(self, paths: list[str]) -> DataFrame:
        """Of keyframes the columns depend on the size of windows."""
        if not paths:
            return self.spark.createDataFrame([], NO_KEYFRAME)
        return self.spark.read.option("mergeSchema", True).parquet(*paths)

    def _whole(self, entries: list[Entry]) -> list[Entry]:
        """Only files that are as they were written; others are an error, or left out if that is wanted."""
        sizes = self._sizes(entries)
        damaged = [one for one in entries if sizes.get(one.path) != one.bytes]
        for one in damaged:
            found = sizes.get(one.path)
            what = "is missing" if found is None else f"has {found} bytes instead of {one.bytes}"
            message = f"{self._files.full(one.path)} of the history {what}."
            if not self._skips_damaged:
                raise HistoryError(message, hint="Restore it, or leave it out with --skip-damaged.")
            log.warning("a damaged file is left out", problem=message, rows=one.rows)
        return [one for one in entries if one not in damaged]

    def _sizes(self, entries: list[Entry]) -> dict[str, int]:
        """One question for each directory, not for each file: in an object store each takes its time."""
        directories = {one.path.rpartition("/")[0] for one in entries}
        return {file.path: file.bytes for directory in directories for file in self._files.list(directory)}

    def _tell_of_unknown(self, table: str, entries: list[Entry]) -> None:
        unknown = sorted({name for one in entries for name in one.columns} - set(TABLES[table].names))
        if unknown:
            log.warning("the history has columns that this Warren does not know", table=table, columns=unknown)


def _last_before(found: list[Keyframe], span: Span) -> Keyframe | None:
    """The newest of those that are not after the beginning of a time; they are in their order."""
    before = [one for one in found if one.at_ms <= span.from_ms]
    return before[-1] if before else None
