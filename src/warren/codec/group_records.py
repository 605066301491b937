"""Codec stage: records about groups of every type come in, their full keys and values go out.

Whoever folds them keeps the latest value of each full key and derives everything from those: the topic is compacted,
so what came before a record may be gone, and the tombstone of a thing never seen is nothing unusual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from warren.codec import groups
from warren.codec.consumer_groups import (
    CONSUMER_CURRENT,
    CONSUMER_GROUP,
    CONSUMER_MEMBER,
    CONSUMER_PARTITIONS,
    CONSUMER_REGEX,
    ConsumerCurrent,
    ConsumerGroup,
    ConsumerMember,
    ConsumerPartitions,
    ConsumerRegex,
)
from warren.codec.group_parts import MEMBER_TARGET, TARGET_EPOCH, MemberTarget, TargetEpoch
from warren.codec.groups import GroupMetadata, decode_group_metadata
from warren.codec.keys import GroupRecordKey, GroupRecordType, decode_key, record_type
from warren.codec.layouts import Layout
from warren.codec.primitives import numbered, open_value, start_value
from warren.codec.share_groups import (
    SHARE_CURRENT,
    SHARE_GROUP,
    SHARE_MEMBER,
    SHARE_STATE_PARTITIONS,
    ShareCurrent,
    ShareGroup,
    ShareMember,
    ShareStatePartitions,
)
from warren.codec.streams_groups import (
    STREAMS_CURRENT,
    STREAMS_GROUP,
    STREAMS_MEMBER,
    STREAMS_MEMBER_TARGET,
    STREAMS_TOPOLOGY,
    StreamsCurrent,
    StreamsGroup,
    StreamsMember,
    StreamsMemberTarget,
    StreamsTopology,
)
from warren.errors import DecodeError

GroupValue = (
    GroupMetadata
    | ConsumerGroup
    | ConsumerPartitions
    | ConsumerMember
    | ConsumerCurrent
    | ConsumerRegex
    | ShareGroup
    | ShareMember
    | ShareCurrent
    | ShareStatePartitions
    | StreamsGroup
    | StreamsMember
    | StreamsMemberTarget
    | StreamsCurrent
    | StreamsTopology
    | TargetEpoch
    | MemberTarget
)

VERSIONS = range(1)
FLEXIBLE_FROM = 0


class GroupRecord(NamedTuple):
    """A full record key and its newest value; null is a tombstone: what the key names is no more."""

    key: GroupRecordKey
    value: GroupValue | None


def decode_group_record(key: bytes | None, value: bytes | None) -> GroupRecord:
    """Decode a record that is not an offset commit; a value of no bytes is a tombstone, too.

    A type without a decoder raises a `DecodeError` of kind `record type N`, which is what it is counted under.
    """
    decoded = decode_key(key)
    if not isinstance(decoded, GroupRecordKey):
        raise not_decoded(record_type(key))
    return GroupRecord(decoded, decode_group_value(decoded.type, value) if value else None)


def decode_group_value(kind: GroupRecordType, value: bytes) -> GroupValue:
    """Decode a value that is not a tombstone."""
    if kind not in _DECODERS:
        raise not_decoded(kind)
    return _DECODERS[kind](value)


def check_group_version(kind: GroupRecordType, value: bytes) -> None:
    """Raise what decoding a value of an unknown version raises, without decoding the rest."""
    if kind == GroupRecordType.CLASSIC_GROUP:
        open_value(value, groups.VALUE_NAME, groups.VERSIONS, groups.FLEXIBLE_FROM)
    elif kind in _DECODERS:
        open_value(value, _name(kind), VERSIONS, FLEXIBLE_FROM)
    else:
        raise not_decoded(kind)


def encode_group_value(kind: GroupRecordType, value: GroupValue) -> bytes:
    """Encode a value of any type but that of classic groups, which have an encoder of their own."""
    writer = start_value(0, _name(kind), VERSIONS, FLEXIBLE_FROM)
    LAYOUTS[kind].write(writer, value)
    return writer.done()


def _name(kind: GroupRecordType) -> str:
    return f"record type {int(kind)} value"


def not_decoded(number: int) -> DecodeError:
    """The error for a record of a type that there is no decoder for."""
    return DecodeError(f"record type {numbered(number)}", f"record type {number} is not decoded")


def _decoder(kind: GroupRecordType, layout: Layout[GroupValue]) -> Callable[[bytes], GroupValue]:
    def decode(value: bytes) -> GroupValue:
        _, reader = open_value(value, _name(kind), VERSIONS, FLEXIBLE_FROM)
        return layout.read(reader)

    return decode


# Of type 9 only early access releases wrote values, and nothing that a monitor could use: it has no layout.
LAYOUTS: dict[GroupRecordType, Layout[GroupValue]] = {
    GroupRecordType.CONSUMER_GROUP: CONSUMER_GROUP,
    GroupRecordType.CONSUMER_PARTITIONS: CONSUMER_PARTITIONS,
    GroupRecordType.CONSUMER_MEMBER: CONSUMER_MEMBER,
    GroupRecordType.CONSUMER_TARGET: TARGET_EPOCH,
    GroupRecordType.CONSUMER_MEMBER_TARGET: MEMBER_TARGET,
    GroupRecordType.CONSUMER_MEMBER_CURRENT: CONSUMER_CURRENT,
    GroupRecordType.CONSUMER_REGEX: CONSUMER_REGEX,
    GroupRecordType.SHARE_GROUP: SHARE_GROUP,
    GroupRecordType.SHARE_MEMBER: SHARE_MEMBER,
    GroupRecordType.SHARE_TARGET: TARGET_EPOCH,
    GroupRecordType.SHARE_MEMBER_TARGET: MEMBER_TARGET,
    GroupRecordType.SHARE_MEMBER_CURRENT: SHARE_CURRENT,
    GroupRecordType.SHARE_STATE_PARTITIONS: SHARE_STATE_PARTITIONS,
    GroupRecordType.STREAMS_GROUP: STREAMS_GROUP,
    GroupRecordType.STREAMS_MEMBER: STREAMS_MEMBER,
    GroupRecordType.STREAMS_TARGET: TARGET_EPOCH,
    GroupRecordType.STREAMS_MEMBER_TARGET: STREAMS_MEMBER_TARGET,
    GroupRecordType.STREAMS_MEMBER_CURRENT: STREAMS_CURRENT,
    GroupRecordType.STREAMS_TOPOLOGY: STREAMS_TOPOLOGY,
}
_DECODERS: dict[GroupRecordType, Callable[[bytes], GroupValue]] = {
    GroupRecordType.CLASSIC_GROUP: decode_group_metadata
} | {kind: _decoder(kind, layout) for kind, layout in LAYOUTS.items()}
