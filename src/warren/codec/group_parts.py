"""Codec stage: the parts that values of consumer, share and streams groups have in common."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from warren.codec.layouts import INT8, INT32, INT64, PARTITIONS, STRING, UUID, Layout, Tagged, array, struct
from warren.codec.primitives import Reader, Writer

_UNKNOWN_STATE = 127  # what Kafka itself writes for a state without a number


class MemberState(Enum):
    """How far a member is on its way to its target assignment."""

    STABLE = "stable"
    UNREVOKED = "unrevoked"
    """It still holds what it must give up."""
    UNRELEASED = "unreleased"
    """It waits for what others still hold."""
    UNKNOWN = "unknown"


class TargetEpoch(NamedTuple):
    """The group epoch that the newest target assignment was made for; the time is 0 before Kafka 4.3."""

    assignment_epoch: int
    assignment_timestamp_ms: int


class TopicPartitions(NamedTuple):
    """Partitions of a topic; names are not in these records, only ids."""

    topic_id: bytes
    partitions: list[int]


class MemberTarget(NamedTuple):
    """What a member is to have; what it has is told by its current assignment."""

    topics: list[TopicPartitions]


class Setting(NamedTuple):
    """A key and its value, in Kafka's lists of them."""

    key: str
    value: str


def member_state(states: Mapping[int, MemberState]) -> Layout[MemberState]:
    """The layout of a state; consumer and streams groups count them differently."""
    numbers = {state: number for number, state in states.items()}

    def read(reader: Reader) -> MemberState:
        return states.get(reader.int8(), MemberState.UNKNOWN)

    def write(writer: Writer, state: MemberState) -> None:
        writer.int8(numbers.get(state, _UNKNOWN_STATE))

    return Layout(read, write, INT8.least_bytes)


CONSUMER_STATE = member_state({0: MemberState.STABLE, 1: MemberState.UNREVOKED, 2: MemberState.UNRELEASED})
TARGET_EPOCH = struct(TargetEpoch, INT32, tagged={0: Tagged(INT64, 0)})
TOPIC_PARTITIONS = struct(TopicPartitions, UUID, PARTITIONS)
MEMBER_TARGET = struct(MemberTarget, array(TOPIC_PARTITIONS))
SETTING = struct(Setting, STRING, STRING)
