"""The rows that sources hand to the windows: two Arrow schemas, and how they are read back into columns.

`COMMIT_ROWS` carries several kinds of row in one table, since a Spark query has one schema; `RowKind` says which
columns a kind fills. What belongs to one group and topic travels in one row, its commits as lists: a row costs Spark
more than all the numbers in it.
"""

from __future__ import annotations

from collections import defaultdict
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warren.groups.records import RawRecord
from warren.windows.columns import UNKNOWN, Int64
from warren.windows.commit_rows import CommitRows
from warren.windows.heads import HeadRows


class RowKind(IntEnum):
    """What a row of `COMMIT_ROWS` says."""

    TOMBSTONE = 0  # as COMMIT, with offset and time -1: these committed offsets were removed before any COMMIT here
    COMMIT = 1  # group, topic, partition, offset, timestamp_ms, order; those of one partition in log order
    GROUP_RECORD = 2  # key, value (null for a tombstone), order (one): the newest of this key
    POISON = 3  # order (one), record_type, reason, detail: one of the records that could not be decoded
    POSITION = 4  # partition, offset: the offsets topic is read up to here
    END = 5  # partition, offset: where it ended when the batch was planned, if that is further on
    SKIPPED = 6  # reason, offset (one): so many records could not be decoded
    TOPIC_ID = 7  # topic: Kafka's id of the offsets topic that all this is of
    PLANNED = 8  # timestamp_ms (one): the batch holds what there was at this moment, but for what END rows tell
    UNSETTLED = 9  # the batch took so long that more is sure to have come; another one follows at once
    LOOK = 10  # topic: all COMMIT rows of the batch are all there is in one place, whose identity this is
    UNREADABLE = 11  # group, maybe topic, maybe partition: these could not be read now, so they are as they were
    GROUP_VIEW = 12  # group, value: who its members are, as JSON (see `groups/told.py`)
    UNREAD = 13  # group: it may have committed something that could not be read


COMMIT_ROWS = pa.schema(
    [
        ("kind", pa.int8()),
        ("source_partition", pa.int32()),
        ("group", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.list_(pa.int32())),
        ("offset", pa.list_(pa.int64())),
        ("timestamp_ms", pa.list_(pa.int64())),
        ("order", pa.list_(pa.int64())),
        ("incarnation", pa.list_(pa.int32())),  # of the topic that each COMMIT was made to, 0 if it is not told
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("record_type", pa.int16()),  # -1 if not even that could be read
        ("reason", pa.string()),
        ("detail", pa.string()),
    ]
)

HEAD_ROWS = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("end", pa.int64()),
        ("log_start", pa.int64()),
        ("observed_ms", pa.int64()),
        ("cluster_id", pa.string()),  # in the first row only
        ("last_stable", pa.int64()),  # -1: not to be had
        ("has_leader", pa.bool_()),
        ("topic_id", pa.string()),  # in the first row of each topic only, and only if it was asked for now
    ]
)


class Poison(NamedTuple):
    """A record that could not be decoded: where it lies, and why."""

    source_partition: int
    offset: int
    record_type: int
    kind: str
    detail: str


class Unreadable(NamedTuple):
    """What could not be read: a group, one of its topics, or one partition of that."""

    group: str
    topic: str | None = None
    partition: int | None = None


class CommitBatch(NamedTuple):
    """One micro-batch of the offsets topic."""

    commits: CommitRows
    group_records: list[RawRecord]
    positions: dict[int, int]
    ends: dict[int, int]
    skipped: dict[str, int]
    poison: list[Poison]
    """Some of the records that were skipped, as examples."""
    topic_id: str
    """"" if it was not told."""
    planned_ms: int
    """0 if it was not told."""
    is_settled: bool


