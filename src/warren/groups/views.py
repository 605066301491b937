"""Everything that is told of one group, from the newest values of its record keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple, TypeVar

from warren.codec.consumer_groups import ConsumerCurrent, ConsumerGroup, ConsumerMember
from warren.codec.group_parts import TargetEpoch
from warren.codec.group_records import GroupValue, decode_group_value
from warren.codec.groups import GroupMetadata, assigned_partitions
from warren.codec.keys import GroupRecordType, GroupWideKey, MemberKey
from warren.codec.share_groups import ShareCurrent, ShareMember, ShareStatePartitions
from warren.codec.streams_groups import StreamsCurrent, StreamsGroup, StreamsMember, StreamsTopology
from warren.groups.derived import (
    GroupState,
    consumer_group_owners,
    consumer_group_state,
    share_group_state,
    streams_group_owners,
    streams_group_state,
)
from warren.groups.records import RecordsOfGroup

DECODED_VALUES = 65_536
"""So many values are kept decoded: a change of one member must not mean decoding all the others again."""

KEPT_BYTES = 4_096
"""Longer values are not kept decoded: of classic groups with many members, say, whose every value is another."""

_decoded = lru_cache(DECODED_VALUES)(decode_group_value)


def decoded(kind: GroupRecordType, value: bytes) -> GroupValue:
    """`decode_group_value`, remembered."""
    return _decoded(kind, value) if len(value) <= KEPT_BYTES else decode_group_value(kind, value)


_Value = TypeVar("_Value", bound=GroupValue)


class GroupType(StrEnum):
    """Which protocol a group speaks, in the words of Kafka's tools; a simple one only commits."""

    CLASSIC = "classic"
    SIMPLE = "simple"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class Partition(NamedTuple):
    """A partition of a topic; one whose topic the brokers do not have (any more, or yet) has only an id."""

    topic: str | None
    topic_id: bytes | None
    partition: int


class Member(NamedTuple):
    """A member of a group."""

    member_id: str
    client_id: str
    host: str
    instance_id: str | None
    partitions: list[Partition]


class GroupView(NamedTuple):
    """A group, whatever its type; `epoch` is the generation of a classic one."""

    type: GroupType
    state: GroupState
    epoch: int | None
    members: list[Member]
    share_topics: dict[str, list[int]]
    """Of a share group: the partitions that it has state for."""

    @property
    def owners(self) -> dict[tuple[str, int], Member]:
        """Who reads each partition; members of a share group read the same ones, so nobody owns them."""
        if self.type == GroupType.SHARE:
            return {}
        return {(at.topic, at.partition): member for member in self.members for at in member.partitions if at.topic}

    @property
    def topic_ids(self) -> set[bytes]:
        """The topics that are known by id only."""
        return {at.topic_id for member in self.members for at in member.partitions if at.topic_id}


SIMPLE = GroupView(GroupType.SIMPLE, GroupState.EMPTY, None, [], {})

_TYPES = {
    GroupRecordType.CLASSIC_GROUP: GroupType.CLASSIC,
    GroupRecordType.CONSUMER_GROUP: GroupType.CONSUMER,
    GroupRecordType.SHARE_GROUP: GroupType.SHARE,
    GroupRecordType.STREAMS_GROUP: GroupType.STREAMS,
}


def view_of(group: str, records: RecordsOfGroup, topic_names: Mapping[bytes, str]) -> GroupView:
    """A group as its records tell; one without a record of its own has offsets only."""
    mine = _Records(group, records)
    match type_of(group, records):
        case GroupType.CLASSIC:
            return _classic(mine)
        case GroupType.CONSUMER:
            return _consumer(mine, topic_names)
        case GroupType.SHARE:
            return _share(mine, topic_names)
        case GroupType.STREAMS:
            return _streams(mine)
        case _:
            return SIMPLE


def type_of(group: str, records: RecordsOfGroup) -> GroupType:
    """Which record of its own the group has; of two the newer one counts: half way through a conversion."""
    found = [(kept.order, kind) for kind in _TYPES if (kept := records.get(GroupWideKey(kind, group)))]
    return _TYPES[max(found)[1]] if found else GroupType.SIMPLE


class _Records:
    """The decoded values of one group."""

    def __init__(self, group: str, records: RecordsOfGroup) -> None:
        self._group = group
        self._records = records

    def one(self, kind: GroupRecordType, expected: type[_Value]) -> _Value | None:
        """The value of a key of the whole group."""
        kept = self._records.get(GroupWideKey(kind, self._group))
        return _as(expected, decoded(kind, kept.value)) if kept else None

    def of_members(self, kind: GroupRecordType, expected: type[_Value]) -> dict[str, _Value]:
        """The values of the members' keys, by member id."""
        return {
            key.member_id: _as(expected, decoded(kind, kept.value))
            for key, kept in self._records.items()
            if isinstance(key, MemberKey) and key.type == kind
        }


