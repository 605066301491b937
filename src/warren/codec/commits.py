"""Codec stage: one offset commit value comes in, the commit goes out.

`commit_columns` does the same for many values at once and must agree with this module on every input.
"""

from __future__ import annotations

from typing import NamedTuple

from warren.codec.primitives import Reader, malformed, open_value, start_value

VALUE_NAME = "offset commit value"
VERSIONS = range(5)
FLEXIBLE_FROM = 4

EPOCH_SINCE = 3
EXPIRE_VERSION = 1  # Kafka still writes version 1 when a commit carries its own retention time
TOPIC_ID_TAG = 0
TOPIC_ID_BYTES = 16

_ZERO_TOPIC_ID = bytes(TOPIC_ID_BYTES)


class OffsetCommit(NamedTuple):
    """A committed offset; -1 stands for a leader epoch or an expiry that the record does not carry."""

    offset: int
    leader_epoch: int
    metadata: str
    timestamp_ms: int
    expire_ms: int
    topic_id: bytes | None


def decode_offset_commit(value: bytes) -> OffsetCommit:
    """Decode a value that is not a tombstone.

    Metadata is free text of the client, shown to people at most: bytes that are not UTF-8 are replaced rather than
    refused, so that a commit never gets lost over it (and `commit_columns` need not look at the text).
    """
    version, reader = open_value(value, VALUE_NAME, VERSIONS, FLEXIBLE_FROM)
    commit = OffsetCommit(
        offset=reader.int64(),
        leader_epoch=reader.int32() if version >= EPOCH_SINCE else -1,
        metadata=reader.string(errors="replace"),
        timestamp_ms=reader.int64(),
        expire_ms=reader.int64() if version == EXPIRE_VERSION else -1,
        topic_id=_read_topic_id(reader),
    )
    if commit.offset < 0:
        message = f"committed offset {commit.offset}"
        raise malformed(message)
    return commit


def encode_offset_commit(commit: OffsetCommit, version: int) -> bytes:
    """Encode a commit; fields that `version` does not have are left out."""
    writer = start_value(version, VALUE_NAME, VERSIONS, FLEXIBLE_FROM)
    writer.int64(commit.offset)
    if version >= EPOCH_SINCE:
        writer.int32(commit.leader_epoch)
    writer.string(commit.metadata)
    writer.int64(commit.timestamp_ms)
    if version == EXPIRE_VERSION:
        writer.int64(commit.expire_ms)
    writer.tags({} if commit.topic_id is None else {TOPIC_ID_TAG: commit.topic_id})
    return writer.done()


def incarnation_of(topic_id: bytes | None) -> int:
    """A number for the incarnation of a topic that an id stands for, 0 without an id.

    Ids are random: two incarnations of one topic have the same number once in four thousand million times.
    """
    if topic_id is None or topic_id == _ZERO_TOPIC_ID:
        return 0
    number = 0
    for at in range(0, TOPIC_ID_BYTES, 4):
        number ^= int.from_bytes(topic_id[at : at + 4], "big", signed=True)
    return number or 1


def _read_topic_id(reader: Reader) -> bytes | None:
    topic_id = reader.tags().get(TOPIC_ID_TAG, _ZERO_TOPIC_ID)
    if len(topic_id) != TOPIC_ID_BYTES:
        message = f"topic id of {len(topic_id)} bytes"
        raise malformed(message)
    return None if topic_id == _ZERO_TOPIC_ID else topic_id
