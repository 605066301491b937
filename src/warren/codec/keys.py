"""Codec stage: record keys of `__consumer_offsets` come in, what the record is about goes out.

A key is an int16 record type and the fields of that type, in the plain encoding whatever the type.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from warren.codec.primitives import Reader, Writer, malformed

LEGACY_OFFSET_COMMIT = 0  # written by Kafka 0.8.2 only; same fields as type 1
OFFSET_COMMIT = 1
GROUP_METADATA = 2


class GroupRecordType(IntEnum):
    """The types of records that tell about a group other than its offsets; 18 was never in a release."""

    CLASSIC_GROUP = GROUP_METADATA
    CONSUMER_GROUP = 3
    CONSUMER_PARTITIONS = 4
    CONSUMER_MEMBER = 5
    CONSUMER_TARGET = 6
    CONSUMER_MEMBER_TARGET = 7
    CONSUMER_MEMBER_CURRENT = 8
    SHARE_PARTITIONS = 9
    SHARE_MEMBER = 10
    SHARE_GROUP = 11
    SHARE_TARGET = 12
    SHARE_MEMBER_TARGET = 13
    SHARE_MEMBER_CURRENT = 14
    SHARE_STATE_PARTITIONS = 15
    CONSUMER_REGEX = 16
    STREAMS_GROUP = 17
    STREAMS_MEMBER = 19
    STREAMS_TARGET = 20
    STREAMS_MEMBER_TARGET = 21
    STREAMS_MEMBER_CURRENT = 22
    STREAMS_TOPOLOGY = 23


class OffsetKey(NamedTuple):
    """The record is an offset commit, or the tombstone of one."""

    group: str
    topic: str
    partition: int


class OtherKey(NamedTuple):
    """The record is of a type that is not decoded here; Kafka's own loader skips types it does not know, too."""

    type: int


class GroupWideKey(NamedTuple):
    """The record is about a group as a whole."""

    type: GroupRecordType
    group: str


class MemberKey(NamedTuple):
    """The record is about one member of a group."""

    type: GroupRecordType
    group: str
    member_id: str


class RegexKey(NamedTuple):
    """The record is about one regular expression that members of a group subscribe by."""

    type: GroupRecordType
    group: str
    regex: str


# The type is a field of each, so that keys of different types differ, as they do for the compaction of the topic.
GroupRecordKey = GroupWideKey | MemberKey | RegexKey

Key = OffsetKey | GroupRecordKey | OtherKey

_MEMBER_TYPES = {
    GroupRecordType.CONSUMER_MEMBER,
    GroupRecordType.CONSUMER_MEMBER_TARGET,
    GroupRecordType.CONSUMER_MEMBER_CURRENT,
    GroupRecordType.SHARE_MEMBER,
    GroupRecordType.SHARE_MEMBER_TARGET,
    GroupRecordType.SHARE_MEMBER_CURRENT,
    GroupRecordType.STREAMS_MEMBER,
    GroupRecordType.STREAMS_MEMBER_TARGET,
    GroupRecordType.STREAMS_MEMBER_CURRENT,
}
_GROUP_RECORD_TYPES = {int(kind): kind for kind in GroupRecordType}


def record_type(key: bytes | None) -> int:
    """The record type, without decoding the rest of the key."""
    return _open_key(key).int16()


def decode_key(key: bytes | None) -> Key:
    """What a record is about; a null key is malformed, for every record of this topic has one."""
    reader = _open_key(key)
    number = reader.int16()
    if number in (LEGACY_OFFSET_COMMIT, OFFSET_COMMIT):
        return _read_offset_key(reader)
    kind = _GROUP_RECORD_TYPES.get(number)
    if kind is None:
        return OtherKey(number)
    if kind in _MEMBER_TYPES:
        return MemberKey(kind, reader.string(), reader.string())
    if kind == GroupRecordType.CONSUMER_REGEX:
        return RegexKey(kind, reader.string(), reader.string())
    return GroupWideKey(kind, reader.string())


def offsets_partition(group: str, partitions: int) -> int:
    """The partition of the offsets topic that everything about a group lies in: Java's hash of its name decides."""
    number = 0
    units = group.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        number = (31 * number + (units[at] << 8 | units[at + 1])) & 0xFFFF_FFFF
    signed = number - (1 << 32) if number >= 1 << 31 else number
    return 0 if signed == -(1 << 31) else abs(signed) % partitions


def encode_offset_key(group: str, topic: str, partition: int, *, legacy: bool = False) -> bytes:
    writer = Writer()
    writer.int16(LEGACY_OFFSET_COMMIT if legacy else OFFSET_COMMIT)
    writer.string(group)
    writer.string(topic)
    writer.int32(partition)
    return writer.done()


def encode_group_key(group: str) -> bytes:
    """The key of a classic group."""
    return encode_group_record_key(GroupWideKey(GroupRecordType.CLASSIC_GROUP, group))


def encode_group_record_key(key: GroupRecordKey) -> bytes:
    kind, *names = key
    writer = Writer()
    writer.int16(kind)
    for name in names:
        writer.string(str(name))
    return writer.done()


def _open_key(key: bytes | None) -> Reader:
    if key is None:
        message = "record without a key"
        raise malformed(message)
    return Reader(key)


def _read_offset_key(reader: Reader) -> OffsetKey:
    return OffsetKey(reader.string(), reader.string(), reader.partition())
