"""From raw records to the rows that leave a worker: decoded, filtered, and folded to what a window can still show."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warren.codec.commit_columns import ValueState, decode_offset_commits
from warren.codec.groups import assigned_partitions, decode_group_metadata
from warren.codec.keys import GroupKey, OffsetKey, OtherKey, decode_key
from warren.errors import DecodeError
from warren.sources.reading import Records
from warren.windows.columns import Int64
from warren.windows.fold import still_seen
from warren.windows.rows import COMMIT_ROWS, RowKind

NEWEST_GROUP_RECORDS = 4
"""The newest record of a group that can be decoded counts; so many in a row that cannot are not expected."""

FUTURE_MS = 60_000
"""A commit so far in the future is not believed at once."""


class FoldSettings(NamedTuple):
    """What a worker needs to know of the windows and of the groups wanted."""

    intervals: int
    min_distance_ms: int
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class _GroupRecord(NamedTuple):
    source_partition: int
    order: int
    value: bytes | None


class Folder:
    """Takes the records of one task, gives the rows of one task."""

    def __init__(self, settings: FoldSettings) -> None:
        self._settings = settings
        self._allow = [re.compile(pattern) for pattern in settings.allow if pattern]
        self._deny = [re.compile(pattern) for pattern in settings.deny if pattern]
        self._codes: dict[bytes | None, int] = {}  # key bytes -> place in _keys, or -1 if it is not a commit's
        self._keys: list[OffsetKey] = []
        self._source_partitions: list[int] = []
        self._chunks: list[tuple[Int64, Int64, Int64, Int64, Int64]] = []
        self._groups: defaultdict[str, deque[_GroupRecord]] = defaultdict(lambda: deque(maxlen=NEWEST_GROUP_RECORDS))
        self._skipped: Counter[str] = Counter()

    def add(self, records: Records) -> None:
        """Take some more records."""
        code = list(map(self._codes.get, records.key))
        if None in code:
            code = list(map(self._code_of, records.key, records.partition.tolist()))
        place = np.array(code, np.int64)
        if place.min() < 0:
            self._add_others(records, np.flatnonzero(place < 0).tolist())
        self._add_commits(records, place)

    def rows(self, positions: dict[int, int], behind: dict[int, int], topic_id: str = "") -> list[pa.RecordBatch]:
        """Everything taken so far as rows, with how far the partitions are read and which of them end further on."""
        progress = _progress_rows(positions, behind, topic_id)
        batches = [*self._commit_rows(), self._group_rows(), progress, self._skipped_rows()]
        return [batch for batch in batches if batch.num_rows]

    # -- taking --------------------------------------------------------------------------------------------------

    def _code_of(self, key: bytes | None, source_partition: int) -> int:
        """A key's place among the commit keys; -1 for every other key, also those that are not wanted."""
        if key in self._codes:
            return self._codes[key]
        try:
            decoded = decode_key(key)
        except DecodeError:
            return -1  # counted with its record
        code = -1
        if isinstance(decoded, OffsetKey) and self._is_wanted(decoded.group):
            code = len(self._keys)
            self._keys.append(decoded)
            self._source_partitions.append(source_partition)
            self._codes[key] = code
        return code

    def _is_wanted(self, group: str) -> bool:
        allowed = all(pattern.search(group) for pattern in self._allow)
        return allowed and not any(pattern.search(group) for pattern in self._deny)

    def _add_commits(self, records: Records, place: Int64) -> None:
        at = np.flatnonzero(place >= 0)
        if not len(at):
            return
        every = len(at) == len(place)
        decoded = decode_offset_commits(records.value if every else [records.value[i] for i in at.tolist()])
        self._skipped.update(decoded.kinds)
        good = decoded.state <= ValueState.TOMBSTONE
        timestamp_ms = _plausible(decoded.timestamp_ms, records, at)
        columns = (place[at], decoded.offset, timestamp_ms, records.offset[at], decoded.state.astype(np.int64))
        self._chunks.append(columns if good.all() else tuple(column[good] for column in columns))  # type: ignore[arg-type]  # five in, five out

    def _add_others(self, records: Records, at: list[int]) -> None:
        for i in at:
            try:
                self._add_other(records.key[i], records.value[i], int(records.partition[i]), int(records.offset[i]))
            except DecodeError as error:
                self._skipped[error.kind] += 1

    def _add_other(self, key: bytes | None, value: bytes | None, source_partition: int, order: int) -> None:
        match decode_key(key):
            case GroupKey(group):
                if self._is_wanted(group):
                    self._groups[group].append(_GroupRecord(source_partition, order, value))
            case OtherKey(record_type):
                self._skipped[f"record type {record_type}"] += 1
            case _:
                pass  # a commit of a group that is not wanted

    # -- giving --------------------------------------------------------------------------------------------------

    def _commit_rows(self) -> list[pa.RecordBatch]:
        if not self._chunks:
            return []
        place, offset, timestamp_ms, order, state = (
            np.concatenate(column) for column in zip(*self._chunks, strict=True)
        )
        by_key = np.argsort(place, kind="stable")  # the log order stays within each key
        tombstone = state == ValueState.TOMBSTONE
        settings = self._settings
        seen = still_seen(
            place[by_key], timestamp_ms[by_key], tombstone[by_key], settings.intervals, settings.min_distance_ms
        )
        kept = by_key[seen]
        pairs = _Pairs(self._keys, self._source_partitions)
        removed, committed = kept[tombstone[kept]], kept[~tombstone[kept]]
        return [
            pairs.rows(kind, place[of], order=order[of], offset=offset[of], timestamp_ms=timestamp_ms[of])
            for kind, of in ((RowKind.TOMBSTONE, removed), (RowKind.COMMIT, committed))
        ]

    def _group_rows(self) -> pa.RecordBatch:
        rows: list[dict[str, object]] = []
        for group, records in self._groups.items():
            for record in reversed(records):
                try:
                    owners = self._owners(record.value)
                except DecodeError as error:  # then the one before it still holds
                    self._skipped[error.kind] += 1
                    continue
                where = {"source_partition": record.source_partition, "group": group}
                rows.append({"kind": RowKind.GROUP, **where, "order": [record.order]})
                rows += [{"kind": RowKind.OWNER, **where, **owner} for owner in owners]
                break
        return pa.RecordBatch.from_pylist(rows, COMMIT_ROWS)

    def _owners(self, value: bytes | None) -> list[dict[str, object]]:
        if not value:
            return []  # the group is gone or became one of another type; its offsets have tombstones of their own
        assignment = assigned_partitions(decode_group_metadata(value))
        if assignment.malformed_members:
            self._skipped["member assignment"] += assignment.malformed_members
        return [
            {
                "topic": one.topic,
                "partition": [one.partition],
                "owner": one.member.client_host,
                "client_id": one.member.client_id,
            }
            for one in assignment.owners
        ]

    def _skipped_rows(self) -> pa.RecordBatch:
        return _rows(
            len(self._skipped),
            kind=pa.array([RowKind.SKIPPED] * len(self._skipped), pa.int8()),
            reason=pa.array(self._skipped.keys(), pa.string()),
            offset=pa.array([[records] for records in self._skipped.values()], pa.list_(pa.int64())),
        )


