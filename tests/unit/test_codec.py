"""The codec on bytes that Kafka's own serializers wrote, and on the odd ones that a monitor has to survive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from warren.codec.commit_columns import ValueState, decode_offset_commits
from warren.codec.commits import OffsetCommit, decode_offset_commit, encode_offset_commit
from warren.codec.groups import (
    GroupMetadata,
    Member,
    Owner,
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
from warren.codec.primitives import CompactReader, CompactWriter, Reader
from warren.errors import DecodeError

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "consumer-offsets-vectors.json").read_text())
RECORDS = VECTORS["records"]
RECORDS_WITH_VALUE = [record for record in RECORDS if record["value"] is not None]
BLOBS = {name: bytes.fromhex(blob) for name, blob in VECTORS["consumer_protocol_blobs"].items()}

TOPIC_ID = bytes.fromhex("00112233445566778899aabbccddeeff")
COMMIT = OffsetCommit(42, 5, "m", 1_700_000_000_000, -1, TOPIC_ID)
MEMBER = Member("m-1", None, "c", "/10.0.0.1", 300_000, 45_000, b"", encode_assignment([("orders", [0, 3])]))
GROUP = GroupMetadata("consumer", 7, "range", "m-1", 1_700_000_000_000, [MEMBER])


def of_types(*types: int, records: list[dict[str, Any]] = RECORDS) -> pytest.MarkDecorator:
    """The vectors of these record types, named as in the file."""
    chosen = [record for record in records if record["decoded_key"]["type"] in types]
    return pytest.mark.parametrize("record", chosen, ids=lambda record: record["name"])


def value_of(record: dict[str, Any]) -> bytes:
    return bytes.fromhex(record["value"])


def commit_meant(meaning: dict[str, Any]) -> OffsetCommit:
    topic_id = meaning.get("topicId")
    return OffsetCommit(
        meaning["offset"],
        meaning.get("leaderEpoch", -1),
        meaning["metadata"],
        meaning["commitTs"],
        meaning.get("expireTs", -1),
        None if topic_id is None else bytes.fromhex(topic_id),
    )


def member_meant(meaning: dict[str, Any]) -> Member:
    return Member(
        meaning["memberId"],
        meaning.get("instance"),
        meaning["clientId"],
        meaning["host"],
        meaning.get("rebalanceTimeout", -1),
        meaning["sessionTimeout"],
        BLOBS["sub_v0"],
        BLOBS["asg_v0"],
    )


def group_meant(meaning: dict[str, Any]) -> GroupMetadata:
    return GroupMetadata(
        meaning["protocolType"],
        meaning["generation"],
        meaning["protocol"],
        meaning["leader"],
        meaning.get("stateTs", -1),
        [member_meant(member) for member in meaning["members"]],
    )


def assert_malformed(value: bytes) -> None:
    """Both decoders of offset commits refuse the value as malformed."""
    with pytest.raises(DecodeError) as caught:
        decode_offset_commit(value)
    columns = decode_offset_commits([value])

    assert caught.value.kind == "malformed"
    assert columns.state.tolist() == [ValueState.MALFORMED]
    assert columns.kinds == {"malformed": 1}


# Bytes written by Kafka's own serializers


@of_types(0, 1)
def test_an_offset_key_of_kafka_decodes_and_encodes_to_the_same_bytes(record: dict[str, Any]) -> None:
    meaning, key = record["decoded_key"], bytes.fromhex(record["key"])
    expected = OffsetKey(meaning["group"], meaning["topic"], meaning["partition"])

    assert decode_key(key) == expected
    assert encode_offset_key(*expected, legacy=meaning["type"] == 0) == key


@of_types(2)
def test_a_group_key_of_kafka_decodes_and_encodes_to_the_same_bytes(record: dict[str, Any]) -> None:
    key = bytes.fromhex(record["key"])

    assert decode_key(key) == GroupWideKey(GroupRecordType.CLASSIC_GROUP, "g1")
    assert encode_group_key("g1") == key


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["name"])
def test_every_key_of_kafka_tells_its_record_type(record: dict[str, Any]) -> None:
    assert record_type(bytes.fromhex(record["key"])) == record["decoded_key"]["type"]


@of_types(0, 1, records=RECORDS_WITH_VALUE)
def test_an_offset_commit_of_kafka_decodes_and_encodes_to_the_same_bytes(record: dict[str, Any]) -> None:
    meaning = record["decoded_value"]
    commit = commit_meant(meaning)
    columns = decode_offset_commits([value_of(record)])

    assert decode_offset_commit(value_of(record)) == commit
    assert encode_offset_commit(commit, meaning["v"]) == value_of(record)
    assert (columns.offset.tolist(), columns.timestamp_ms.tolist()) == ([42], [1_700_000_000_000])


@of_types(2)
def test_group_metadata_of_kafka_decodes_and_encodes_to_the_same_bytes(record: dict[str, Any]) -> None:
    meaning = record["decoded_value"]
    group = group_meant(meaning)

    assert decode_group_metadata(value_of(record)) == group
    assert encode_group_metadata(group, meaning["v"]) == value_of(record)


def test_an_assignment_of_kafka_decodes_and_encodes_to_the_same_bytes() -> None:
    assert decode_assignment(BLOBS["asg_v0"]) == [("orders", [0, 3])]
    assert encode_assignment([("orders", [0, 3])]) == BLOBS["asg_v0"]


# Keys


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (None, "every record of this topic has a key"),
        (b"", "no record type"),
        (b"\x00", "half a record type"),
        (b"\x00\x01\x00\x05ab", "group longer than the key"),
        (b"\x00\x02\xff\xff", "group may not be null"),
        (b"\x00\x02\xff\xfe", "string length -2, which crashes Burrow"),
        (b"\x00\x02\x00\x01\xff", "group is not UTF-8"),
        (encode_offset_key("g", "t", 0)[:-1], "partition cut short"),
        (encode_offset_key("g", "t", -1), "negative partition"),
        (encode_offset_key("g", "t", 100_000), "more partitions than a topic can have"),
    ],
)
def test_a_key_that_makes_no_sense_is_malformed(key: bytes | None, why: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_key(key)

    assert caught.value.kind == "malformed", why


def test_bytes_behind_a_key_are_tolerated() -> None:
    assert decode_key(encode_offset_key("g", "t", 1) + b"more") == OffsetKey("g", "t", 1)


# Offset commits


@pytest.mark.parametrize("size", [0, 126, 127, 200, 4096])
def test_flexible_metadata_of_any_length_leaves_the_timestamp_right(size: int) -> None:
    """From 127 bytes on the length takes two bytes; Burrow reads one, and a timestamp far in the future."""
    commit = COMMIT._replace(metadata="x" * size)
    value = encode_offset_commit(commit, 4)
    columns = decode_offset_commits([value])

    assert decode_offset_commit(value) == commit
    assert columns.offset.tolist() == [42]
    assert columns.timestamp_ms.tolist() == [1_700_000_000_000]


def test_metadata_of_length_minus_two_is_malformed() -> None:
    """Burrow crashes on it."""
    head = encode_offset_commit(COMMIT, 3)[:14]

    assert_malformed(head + b"\xff\xfe" + bytes(8))


@pytest.mark.parametrize("value", [b"\x00\x03" + bytes(12) + b"\xff\xff" + bytes(8), b"\x00\x04" + bytes(13 + 9)])
def test_metadata_that_is_null_is_malformed(value: bytes) -> None:
    assert_malformed(value)


@pytest.mark.parametrize("version", range(5))
def test_a_commit_cut_short_anywhere_is_malformed(version: int) -> None:
    value = encode_offset_commit(COMMIT, version)

    for size in range(1, len(value)):
        assert_malformed(value[:size])


@pytest.mark.parametrize("version", range(5))
def test_a_negative_offset_is_malformed(version: int) -> None:
    assert_malformed(encode_offset_commit(COMMIT._replace(offset=-1), version))


@pytest.mark.parametrize("version", range(5))
def test_bytes_behind_a_commit_are_tolerated(version: int) -> None:
    value = encode_offset_commit(COMMIT, version)

    assert decode_offset_commit(value + b"more") == decode_offset_commit(value)
    assert decode_offset_commits([value + b"more"]).offset.tolist() == [42]


def test_metadata_that_is_not_utf8_does_not_lose_the_commit() -> None:
    value = encode_offset_commit(COMMIT, 3).replace(b"\x00\x01m", b"\x00\x01\xff")

    assert decode_offset_commit(value).metadata == "\ufffd"
    assert decode_offset_commits([value]).state.tolist() == [ValueState.DECODED]


def test_a_topic_id_of_zeros_is_no_topic_id() -> None:
    value = encode_offset_commit(COMMIT._replace(topic_id=bytes(16)), 4)

    assert decode_offset_commit(value).topic_id is None


@pytest.mark.parametrize(
    ("tags", "state", "why"),
    [
        (b"\x00", ValueState.DECODED, "no tags"),
        (b"\x01\x00\x10" + TOPIC_ID, ValueState.DECODED, "a topic id"),
        (b"\x01\x05\x02ab", ValueState.DECODED, "a tag of a later version, skipped by its size"),
        (b"\x02\x00\x10" + TOPIC_ID + b"\x05\x00", ValueState.DECODED, "a topic id and a tag of a later version"),
        (b"\x81\x00\x00\x10" + TOPIC_ID, ValueState.DECODED, "a count written with one byte too many"),
        (b"", ValueState.MALFORMED, "no tag section"),
        (b"\x01", ValueState.MALFORMED, "the tag is missing"),
        (b"\x01\x00\x10" + TOPIC_ID[:-1], ValueState.MALFORMED, "topic id cut short"),
        (b"\x01\x00\x0f" + TOPIC_ID, ValueState.MALFORMED, "topic id of 15 bytes"),
        (b"\xff\xff\xff\xff\x07\x00", ValueState.MALFORMED, "2^31-1 tags"),
        (b"\x80\x80\x80\x80\x80\x00", ValueState.MALFORMED, "count of six bytes"),
    ],
)
def test_the_tag_section_decides_alike_in_both_decoders(tags: bytes, state: ValueState, why: str) -> None:
    value = encode_offset_commit(COMMIT._replace(topic_id=None), 4)[:-1] + tags

    if state == ValueState.MALFORMED:
        assert_malformed(value)
    else:
        assert decode_offset_commit(value).offset == 42, why
        assert decode_offset_commits([value]).state.tolist() == [ValueState.DECODED], why


@pytest.mark.parametrize("version", [5, 99])
def test_an_unknown_version_of_a_commit_is_named_in_the_count(version: int) -> None:
    value = version.to_bytes(2, "big", signed=True)
    with pytest.raises(DecodeError) as caught:
        decode_offset_commit(value)

    assert caught.value.kind == f"offset commit value version {version}"
    assert decode_offset_commits([value]).kinds == {caught.value.kind: 1}


def test_columns_keep_the_place_of_every_value() -> None:
    first, second = encode_offset_commit(COMMIT, 3), encode_offset_commit(COMMIT._replace(offset=7, timestamp_ms=9), 4)
    columns = decode_offset_commits([first, None, b"\x00\x09", b"", second, b"\x00", b"\x00\x09"])

    assert columns.offset.tolist() == [42, -1, -1, -1, 7, -1, -1]
    assert columns.timestamp_ms.tolist() == [1_700_000_000_000, -1, -1, -1, 9, -1, -1]
    assert columns.state.tolist() == [0, 1, 3, 1, 0, 2, 3]
    assert columns.kinds == {"offset commit value version 9": 2, "malformed": 1}


@pytest.mark.parametrize("values", [[], [None], [b"", None]])
def test_columns_of_nothing_but_tombstones_are_no_error(values: list[bytes | None]) -> None:
    columns = decode_offset_commits(values)

    assert columns.state.tolist() == [ValueState.TOMBSTONE] * len(values)
    assert columns.kinds == {}


def test_there_is_no_encoding_of_a_version_that_kafka_does_not_have() -> None:
    with pytest.raises(ValueError, match="no version 5"):
        encode_offset_commit(COMMIT, 5)


# Group metadata


def test_an_unknown_version_of_group_metadata_is_named() -> None:
    with pytest.raises(DecodeError) as caught:
        decode_group_metadata(b"\x00\x05")

    assert caught.value.kind == "group metadata value version 5"


@pytest.mark.parametrize("version", range(5))
def test_group_metadata_cut_short_anywhere_is_malformed(version: int) -> None:
    value = encode_group_metadata(GROUP, version)

    for size in range(len(value)):
        with pytest.raises(DecodeError) as caught:
            decode_group_metadata(value[:size])
        assert caught.value.kind == "malformed"


@pytest.mark.parametrize("version", range(5))
def test_bytes_behind_group_metadata_are_tolerated(version: int) -> None:
    value = encode_group_metadata(GROUP, version)

    assert decode_group_metadata(value + b"more") == decode_group_metadata(value)


def test_the_owner_of_each_assigned_partition_is_its_member() -> None:
    assignment = assigned_partitions(GROUP)

    assert assignment.owners == [Owner("orders", 0, MEMBER), Owner("orders", 3, MEMBER)]
    assert assignment.malformed_members == 0


@pytest.mark.parametrize("odd", [b"\x00", b"\xff\xff", b"\x00\x00\x00\x00\x00\x09", encode_assignment([("t", [-1])])])
def test_a_member_with_an_odd_assignment_does_not_hide_the_next(odd: bytes) -> None:
    group = GROUP._replace(members=[MEMBER._replace(member_id="odd", assignment=odd), MEMBER])
    assignment = assigned_partitions(decode_group_metadata(encode_group_metadata(group, 3)))

    assert [owner.member.member_id for owner in assignment.owners] == ["m-1", "m-1"]
    assert assignment.malformed_members == 1


@pytest.mark.parametrize("partition", [-1, 100_000, 2**31 - 1])
def test_a_member_that_is_malformed_half_way_owns_nothing(partition: int) -> None:
    member = MEMBER._replace(assignment=encode_assignment([("a", [1]), ("b", [partition])]))

    assert assigned_partitions(GROUP._replace(members=[member])) == ([], 1)


def test_groups_of_another_protocol_have_no_owners() -> None:
    """What Kafka Connect stores as assignment has another layout."""
    assert assigned_partitions(GROUP._replace(protocol_type="connect")) == ([], 0)


def test_an_assignment_of_a_later_version_is_read_with_the_known_layout() -> None:
    assert decode_assignment(encode_assignment([("orders", [1])], version=9) + b"news") == [("orders", [1])]


def test_an_assignment_without_user_data_is_read() -> None:
    assert decode_assignment(encode_assignment([("orders", [1])])[:-4]) == [("orders", [1])]


def test_an_assignment_of_no_bytes_assigns_nothing() -> None:
    assert decode_assignment(b"") == []


# Primitives


@pytest.mark.parametrize(
    "reader",
    [Reader(b"\x7f\xff\xff\xff" + bytes(6)), CompactReader(b"\xff\xff\xff\xff\x07" + bytes(5))],
    ids=["plain", "compact"],
)
def test_an_array_that_cannot_fit_is_refused_before_anything_is_allocated(reader: Reader) -> None:
    """2^31-1 integers would take 8 GiB; the value has ten bytes."""
    with pytest.raises(DecodeError, match="array of 21474836"):
        reader.int32_array()


def test_an_array_that_is_null_is_malformed() -> None:
    with pytest.raises(DecodeError, match="array of -1 items"):
        Reader(b"\xff\xff\xff\xff").count()


def test_bytes_that_are_null_are_malformed() -> None:
    with pytest.raises(DecodeError, match="null where bytes are required"):
        Reader(b"\xff\xff\xff\xff").blob()


def test_tags_come_back_by_number() -> None:
    writer = CompactWriter()
    writer.tags({300: b"x" * 200, 0: b""})

    assert CompactReader(writer.done()).tags() == {0: b"", 300: b"x" * 200}


def test_a_reader_takes_a_memoryview_too() -> None:
    assert Reader(memoryview(b"\xff\x00\x01x")).int8() == -1
