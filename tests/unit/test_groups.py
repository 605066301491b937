"""Groups: from the newest records of their keys to type, state, members and owners."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.scenario import classic_group
from warren.codec.consumer_groups import AssignedPartitions, ConsumerCurrent, ConsumerGroup, ConsumerMember
from warren.codec.group_parts import MemberState, TargetEpoch, TopicPartitions
from warren.codec.group_records import GroupValue, encode_group_value
from warren.codec.keys import GroupRecordType, GroupWideKey, MemberKey, encode_group_key, encode_group_record_key
from warren.codec.share_groups import (
    ShareCurrent,
    ShareGroup,
    ShareMember,
    ShareStatePartitions,
    ShareTopicPartitions,
)
from warren.codec.streams_groups import (
    InternalTopic,
    StreamsCurrent,
    StreamsGroup,
    StreamsMember,
    StreamsTopology,
    Subtopology,
    Tasks,
)
from warren.groups.derived import MOST_OWNED, GroupState
from warren.groups.groups import GroupBrief, Groups, restored_groups
from warren.groups.records import RawRecord
from warren.groups.views import GroupType, Partition

Kind = GroupRecordType
GROUP = "billing"
ORDERS, PAYMENTS = bytes.fromhex("a1f0c3" * 5 + "07"), bytes.fromhex("5b29ee" * 5 + "4c")
NAMES = {ORDERS: "orders", PAYMENTS: "payments"}


class Log:
    """The offsets topic, told record by record."""

    def __init__(self, names: dict[bytes, str] | None = None) -> None:
        self.groups = Groups()
        self.groups.name_topics(NAMES if names is None else names)
        self._order = 0

    def record(self, kind: Kind, value: GroupValue | None, member: str = "") -> Log:
        key = MemberKey(kind, GROUP, member) if member else GroupWideKey(kind, GROUP)
        return self.raw(encode_group_record_key(key), encode_group_value(kind, value) if value is not None else None)

    def raw(self, key: bytes, value: bytes | None) -> Log:
        self.groups.apply([RawRecord(3, self._order, key, value)])
        self._order += 1
        return self

    def classic(self, *members: tuple[str, str, list[tuple[str, list[int]]]]) -> Log:
        return self.raw(encode_group_key(GROUP), classic_group(*members))

    def consumer_member(self, name: str, partitions: list[int], *, epoch: int = 5, topic: bytes = ORDERS) -> Log:
        member = ConsumerMember(f"{name}-static", None, f"{name}-client", "/10.0.0.7", ["orders"], None, 1, None, None)
        assigned = [AssignedPartitions(topic, partitions, None)] if partitions else []
        self.record(Kind.CONSUMER_MEMBER, member, name)
        current = ConsumerCurrent(epoch, epoch - 1, MemberState.STABLE, assigned, [])
        return self.record(Kind.CONSUMER_MEMBER_CURRENT, current, name)

    def consumer_group(self, epoch: int = 5, target: int = 5) -> Log:
        self.record(Kind.CONSUMER_GROUP, ConsumerGroup(epoch, 0))
        return self.record(Kind.CONSUMER_TARGET, TargetEpoch(target, 0))

    def owners(self) -> dict[tuple[str, int], str]:
        return {at: member.client_id for at, member in self.groups.view(GROUP).owners.items()}


def test_a_group_that_there_is_no_record_of_only_commits() -> None:
    assert Log().groups.brief(GROUP) == GroupBrief(GroupType.SIMPLE, GroupState.EMPTY, 0)


def test_the_members_of_a_classic_group_own_what_is_assigned_to_them() -> None:
    log = Log().classic(("/10.0.0.1", "a", [("orders", [0, 2])]), ("/10.0.0.2", "b", [("orders", [1])]))

    assert log.groups.brief(GROUP) == GroupBrief(GroupType.CLASSIC, GroupState.STABLE, 2)
    assert log.owners() == {("orders", 0): "a", ("orders", 2): "a", ("orders", 1): "b"}
    assert [one.host for one in log.groups.view(GROUP).members] == ["/10.0.0.1", "/10.0.0.2"]


def test_a_classic_group_that_all_have_left_is_empty() -> None:
    log = Log().classic(("/10.0.0.1", "a", [("orders", [0])])).classic()

    assert log.groups.brief(GROUP) == GroupBrief(GroupType.CLASSIC, GroupState.EMPTY, 0)
    assert log.owners() == {}


def test_the_members_of_a_consumer_group_own_topics_by_their_ids() -> None:
    log = Log().consumer_group().consumer_member("a", [0, 1]).consumer_member("b", [2], topic=PAYMENTS)

    assert log.groups.brief(GROUP) == GroupBrief(GroupType.CONSUMER, GroupState.STABLE, 2)
    assert log.owners() == {("orders", 0): "a-client", ("orders", 1): "a-client", ("payments", 2): "b-client"}
    assert log.groups.view(GROUP).members[0].instance_id == "a-static"


@pytest.mark.parametrize(
    ("epoch", "target", "member_epoch", "state"),
    [
        (6, 5, 5, GroupState.ASSIGNING),
        (6, 6, 5, GroupState.RECONCILING),
        (6, 6, 6, GroupState.STABLE),
    ],
)
def test_the_state_of_a_consumer_group_follows_from_its_epochs(
    epoch: int, target: int, member_epoch: int, state: GroupState
) -> None:
    log = Log().consumer_group(epoch, target).consumer_member("a", [0], epoch=member_epoch)

    assert log.groups.brief(GROUP).state == state


def test_a_topic_that_is_not_known_yet_is_told_by_its_id_and_by_name_as_soon_as_that_is_known() -> None:
    log = Log(names={}).consumer_group().consumer_member("a", [0])
    assert log.owners() == {}
    assert log.groups.view(GROUP).members[0].partitions == [Partition(None, ORDERS, 0)]

    changed = log.groups.name_topics(NAMES)

    assert list(changed) == [GROUP]
    assert log.owners() == {("orders", 0): "a-client"}


def test_names_that_stay_the_same_change_no_group() -> None:
    log = Log().consumer_group().consumer_member("a", [0])

    assert log.groups.name_topics({**NAMES, bytes(16): "another"}) == {}


def test_a_topic_that_was_made_anew_is_not_the_one_that_was_assigned() -> None:
    log = Log().consumer_group().consumer_member("a", [0])
    log.groups.name_topics({bytes(16): "orders"})

    assert log.owners() == {}


def test_a_group_that_was_converted_is_of_its_new_type_whatever_the_order_of_the_records() -> None:
    def consumer(log: Log) -> Log:
        return log.consumer_group().consumer_member("a", [0])

    tombstone = (encode_group_key(GROUP), None)
    classic = Log().classic(("/10.0.0.1", "a", [("orders", [0])]))
    assert consumer(classic.raw(*tombstone)).groups.brief(GROUP).type == GroupType.CONSUMER
    half_way = consumer(Log().classic(("/10.0.0.1", "a", [("orders", [0])])))
    assert half_way.groups.brief(GROUP).type == GroupType.CONSUMER
    assert half_way.raw(*tombstone).groups.brief(GROUP).type == GroupType.CONSUMER


def test_a_consumer_group_that_was_converted_back_is_classic() -> None:
    log = Log().consumer_group().consumer_member("a", [0])
    for kind, member in [(Kind.CONSUMER_MEMBER_CURRENT, "a"), (Kind.CONSUMER_MEMBER, "a"), (Kind.CONSUMER_TARGET, "")]:
        log.record(kind, None, member)
    log.record(Kind.CONSUMER_GROUP, None).classic(("/10.0.0.1", "a", [("orders", [0])]))

    assert log.groups.brief(GROUP) == GroupBrief(GroupType.CLASSIC, GroupState.STABLE, 1)


def test_a_group_without_any_record_left_is_not_known_any_more() -> None:
    log = Log().classic(("/10.0.0.1", "a", [("orders", [0])])).raw(encode_group_key(GROUP), None)

    assert log.groups.briefs() == {}
    assert log.groups.table().num_rows == 0


def test_a_tombstone_of_what_was_never_seen_changes_nothing() -> None:
    assert Log().groups.apply([RawRecord(3, 0, encode_group_key(GROUP), None)]) == {}


def test_a_record_that_comes_again_changes_nothing() -> None:
    log = Log().classic(("/10.0.0.1", "a", [("orders", [0])]))
    old = RawRecord(3, 0, encode_group_key(GROUP), classic_group())

    assert log.groups.apply([old]) == {}
    assert log.groups.brief(GROUP).member_count == 1


def test_a_share_group_is_known_by_its_members_and_topics_but_nobody_owns_a_partition() -> None:
    log = Log().record(Kind.SHARE_GROUP, ShareGroup(3, 0))
    for name in ("a", "b"):
        log.record(Kind.SHARE_MEMBER, ShareMember(None, f"{name}-client", "/10.0.0.9", ["orders"]), name)
        current = ShareCurrent(3, 2, MemberState.STABLE, [TopicPartitions(ORDERS, [0, 1])])
        log.record(Kind.SHARE_MEMBER_CURRENT, current, name)
    topics = [ShareTopicPartitions(ORDERS, "orders", [1, 0])]
    log.record(Kind.SHARE_STATE_PARTITIONS, ShareStatePartitions([], topics, []))

    view = log.groups.view(GROUP)
    assert (view.type, view.state, len(view.members)) == (GroupType.SHARE, GroupState.STABLE, 2)
    assert view.members[1].partitions == [Partition("orders", ORDERS, 0), Partition("orders", ORDERS, 1)]
    assert (view.owners, view.share_topics) == ({}, {"orders": [0, 1]})


def streams_log(validated_epoch: int = 1) -> Log:
    topics = [InternalTopic("app-repartition", 2, 1, [])]
    subtopologies = [
        Subtopology("0", ["orders"], [], [], ["app-repartition"], [], []),
        Subtopology("1", [], [], [], [], topics, []),
    ]
    log = Log().record(Kind.STREAMS_GROUP, StreamsGroup(2, 0, validated_epoch, None, -1, -1))
    log.record(Kind.STREAMS_TOPOLOGY, StreamsTopology(1, subtopologies)).record(Kind.STREAMS_TARGET, TargetEpoch(2, 0))
    log.record(Kind.STREAMS_MEMBER, StreamsMember(None, None, "a-client", "/10.0.0.8", 1, 1, "p", None, []), "a")
    active = [Tasks("0", [0, 1], None), Tasks("1", [0], None)]
    current = StreamsCurrent(2, 1, MemberState.STABLE, active, [Tasks("1", [1], None)], [], [], [], [])
    return log.record(Kind.STREAMS_MEMBER_CURRENT, current, "a")


def test_the_members_of_a_streams_group_own_what_their_active_tasks_read() -> None:
    log = streams_log()

    assert log.groups.brief(GROUP) == GroupBrief(GroupType.STREAMS, GroupState.STABLE, 1)
    assert sorted(log.owners()) == [("app-repartition", 0), ("orders", 0), ("orders", 1)]


def test_a_streams_group_whose_topology_is_not_in_order_is_not_ready() -> None:
    assert streams_log(validated_epoch=-1).groups.brief(GROUP).state == GroupState.NOT_READY


@pytest.mark.parametrize("make", [streams_log, lambda: Log().consumer_group().consumer_member("a", [0])])
def test_groups_are_the_same_after_they_were_written_down(make: Callable[[], Log]) -> None:
    log = make()

    assert restored_groups(log.groups.table(), NAMES).view(GROUP) == log.groups.view(GROUP)


def test_a_streams_group_of_endless_topics_and_tasks_is_told_in_part() -> None:
    log = streams_log()
    topics = [f"topic-{number}" for number in range(2_000)]
    log.record(Kind.STREAMS_TOPOLOGY, StreamsTopology(1, [Subtopology("0", topics, [], [], [], [], [])]))
    current = StreamsCurrent(2, 1, MemberState.STABLE, [Tasks("0", list(range(2_000)), None)], [], [], [], [], [])
    log.record(Kind.STREAMS_MEMBER_CURRENT, current, "a")

    assert len(log.owners()) == MOST_OWNED
