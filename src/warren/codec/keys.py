"""Codec stage: record keys of `__consumer_offsets` come in, what the record is about goes out.

A key is an int16 record type and the fields of that type, in the plain encoding whatever the type.
"""

from __future__ import annotations

from typing import NamedTuple

from warren.codec.primitives import Reader, Writer, malformed

LEGACY_OFFSET_COMMIT = 0  # written by Kafka 0.8.2 only; same fields as type 1
OFFSET_COMMIT = 1
GROUP_METADATA = 2


class OffsetKey(NamedTuple):
    """The record is an offset commit, or the tombstone of one."""

    group: str
    topic: str
    partition: int


class GroupKey(NamedTuple):
    """The record is the metadata of a classic group, or the tombstone of it."""

    group: str


class OtherKey(NamedTuple):
    """The record is of a type that is not decoded here; Kafka's own loader skips types it does not know, too."""

    type: int


Key = OffsetKey | GroupKey | OtherKey


def record_type(key: bytes | None) -> int:
    """The record type, without decoding the rest of the key."""
    return _open_key(key).int16()


def decode_key(key: bytes | None) -> Key:
    """What a record is about; a null key is malformed, for every record of this topic has one."""
    reader = _open_key(key)
    kind = reader.int16()
    if kind in (LEGACY_OFFSET_COMMIT, OFFSET_COMMIT):
        return _read_offset_key(reader)
    if kind == GROUP_METADATA:
        return GroupKey(reader.string())
    return OtherKey(kind)


def encode_offset_key(group: str, topic: str, partition: int, *, legacy: bool = False) -> bytes:
    writer = Writer()
    writer.int16(LEGACY_OFFSET_COMMIT if legacy else OFFSET_COMMIT)
    writer.string(group)
    writer.string(topic)
    writer.int32(partition)
    return writer.done()


def encode_group_key(group: str) -> bytes:
    writer = Writer()
    writer.int16(GROUP_METADATA)
    writer.string(group)
    return writer.done()


def _open_key(key: bytes | None) -> Reader:
    if key is None:
        message = "record without a key"
        raise malformed(message)
    return Reader(key)


def _read_offset_key(reader: Reader) -> OffsetKey:
    key = OffsetKey(reader.string(), reader.string(), reader.int32())
    if key.partition < 0:
        message = f"partition {key.partition} of topic {key.topic!r}"
        raise malformed(message)
    return key
