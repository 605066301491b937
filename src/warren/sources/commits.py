"""The `commits` source: the offsets topic as a Spark stream of `COMMIT_ROWS`.

Spark's offset is where the next record of each partition is read, and which partitions end further on. The same range
always gives the same rows. What is kept between batches (consumers) lives in the process and is never needed for
correctness.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import DataSource, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

from warren.errors import StartOverError
from warren.kafka.clients import (
    EARLIEST,
    LATEST,
    ClientConfig,
    offsets_at,
    partitions_of,
    process_consumer,
    topic_id_of,
)
from warren.machine.memory import give_back
from warren.sources.folding import BatchProgress, Folder, FoldSettings
from warren.sources.planning import SMALL_BATCH_RECORDS, Range, balanced, limited_ends, ranges_between
from warren.sources.reading import worker_reader
from warren.sources.stream_reader import StreamReader
from warren.windows.rows import COMMIT_ROWS

MANY_RECORDS = 100_000
"""A task that has read so many gives its memory back."""


class Position(NamedTuple):
    """How far the topic is read, by partition; `behind` has the ends of the partitions that go on further.

    After a position that is not settled there always is another batch, even if nothing has come: reading up to there
    may have taken long, and whoever judges groups must know that what they did meanwhile has been seen. The position
    before the first batch is such a one, and the only one that has the `topic_id`.
    """

    positions: dict[int, int]
    behind: dict[int, int]
    is_settled: bool = True
    planned_ms: int = 0
    topic_id: str = ""

    @property
    def is_initial(self) -> bool:
        """Whether it is the one before the first batch."""
        return self.planned_ms == 0

    def to_offset(self) -> dict[str, Any]:
        """As Spark keeps it."""
        return {
            "positions": {str(partition): position for partition, position in sorted(self.positions.items())},
            "behind": {str(partition): end for partition, end in sorted(self.behind.items())},
            "settled": self.is_settled,
            "planned_ms": self.planned_ms,
            "topic_id": self.topic_id,
        }

    @classmethod
    def from_offset(cls, offset: dict[str, Any]) -> Position:
        """From what Spark kept."""
        positions, behind = (
            {int(partition): value for partition, value in offset[name].items()} for name in ("positions", "behind")
        )
        return cls(positions, behind, offset["settled"], offset["planned_ms"], offset["topic_id"])


class CommitsOptions(NamedTuple):
    """Everything the source is told; travels to it as one JSON text."""

    client: ClientConfig
    topic: str
    fold: FoldSettings
    positions: dict[int, int] | None = None  # go on from here; None = from the earliest record, or the latest
    topic_id: str = ""  # of the topic that the positions are of; "" if it is not known
    start_latest: bool = False
    max_records: int = 2_000_000
    tasks: int = 2

    def to_json(self) -> str:
        """As text."""
        return json.dumps(self._asdict())

    @classmethod
    def from_json(cls, text: str) -> CommitsOptions:
        """From text."""
        raw = json.loads(text)
        raw["fold"] = FoldSettings(*raw["fold"])
        if raw["positions"] is not None:
            raw["positions"] = {int(partition): position for partition, position in raw["positions"].items()}
        return cls(**raw)


class TaskInput(InputPartition):
    """What one task reads, and the progress that it tells."""

    def __init__(self, ranges: list[Range], progress: BatchProgress) -> None:
        super().__init__(None)
        self.ranges = ranges
        self.progress = progress


class CommitsSource(DataSource):
    """Registered with Spark under its name; `secret_options` is a `CommitsOptions` as JSON."""

    @classmethod
    def name(cls) -> str:
        return "warren-commits"

    def schema(self) -> StructType:
        return from_arrow_schema(COMMIT_ROWS)

    def streamReader(self, schema: StructType) -> CommitsReader:
        return CommitsReader(CommitsOptions.from_json(self.options["secret_options"]))


class CommitsReader(StreamReader):
    """Plans batches in Spark's planning process, reads them in its tasks."""

    def __init__(self, options: CommitsOptions) -> None:
        self._options = options

    def initialOffset(self) -> dict[str, Any]:
        starts, topic_id = self._options.positions, topic_id_of(self._options.client, self._options.topic)
        self._check_topic_id(topic_id)
        if starts is None:
            where = LATEST if self._options.start_latest else EARLIEST
            starts = self._offsets(where)
        return Position(starts, {}, is_settled=False, topic_id=topic_id).to_offset()

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._options.max_records)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        before, planned_ms = Position.from_offset(start), int(time.time() * 1000)
        ends = self._offsets(LATEST)
        self._check_ends(before.positions, ends)
        stops = limited_ends(before.positions, ends, limit.max_rows) if isinstance(limit, ReadMaxRows) else ends
        behind = {partition: end for partition, end in ends.items() if end > stops[partition]}
        # A partition without a leader has no end now, and the topic may be away: what was read stays read.
        positions = {**before.positions, **stops}
        if before.is_settled and (positions, behind) == (before.positions, before.behind):
            return start
        is_settled = not before.is_initial and _is_small(before.positions, stops)
        return Position(positions, behind, is_settled, planned_ms).to_offset()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        before, after = Position.from_offset(start), Position.from_offset(end)
        if before == after:
            return []
        ranges = ranges_between(before.positions, after.positions)
        shares = balanced(ranges, self._options.tasks) or [[]]
        changed = after.positions if before.is_initial else {one.partition: one.end for one in ranges}
        nothing = BatchProgress({}, {})
        progress = BatchProgress(changed, after.behind, before.topic_id, after.planned_ms, after.is_settled)
        return [TaskInput(share, nothing if i else progress) for i, share in enumerate(shares)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, TaskInput)
        folder = Folder(self._options.fold)
        if partition.ranges:
            for records in worker_reader(self._options.client, self._options.topic).read(partition.ranges):
                folder.add(records)
        yield from folder.rows(partition.progress)
        if sum(one.records for one in partition.ranges) > MANY_RECORDS:
            del folder
            give_back()

    def _check_topic_id(self, topic_id: str) -> None:
        """While nobody looked a topic may have been made anew, and have grown past what was read of the old one."""
        known = self._options.topic_id
        if known and topic_id and topic_id != known:
            message = f"The topic {self._options.topic} was recreated, so all of it is read again."
            raise StartOverError(message)

    def _check_ends(self, starts: dict[int, int], ends: dict[int, int]) -> None:
        """A partition that ends before what was read of it is another one, or has lost records."""
        for partition, end in ends.items():
            if end < starts.get(partition, 0):
                message = (
                    f"Partition {partition} of {self._options.topic} ends at {end}, but was read up to "
                    f"{starts[partition]}: the topic was recreated or has lost records, so all of it is read again."
                )
                raise StartOverError(message)

    def _offsets(self, where: int) -> dict[int, int]:
        consumer = process_consumer(self._options.client, **{"isolation.level": "read_committed"})
        topic = self._options.topic
        partitions = [(topic, number) for number in partitions_of(self._options.client, consumer, topic)]
        if not partitions:
            return {}
        return {number: offset for (_, number), offset in offsets_at(consumer, partitions, where).items()}


def _is_small(starts: dict[int, int], ends: dict[int, int]) -> bool:
    return sum(one.records for one in ranges_between(starts, ends)) < SMALL_BATCH_RECORDS
