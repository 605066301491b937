"""All groups, partitions and topics of a cluster at one moment as points, named as telegraf names them. Pure.

In: the windows and their evaluation. Out: Arrow tables with a row for each point, text by dictionaries. What is
written of a table is what its columns are: those about Warren itself (`health_points`) have others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warren.model import Status
from warren.rules.evaluation import Evaluation
from warren.rules.rule import Rule
from warren.rules.survey import Shown, Survey, shown_by, survey
from warren.windows.columns import UNKNOWN, Int64
from warren.windows.store import Windows

GROUP, PARTITION, TOPIC = ("burrow_group", "burrow_partition", "burrow_topic")

STATUS_CODES = {
    Status.OK: 1,
    Status.NOTFOUND: 2,
    Status.WARN: 3,
    Status.ERR: 4,
    Status.STOP: 5,
    Status.STALL: 6,
    Status.REWIND: 7,
}
"""Telegraf's numbers, but for REWIND: there it is 0, as is everything that telegraf does not know."""

TEXT = pa.dictionary(pa.int32(), pa.string())


def _schema(*columns: tuple[str, pa.DataType]) -> pa.Schema:
    return pa.schema([("measurement", TEXT), ("time_ms", pa.int64()), ("cluster", TEXT), *columns])


_VERDICT = (("status", TEXT), ("status_code", pa.int64()))
_COMMITTED = (
    ("lag", pa.int64()),
    ("offset", pa.int64()),
    ("timestamp", pa.int64()),
    ("lag_seconds", pa.float64()),
    ("reason", TEXT),
)
GROUP_POINTS = _schema(
    ("group", TEXT), *_VERDICT, ("partition_count", pa.int64()), ("total_lag", pa.int64()), *_COMMITTED
)
PARTITION_POINTS = _schema(
    ("group", TEXT), ("topic", TEXT), ("partition", pa.int32()), ("owner", TEXT), *_VERDICT, *_COMMITTED
)
TOPIC_POINTS = _schema(("topic", TEXT), ("partition", pa.int32()), ("offset", pa.int64()))

POINTS = pa.schema(
    [
        *(PARTITION_POINTS.field(name) for name in ("measurement", "time_ms", "cluster")),
        *(PARTITION_POINTS.field(name) for name in ("group", "topic", "partition", "owner")),
        *(GROUP_POINTS.field(name) for name in ("status", "status_code", "partition_count", "total_lag")),
        *(GROUP_POINTS.field(name) for name in ("lag", "offset", "timestamp", "lag_seconds", "reason")),
    ]
)
"""Points of all measurements in one table; what a measurement does not have is null."""

HEAD = ("measurement", "time_ms")
TAGS = ("instance", "cluster", "group", "topic", "partition", "owner")
"""The first of them that a table has is known of all its points."""
FIRST = ("offset", "ready", "leader")
"""Of these fields every point has exactly one. It is written first, so that all others can begin with a comma."""

_STATUSES = [Status(code).name for code in range(len(Status))]
_CODES = np.array([STATUS_CODES[Status(code)] for code in range(len(Status))], np.int64)
_REASONS = [Rule(code).name.lower() for code in range(len(Rule))]


def tags_in(points: pa.Table | pa.RecordBatch) -> list[str]:
    """The tags that a table has."""
    return [name for name in TAGS if name in points.schema.names]


def fields_in(points: pa.Table | pa.RecordBatch) -> list[str]:
    """The fields of which a table has any values; that of `FIRST` comes first."""
    fields = [name for name in points.schema.names if name not in (*HEAD, *TAGS)]
    known = [name for name in fields if name in FIRST or points.column(name).null_count < points.num_rows]
    return sorted(known, key=lambda name: name not in FIRST)


class Points(NamedTuple):
    """One moment of one cluster, a table for each measurement."""

    groups: pa.Table
    partitions: pa.Table
    topics: pa.Table

    def as_table(self) -> pa.Table:
        """All of them as `POINTS`."""
        return pa.concat_tables([_widened(one) for one in self]).unify_dictionaries().combine_chunks()


def points_of(windows: Windows, evaluation: Evaluation, cluster: str, shown: Shown | None = None) -> Points:
    """The points of the moment of an evaluation; `shown` spares naming everything again where it still holds."""
    return points_of_survey(survey(windows, evaluation, shown or shown_by(windows, evaluation)), cluster)


