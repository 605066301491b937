"""Replays a time of a cluster as a Spark job: the groups are spread over tasks, each takes all steps for its own.

Two stages. The first takes the rows of every table apart by the shards that need them, and packs each piece: a row
costs Spark more than all the numbers in it. In the second a task gets all pieces of its shard and runs the kernel.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from warren.history.reader import HistoryReader, Keyframe, Span
from warren.history.tables import TABLES, TOPICS, WINDOWS
from warren.packing import packed, unpacked
from warren.patterns import compile_pattern
from warren.replay.kernel import Moment, Shard, replay
from warren.windows.columns import Int64

PIECES = "shard int, table string, piece binary"
PIECES_SCHEMA = pa.schema([("shard", pa.int32()), ("table", pa.string()), ("piece", pa.binary())])
COMMITS_A_SHARD = 2_000_000
OVERLAP_MS = 3_600_000
"""After a restart commits are taken again that were written down before: by this much at most, and the down time."""

NO_SHARD = -1

Rows = Callable[[Iterator[Moment]], Iterable[pa.Table]]
"""What is wanted of all evaluations of a shard."""
ShardOf = Callable[[str], int | None]
"""The shard of a group; None if the group is not wanted."""


@dataclass(frozen=True)
class Request:
    """What is to be replayed, and how."""

    span: Span
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Other values for names of `Judging`."""
    group_pattern: str = ""
    only_group: str = ""
    """A single one, which is found without reading the others."""
    every_ms: int = 0
    shards: int = 0
    """0: as many as the history needs."""


def replayed(reader: HistoryReader, request: Request, rows: Rows, schema: pa.Schema) -> DataFrame:
    """Whatever `rows` makes of the evaluations from a keyframe before the span to its end, as a DataFrame of `schema`.

    Nothing has run yet.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    span = request.span
    keyframe = reader.keyframe_before(span)
    inputs = _Inputs(reader, span, keyframe, request.only_group)
    events = inputs.events()
    shards = request.shards or inputs.shard_count()
    readers = inputs.readers_of_topics(_shard_of(shards, request))
    pieces = [
        _apart(frame, table, _by_group(_shard_of(shards, request))) for table, frame in inputs.of_groups().items()
    ] + [_apart(frame, table, _by_topic(readers)) for table, frame in inputs.of_topics().items()]
    packed_events, changes = packed(events), dict(request.changes)

    def run(table: pa.Table) -> pa.Table:
        shard = _shard(table, packed_events, _shard_of(shards, request))
        made = rows(replay(shard, changes, request.every_ms))
        return pa.concat_tables([schema.empty_table(), *made]).combine_chunks()

    joined = reduce(DataFrame.unionAll, pieces)
    return joined.repartition(shards, "shard").groupBy("shard").applyInArrow(run, from_arrow_schema(schema))


class _Inputs:
    """The rows that a replay needs."""

    def __init__(self, reader: HistoryReader, span: Span, keyframe: Keyframe, only_group: str) -> None:
        self._reader = reader
        self._span = span
        self._keyframe = keyframe
        self._only_group = only_group
        frames = reader.keyframes(span)
        later = {one.epoch_ms: one for one in reversed(frames) if one.epoch_ms > keyframe.epoch_ms}
        self._keyframes = [keyframe, *sorted(later.values())]
        before = [one.at_ms for one in frames if one.epoch_ms < keyframe.epoch_ms and keyframe.is_start]
        self._commits_from_ms = (max(before) if before else keyframe.at_ms) - OVERLAP_MS

    def events(self) -> pa.Table:
        """All events from the keyframe on."""
        return self._since_keyframe("events").toArrow()

    def _since_keyframe(self, table: str) -> DataFrame:
        """By the number of steps: what was observed a second before the keyframe may have come after it."""
        frame = self._reader.frame(table, self._span.cluster, self._keyframe.at_ms - OVERLAP_MS, self._span.to_ms)
        return frame.where(self._is_later())

    def _is_later(self) -> Any:
        epoch, seq = F.col("epoch_ms"), F.col("seq")
        return (epoch > self._keyframe.epoch_ms) | ((epoch == self._keyframe.epoch_ms) & (seq >= self._keyframe.seq))

    def shard_count(self) -> int:
        """So many that each fits well into the memory of a task, and that all cores have something to do."""
        entries = self._reader.catalog.select("commits", self._span.cluster, self._commits_from_ms, self._span.to_ms)
        commits = sum(one.rows for one in entries)
        cores = self._reader.spark.sparkContext.defaultParallelism
        return max(2 * cores if commits > COMMITS_A_SHARD // 10 else 2, -(-commits // COMMITS_A_SHARD))

    def of_groups(self) -> dict[str, DataFrame]:
        """The tables whose rows are of one group."""
        frames = {
            "commits": self._reader.frame("commits", self._span.cluster, self._commits_from_ms, self._span.to_ms),
            "owners": self._since_keyframe("owners"),
            WINDOWS: self._of_keyframes(WINDOWS),
        }
        if not self._only_group:
            return frames
        return {table: frame.where(F.col("group") == self._only_group) for table, frame in frames.items()}

    def of_topics(self) -> dict[str, DataFrame]:
        """The tables whose rows are of one topic."""
        return {"heads": self._since_keyframe("heads"), TOPICS: self._of_keyframes(TOPICS)}

    def _of_keyframes(self, table: str) -> DataFrame:
        first_ms, last_ms = self._keyframes[0].at_ms, self._keyframes[-1].at_ms
        frame = self._reader.frame(table, self._span.cluster, first_ms, last_ms)
        wanted = [(F.col("epoch_ms") == one.epoch_ms) & (F.col("seq") == one.seq) for one in self._keyframes]
        return frame.where(reduce(lambda a, b: a | b, wanted))

    def readers_of_topics(self, shard_of: ShardOf) -> dict[str, list[int]]:
        """Which shards have groups that read each topic."""
        of_groups = self.of_groups()
        owned = of_groups["owners"].select("group", F.explode("topic").alias("topic"))
        parts = [of_groups[name].select("group", "topic") for name in ("commits", WINDOWS)]
        pairs = reduce(DataFrame.unionAll, [*parts, owned]).distinct().toArrow()
        found: dict[str, set[int]] = {}
        if pairs.num_rows:
            at, shard = _by_group(shard_of)(pairs)
            for topic, one in zip(pairs["topic"].take(pa.array(at)).to_pylist(), shard.tolist(), strict=True):
                found.setdefault(topic, set()).add(one)
        return {topic: sorted(of) for topic, of in found.items()}


# -- the first stage -------------------------------------------------------------------------------------------------

Needs = tuple[Int64, Int64]
"""Rows of a table, and for each the shard that needs it."""
Shards = Callable[[pa.Table], Needs]


def _shard_of(shards: int, request: Request) -> ShardOf:
    """Where each group belongs."""

    def of(group: str) -> int | None:
        if request.only_group:
            return 0 if group == request.only_group else None
        is_wanted = not request.group_pattern or compile_pattern(request.group_pattern).search(group)
        return zlib.crc32(group.encode()) % shards if is_wanted else None

    return of


def _by_group(shard_of: ShardOf) -> Shards:
    """A row goes to the shard of its group, if the group is wanted."""

    def of(table: pa.Table) -> Needs:
        names, codes = _coded(table, "group")
        of_name = [NO_SHARD if (found := shard_of(name)) is None else found for name in names]
        shard: Int64 = np.array([*of_name, NO_SHARD], np.int64)[codes]
        at = np.flatnonzero(shard != NO_SHARD)
        return at, shard[at]

    return of


def _by_topic(readers: dict[str, list[int]]) -> Shards:
    """A row goes to all shards with groups that read its topic."""

    def of(table: pa.Table) -> Needs:
        names, codes = _coded(table, "topic")
        of_name = [readers.get(name, []) for name in names]
        shards = [of_name[code] for code in codes.tolist()]
        at = np.repeat(np.arange(len(shards)), [len(one) for one in shards])
        return at, np.array([one for of in shards for one in of], np.int64)

    return of


def _coded(table: pa.Table, name: str) -> tuple[list[str], Int64]:
    """The distinct texts of a column, and each row's place among them."""
    coded = table[name].combine_chunks().dictionary_encode()
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    return coded.dictionary.to_pylist(), coded.indices.to_numpy().astype(np.int64)