def _as(expected: type[_Value], value: GroupValue) -> _Value:
    assert isinstance(value, expected)
    return value


def _classic(mine: _Records) -> GroupView:
    metadata = mine.one(GroupRecordType.CLASSIC_GROUP, GroupMetadata)
    assert metadata
    assigned: dict[str, list[Partition]] = {one.member_id: [] for one in metadata.members}
    for owner in assigned_partitions(metadata).owners:
        assigned[owner.member.member_id].append(Partition(owner.topic, None, owner.partition))
    members = [
        Member(one.member_id, one.client_id, one.client_host, one.instance_id, sorted(assigned[one.member_id]))
        for one in metadata.members
    ]
    # Rebalances are never written down: a group with members that is seen here is a stable one.
    state = GroupState.STABLE if members else GroupState.EMPTY
    return GroupView(GroupType.CLASSIC, state, metadata.generation, _sorted(members), {})


def _consumer(mine: _Records, topic_names: Mapping[bytes, str]) -> GroupView:
    group = mine.one(GroupRecordType.CONSUMER_GROUP, ConsumerGroup)
    target = mine.one(GroupRecordType.CONSUMER_TARGET, TargetEpoch)
    currents = mine.of_members(GroupRecordType.CONSUMER_MEMBER_CURRENT, ConsumerCurrent)
    known = mine.of_members(GroupRecordType.CONSUMER_MEMBER, ConsumerMember)
    members = {name: (member, currents.get(name)) for name, member in known.items()}
    assert group
    owned: dict[str, list[Partition]] = {name: [] for name in members}
    for (topic_id, partition), name in consumer_group_owners(members).items():
        owned[name].append(_named(topic_id, partition, topic_names))
    state = consumer_group_state(group.epoch, target.assignment_epoch if target else 0, members)
    shown = [_member(name, one.client_id, one.client_host, one.instance_id, owned) for name, one in known.items()]
    return GroupView(GroupType.CONSUMER, state, group.epoch, _sorted(shown), {})


def _share(mine: _Records, topic_names: Mapping[bytes, str]) -> GroupView:
    known = mine.of_members(GroupRecordType.SHARE_MEMBER, ShareMember)
    currents = mine.of_members(GroupRecordType.SHARE_MEMBER_CURRENT, ShareCurrent)
    read = {
        name: [_named(topic.topic_id, number, topic_names) for topic in current.assigned for number in topic.partitions]
        for name, current in currents.items()
    }
    shown = [_member(name, one.client_id, one.client_host, None, read) for name, one in known.items()]
    kept = mine.one(GroupRecordType.SHARE_STATE_PARTITIONS, ShareStatePartitions)
    topics = {one.topic: sorted(one.partitions) for one in kept.initialized} if kept else {}
    return GroupView(GroupType.SHARE, share_group_state(known), None, _sorted(shown), topics)


def _streams(mine: _Records) -> GroupView:
    group = mine.one(GroupRecordType.STREAMS_GROUP, StreamsGroup)
    target = mine.one(GroupRecordType.STREAMS_TARGET, TargetEpoch)
    topology = mine.one(GroupRecordType.STREAMS_TOPOLOGY, StreamsTopology)
    currents = mine.of_members(GroupRecordType.STREAMS_MEMBER_CURRENT, StreamsCurrent)
    known = mine.of_members(GroupRecordType.STREAMS_MEMBER, StreamsMember)
    members = {name: (member, currents.get(name)) for name, member in known.items()}
    assert group
    owned: dict[str, list[Partition]] = {name: [] for name in members}
    for (topic, partition), name in streams_group_owners(topology, members).items() if topology else ():
        owned[name].append(Partition(topic, None, partition))
    epoch = target.assignment_epoch if target else 0
    state = streams_group_state(group.epoch, epoch, group.validated_topology_epoch, topology, members)
    shown = [_member(name, one.client_id, one.client_host, one.instance_id, owned) for name, one in known.items()]
    return GroupView(GroupType.STREAMS, state, group.epoch, _sorted(shown), {})


def _named(topic_id: bytes, partition: int, topic_names: Mapping[bytes, str]) -> Partition:
    return Partition(topic_names.get(topic_id), topic_id, partition)


def _member(
    member_id: str, client_id: str, host: str, instance_id: str | None, partitions: Mapping[str, list[Partition]]
) -> Member:
    mine = sorted(partitions.get(member_id, []), key=lambda at: (at.topic or "", at.topic_id or b"", at.partition))
    return Member(member_id, client_id, host, instance_id, mine)


def _sorted(members: Iterable[Member]) -> list[Member]:
    return sorted(members, key=lambda one: (one.client_id, one.member_id))