def points_of_survey(found: Survey, cluster: str) -> Points:
    """The same, from what was taken of the windows."""
    return Points(_groups(found, cluster), _partitions(found, cluster), _topics(found, cluster))


def _groups(found: Survey, cluster: str) -> pa.Table:
    evaluation, code = found.evaluation, found.shown.code
    group, groups = evaluation.group[found.shown.place], len(evaluation.names)
    status = evaluation.group_status[code]
    columns = {
        "group": _text(np.arange(len(code)), found.shown.groups),
        "status": _text(status, _STATUSES),
        "status_code": _CODES[status],
        "partition_count": evaluation.partitions[code],
        "total_lag": evaluation.total_lag[code],
        "lag": _highest(evaluation.lag, evaluation.group, groups)[code],
        "offset": _sum(np.maximum(found.committed, 0), group, groups)[code],
        "timestamp": _highest(found.committed_ms, group, groups)[code],
        "lag_seconds": _known(found.group_lag_s),
        "reason": _text(evaluation.rule[evaluation.worst[code]], _REASONS),
    }
    return _table(GROUP, evaluation.now_ms, cluster, columns, GROUP_POINTS)


def _partitions(found: Survey, cluster: str) -> pa.Table:
    evaluation, shown = found.evaluation, found.shown
    status = evaluation.status[shown.place]
    group, groups = _coded([group for group, _ in shown.pairs])
    topic, topics = _coded([topic for _, topic in shown.pairs])
    columns = {
        "group": _text(group[shown.pair], groups),
        "topic": _text(topic[shown.pair], topics),
        "partition": shown.partition.astype(np.int32),
        "owner": _text(found.owner, found.hosts),
        "status": _text(status, _STATUSES),
        "status_code": _CODES[status],
        "lag": evaluation.lag[shown.place],
        "offset": np.maximum(found.committed, 0),
        "timestamp": found.committed_ms,
        "lag_seconds": _known(found.lag_s),
        "reason": _text(evaluation.rule[shown.place], _REASONS),
    }
    return _table(PARTITION, evaluation.now_ms, cluster, columns, PARTITION_POINTS)


def _topics(found: Survey, cluster: str) -> pa.Table:
    is_known = found.end != UNKNOWN
    columns = {
        "topic": _text(found.shown.topic[is_known], found.shown.topics),
        "partition": found.shown.topic_partition[is_known].astype(np.int32),
        "offset": found.end[is_known],
    }
    return _table(TOPIC, found.evaluation.now_ms, cluster, columns, TOPIC_POINTS)


def _table(
    measurement: str, time_ms: int, cluster: str, columns: dict[str, pa.Array | NDArray[np.generic]], schema: pa.Schema
) -> pa.Table:
    rows = len(next(iter(columns.values())))
    zeros = np.zeros(rows, np.int32)
    same = {
        "measurement": _text(zeros, [measurement]),
        "time_ms": np.full(rows, time_ms),
        "cluster": _text(zeros, [cluster]),
    }
    return pa.table({**same, **columns}, schema)


def _text(code: NDArray[np.integer], texts: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(code, pa.int32()), pa.array(texts, pa.string()))


def _coded(names: Sequence[str]) -> tuple[Int64, list[str]]:
    """Of each name its place among the different ones."""
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(name, len(codes)) for name in names], np.int64), list(codes)


def _known(seconds: NDArray[np.float64]) -> pa.Array:
    return pa.array(seconds, mask=seconds < 0)


def _highest(values: Int64, group: NDArray[np.integer], groups: int) -> Int64:
    highest = np.zeros(groups, np.int64)
    np.maximum.at(highest, group, values)
    return highest


def _sum(values: Int64, group: NDArray[np.integer], groups: int) -> Int64:
    """In whole numbers: offsets may be larger than what a float keeps."""
    total = np.zeros(groups, np.int64)
    np.add.at(total, group, values)
    return total


def _widened(table: pa.Table) -> pa.Table:
    columns = [
        table.column(field.name) if field.name in table.column_names else pa.nulls(table.num_rows, field.type)
        for field in POINTS
    ]
    return pa.table(columns, POINTS)