class LookBatch(NamedTuple):
    """One look at a place that has no log: everything that is there, at one moment."""

    place_id: str
    """Another one, if what is there now has nothing to do with what was there before."""
    commits: CommitRows
    """All of them; those of one group and topic are neighbours, and `pairs` has each pair once."""
    unreadable: frozenset[Unreadable]
    unread: frozenset[str]
    """Groups of which something may have happened since the last look that could not be read."""
    poison: list[tuple[str, Poison]]
    """What could not be decoded, each with its path."""
    views: dict[str, bytes]
    """Who the members of groups are, for those of which it is known."""
    looked_ms: int


def look_batch(table: pa.Table) -> LookBatch:
    """Read a table of `COMMIT_ROWS` that a look has made; `ValueError` if it is not whole."""
    looks, poison = _only(table, RowKind.LOOK), _only(table, RowKind.POISON)
    if looks.num_rows != 1:
        message = f"a batch holds {looks.num_rows} looks instead of one"
        raise ValueError(message)
    told = _only(table, RowKind.GROUP_VIEW)
    return LookBatch(
        place_id=looks["topic"][0].as_py(),
        commits=_commits(_only(table, RowKind.COMMIT), {}),
        unreadable=_unreadable(_only(table, RowKind.UNREADABLE)),
        unread=frozenset(_only(table, RowKind.UNREAD)["group"].to_pylist()),
        poison=list(zip(_texts(poison, "key"), _poison(poison), strict=True)),
        views=dict(zip(told["group"].to_pylist(), told["value"].to_pylist(), strict=True)),
        looked_ms=int(_items(_only(table, RowKind.PLANNED), "timestamp_ms")[0]),
    )


def commit_batch(table: pa.Table, applied: dict[int, int]) -> CommitBatch:
    """Read a table of `COMMIT_ROWS`; records before the position that was `applied` already are left out."""
    commits = _commits(_only(table, RowKind.TOMBSTONE, RowKind.COMMIT), applied)
    return CommitBatch(
        commits=commits,
        group_records=_group_records(_only(table, RowKind.GROUP_RECORD), applied),
        positions=_offset_by_partition(_only(table, RowKind.POSITION)),
        ends=_offset_by_partition(_only(table, RowKind.END)),
        skipped=_skipped(_only(table, RowKind.SKIPPED)),
        poison=_poison(_only(table, RowKind.POISON)),
        topic_id=pc.max(_only(table, RowKind.TOPIC_ID)["topic"]).as_py() or "",
        planned_ms=max(_items(_only(table, RowKind.PLANNED), "timestamp_ms").tolist(), default=0),
        is_settled=not _only(table, RowKind.UNSETTLED).num_rows,
    )


def head_rows(table: pa.Table) -> HeadRows:
    """Read a table of `HEAD_ROWS`."""
    topics, topic = _coded(table, "topic")
    return HeadRows(
        topics=topics,
        topic=topic,
        partition=_numbers(table, "partition"),
        end=_numbers(table, "end"),
        log_start=_numbers(table, "log_start"),
        observed_ms=pc.max(table["observed_ms"]).as_py() or 0,
        cluster_id=pc.max(table["cluster_id"]).as_py() or "",
        last_stable=_numbers(table, "last_stable", UNKNOWN),
        has_leader=pc.fill_null(table["has_leader"], True).to_numpy(),
        topic_ids=_topic_ids(table),
    )


def _topic_ids(table: pa.Table) -> dict[str, str]:
    told = table.filter(pc.greater(table["topic_id"], ""))
    return dict(zip(told["topic"].to_pylist(), told["topic_id"].to_pylist(), strict=True))


def _only(table: pa.Table, *kinds: RowKind) -> pa.Table:
    return table.filter(pc.is_in(table["kind"], pa.array(kinds, pa.int8()))).combine_chunks()


