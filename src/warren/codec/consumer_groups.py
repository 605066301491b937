"""Codec stage: the values of consumer groups of the new protocol (KIP-848): record types 3 to 8 and 16.

The layouts are those of Kafka 3.8 and later. The early access in 3.7 wrote others under the same types and version;
those do not fit here (they have a zero where a count must be, or no room for the tags) and are refused as malformed.
"""

from __future__ import annotations

from typing import NamedTuple

from warren.codec.group_parts import CONSUMER_STATE, MemberState
from warren.codec.layouts import (
    BLOB,
    INT32,
    INT64,
    NULLABLE_STRING,
    PARTITIONS,
    STRING,
    STRINGS,
    UUID,
    Tagged,
    array,
    nullable,
    nullable_array,
    struct,
)


class ConsumerGroup(NamedTuple):
    """The group exists; `metadata_hash` is 0 before Kafka 4.1."""

    epoch: int
    metadata_hash: int


class PartitionRacks(NamedTuple):
    """The racks that hold a replica of a partition."""

    partition: int
    racks: list[str]


class TopicMetadata(NamedTuple):
    """A topic that the group subscribes to."""

    topic_id: bytes
    topic: str
    partition_count: int
    partitions: list[PartitionRacks]


class ConsumerPartitions(NamedTuple):
    """The topics that the group subscribes to, up to Kafka 4.0; later only tombstones of it are written."""

    topics: list[TopicMetadata]


class ClassicProtocol(NamedTuple):
    """An assignor that a classic member supports, and its subscription as a blob of the clients."""

    name: str
    metadata: bytes


class ClassicMember(NamedTuple):
    """What is known of a member that speaks the classic protocol within a consumer group."""

    session_timeout_ms: int
    protocols: list[ClassicProtocol]


class ConsumerMember(NamedTuple):
    """A member; no regular expression is null or empty, and `classic` is null unless it speaks the old protocol."""

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topics: list[str]
    subscribed_regex: str | None
    rebalance_timeout_ms: int
    server_assignor: str | None
    classic: ClassicMember | None


class AssignedPartitions(NamedTuple):
    """Partitions of a topic, and since Kafka 4.3 the epoch at which each of them was assigned."""

    topic_id: bytes
    partitions: list[int]
    assignment_epochs: list[int] | None


class ConsumerCurrent(NamedTuple):
    """What a member has: what is assigned to it, and what it has still to give up."""

    member_epoch: int
    previous_member_epoch: int
    state: MemberState
    assigned: list[AssignedPartitions]
    pending_revocation: list[AssignedPartitions]


class ConsumerRegex(NamedTuple):
    """The topics that a regular expression matched, at which version of the cluster's metadata and when."""

    topics: list[str]
    metadata_version: int
    timestamp_ms: int


_PARTITION_RACKS = struct(PartitionRacks, INT32, STRINGS)
_TOPIC_METADATA = struct(TopicMetadata, UUID, STRING, INT32, array(_PARTITION_RACKS))
_CLASSIC_MEMBER = struct(ClassicMember, INT32, array(struct(ClassicProtocol, STRING, BLOB)))
_ASSIGNED = array(struct(AssignedPartitions, UUID, PARTITIONS, tagged={0: Tagged(nullable_array(INT32), None)}))

CONSUMER_GROUP = struct(ConsumerGroup, INT32, tagged={0: Tagged(INT64, 0)})
CONSUMER_PARTITIONS = struct(ConsumerPartitions, array(_TOPIC_METADATA))
CONSUMER_MEMBER = struct(
    ConsumerMember,
    NULLABLE_STRING,
    NULLABLE_STRING,
    STRING,
    STRING,
    STRINGS,
    NULLABLE_STRING,
    INT32,
    NULLABLE_STRING,
    tagged={0: Tagged(nullable(_CLASSIC_MEMBER), None)},
)
CONSUMER_CURRENT = struct(ConsumerCurrent, INT32, INT32, CONSUMER_STATE, _ASSIGNED, _ASSIGNED)
CONSUMER_REGEX = struct(ConsumerRegex, STRINGS, INT64, INT64)
