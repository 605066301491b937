"""Records about groups on any input: what is encoded decodes to itself, any bytes decode or are refused."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from warren.codec.consumer_groups import (
    AssignedPartitions,
    ClassicMember,
    ClassicProtocol,
    ConsumerCurrent,
    ConsumerGroup,
    ConsumerMember,
    ConsumerPartitions,
    ConsumerRegex,
    PartitionRacks,
    TopicMetadata,
)
from warren.codec.group_parts import MemberState, MemberTarget, Setting, TargetEpoch, TopicPartitions
from warren.codec.group_records import LAYOUTS, GroupRecord, GroupValue, decode_group_record, encode_group_value
from warren.codec.keys import (
    GroupRecordKey,
    GroupRecordType,
    GroupWideKey,
    MemberKey,
    RegexKey,
    decode_key,
    encode_group_record_key,
)
from warren.codec.primitives import MOST_PARTITIONS
from warren.codec.share_groups import (
    ShareCurrent,
    ShareGroup,
    ShareMember,
    ShareStatePartitions,
    ShareTopic,
    ShareTopicPartitions,
)
from warren.codec.streams_groups import (
    CopartitionGroup,
    Endpoint,
    InternalTopic,
    StreamsCurrent,
    StreamsGroup,
    StreamsMember,
    StreamsMemberTarget,
    StreamsTopology,
    Subtopology,
    TargetTasks,
    Tasks,
)
from warren.errors import DecodeError
from warren.groups.derived import consumer_group_owners

T = TypeVar("T")
Strategy = st.SearchStrategy

# A whole record takes Hypothesis ten times as long to make as a key or a commit.
of_whole_records = examples(80)

int16s = st.integers(-(2**15), 2**15 - 1)
int32s = st.integers(-(2**31), 2**31 - 1)
int64s = st.integers(-(2**63), 2**63 - 1)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=10) | st.just("x" * 127)
nullable_texts = st.none() | texts
topic_ids = st.binary(min_size=16, max_size=16)
partitions = st.lists(st.integers(0, MOST_PARTITIONS - 1), max_size=3)
epochs = st.none() | st.lists(int32s, max_size=3)
states = st.sampled_from(MemberState)


def few(items: Strategy[T]) -> Strategy[list[T]]:
    return st.lists(items, max_size=2)


configs = few(st.builds(Setting, texts, texts))
topic_partitions = few(st.builds(TopicPartitions, topic_ids, partitions))
assigned = few(st.builds(AssignedPartitions, topic_ids, partitions, epochs))
classic_members = st.builds(ClassicMember, int32s, few(st.builds(ClassicProtocol, texts, st.binary(max_size=9))))
consumer_members = st.builds(
    ConsumerMember,
    nullable_texts,
    nullable_texts,
    texts,
    texts,
    few(texts),
    nullable_texts,
    int32s,
    nullable_texts,
    st.none() | classic_members,
)
consumer_currents = st.builds(ConsumerCurrent, int32s, int32s, states, assigned, assigned)
topics_metadata = st.builds(TopicMetadata, topic_ids, texts, int32s, few(st.builds(PartitionRacks, int32s, few(texts))))
share_topics = few(st.builds(ShareTopicPartitions, topic_ids, texts, partitions))
endpoints = st.builds(Endpoint, texts, st.integers(0, 2**16 - 1))
target_tasks = few(st.builds(TargetTasks, texts, partitions))
tasks = few(st.builds(Tasks, texts, partitions, epochs))
internal_topics = few(st.builds(InternalTopic, texts, int32s, int16s, configs))
places = st.lists(int16s, max_size=3)
subtopologies = st.builds(
    Subtopology,
    texts,
    few(texts),
    few(texts),
    internal_topics,
    few(texts),
    internal_topics,
    few(st.builds(CopartitionGroup, places, places, places)),
)

target_epochs = st.builds(TargetEpoch, int32s, int64s)
member_targets = st.builds(MemberTarget, topic_partitions)
VALUES: dict[GroupRecordType, Strategy[GroupValue]] = {
    GroupRecordType.CONSUMER_GROUP: st.builds(ConsumerGroup, int32s, int64s),
    GroupRecordType.CONSUMER_PARTITIONS: st.builds(ConsumerPartitions, few(topics_metadata)),
    GroupRecordType.CONSUMER_MEMBER: consumer_members,
    GroupRecordType.CONSUMER_TARGET: target_epochs,
    GroupRecordType.CONSUMER_MEMBER_TARGET: member_targets,
    GroupRecordType.CONSUMER_MEMBER_CURRENT: consumer_currents,
    GroupRecordType.CONSUMER_REGEX: st.builds(ConsumerRegex, few(texts), int64s, int64s),
    GroupRecordType.SHARE_GROUP: st.builds(ShareGroup, int32s, st.none() | int64s),
    GroupRecordType.SHARE_MEMBER: st.builds(ShareMember, nullable_texts, texts, texts, few(texts)),
    GroupRecordType.SHARE_TARGET: target_epochs,
    GroupRecordType.SHARE_MEMBER_TARGET: member_targets,
    GroupRecordType.SHARE_MEMBER_CURRENT: st.builds(ShareCurrent, int32s, int32s, states, topic_partitions),
    GroupRecordType.SHARE_STATE_PARTITIONS: st.builds(
        ShareStatePartitions, share_topics, share_topics, few(st.builds(ShareTopic, topic_ids, texts))
    ),
    GroupRecordType.STREAMS_GROUP: st.builds(StreamsGroup, int32s, int64s, int32s, st.none() | configs, int32s, int32s),
    GroupRecordType.STREAMS_MEMBER: st.builds(
        StreamsMember,
        nullable_texts,
        nullable_texts,
        texts,
        texts,
        int32s,
        int32s,
        texts,
        st.none() | endpoints,
        configs,
    ),
    GroupRecordType.STREAMS_TARGET: target_epochs,
    GroupRecordType.STREAMS_MEMBER_TARGET: st.builds(StreamsMemberTarget, target_tasks, target_tasks, target_tasks),
    GroupRecordType.STREAMS_MEMBER_CURRENT: st.builds(
        StreamsCurrent, int32s, int32s, states, tasks, tasks, tasks, tasks, tasks, tasks
    ),
    GroupRecordType.STREAMS_TOPOLOGY: st.builds(StreamsTopology, int32s, few(subtopologies)),
}


@st.composite
def keys(draw: st.DrawFn, kinds: Strategy[GroupRecordType]) -> GroupRecordKey:
    kind = draw(kinds)
    if kind == GroupRecordType.CONSUMER_REGEX:
        return RegexKey(kind, draw(texts), draw(texts))
    if "MEMBER" in kind.name:
        return MemberKey(kind, draw(texts), draw(texts))
    return GroupWideKey(kind, draw(texts))


any_key = keys(st.sampled_from(GroupRecordType))


@st.composite
def records(draw: st.DrawFn) -> GroupRecord:
    key = draw(keys(st.sampled_from(sorted(VALUES))))
    return GroupRecord(key, draw(VALUES[key.type]))


def value_of(record: GroupRecord) -> bytes:
    assert record.value is not None
    return encode_group_value(record.key.type, record.value)


@st.composite
def damaged(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A valid record with some bytes of its value changed, cut short or run on, perhaps under another type's key."""
    record = draw(records())
    data = bytearray(value_of(record))
    for _ in range(draw(st.integers(0, 3))):
        data[draw(st.integers(0, len(data) - 1))] = draw(
            st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255)
        )
    kept = draw(st.just(len(data)) | st.integers(0, len(data)))
    key = draw(st.just(record.key) | any_key)
    return encode_group_record_key(key), bytes(data[:kept]) + draw(st.binary(max_size=9))


