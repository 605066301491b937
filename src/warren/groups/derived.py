"""The newest values of one group come in, its state and the owners of its partitions go out.

Nothing here depends on the order in which the records were written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum
from itertools import islice, product
from typing import NamedTuple, TypeVar

from warren.codec.consumer_groups import ConsumerCurrent, ConsumerMember
from warren.codec.group_parts import MemberState
from warren.codec.streams_groups import StreamsCurrent, StreamsMember, StreamsTopology, Subtopology

ConsumerMembers = Mapping[str, tuple[ConsumerMember, ConsumerCurrent | None]]
"""Members by their id; one that joined just now has no current assignment yet."""

StreamsMembers = Mapping[str, tuple[StreamsMember, StreamsCurrent | None]]

_Current = TypeVar("_Current", ConsumerCurrent, StreamsCurrent)


MOST_OWNED = 100_000
"""So many partitions are told of a streams group at most. Its records name topics and tasks apart from each other, and
each topic of a subtopology has each of its tasks: what two small records say can be more than memory holds."""


class GroupState(Enum):
    """The state of a group, in the words of Kafka's tools."""

    EMPTY = "Empty"
    NOT_READY = "NotReady"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


class TopicIdPartition(NamedTuple):
    """A partition as the records of consumer groups name it."""

    topic_id: bytes
    partition: int


class NamedPartition(NamedTuple):
    """A partition as the topology of a streams group leads to it."""

    topic: str
    partition: int


def consumer_group_state(epoch: int, assignment_epoch: int, members: ConsumerMembers) -> GroupState:
    """The state as the broker derives it from the group's epoch and that of its newest target assignment."""
    return _state(epoch, assignment_epoch, [current for _, current in members.values()])


def streams_group_state(
    epoch: int,
    assignment_epoch: int,
    validated_topology_epoch: int,
    topology: StreamsTopology | None,
    members: StreamsMembers,
) -> GroupState:
    """The same for a streams group, which needs a topology whose topics the broker found in order."""
    ready = topology is not None and topology.epoch == validated_topology_epoch
    if members and not ready:
        return GroupState.NOT_READY
    return _state(epoch, assignment_epoch, [current for _, current in members.values()])


def share_group_state(members: Collection[str]) -> GroupState:
    """The state of a share group, whose members need not wait for each other."""
    return GroupState.STABLE if members else GroupState.EMPTY


def consumer_group_owners(members: ConsumerMembers) -> dict[TopicIdPartition, str]:
    """The id of the member that owns each partition: what it is to give up it owns until it has."""
    owners: dict[TopicIdPartition, str] = {}
    for member_id, current in _by_epoch((name, current) for name, (_, current) in members.items()):
        for topic in (*current.pending_revocation, *current.assigned):
            owners |= {TopicIdPartition(topic.topic_id, partition): member_id for partition in topic.partitions}
    return owners


def streams_group_owners(topology: StreamsTopology, members: StreamsMembers) -> dict[NamedPartition, str]:
    """The id of the member that owns each partition: an active task reads that partition of each topic it has.

    A topic with fewer partitions than its subtopology has tasks lacks some of those told here. Topics that only a
    regular expression names are not told: the records do not say which those are.
    """
    return dict(islice(_owned_tasks(topology, members), MOST_OWNED))


def _owned_tasks(topology: StreamsTopology, members: StreamsMembers) -> Iterator[tuple[NamedPartition, str]]:
    """The partitions that members own, those of the newest epoch last."""
    topics = {one.subtopology_id: _topics_read(one) for one in topology.subtopologies}
    for member_id, current in _by_epoch((name, current) for name, (_, current) in members.items()):
        for tasks in (*current.active_pending_revocation, *current.active):
            for topic, partition in product(topics.get(tasks.subtopology_id, ()), tasks.partitions):
                yield NamedPartition(topic, partition), member_id


def _state(
    epoch: int, assignment_epoch: int, members: Collection[ConsumerCurrent | StreamsCurrent | None]
) -> GroupState:
    if not members:
        return GroupState.EMPTY
    if epoch > assignment_epoch:
        return GroupState.ASSIGNING
    if not all(_has_its_target(member, assignment_epoch) for member in members):
        return GroupState.RECONCILING
    return GroupState.STABLE


def _has_its_target(member: ConsumerCurrent | StreamsCurrent | None, assignment_epoch: int) -> bool:
    return member is not None and (member.state, member.member_epoch) == (MemberState.STABLE, assignment_epoch)


def _by_epoch(members: Iterable[tuple[str, _Current | None]]) -> list[tuple[str, _Current]]:
    """Members that have an assignment, the newest epoch last.

    No partition has two owners at the broker. Half way through the log it may look so, and then the newer one counts.
    """
    assigned = [(member_id, current) for member_id, current in members if current is not None]
    return sorted(assigned, key=lambda member: (member[1].member_epoch, member[0]))


def _topics_read(subtopology: Subtopology) -> list[str]:
    return [*subtopology.source_topics, *(topic.topic for topic in subtopology.repartition_source_topics)]
