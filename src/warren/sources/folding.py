"""From raw records to the rows that leave a worker: decoded, filtered, and folded to what a window can still show."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warren.codec.commit_columns import ValueState, decode_offset_commits
from warren.codec.commits import decode_offset_commit
from warren.codec.group_records import check_group_version, decode_group_value, not_decoded
from warren.codec.groups import GroupMetadata, assigned_partitions
from warren.codec.keys import (
    GroupRecordKey,
    GroupRecordType,
    OffsetKey,
    OtherKey,
    decode_key,
    record_type,
)
from warren.errors import DecodeError
from warren.groups.records import VIEWED, RawRecord
from warren.groups.views import KEPT_BYTES
from warren.patterns import GroupFilter
from warren.sources.reading import Records
from warren.windows.columns import Int64
from warren.windows.fold import replaced_before, still_seen
from warren.windows.rows import COMMIT_ROWS, Poison, RowKind

NEWEST_RECORDS = 4
"""Of each key the newest record that can be decoded counts; so many in a row that cannot are not expected.

Only these are decoded: a backlog holds many that a newer one has replaced. Of all others the version is looked at.
"""

CHECKED_VALUES = 16_384
"""So many values of groups are known to be sound or not, if they are short: most are written again and again."""

OTHER, UNWANTED = -1, -2
"""Instead of a key's place: it is not of a commit; its group is filtered out."""

VERSION_BYTES = 2

LEGACY, CURRENT = b"\x00\x00", b"\x00\x01"
"""How the keys of commits begin: the two types have the same fields."""

POISON_EXAMPLES = 5
"""So many of a kind are told with their place and reason; the others are only counted."""

DETAIL_CHARACTERS = 200

FUTURE_MS = 60_000
"""A commit so far in the future is not believed at once."""

LATEST_MS = 253_402_300_799_999
"""The last moment of the year 9999. Times before 1970 or after this are taken for these: differences of any two times
must fit into an int64."""


class FoldSettings(NamedTuple):
    """What a worker needs to know of the windows and of the groups wanted."""

    intervals: int
    min_distance_ms: int
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class BatchProgress(NamedTuple):
    """How far a batch brings the reading of the topic."""

    positions: dict[int, int]
    behind: dict[int, int]
    """The ends of partitions that go on further."""
    topic_id: str = ""
    planned_ms: int = 0
    """When those ends were asked for; 0 where it is another task that tells."""
    is_settled: bool = True
    """Whether little enough was read that not much can have come meanwhile."""