def _commits(table: pa.Table, applied: dict[int, int]) -> CommitRows:
    # Tombstones first: those of a partition come before its commits in the log, and later steps keep the order.
    table = table.sort_by("kind") if pc.min(table["kind"]).as_py() == RowKind.TOMBSTONE else table
    lengths = pc.list_value_length(table["order"]).to_numpy()
    rows = CommitRows(
        pairs=list(zip(table["group"].to_pylist(), table["topic"].to_pylist(), strict=True)),
        pair=np.repeat(np.arange(len(lengths)), lengths),
        partition=_items(table, "partition"),
        offset=_items(table, "offset"),
        timestamp_ms=_items(table, "timestamp_ms"),
        order=_items(table, "order"),
        tombstone=np.repeat(_numbers(table, "kind") == RowKind.TOMBSTONE, lengths),
        incarnation=_incarnations(table, lengths),
        source_partitions=_numbers(table, "source_partition", UNKNOWN).tolist(),
    )
    fresh = rows.order >= np.repeat(_applied_positions(table, applied), lengths)
    return rows if fresh.all() else rows.take(fresh)


def _incarnations(table: pa.Table, lengths: Int64) -> Int64 | None:
    """0 for the rows that do not tell; None if none does."""
    told = pc.is_valid(table["incarnation"]).to_numpy()
    if not told.any():
        return None
    incarnation = np.zeros(int(lengths.sum()), np.int64)
    incarnation[np.repeat(told, lengths)] = _items(table, "incarnation")
    return incarnation


def _applied_positions(table: pa.Table, applied: dict[int, int]) -> Int64:
    partition = _numbers(table, "source_partition")
    by_partition = np.zeros(int(partition.max(initial=0)) + 1, np.int64)
    for number, position in applied.items():
        if number < len(by_partition):
            by_partition[number] = position
    return by_partition[partition]


def _group_records(table: pa.Table, applied: dict[int, int]) -> list[RawRecord]:
    columns = (table["source_partition"], table["order"], table["key"], table["value"])
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    records = [RawRecord(partition, order, key, value) for partition, [order], key, value in rows]
    return [one for one in records if one.order >= applied.get(one.source_partition, 0)]


def _poison(table: pa.Table) -> list[Poison]:
    columns = (table[name].to_pylist() for name in ("source_partition", "order", "record_type", "reason", "detail"))
    return [
        Poison(where, order, kind, reason, detail)
        for where, [order], kind, reason, detail in zip(*columns, strict=True)
    ]


def _unreadable(table: pa.Table) -> frozenset[Unreadable]:
    columns = (table[name].to_pylist() for name in ("group", "topic", "partition"))
    found = zip(*columns, strict=True)
    return frozenset(Unreadable(group, topic, numbers[0] if numbers else None) for group, topic, numbers in found)


def _texts(table: pa.Table, name: str) -> list[str]:
    return [value.decode() for value in table[name].to_pylist()]


def _offset_by_partition(table: pa.Table) -> dict[int, int]:
    return dict(zip(_items(table, "partition").tolist(), _items(table, "offset").tolist(), strict=True))


def _skipped(table: pa.Table) -> dict[str, int]:
    counts: defaultdict[str, int] = defaultdict(int)
    for reason, records in zip(table["reason"].to_pylist(), _items(table, "offset").tolist(), strict=True):
        counts[reason] += records
    return dict(counts)


def _numbers(table: pa.Table, name: str, absent: int = 0) -> Int64:
    """A column without nulls (`absent` instead) as int64."""
    numbers: Int64 = pc.fill_null(table[name], absent).to_numpy().astype(np.int64, copy=False)
    return numbers


def _items(table: pa.Table, name: str) -> Int64:
    """All items of a column of lists, one after the other."""
    items: Int64 = pc.list_flatten(table[name]).to_numpy().astype(np.int64, copy=False)
    return items


def _coded(table: pa.Table, name: str) -> tuple[list[str], Int64]:
    """A text column as its distinct values, and each row's place among them."""
    column = table[name].dictionary_encode().unify_dictionaries().combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks else pa.array([], pa.string()).dictionary_encode()
    return column.dictionary.to_pylist(), column.indices.to_numpy().astype(np.int64)
