"""The codec on any input: what is encoded decodes to itself, any bytes decode or are refused, both twins agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from warren.codec.commit_columns import ValueState, decode_offset_commits
from warren.codec.commits import OffsetCommit, decode_offset_commit, encode_offset_commit
from warren.codec.groups import (
    GroupMetadata,
    Member,
    assigned_partitions,
    decode_assignment,
    decode_group_metadata,
    encode_assignment,
    encode_group_metadata,
)
from warren.codec.keys import (
    GroupRecordType,
    GroupWideKey,
    OffsetKey,
    decode_key,
    encode_group_key,
    encode_offset_key,
    record_type,
)
from warren.codec.primitives import MOST_PARTITIONS
from warren.errors import DecodeError

versions = st.integers(0, 4)
int32s = st.integers(-(2**31), 2**31 - 1)
int64s = st.integers(-(2**63), 2**63 - 1)
partition_numbers = st.integers(0, MOST_PARTITIONS - 1)
naturals64 = st.integers(0, 2**63 - 1)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
nullable_texts = st.none() | texts
# Around the lengths at which a varint grows by a byte.
long_texts = texts | st.sampled_from([125, 126, 127, 128, 16382, 16383, 16384]).map(lambda size: "x" * size)

topic_ids = st.binary(min_size=16, max_size=16).filter(any)
commits = st.builds(OffsetCommit, naturals64, int32s, long_texts, int64s, int64s, st.none() | topic_ids)
offset_keys = st.builds(OffsetKey, texts, texts, partition_numbers)

assignments = st.lists(st.tuples(texts, st.lists(partition_numbers, max_size=5)), max_size=4)
blobs = st.binary(max_size=20) | assignments.map(encode_assignment)
members = st.builds(Member, texts, nullable_texts, texts, texts, int32s, int32s, blobs, blobs)
protocol_types = st.just("consumer") | texts
groups = st.builds(
    GroupMetadata, protocol_types, int32s, nullable_texts, nullable_texts, int64s, st.lists(members, max_size=3)
)


@st.composite
def damaged(draw: st.DrawFn, values: st.SearchStrategy[bytes]) -> bytes:
    """A valid value with some bytes changed, cut short or run on: near enough to valid to get deep into a decoder."""
    data = bytearray(draw(values))
    for _ in range(draw(st.integers(0, 3)) if data else 0):
        place = draw(st.integers(0, min(len(data), 64) - 1) | st.integers(0, len(data) - 1))
        data[place] = draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
    kept = draw(st.just(len(data)) | st.integers(0, len(data)))
    return bytes(data[:kept]) + draw(st.just(b"") | st.binary(max_size=20))


commit_values = st.builds(encode_offset_commit, commits, versions)
# Version 4 up to its tag section, then anything: the part of the format with the most ways to go wrong.
tagged_values = st.builds(
    lambda commit, tags: encode_offset_commit(commit._replace(topic_id=None), 4)[:-1] + tags,
    commits,
    st.binary(max_size=30) | st.builds(lambda rest: b"\x01\x00\x10" + rest, st.binary(max_size=20)),
)
versioned_bytes = st.builds(lambda version, rest: bytes([0, version]) + rest, versions, st.binary(max_size=60))
any_commit_value = commit_values | damaged(commit_values) | tagged_values | versioned_bytes | st.binary(max_size=60)

group_values = st.builds(encode_group_metadata, groups, versions)
keys = offset_keys.map(lambda key: encode_offset_key(*key)) | texts.map(encode_group_key)


def decodes_or_is_refused(decode: Callable[[bytes], Any], data: bytes) -> None:
    """Anything but a result or a `DecodeError` fails the test by itself."""
    with suppress(DecodeError):
        decode(data)


@given(offset_keys, st.booleans())
def test_an_offset_key_decodes_to_what_was_encoded(key: OffsetKey, legacy: bool) -> None:
    assert decode_key(encode_offset_key(*key, legacy=legacy)) == key


@given(texts)
def test_a_group_key_decodes_to_what_was_encoded(group: str) -> None:
    assert decode_key(encode_group_key(group)) == GroupWideKey(GroupRecordType.CLASSIC_GROUP, group)


@given(commits, versions)
def test_a_commit_decodes_to_what_its_version_can_tell_of_it(commit: OffsetCommit, version: int) -> None:
    expected = commit._replace(
        leader_epoch=commit.leader_epoch if version >= 3 else -1,
        expire_ms=commit.expire_ms if version == 1 else -1,
        topic_id=commit.topic_id if version >= 4 else None,
    )

    assert decode_offset_commit(encode_offset_commit(commit, version)) == expected


def as_told_by(member: Member, version: int) -> Member:
    return member._replace(
        instance_id=member.instance_id if version >= 3 else None,
        rebalance_timeout_ms=member.rebalance_timeout_ms if version >= 1 else -1,
    )


@given(groups, versions)
def test_a_group_decodes_to_what_its_version_can_tell_of_it(group: GroupMetadata, version: int) -> None:
    expected = group._replace(
        state_timestamp_ms=group.state_timestamp_ms if version >= 2 else -1,
        members=[as_told_by(member, version) for member in group.members],
    )

    assert decode_group_metadata(encode_group_metadata(group, version)) == expected


@given(assignments, st.integers(0, 2**15 - 1))
def test_an_assignment_decodes_to_what_was_encoded(topics: list[tuple[str, list[int]]], version: int) -> None:
    assert decode_assignment(encode_assignment(topics, version)) == topics


@given(st.binary(max_size=60) | damaged(keys))
def test_any_key_decodes_or_is_refused(data: bytes) -> None:
    decodes_or_is_refused(decode_key, data)
    decodes_or_is_refused(record_type, data)


@given(any_commit_value)
def test_any_commit_value_decodes_or_is_refused(data: bytes) -> None:
    decodes_or_is_refused(decode_offset_commit, data)


@given(st.binary(max_size=60) | versioned_bytes | damaged(group_values))
def test_any_group_metadata_decodes_or_is_refused(data: bytes) -> None:
    decodes_or_is_refused(lambda value: assigned_partitions(decode_group_metadata(value)), data)


@given(st.binary(max_size=60) | damaged(assignments.map(encode_assignment)))
def test_any_assignment_decodes_or_is_refused(data: bytes) -> None:
    decodes_or_is_refused(decode_assignment, data)


@given(st.lists(members, max_size=4))
def test_every_member_is_either_read_whole_or_counted(group_members: list[Member]) -> None:
    owners, malformed_members = assigned_partitions(GroupMetadata("consumer", 1, None, None, -1, group_members))
    alone = [assigned_partitions(GroupMetadata("consumer", 1, None, None, -1, [member])) for member in group_members]

    assert owners == [owner for one in alone for owner in one.owners]
    assert malformed_members == sum(one.malformed_members for one in alone)


def told_by_the_scalar_twin(value: bytes | None, kinds: Counter[str]) -> tuple[int, int, ValueState]:
    if not value:
        return -1, -1, ValueState.TOMBSTONE
    try:
        commit = decode_offset_commit(value)
    except DecodeError as error:
        kinds[error.kind] += 1
        return -1, -1, ValueState.MALFORMED if error.kind == "malformed" else ValueState.UNKNOWN_VERSION
    return commit.offset, commit.timestamp_ms, ValueState.DECODED


@given(st.lists(any_commit_value | st.none(), max_size=12))
@example([b"\x00\x04" + bytes(12) + b"\x81\x80\x80\x80\x00" + bytes(9)])  # a varint with more bytes than it needs
@example([b"\x00\x04" + bytes(12) + b"\x81\x80\x80\x80\x80\x00" + bytes(9)])  # a varint of six bytes
@example([b"\x00\x04" + bytes(12) + b"\xff\xff\xff\xff\x7f" + bytes(9)])  # the greatest varint of five bytes
@example([b"\x00\x04" + bytes(12), encode_offset_commit(OffsetCommit(1, 1, "", 1, 1, None), 4)])  # ends before a field
def test_both_twins_agree_on_any_mixture_of_values(values: list[bytes | None]) -> None:
    kinds: Counter[str] = Counter()
    expected = [told_by_the_scalar_twin(value, kinds) for value in values]
    columns = decode_offset_commits(values)
    rows = zip(columns.offset.tolist(), columns.timestamp_ms.tolist(), columns.state.tolist(), strict=True)

    assert list(rows) == expected
    assert columns.kinds == kinds


@given(st.lists(any_commit_value | st.none(), max_size=12), st.integers(0, 12))
def test_a_batch_split_anywhere_decodes_to_the_same_rows(values: list[bytes | None], place: int) -> None:
    whole = decode_offset_commits(values)
    parts = [decode_offset_commits(values[:place]), decode_offset_commits(values[place:])]

    for column in ("offset", "timestamp_ms", "state"):
        joined = [item for part in parts for item in getattr(part, column).tolist()]
        assert joined == getattr(whole, column).tolist()
    assert Counter(parts[0].kinds) + Counter(parts[1].kinds) == whole.kinds