def _apart(frame: DataFrame, table: str, shards_of: Shards) -> DataFrame:
    """Pieces of a table, each with the rows that one shard needs."""

    def split(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            if rows.num_rows:
                yield _pieces(rows, table, *shards_of(rows))

    return frame.mapInArrow(split, PIECES)


def _pieces(rows: pa.Table, table: str, at: Int64, shard: Int64) -> pa.RecordBatch:
    by_shard = np.argsort(shard, kind="stable")
    present, first = np.unique(shard[by_shard], return_index=True)
    parts = np.split(at[by_shard], first[1:]) if len(present) else []
    columns = [present, [table] * len(parts), [packed(rows.take(pa.array(part))) for part in parts]]
    arrays = [pa.array(column, kind.type) for column, kind in zip(columns, PIECES_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PIECES_SCHEMA)


# -- the second stage ------------------------------------------------------------------------------------------------


def _shard(pieces: pa.Table, events: bytes, shard_of: ShardOf) -> Shard:
    number = pieces["shard"][0].as_py()

    def whole(table: str) -> pa.Table:
        mine = pieces.filter(pc.equal(pieces["table"], table))["piece"]
        parts = [unpacked(piece.as_buffer()) for piece in mine]
        empty = TABLES[table].empty_table() if table in TABLES else _NO_KEYFRAME[table]
        return pa.concat_tables(parts, promote_options="default") if parts else empty

    return Shard(
        unpacked(events),
        whole("commits"),
        whole("heads"),
        whole("owners"),
        whole(WINDOWS),
        whole(TOPICS),
        lambda group: shard_of(group) == number,
    )


_STEP = {name: pa.array([], pa.int64()) for name in ("epoch_ms", "seq", "at_ms")}
_NAMES = {name: pa.array([], pa.string()) for name in ("group", "topic")}
_NO_KEYFRAME = {
    table: pa.table({**_STEP, **_NAMES, "partition": pa.array([], pa.int32())}) for table in (WINDOWS, TOPICS)
}
