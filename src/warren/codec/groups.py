"""Codec stage: classic group metadata (record type 2) comes in, members and the partitions they own go out.

The assignment inside a member is a format of its own, written by the clients of the group and passed on by the broker
unread. It is decoded only for groups whose protocol type is `consumer`; Kafka Connect, for one, stores another layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from warren.codec.primitives import Reader, Writer, malformed, open_value, start_value
from warren.errors import DecodeError

VALUE_NAME = "group metadata value"
VERSIONS = range(5)
FLEXIBLE_FROM = 4

CONSUMER_PROTOCOL = "consumer"

_REBALANCE_TIMEOUT_SINCE = 1
_STATE_TIMESTAMP_SINCE = 2
_INSTANCE_SINCE = 3


class Member(NamedTuple):
    """A member of a group; `rebalance_timeout_ms` is -1 and `instance_id` null in versions that lack them."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


class GroupMetadata(NamedTuple):
    """A classic group; without members it is empty, and `protocol` and `leader` are null."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_timestamp_ms: int
    members: list[Member]


class Owner(NamedTuple):
    """A member and one partition assigned to it."""

    topic: str
    partition: int
    member: Member


class Assignment(NamedTuple):
    """The owners of a group's partitions, and how many members had an assignment that could not be read."""

    owners: list[Owner]
    malformed_members: int


def decode_group_metadata(value: bytes) -> GroupMetadata:
    """Decode a value that is not a tombstone; -1 stands for a timestamp that the record does not carry."""
    version, reader = open_value(value, VALUE_NAME, VERSIONS, FLEXIBLE_FROM)
    metadata = GroupMetadata(
        protocol_type=reader.string(),
        generation=reader.int32(),
        protocol=reader.nullable_string(),
        leader=reader.nullable_string(),
        state_timestamp_ms=reader.int64() if version >= _STATE_TIMESTAMP_SINCE else -1,
        members=[_read_member(reader, version) for _ in range(reader.count())],
    )
    reader.tags()
    return metadata


def decode_assignment(blob: bytes) -> list[tuple[str, list[int]]]:
    """Topics and partitions of a consumer's assignment; a blob of no bytes assigns nothing.

    Every version begins alike, and newer ones are read with the layout known here, which is Kafka's own rule. The
    user data at the end is not read: nothing here needs it, and a client that leaves it out is no reason to fail.
    """
    if not blob:
        return []
    reader = Reader(blob)
    version = reader.int16()
    if version < 0:
        message = f"assignment of version {version}"
        raise malformed(message)
    return [_read_topic(reader) for _ in range(reader.count())]


def assigned_partitions(metadata: GroupMetadata) -> Assignment:
    """Who owns what; a member whose assignment is malformed is counted, and does not hide the members after it."""
    assignment = Assignment([], 0)
    if metadata.protocol_type != CONSUMER_PROTOCOL:
        return assignment
    for member in metadata.members:
        try:
            assignment.owners.extend(_owned(member))
        except DecodeError:
            assignment = assignment._replace(malformed_members=assignment.malformed_members + 1)
    return assignment


def encode_group_metadata(metadata: GroupMetadata, version: int) -> bytes:
    """Encode a group; fields that `version` does not have are left out."""
    writer = start_value(version, VALUE_NAME, VERSIONS, FLEXIBLE_FROM)
    writer.string(metadata.protocol_type)
    writer.int32(metadata.generation)
    writer.string(metadata.protocol)
    writer.string(metadata.leader)
    if version >= _STATE_TIMESTAMP_SINCE:
        writer.int64(metadata.state_timestamp_ms)
    writer.count(len(metadata.members))
    for member in metadata.members:
        _write_member(writer, member, version)
    writer.tags({})
    return writer.done()


def encode_assignment(topics: Sequence[tuple[str, Sequence[int]]], version: int = 0) -> bytes:
    """Encode a consumer's assignment without user data."""
    writer = Writer()
    writer.int16(version)
    writer.count(len(topics))
    for topic, partitions in topics:
        writer.string(topic)
        writer.count(len(partitions))
        for partition in partitions:
            writer.int32(partition)
    writer.int32(-1)
    return writer.done()


def _read_member(reader: Reader, version: int) -> Member:
    member = Member(
        member_id=reader.string(),
        instance_id=reader.nullable_string() if version >= _INSTANCE_SINCE else None,
        client_id=reader.string(),
        client_host=reader.string(),
        rebalance_timeout_ms=reader.int32() if version >= _REBALANCE_TIMEOUT_SINCE else -1,
        session_timeout_ms=reader.int32(),
        subscription=reader.blob(),
        assignment=reader.blob(),
    )
    reader.tags()
    return member


def _write_member(writer: Writer, member: Member, version: int) -> None:
    writer.string(member.member_id)
    if version >= _INSTANCE_SINCE:
        writer.string(member.instance_id)
    writer.string(member.client_id)
    writer.string(member.client_host)
    if version >= _REBALANCE_TIMEOUT_SINCE:
        writer.int32(member.rebalance_timeout_ms)
    writer.int32(member.session_timeout_ms)
    writer.blob(member.subscription)
    writer.blob(member.assignment)
    writer.tags({})


def _read_topic(reader: Reader) -> tuple[str, list[int]]:
    return reader.string(), reader.partitions()


def _owned(member: Member) -> list[Owner]:
    topics = decode_assignment(member.assignment)
    return [Owner(topic, partition, member) for topic, partitions in topics for partition in partitions]
