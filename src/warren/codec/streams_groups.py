"""Codec stage: the values of streams groups (KIP-1071): record types 17 and 19 to 23.

Members of a streams group are assigned tasks, a partition of a subtopology each; the topology tells which topics a
subtopology reads.
"""

from __future__ import annotations

from typing import NamedTuple

from warren.codec.group_parts import SETTING, MemberState, Setting, member_state
from warren.codec.layouts import (
    INT16,
    INT32,
    INT64,
    NULLABLE_STRING,
    PARTITIONS,
    STRING,
    STRINGS,
    UINT16,
    Tagged,
    array,
    nullable,
    nullable_array,
    struct,
)


class StreamsGroup(NamedTuple):
    """The group exists; -1 stands for a topology epoch that there is not, or that the broker does not tell."""

    epoch: int
    metadata_hash: int
    validated_topology_epoch: int
    last_assignment_configs: list[Setting] | None
    stored_description_epoch: int
    failed_description_epoch: int


class Endpoint(NamedTuple):
    """Where an application answers questions about its state."""

    host: str
    port: int


class StreamsMember(NamedTuple):
    """A member; those of one process share its `process_id`."""

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    topology_epoch: int
    process_id: str
    endpoint: Endpoint | None
    client_tags: list[Setting]


class TargetTasks(NamedTuple):
    """Tasks of a subtopology that a member is to have."""

    subtopology_id: str
    partitions: list[int]


class StreamsMemberTarget(NamedTuple):
    """What a member is to have; what it has is told by its current assignment."""

    active: list[TargetTasks]
    standby: list[TargetTasks]
    warmup: list[TargetTasks]


class Tasks(NamedTuple):
    """Tasks of a subtopology, and since Kafka 4.2 the epoch at which each of them was assigned."""

    subtopology_id: str
    partitions: list[int]
    assignment_epochs: list[int] | None


class StreamsCurrent(NamedTuple):
    """What a member has: only active tasks read topics and commit."""

    member_epoch: int
    previous_member_epoch: int
    state: MemberState
    active: list[Tasks]
    standby: list[Tasks]
    warmup: list[Tasks]
    active_pending_revocation: list[Tasks]
    standby_pending_revocation: list[Tasks]
    warmup_pending_revocation: list[Tasks]


class InternalTopic(NamedTuple):
    """A topic that the application makes for itself; a count or factor of 0 leaves it to the broker."""

    topic: str
    partition_count: int
    replication_factor: int
    configs: list[Setting]


class CopartitionGroup(NamedTuple):
    """Topics that must have equally many partitions, as places in the lists of their subtopology."""

    source_topics: list[int]
    source_regexes: list[int]
    repartition_source_topics: list[int]


class Subtopology(NamedTuple):
    """A part of the topology that runs on its own; it reads its source topics and its repartition source topics."""

    subtopology_id: str
    source_topics: list[str]
    source_regexes: list[str]
    changelog_topics: list[InternalTopic]
    repartition_sink_topics: list[str]
    repartition_source_topics: list[InternalTopic]
    copartition_groups: list[CopartitionGroup]


class StreamsTopology(NamedTuple):
    """What the application does, of one epoch."""

    epoch: int
    subtopologies: list[Subtopology]


_STATE = member_state({1: MemberState.STABLE, 2: MemberState.UNREVOKED, 3: MemberState.UNRELEASED})
_SETTINGS = array(SETTING)
_TARGET_TASKS = array(struct(TargetTasks, STRING, PARTITIONS))
_TASKS = array(struct(Tasks, STRING, PARTITIONS, tagged={0: Tagged(nullable_array(INT32), None)}))
_INTERNAL_TOPICS = array(struct(InternalTopic, STRING, INT32, INT16, _SETTINGS))
_COPARTITION_GROUP = struct(CopartitionGroup, array(INT16), array(INT16), array(INT16))
_SUBTOPOLOGY = struct(
    Subtopology, STRING, STRINGS, STRINGS, _INTERNAL_TOPICS, STRINGS, _INTERNAL_TOPICS, array(_COPARTITION_GROUP)
)

STREAMS_GROUP = struct(
    StreamsGroup,
    INT32,
    INT64,
    tagged={
        0: Tagged(INT32, -1),
        1: Tagged(nullable_array(SETTING), []),
        2: Tagged(INT32, -1),
        3: Tagged(INT32, -1),
    },
)
STREAMS_MEMBER = struct(
    StreamsMember,
    NULLABLE_STRING,
    NULLABLE_STRING,
    STRING,
    STRING,
    INT32,
    INT32,
    STRING,
    nullable(struct(Endpoint, STRING, UINT16)),
    _SETTINGS,
)
STREAMS_MEMBER_TARGET = struct(StreamsMemberTarget, _TARGET_TASKS, _TARGET_TASKS, _TARGET_TASKS)
STREAMS_CURRENT = struct(StreamsCurrent, INT32, INT32, _STATE, _TASKS, _TASKS, _TASKS, _TASKS, _TASKS, _TASKS)
STREAMS_TOPOLOGY = struct(StreamsTopology, INT32, array(_SUBTOPOLOGY))