def test_every_type_with_a_layout_is_tried() -> None:
    assert set(VALUES) == set(LAYOUTS)


@given(any_key)
def test_a_key_decodes_to_what_was_encoded(key: GroupRecordKey) -> None:
    assert decode_key(encode_group_record_key(key)) == key


@of_whole_records
@given(records(), st.binary(max_size=3))
def test_a_record_decodes_to_what_was_encoded(record: GroupRecord, more: bytes) -> None:
    only_its_length_tells = isinstance(record.value, ShareGroup) and record.value.metadata_hash is None
    value = value_of(record) + (b"" if only_its_length_tells else more)

    assert decode_group_record(encode_group_record_key(record.key), value) == record


@given(st.binary(max_size=30), st.none() | st.binary(max_size=30))
def test_any_bytes_at_all_decode_or_are_refused(key: bytes, value: bytes | None) -> None:
    with suppress(DecodeError):
        decode_group_record(key, value)


versioned = st.tuples(any_key.map(encode_group_record_key), st.binary(max_size=60).map(b"\0\0".__add__))


@of_whole_records
@given(damaged() | versioned)
def test_any_value_is_refused_or_decodes_to_what_can_be_written_and_read_again(record: tuple[bytes, bytes]) -> None:
    try:
        key, value = decode_group_record(*record)
    except DecodeError:
        return
    if value is not None and key.type in LAYOUTS:
        assert decode_group_record(record[0], encode_group_value(key.type, value)) == (key, value)


# Few enough epochs and partitions that members contend for them.
contended = few(st.builds(AssignedPartitions, st.just(bytes(16)), st.lists(st.integers(0, 3), max_size=3), st.none()))
contenders = st.builds(ConsumerCurrent, st.integers(1, 2), st.just(1), states, contended, contended)
MEMBER = ConsumerMember(None, None, "c", "/h", [], None, 1, None, None)


@of_whole_records
@given(st.lists(st.none() | contenders, max_size=4), st.permutations(range(4)))
def test_owners_do_not_depend_on_the_order_of_members(currents: list[ConsumerCurrent | None], order: list[int]) -> None:
    members = {str(place): (MEMBER, current) for place, current in enumerate(currents)}
    shuffled = {str(place): members[str(place)] for place in order if str(place) in members}

    assert consumer_group_owners(shuffled) == consumer_group_owners(members)
