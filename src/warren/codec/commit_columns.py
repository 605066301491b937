"""Codec stage: many offset commit values come in, NumPy columns with one element per value go out.

The fast twin of `commits`: the same answer for every value, without a Python call per value. All values are joined
into one buffer, and each field is read for all of them by one indexing operation. What is rare on the wire (tagged
fields other than a lone topic id) goes to the scalar twin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from warren.codec import commits
from warren.codec.primitives import MALFORMED, UVARINT_MAX_BYTES, version_kind
from warren.errors import DecodeError

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_Int = TypeVar("_Int", np.int16, np.int64)

# Every read of a fixed-place field stays within this many bytes of the start of a value, so that a value cut short at
# the end of the buffer needs no check before the read: what is read past its end is dropped by the check after it.
_PADDING = bytes(32)

_TEXT_AT = 10  # version int16, offset int64
_TEXT_AT_WITH_EPOCH = _TEXT_AT + 4
_INT64_BYTES = 8
_LONE_TOPIC_ID = (1, commits.TOPIC_ID_TAG, commits.TOPIC_ID_BYTES)  # count of tags, tag number, size: a byte each


class ValueState(IntEnum):
    """What became of one value."""

    DECODED = 0
    TOMBSTONE = 1
    MALFORMED = 2
    UNKNOWN_VERSION = 3


class CommitColumns(NamedTuple):
    """One element per value; `offset` and `timestamp_ms` are -1 where `state` is not DECODED.

    `incarnation` stands for the id of the topic, 0 where none is told.
    `kinds` counts the values that could not be decoded under the `DecodeError.kind` of the scalar twin.
    """

    offset: Ints
    timestamp_ms: Ints
    state: NDArray[np.int8]
    incarnation: NDArray[np.int32]
    kinds: dict[str, int]


class _Values:
    """The joined values: `starts` and `ends` of each, and views that read an integer at any byte of the buffer."""

    def __init__(self, values: Sequence[bytes | None]) -> None:
        parts = [value or b"" for value in values]
        sizes = np.fromiter(map(len, parts), np.int64, len(parts))
        self.ends: Ints = np.cumsum(sizes)
        self.starts: Ints = self.ends - sizes
        parts.append(_PADDING)
        buffer = b"".join(parts)
        self.parts = parts
        self.uint8 = np.frombuffer(buffer, np.uint8)
        self.int16 = _at_every_byte(buffer, np.dtype(np.int16))
        self.int64 = _at_every_byte(buffer, np.dtype(np.int64))


class _Rows(NamedTuple):
    """Some of the values, by their place in the input: whether each is sound so far, and where its timestamp is."""

    rows: Ints
    sound: Bools
    stamp_at: Ints
    incarnation: NDArray[np.int32] | None = None


def decode_offset_commits(values: Sequence[bytes | None]) -> CommitColumns:
    """Decode many values; `None` and a value of no bytes are tombstones."""
    joined = _Values(values)
    sizes = joined.ends - joined.starts
    versions = joined.int16[joined.starts].astype(np.int64)
    known = (versions >= commits.VERSIONS.start) & (versions < commits.VERSIONS.stop)
    flexible = versions >= commits.FLEXIBLE_FROM
    versioned = sizes >= 2

    columns = _all_malformed(len(values))
    columns.state[sizes == 0] = ValueState.TOMBSTONE
    columns.state[versioned & ~known] = ValueState.UNKNOWN_VERSION
    readable = versioned & known
    if len(plain_rows := np.flatnonzero(readable & ~flexible)):
        _fill(columns, joined, _read_plain(joined, plain_rows, versions[plain_rows]))
    if len(flexible_rows := np.flatnonzero(readable & flexible)):
        _fill(columns, joined, _read_flexible(joined, flexible_rows))
    columns.kinds.update(_count_kinds(columns.state, versions))
    return columns


def _all_malformed(count: int) -> CommitColumns:
    missing = np.full(count, -1, np.int64)
    state = np.full(count, ValueState.MALFORMED, np.int8)
    return CommitColumns(missing, missing.copy(), state, np.zeros(count, np.int32), {})


def _at_every_byte(buffer: bytes, dtype: np.dtype[_Int]) -> NDArray[_Int]:
    """A view whose element i is the big-endian integer that begins at byte i."""
    return np.ndarray((len(buffer) - dtype.itemsize + 1,), dtype.newbyteorder(">"), buffer, strides=(1,))


def _read_plain(joined: _Values, rows: Ints, versions: Ints) -> _Rows:
    """Versions 0 to 3: the text length is an int16, and version 1 has an expiry behind the timestamp."""
    ends = joined.ends[rows]
    text_at = joined.starts[rows] + np.where(versions >= commits.EPOCH_SINCE, _TEXT_AT_WITH_EPOCH, _TEXT_AT)
    text_size = joined.int16[text_at]
    stamp_at = text_at + 2 + text_size
    tail = np.where(versions == commits.EXPIRE_VERSION, 2 * _INT64_BYTES, _INT64_BYTES)
    sound = (text_size >= 0) & (text_at + 2 <= ends) & (stamp_at + tail <= ends)
    return _Rows(rows, sound, stamp_at)


def _read_flexible(joined: _Values, rows: Ints) -> _Rows:
    """Version 4: the text length is a varint, and a tag section ends the value."""
    size_plus_one, text_at, ended = _read_uvarint(joined, joined.starts[rows] + _TEXT_AT_WITH_EPOCH)
    stamp_at = text_at + size_plus_one - 1
    tags_at = stamp_at + _INT64_BYTES
    sound = ended & (size_plus_one > 0) & (tags_at < joined.ends[rows])
    tags_sound, incarnation = _read_tags(joined, rows, np.where(sound, tags_at, 0), sound)
    return _Rows(rows, sound & tags_sound, stamp_at, incarnation)


def _read_uvarint(joined: _Values, at: Ints) -> tuple[Ints, Ints, Bools]:
    """The varint at each place, the place behind it, and whether it ended within the bytes a varint may have."""
    value = np.zeros(len(at), np.int64)
    going_on = np.ones(len(at), np.bool_)
    for index in range(UVARINT_MAX_BYTES):
        byte = joined.uint8[at].astype(np.int64)
        value |= np.where(going_on, (byte & 0x7F) << 7 * index, 0)
        at = at + going_on
        going_on &= byte >= 0x80
        if not going_on.any():
            break
    return value, at, ~going_on


def _read_tags(joined: _Values, rows: Ints, tags_at: Ints, wanted: Bools) -> tuple[Bools, NDArray[np.int32]]:
    """Whether the tag section at each place is sound, where `wanted`, and the incarnation that it tells."""
    sound: Bools = joined.uint8[tags_at] == 0
    incarnation = np.zeros(len(rows), np.int32)
    some = np.flatnonzero(wanted & ~sound)
    at = tags_at[some]
    lone_topic_id = at + len(_LONE_TOPIC_ID) + commits.TOPIC_ID_BYTES <= joined.ends[rows[some]]
    for place, expected in enumerate(_LONE_TOPIC_ID):
        lone_topic_id &= joined.uint8[at + place] == expected
    sound[some] = lone_topic_id
    incarnation[some[lone_topic_id]] = _incarnations(joined, at[lone_topic_id] + len(_LONE_TOPIC_ID))
    for row in some[~lone_topic_id].tolist():
        try:
            incarnation[row] = commits.incarnation_of(commits.decode_offset_commit(joined.parts[rows[row]]).topic_id)
        except DecodeError:
            continue
        sound[row] = True
    return sound, incarnation


def _incarnations(joined: _Values, at: Ints) -> NDArray[np.int32]:
    """`commits.incarnation_of` the topic ids at these places."""
    high, low = joined.int64[at].astype(np.int64), joined.int64[at + _INT64_BYTES].astype(np.int64)
    folded = high ^ low
    number = (folded ^ (folded >> 32)).astype(np.int32)
    return np.where((high | low) == 0, 0, np.where(number == 0, 1, number)).astype(np.int32)


def _fill(columns: CommitColumns, joined: _Values, read: _Rows) -> None:
    """Write what was read of the rows that are sound; the others stay malformed."""
    offset = joined.int64[joined.starts[read.rows] + 2]
    rows, stamp_at = read.rows, read.stamp_at
    sound = read.sound & (offset >= 0)
    if not sound.all():
        rows, stamp_at, offset = rows[sound], stamp_at[sound], offset[sound]
    columns.offset[rows] = offset
    columns.timestamp_ms[rows] = joined.int64[stamp_at]
    columns.state[rows] = ValueState.DECODED
    if read.incarnation is not None:
        columns.incarnation[rows] = read.incarnation[sound]


def _count_kinds(state: NDArray[np.int8], versions: Ints) -> dict[str, int]:
    unknown, counts = np.unique(versions[state == ValueState.UNKNOWN_VERSION], return_counts=True)
    kinds: Counter[str] = Counter()
    for version, count in zip(unknown.tolist(), counts.tolist(), strict=True):
        kinds[version_kind(commits.VALUE_NAME, version)] += count
    malformed = int(np.count_nonzero(state == ValueState.MALFORMED))
    return kinds | {MALFORMED: malformed} if malformed else kinds
