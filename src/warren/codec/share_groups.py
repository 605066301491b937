"""Codec stage: the values of share groups (KIP-932): record types 10 to 15.

How far a share group has come is not in this topic; these records tell that it exists, and who its members are.
"""

from __future__ import annotations

from typing import NamedTuple

from warren.codec.group_parts import CONSUMER_STATE, TOPIC_PARTITIONS, MemberState, TopicPartitions
from warren.codec.layouts import INT32, INT64, NULLABLE_STRING, PARTITIONS, STRING, STRINGS, UUID, Layout, array, struct
from warren.codec.primitives import CompactReader, CompactWriter, Reader, Writer, malformed
from warren.errors import DecodeError


class ShareGroup(NamedTuple):
    """The group exists; `metadata_hash` is null before Kafka 4.1."""

    epoch: int
    metadata_hash: int | None


class ShareMember(NamedTuple):
    """A member."""

    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topics: list[str]


class ShareCurrent(NamedTuple):
    """What a member reads; others may read the same partitions."""

    member_epoch: int
    previous_member_epoch: int
    state: MemberState
    assigned: list[TopicPartitions]


class ShareTopicPartitions(NamedTuple):
    """Partitions of a topic, by id and name."""

    topic_id: bytes
    topic: str
    partitions: list[int]


class ShareTopic(NamedTuple):
    """A topic, by id and name."""

    topic_id: bytes
    topic: str


class ShareStatePartitions(NamedTuple):
    """The partitions for which the group has state in `__share_group_state`, or is about to get or lose it."""

    initializing: list[ShareTopicPartitions]
    initialized: list[ShareTopicPartitions]
    deleting: list[ShareTopic]


class _EarlyShareGroup(NamedTuple):
    epoch: int


class _EarlyShareStatePartitions(NamedTuple):
    initialized: list[ShareTopicPartitions]
    deleting: list[ShareTopic]


_TOPICS = array(struct(ShareTopicPartitions, UUID, STRING, PARTITIONS))
_DELETING = array(struct(ShareTopic, UUID, STRING))
_GROUP = struct(ShareGroup, INT32, INT64)
_EARLY_GROUP = struct(_EarlyShareGroup, INT32)
_STATE_PARTITIONS = struct(ShareStatePartitions, _TOPICS, _TOPICS, _DELETING)
_EARLY_STATE_PARTITIONS = struct(_EarlyShareStatePartitions, _TOPICS, _DELETING)


def _read_group(reader: Reader) -> ShareGroup:
    """Kafka 3.9 and 4.0 wrote no hash under the same version: then only the epoch and the tags' count are there."""
    if reader.remaining > _EARLY_GROUP.least_bytes:
        return _GROUP.read(reader)
    return ShareGroup(_EARLY_GROUP.read(reader).epoch, None)


def _write_group(writer: Writer, group: ShareGroup) -> None:
    if group.metadata_hash is None:
        _EARLY_GROUP.write(writer, _EarlyShareGroup(group.epoch))
    else:
        _GROUP.write(writer, group)


def _read_state_partitions(reader: Reader) -> ShareStatePartitions:
    """Kafka 4.0 wrote no first array under the same version.

    Read as of now, such a value has a zero where an array must be, so the layouts cannot be mistaken for each other.
    """
    data = reader.take(reader.remaining)
    try:
        return _STATE_PARTITIONS.read(CompactReader(data))
    except DecodeError:
        return _early_state_partitions(data)


def _early_state_partitions(data: bytes) -> ShareStatePartitions:
    """Only exactly what Kafka 4.0 wrote: a newer value that is cut short may come near to it, but has tags in it."""
    early = _EARLY_STATE_PARTITIONS.read(CompactReader(data))
    writer = CompactWriter()
    _EARLY_STATE_PARTITIONS.write(writer, early)
    if writer.done() != data:
        message = "neither the share state of Kafka 4.0 nor that of a later one"
        raise malformed(message)
    return ShareStatePartitions([], early.initialized, early.deleting)


SHARE_GROUP = Layout(_read_group, _write_group, _EARLY_GROUP.least_bytes)
SHARE_MEMBER = struct(ShareMember, NULLABLE_STRING, STRING, STRING, STRINGS)
SHARE_CURRENT = struct(ShareCurrent, INT32, INT32, CONSUMER_STATE, array(TOPIC_PARTITIONS))
SHARE_STATE_PARTITIONS = Layout(_read_state_partitions, _STATE_PARTITIONS.write, _EARLY_STATE_PARTITIONS.least_bytes)