class Folder:
    """Takes the records of one task, gives the rows of one task."""

    def __init__(self, settings: FoldSettings) -> None:
        self._settings = settings
        self._is_wanted = GroupFilter(settings.allow, settings.deny).wants
        self._codes: dict[bytes | None, int] = {}  # key bytes -> place in _keys, OTHER or UNWANTED
        self._keys: list[OffsetKey] = []
        self._chunks: list[tuple[NDArray[np.integer[Any]], ...]] = []
        self._group_keys: dict[bytes | None, GroupRecordKey] = {}
        self._group_records: defaultdict[bytes, deque[RawRecord]] = defaultdict(lambda: deque(maxlen=NEWEST_RECORDS))
        self._skipped: Counter[str] = Counter()
        self._poison: list[Poison] = []
        self._examples: Counter[str] = Counter()

    def add(self, records: Records) -> None:
        """Take some more records."""
        code = list(map(self._codes.get, records.key))
        if None in code:
            new = [i for i, known in enumerate(code) if known is None]
            for i in new:
                code[i] = self._code_of(records.key[i])
        place = np.array(code, np.int64)
        if place.min() < 0:
            self._add_others(records, np.flatnonzero(place == OTHER))
        self._add_commits(records, place)

    def rows(self, progress: BatchProgress) -> list[pa.RecordBatch]:
        """Everything taken so far as rows, with how far that is."""
        batches = [*self._commit_rows(), self._group_rows(), _progress_rows(progress), self._skipped_rows()]
        return [batch for batch in batches if batch.num_rows]

    # -- taking --------------------------------------------------------------------------------------------------

    def _code_of(self, key: bytes | None) -> int:
        """A key's place among those of commits; else OTHER, or UNWANTED."""
        if key in self._codes:
            return self._codes[key]
        try:
            decoded = decode_key(key)
        except DecodeError:
            return OTHER  # counted with its record; there may be no end of such keys, so they are not kept
        code = OTHER
        if not isinstance(decoded, OtherKey) and not self._is_wanted(decoded.group):
            code = UNWANTED
        elif isinstance(decoded, OffsetKey):
            code = self._commit_code_of(key or b"", decoded)
        elif isinstance(decoded, GroupRecordKey):
            self._group_keys[key] = decoded
        self._codes[key] = code
        return code

    def _commit_code_of(self, key: bytes, decoded: OffsetKey) -> int:
        if key.startswith(LEGACY):  # what is said of a partition under both types is said in turn
            return self._code_of(CURRENT + key[len(LEGACY) :])
        self._keys.append(decoded)
        return len(self._keys) - 1

    def _add_commits(self, records: Records, place: Int64) -> None:
        at = np.flatnonzero(place >= 0)
        if not len(at):
            return
        every = len(at) == len(place)
        decoded = decode_offset_commits(records.value if every else [records.value[i] for i in at.tolist()])
        good = decoded.state <= ValueState.TOMBSTONE
        timestamp_ms = _plausible(decoded.timestamp_ms, records, at)
        source_partition = records.partition[at].astype(np.int32)
        where = place[at], source_partition, records.offset[at]
        columns = (*where, decoded.offset, timestamp_ms, decoded.state, decoded.incarnation)
        if not good.all():
            self._note_bad_commits(records, at[~good].tolist(), decoded.kinds)
            columns = tuple(column[good] for column in columns)  # type: ignore[assignment]  # as many out as in
        self._chunks.append(columns)

    def _note_bad_commits(self, records: Records, at: list[int], kinds: dict[str, int]) -> None:
        self._skipped.update(kinds)
        wanted = sum(max(0, min(count, POISON_EXAMPLES - self._examples[kind])) for kind, count in kinds.items())
        for i in at:
            if not wanted:
                break
            try:
                decode_offset_commit(records.value[i] or b"")
            except DecodeError as error:
                where = int(records.partition[i]), int(records.offset[i])
                wanted -= self._keep_example(*where, records.key[i], error)

    def _add_others(self, records: Records, at: Int64) -> None:
        where = zip(at.tolist(), records.partition[at].tolist(), records.offset[at].tolist(), strict=True)
        for i, source_partition, order in where:
            key = records.key[i]
            try:
                self._add_other(key, records.value[i], source_partition, order)
            except DecodeError as error:
                self._note_bad(source_partition, order, key, error)

    def _add_other(self, key: bytes | None, value: bytes | None, source_partition: int, order: int) -> None:
        if key not in self._group_keys:
            decode_key(key)  # tells what is wrong with it, unless it is of a type that nobody knows
            raise not_decoded(record_type(key))
        if value:
            _check_version(self._group_keys[key].type, value[:VERSION_BYTES])
        assert key is not None
        self._group_records[key].append(RawRecord(source_partition, order, key, value))

    def _newest(self, key: bytes, records: deque[RawRecord]) -> RawRecord | None:
        """The newest record of a key that can be decoded; the others after it are counted."""
        kind = self._group_keys[key].type
        for record in reversed(records):
            try:
                malformed_members = _checked(kind, record.value) if record.value else 0
            except DecodeError as error:
                self._note_bad(record.source_partition, record.order, key, error)
                continue
            if malformed_members:
                self._skipped["member assignment"] += malformed_members
            return record if kind in VIEWED else None
        return None

    def _note_bad(self, source_partition: int, order: int, key: bytes | None, error: DecodeError) -> None:
        self._skipped[error.kind] += 1
        self._keep_example(source_partition, order, key, error)

    def _keep_example(self, source_partition: int, order: int, key: bytes | None, error: DecodeError) -> bool:
        """Keep a record that cannot be decoded as an example of its kind; False if there are enough."""
        if self._examples[error.kind] >= POISON_EXAMPLES:
            return False
        self._examples[error.kind] += 1
        detail = str(error)[:DETAIL_CHARACTERS]
        self._poison.append(Poison(source_partition, order, _type_of(key), error.kind, detail))
        return True

    # -- giving --------------------------------------------------------------------------------------------------

    def _commit_rows(self) -> list[pa.RecordBatch]:
        if not self._chunks:
            return []
        columns = [np.concatenate(column) for column in zip(*self._chunks, strict=True)]
        by_key = np.argsort(columns[0], kind="stable")  # the log order stays within each key
        place, source_partition, order, offset, timestamp_ms, state, incarnation = (one[by_key] for one in columns)
        tombstone = state == ValueState.TOMBSTONE
        tombstone[replaced_before(place, incarnation, tombstone)] = True
        settings = self._settings
        seen = still_seen(place, timestamp_ms, tombstone, settings.intervals, settings.min_distance_ms)
        pairs = _Pairs(self._keys)
        removed, committed = np.flatnonzero(seen & tombstone), np.flatnonzero(seen & ~tombstone)
        nothing = np.full(len(removed), -1, np.int64)
        told = {"incarnation": incarnation[committed]} if incarnation.any() else {}
        return [
            pairs.rows(
                RowKind.TOMBSTONE,
                place[removed],
                source_partition[removed],
                order=order[removed],
                offset=nothing,
                timestamp_ms=nothing,
            ),
            pairs.rows(
                RowKind.COMMIT,
                place[committed],
                source_partition[committed],
                order=order[committed],
                offset=offset[committed],
                timestamp_ms=timestamp_ms[committed],
                **told,
            ),
        ]

    def _group_rows(self) -> pa.RecordBatch:
        newest = (self._newest(key, records) for key, records in self._group_records.items())
        records = [one for one in newest if one]
        return _rows(
            len(records),
            kind=pa.array([RowKind.GROUP_RECORD] * len(records), pa.int8()),
            source_partition=pa.array([one.source_partition for one in records], pa.int32()),
            order=pa.array([[one.order] for one in records], pa.list_(pa.int64())),
            key=pa.array([one.key for one in records], pa.binary()),
            value=pa.array([one.value for one in records], pa.binary()),
        )

    def _skipped_rows(self) -> pa.RecordBatch:
        rows: list[dict[str, object]] = [
            {"kind": RowKind.SKIPPED, "reason": kind, "offset": [count]} for kind, count in self._skipped.items()
        ]
        rows += [
            {
                "kind": RowKind.POISON,
                "source_partition": one.source_partition,
                "order": [one.offset],
                "record_type": one.record_type,
                "reason": one.kind,
                "detail": one.detail,
            }
            for one in self._poison
        ]
        return pa.RecordBatch.from_pylist(rows, COMMIT_ROWS)