def _plausible(timestamp_ms: Int64, records: Records, at: Int64) -> Int64:
    """The times of commits; one in the future that the broker did not stamp was made when the broker wrote it.

    A client may say when it commits, and some say anything. Where the broker's own clock is ahead its stamp is, too.
    """
    for i in np.flatnonzero(timestamp_ms > records.read_ms + FUTURE_MS).tolist():
        stamp_ms = records.stamp_ms(int(at[i]))
        if 0 < stamp_ms < timestamp_ms[i] - FUTURE_MS:
            timestamp_ms[i] = stamp_ms
    return timestamp_ms


class _Pairs:
    """Puts what belongs to one group and topic into one row."""

    def __init__(self, keys: list[OffsetKey], source_partitions: list[int]) -> None:
        codes: dict[tuple[str, str], int] = {}
        self._pair = np.array([codes.setdefault((key.group, key.topic), len(codes)) for key in keys], np.int64)
        self._partition = np.array([key.partition for key in keys], np.int32)
        self._source_partition = np.zeros(len(codes), np.int32)  # a group lies in one partition of the offsets topic
        self._source_partition[self._pair] = source_partitions
        self._groups = pa.array([group for group, _ in codes], pa.string())
        self._topics = pa.array([topic for _, topic in codes], pa.string())

    def rows(self, kind: RowKind, place: Int64, **columns: NDArray[np.integer[Any]]) -> pa.RecordBatch:
        """A row for each pair; `place` says which key each item is of, those of one key are neighbours."""
        pair = self._pair[place]
        by_pair = np.argsort(pair, kind="stable")
        present, first = np.unique(pair[by_pair], return_index=True)
        bounds = pa.array(np.append(first, len(pair)), pa.int32())
        columns["partition"] = self._partition[place]
        return _rows(
            len(present),
            kind=pa.array(np.full(len(present), kind, np.int8)),
            source_partition=pa.array(self._source_partition[present]),
            group=self._groups.take(pa.array(present)),
            topic=self._topics.take(pa.array(present)),
            **{name: pa.ListArray.from_arrays(bounds, pa.array(column[by_pair])) for name, column in columns.items()},
        )


def _progress_rows(positions: dict[int, int], behind: dict[int, int], topic_id: str) -> pa.RecordBatch:
    told = [(kind, one) for kind, one in ((RowKind.POSITION, positions), (RowKind.END, behind)) if one]
    rows: list[dict[str, object]] = [
        {"kind": kind, "partition": list(one), "offset": list(one.values())} for kind, one in told
    ]
    if topic_id:
        rows.append({"kind": RowKind.TOPIC_ID, "topic": topic_id})
    return pa.RecordBatch.from_pylist(rows, COMMIT_ROWS)


def _rows(length: int, **columns: pa.Array) -> pa.RecordBatch:
    """A batch of `COMMIT_ROWS` with the given columns; the others are null."""
    arrays = [columns.get(field.name, pa.nulls(length, field.type)) for field in COMMIT_ROWS]
    return pa.RecordBatch.from_arrays(arrays, schema=COMMIT_ROWS)
