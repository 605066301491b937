"""The rows that sources hand to the windows: two Arrow schemas, and how they are read back into columns.

`COMMIT_ROWS` carries several kinds of row in one table, since a Spark query has one schema; `RowKind` says which
columns a kind fills.
"""

from __future__ import annotations

from collections import defaultdict
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warren.windows.columns import Int64
from warren.windows.heads import HeadRows
from warren.windows.store import Assignment, CommitRows, Owner


class RowKind(IntEnum):
    """What a row of `COMMIT_ROWS` says."""

    COMMIT = 0  # group, topic, partition, offset, timestamp_ms, order
    TOMBSTONE = 1  # group, topic, partition, order: the committed offset was removed
    GROUP = 2  # group, order: its members changed, the OWNER rows are all there are
    OWNER = 3  # group, topic, partition, owner, client_id
    POSITION = 4  # offset: read up to here
    END = 5  # offset: where the offsets partition ended when the batch was planned
    SKIPPED = 6  # reason, offset: so many records could not be decoded


COMMIT_ROWS = pa.schema(
    [
        ("kind", pa.int8()),
        ("source_partition", pa.int32()),
        ("order", pa.int64()),
        ("group", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp_ms", pa.int64()),
        ("owner", pa.string()),
        ("client_id", pa.string()),
        ("reason", pa.string()),
    ]
)

HEAD_ROWS = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("end", pa.int64()),
        ("log_start", pa.int64()),
        ("observed_ms", pa.int64()),
    ]
)


class CommitBatch(NamedTuple):
    """One micro-batch of the offsets topic."""

    commits: CommitRows
    assignments: list[Assignment]
    positions: dict[int, int]
    ends: dict[int, int]
    skipped: dict[str, int]


def commit_batch(table: pa.Table, applied: dict[int, int]) -> CommitBatch:
    """Read a table of `COMMIT_ROWS`; rows before the position that was `applied` already are left out."""
    kind = _numbers(table, "kind")
    fresh = _numbers(table, "order") >= _applied_positions(table, applied)
    return CommitBatch(
        commits=_commits(table.filter(pa.array((kind <= RowKind.TOMBSTONE) & fresh))),
        assignments=_assignments(table.filter(pa.array((kind == RowKind.GROUP) & fresh)), _only(table, RowKind.OWNER)),
        positions=_offset_by_partition(_only(table, RowKind.POSITION)),
        ends=_offset_by_partition(_only(table, RowKind.END)),
        skipped=_skipped(_only(table, RowKind.SKIPPED)),
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
    )


def _only(table: pa.Table, kind: RowKind) -> pa.Table:
    return table.filter(pc.equal(table["kind"], int(kind)))


def _applied_positions(table: pa.Table, applied: dict[int, int]) -> Int64:
    partition = _numbers(table, "source_partition")
    by_partition = np.zeros(int(partition.max(initial=0)) + 1, np.int64)
    for number, position in applied.items():
        if number < len(by_partition):
            by_partition[number] = position
    return by_partition[partition]


def _commits(table: pa.Table) -> CommitRows:
    groups, group = _coded(table, "group")
    topics, topic = _coded(table, "topic")
    return CommitRows(
        groups=groups,
        topics=topics,
        group=group,
        topic=topic,
        partition=_numbers(table, "partition"),
        offset=_numbers(table, "offset"),
        timestamp_ms=_numbers(table, "timestamp_ms"),
        order=_numbers(table, "order"),
        tombstone=_numbers(table, "kind") == RowKind.TOMBSTONE,
    )


def _assignments(groups: pa.Table, owned: pa.Table) -> list[Assignment]:
    owners: defaultdict[str, dict[tuple[str, int], Owner]] = defaultdict(dict)
    for row in owned.to_pylist():
        owners[row["group"]][row["topic"], row["partition"]] = Owner(row["owner"], row["client_id"])
    return [Assignment(name, owners[name]) for name in groups["group"].to_pylist()]


def _offset_by_partition(table: pa.Table) -> dict[int, int]:
    return dict(zip(table["source_partition"].to_pylist(), table["offset"].to_pylist(), strict=True))


def _skipped(table: pa.Table) -> dict[str, int]:
    counts: defaultdict[str, int] = defaultdict(int)
    for reason, records in zip(table["reason"].to_pylist(), table["offset"].to_pylist(), strict=True):
        counts[reason] += records
    return dict(counts)


def _numbers(table: pa.Table, name: str) -> Int64:
    """A column without nulls (0 instead) as int64."""
    numbers: Int64 = pc.fill_null(table[name], 0).to_numpy().astype(np.int64, copy=False)
    return numbers


def _coded(table: pa.Table, name: str) -> tuple[list[str], Int64]:
    """A text column as its distinct values, and each row's place among them."""
    column = table[name].combine_chunks().dictionary_encode()
    if isinstance(column, pa.ChunkedArray):  # an empty column stays chunked
        column = pa.array([], pa.string()).dictionary_encode() if not column.num_chunks else column.chunk(0)
    return column.dictionary.to_pylist(), column.indices.to_numpy().astype(np.int64)
