"""Puts what was written down into Parquet files, by Spark; keeps them few, and not for ever."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import structlog
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from warren.errors import HistoryError
from warren.history.catalog import LOG, Entry, HistoryLog, Version, day_of
from warren.history.files import Files
from warren.history.journal import read_until
from warren.history.spool import tables_of
from warren.history.tables import KEYFRAMES, ORDER, TABLES, Kind, Recorded
from warren.packing import packed, unpacked
from warren.pipeline.queries import cause_of

log = structlog.get_logger()

STAGING = "_staging"
DAY_MS = 86_400_000
GRACE_MS = 2 * 3_600_000
"""Files that count no more are deleted after so long: somebody may be reading them."""
PIECE_ROWS = 50_000
LARGE_FILE_BYTES = 128 << 20
"""Files of this size are not put together with others."""
_OURS = re.compile(rf"{STAGING}/[0-9a-f]{{32}}/.*|[a-z]+/cluster=[^/]+/day=[0-9-]+/-?\d+-[0-9a-f]{{12}}\.parquet")


class Upkeep(NamedTuple):
    """How a history is kept."""

    retention_days: int = 30
    most_files: int = 24
    """Of one table, cluster and day; more are put together."""


class HistoryWriter:
    """The only writer of a history."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark = spark
        self.files = Files(spark, path)
        self._check_log()
        self.files.make_directory(LOG)  # what is wrong with the path is told now, not after the first minutes
        self._log = HistoryLog(self.files)

    def _check_log(self) -> None:
        """Files of a history without a log must not be taken for what a crash left behind."""
        if not self.files.exists(LOG) and any(_OURS.fullmatch(one.path) for one in self.files.list("events")):
            message = f"The history in {self.files.root} has files, but its log is gone."
            raise HistoryError(message, hint=f"Restore {LOG}, or begin a history at another path.")

    def recorded(self, cluster: str, waiting: Iterable[Path] = ()) -> dict[str, Recorded]:
        """How far the commits of a cluster are in the history, or in spool files that wait to be taken in."""
        recorded = self._log.catalog.recorded.get(cluster, {})
        for spool in waiting:
            recorded = _recorded_by(tables_of(spool).get("events"), recorded)
        return recorded

    @property
    def file_count(self) -> int:
        """How many files the history consists of."""
        return len(self._log.catalog.files)

    def take_in(self, cluster: str, spool: Path, *, now_ms: int) -> int:
        """Put a finished spool file into the history, once; how many commits that were."""
        if self._log.catalog.spools.get(cluster) == spool.name:
            return 0  # it was taken in, and then there was no time to remove it
        self._log.catch_up()  # before anything is written for nothing
        tables = tables_of(spool)
        entries = [entry for name, table in tables.items() for entry in self.write(cluster, name, table)]
        recorded = _recorded_by(tables.get("events"), self.recorded(cluster))
        self.commit(Version(now_ms, tuple(entries), recorded={cluster: recorded}, spools={cluster: spool.name}))
        return sum(one.rows for one in entries if one.table == "commits")

    def maintain(self, upkeep: Upkeep, *, now_ms: int) -> None:
        """Put small files together, let old days go, delete what nobody reads any more."""
        self._let_go(upkeep.retention_days, now_ms)
        self._sweep(now_ms)
        self._remove_orphans(now_ms)
        for many in self._scattered(upkeep.most_files):
            try:
                self._put_together(many, now_ms)
            except Exception as error:  # a damaged file among them; the others must not suffer from it
                where = Place(many[0].table, many[0].cluster, many[0].day).directory
                log.warning("files of the history stay apart", where=where, error=cause_of(error))

    def commit(self, version: Version) -> None:
        """Make files count."""
        self._log.commit(version)

    # -- writing -------------------------------------------------------------------------------------------------

    def write(self, cluster: str, table: str, rows: pa.Table) -> list[Entry]:
        """Write files of rows, one for each day; they count from the version on that names them."""
        days = pc.divide(rows["at_ms"], DAY_MS)
        found = []
        for day in pc.unique(days).to_pylist():
            part = rows.filter(pc.equal(days, day)).combine_chunks()
            frame = self._framed(part)
            span_ms = (pc.min(part["at_ms"]).as_py(), pc.max(part["at_ms"]).as_py())
            found.append(self.write_file(frame, Place(table, cluster, day_of(day * DAY_MS)), span_ms, part.num_rows))
        return found

    def _framed(self, rows: pa.Table) -> DataFrame:
        """Rows for Spark, packed until a task unpacks them: a backlog has millions, more than Java has room for."""
        pieces = [packed(rows.slice(start, PIECE_ROWS)) for start in range(0, rows.num_rows, PIECE_ROWS)]
        frame = self.spark.createDataFrame(pa.table({"piece": pa.array(pieces, pa.binary())}))
        return frame.mapInArrow(_unpack, from_arrow_schema(rows.schema))

    def write_file(
        self, frame: DataFrame, place: Place, span_ms: tuple[int, int], rows: int, *, is_sorted: bool = False
    ) -> Entry:
        """Write one file; it counts from the version on that names it."""
        name = uuid4().hex
        frame = frame.coalesce(1)
        if (order := ORDER.get(place.table)) and not is_sorted:
            frame = frame.sortWithinPartitions(*order)
        writer = frame.write.option("compression", "zstd").option("parquet.writer.version", "v2")
        writer.parquet(self.files.full(f"{STAGING}/{name}"))
        parts = [one for one in self.files.list(f"{STAGING}/{name}") if one.path.endswith(".parquet")]
        if len(parts) != 1:
            message = f"Spark wrote {len(parts)} files instead of one into the history in {self.files.root}."
            raise HistoryError(message, hint="On a Spark cluster all its machines must see the same path.")
        path = f"{place.directory}/{span_ms[0]}-{name[:12]}.parquet"
        if not self.files.rename(parts[0].path, path):
            message = f"A file of the history in {self.files.root} cannot be put into its place, {path}."
            raise HistoryError(message)
        self.files.delete(f"{STAGING}/{name}")
        return Entry(path, *place, rows, parts[0].bytes, *span_ms, tuple(frame.columns))

    # -- keeping -------------------------------------------------------------------------------------------------

    def _scattered(self, most_files: int) -> Iterable[list[Entry]]:
        """Small files that had better be one."""
        by_place: defaultdict[Place, list[Entry]] = defaultdict(list)
        for one in self._log.catalog.files.values():
            if one.table in TABLES and one.bytes < LARGE_FILE_BYTES:
                by_place[Place(one.table, one.cluster, one.day)].append(one)
        return [many for many in by_place.values() if len(many) > most_files]

    def _put_together(self, many: list[Entry], now_ms: int) -> None:
        schema = from_arrow_schema(TABLES[many[0].table])
        frame = self.spark.read.schema(schema).parquet(*(self.files.full(one.path) for one in many))
        place = Place(many[0].table, many[0].cluster, many[0].day)
        span_ms = (min(one.first_ms for one in many), max(one.last_ms for one in many))
        entry = self.write_file(frame, place, span_ms, sum(one.rows for one in many))
        self.commit(Version(now_ms, (entry,), tuple(one.path for one in many)))

    def _let_go(self, retention_days: int, now_ms: int) -> None:
        oldest = day_of(now_ms - retention_days * DAY_MS)
        old = tuple(one.path for one in self._log.catalog.files.values() if one.day < oldest)
        if old:
            self.commit(Version(now_ms, remove=old))

    def _sweep(self, now_ms: int) -> None:
        gone = tuple(path for path, since in self._log.catalog.garbage.items() if now_ms - since >= GRACE_MS)
        for path in gone:
            self.files.delete(path)
        if gone:
            self.commit(Version(now_ms, swept=gone))

    def _remove_orphans(self, now_ms: int) -> None:
        """Remove what a crash left behind: it counts nowhere. What is young may be of a writer that is at work.

        Whatever else lies there is somebody else's.
        """
        self._log.catch_up()
        catalog = self._log.catalog
        known = catalog.files.keys() | catalog.garbage.keys()
        for table in (STAGING, *TABLES, *KEYFRAMES):
            for one in self.files.list(table):
                is_old = now_ms - one.modified_ms >= GRACE_MS
                if is_old and one.path not in known and _OURS.fullmatch(one.path):
                    self.files.delete(one.path)


class Place(NamedTuple):
    """Where a file belongs."""

    table: str
    cluster: str
    day: str

    @property
    def directory(self) -> str:
        """Below the history."""
        return f"{self.table}/cluster={quote(self.cluster, safe='')}/day={self.day}"


def _unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for piece in batch.column("piece"):
            yield from unpacked(piece.as_buffer()).to_batches()


def _recorded_by(events: pa.Table | None, before: Mapping[str, Recorded]) -> dict[str, Recorded]:
    """How far commits are recorded after these events; a module that starts over is at its beginning."""
    recorded = dict(before)
    rows = events.sort_by([("epoch_ms", "ascending"), ("seq", "ascending")]).to_pylist() if events else []
    for row in rows:
        if row["kind"] == Kind.STARTED_OVER:
            recorded.pop(row["consumer"], None)
        elif row["kind"] == Kind.BATCH:
            known = recorded.get(row["consumer"], Recorded("", {}))
            known = known._replace(topic_id=row["text"] or known.topic_id)
            recorded[row["consumer"]] = read_until(known, dict(zip(row["partition"], row["end"], strict=True)))
    return recorded