@lru_cache(CHECKED_VALUES)
def _check_version(kind: GroupRecordType, version: bytes) -> None:
    check_group_version(kind, version)


def _checked(kind: GroupRecordType, value: bytes) -> int:
    """`_check_value`, remembered."""
    return _check_again(kind, value) if len(value) <= KEPT_BYTES else _check_value(kind, value)


def _check_value(kind: GroupRecordType, value: bytes) -> int:
    """Raise `DecodeError` if a value is not sound; how many of its members have an assignment that cannot be read."""
    decoded = decode_group_value(kind, value)
    return assigned_partitions(decoded).malformed_members if isinstance(decoded, GroupMetadata) else 0


_check_again = lru_cache(CHECKED_VALUES)(_check_value)


def _type_of(key: bytes | None) -> int:
    try:
        return record_type(key)
    except DecodeError:
        return -1


def _plausible(timestamp_ms: Int64, records: Records, at: Int64) -> Int64:
    """The times of commits; one in the future that the broker did not stamp was made when the broker wrote it.

    A client may say when it commits, and some say anything. Where the broker's own clock is ahead its stamp is, too.
    """
    for i in np.flatnonzero(timestamp_ms > records.read_ms + FUTURE_MS).tolist():
        stamp_ms = records.stamp_ms(int(at[i]))
        if 0 < stamp_ms < timestamp_ms[i] - FUTURE_MS:
            timestamp_ms[i] = stamp_ms
    return np.clip(timestamp_ms, 0, LATEST_MS)


class _Pairs:
    """Puts what belongs to one group and topic into one row."""

    def __init__(self, keys: list[OffsetKey]) -> None:
        codes: dict[tuple[str, str], int] = {}
        self._pair = np.array([codes.setdefault((key.group, key.topic), len(codes)) for key in keys], np.int64)
        self._partition = np.array([key.partition for key in keys], np.int32)
        self._groups = pa.array([group for group, _ in codes], pa.string())
        self._topics = pa.array([topic for _, topic in codes], pa.string())

    def rows(
        self, kind: RowKind, place: Int64, source_partition: NDArray[np.int32], **columns: NDArray[np.integer[Any]]
    ) -> pa.RecordBatch:
        """A row for each pair; `place` says which key each item is of, those of one key are neighbours."""
        pair = self._pair[place]
        by_pair = np.argsort(pair, kind="stable")
        present, first = np.unique(pair[by_pair], return_index=True)
        bounds = pa.array(np.append(first, len(pair)), pa.int32())
        columns["partition"] = self._partition[place]
        return _rows(
            len(present),
            kind=pa.array(np.full(len(present), kind, np.int8)),
            source_partition=pa.array(source_partition[by_pair][first]),  # a group's commits lie in one
            group=self._groups.take(pa.array(present)),
            topic=self._topics.take(pa.array(present)),
            **{name: pa.ListArray.from_arrays(bounds, pa.array(column[by_pair])) for name, column in columns.items()},
        )


def _progress_rows(progress: BatchProgress) -> pa.RecordBatch:
    offsets = ((RowKind.POSITION, progress.positions), (RowKind.END, progress.behind))
    rows: list[dict[str, object]] = [
        {"kind": kind, "partition": list(one), "offset": list(one.values())} for kind, one in offsets if one
    ]
    if progress.topic_id:
        rows.append({"kind": RowKind.TOPIC_ID, "topic": progress.topic_id})
    if progress.planned_ms:
        rows.append({"kind": RowKind.PLANNED, "timestamp_ms": [progress.planned_ms]})
    if not progress.is_settled:
        rows.append({"kind": RowKind.UNSETTLED})
    return pa.RecordBatch.from_pylist(rows, COMMIT_ROWS)


def _rows(length: int, **columns: pa.Array) -> pa.RecordBatch:
    """A batch of `COMMIT_ROWS` with the given columns; the others are null."""
    arrays = [columns.get(field.name, pa.nulls(length, field.type)) for field in COMMIT_ROWS]
    return pa.RecordBatch.from_arrays(arrays, schema=COMMIT_ROWS)
