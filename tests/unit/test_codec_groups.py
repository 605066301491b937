"""Records about groups of every type, as Kafka's own serializers wrote them, and the odd ones a monitor survives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

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
from warren.codec.group_records import (
    GroupRecord,
    GroupValue,
    decode_group_record,
    decode_group_value,
    encode_group_value,
)
from warren.codec.groups import decode_group_metadata
from warren.codec.keys import (
    GroupRecordKey,
    GroupRecordType,
    GroupWideKey,
    MemberKey,
    OtherKey,
    RegexKey,
    decode_key,
    encode_group_record_key,
    encode_offset_key,
)
from warren.codec.primitives import Reader
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
from warren.groups.derived import (
    GroupState,
    consumer_group_owners,
    consumer_group_state,
    share_group_state,
    streams_group_owners,
    streams_group_state,
)

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "consumer-offsets-vectors.json").read_text())
SUBSCRIPTION = bytes.fromhex(VECTORS["consumer_protocol_blobs"]["sub_v0"])
SHARED = {record["name"]: record for record in VECTORS["records"]}

TOPIC_ID = bytes.fromhex("00112233445566778899aabbccddeeff")
ID = TOPIC_ID.hex()
STAMP_MS = 1_700_000_000_000

CONSUMER_MEMBER = ConsumerMember(None, None, "c", "/10.0.0.1", ["orders"], None, 300_000, "uniform", None)
CONSUMER_CURRENT = ConsumerCurrent(9, 8, MemberState.STABLE, [AssignedPartitions(TOPIC_ID, [0, 3], None)], [])
STREAMS_MEMBER = StreamsMember(None, None, "c", "/h", 1, 1, "p", None, [])

# What the shared vectors of Kafka 4.4 mean.
MEANT: dict[str, GroupValue] = {
    "CG_META": ConsumerGroup(9, 0),
    "CG_META_hash": ConsumerGroup(9, 0x0102030405060708),
    "CG_MEMBER": CONSUMER_MEMBER,
    "CG_MEMBER_classic": CONSUMER_MEMBER._replace(
        instance_id="i",
        subscribed_regex="",
        server_assignor=None,
        classic=ClassicMember(45_000, [ClassicProtocol("range", SUBSCRIPTION)]),
    ),
    "CG_TGT_META": TargetEpoch(9, STAMP_MS),
    "CG_TGT_MEMBER": MemberTarget([TopicPartitions(TOPIC_ID, [0, 3])]),
    "CG_CUR_42": CONSUMER_CURRENT,
    "CG_CUR_43": CONSUMER_CURRENT._replace(assigned=[AssignedPartitions(TOPIC_ID, [0, 3], [9, 9])]),
    "SG_META": ShareGroup(2, 0),
    "ST_META": StreamsGroup(2, 0, 1, [], -1, -1),
    "ST_MEMBER_ep": STREAMS_MEMBER._replace(endpoint=Endpoint("x", 9090)),
    "ST_MEMBER_noep": STREAMS_MEMBER,
}

TOPOLOGY = StreamsTopology(
    1,
    [
        Subtopology(
            "0",
            ["orders"],
            ["re.*"],
            [InternalTopic("chg", 0, 1, [Setting("k", "v")])],
            ["sink"],
            [InternalTopic("rep", 4, 0, [])],
            [CopartitionGroup([0], [], [0])],
        )
    ],
)
STREAMS_CURRENT = StreamsCurrent(
    2,
    1,
    MemberState.UNREVOKED,
    [Tasks("0", [0, 1], [1, 2])],
    [Tasks("1", [2], None)],
    [],
    [Tasks("1", [0], None)],
    [],
    [],
)

# The other types, from the generated serializers of Kafka 4.3.1, and those of 3.9.2 where the name says so.
MORE: list[tuple[str, str, str, GroupRecordKey, GroupValue]] = [
    (
        "CG_PARTITIONS",
        "000400026731",
        f"000002{ID}076f726465727300000002020000000103037231037232000000",
        GroupWideKey(GroupRecordType.CONSUMER_PARTITIONS, "g1"),
        ConsumerPartitions([TopicMetadata(TOPIC_ID, "orders", 2, [PartitionRacks(1, ["r1", "r2"])])]),
    ),
    (
        "CG_CUR_revoking",
        "00080002673100036d2d31",
        f"00000000000900000008010102{ID}0200000004010005020000000700",
        MemberKey(GroupRecordType.CONSUMER_MEMBER_CURRENT, "g1", "m-1"),
        ConsumerCurrent(9, 8, MemberState.UNREVOKED, [], [AssignedPartitions(TOPIC_ID, [4], [7])]),
    ),
    (
        "CG_CUR_of_3.9",
        "00080002673100036d2d31",
        f"000000000009000000080202{ID}0200000000000100",
        MemberKey(GroupRecordType.CONSUMER_MEMBER_CURRENT, "g1", "m-1"),
        ConsumerCurrent(9, 8, MemberState.UNRELEASED, [AssignedPartitions(TOPIC_ID, [0], None)], []),
    ),
    (
        "CG_REGEX",
        "00100002673100046f722e2a",
        "000002076f7264657273000000000000004d0000018bcfe5680000",
        RegexKey(GroupRecordType.CONSUMER_REGEX, "g1", "or.*"),
        ConsumerRegex(["orders"], 77, STAMP_MS),
    ),
    (
        "SG_MEMBER",
        "000a0002733100016d",
        "00000372310263032f6803076f72646572730872657475726e7300",
        MemberKey(GroupRecordType.SHARE_MEMBER, "s1", "m"),
        ShareMember("r1", "c", "/h", ["orders", "returns"]),
    ),
    (
        "SG_META_of_3.9",
        "000b00027331",
        "00000000000200",
        GroupWideKey(GroupRecordType.SHARE_GROUP, "s1"),
        ShareGroup(2, None),
    ),
    (
        "SG_TGT_META",
        "000c00027331",
        "00000000000200",
        GroupWideKey(GroupRecordType.SHARE_TARGET, "s1"),
        TargetEpoch(2, 0),
    ),
    (
        "SG_TGT_MEMBER",
        "000d0002733100016d",
        f"000002{ID}0300000000000000030000",
        MemberKey(GroupRecordType.SHARE_MEMBER_TARGET, "s1", "m"),
        MemberTarget([TopicPartitions(TOPIC_ID, [0, 3])]),
    ),
    (
        "SG_CUR",
        "000e0002733100016d",
        f"000000000002000000010002{ID}0300000000000000030000",
        MemberKey(GroupRecordType.SHARE_MEMBER_CURRENT, "s1", "m"),
        ShareCurrent(2, 1, MemberState.STABLE, [TopicPartitions(TOPIC_ID, [0, 3])]),
    ),
    (
        "SG_STATE",
        "000f00027331",
        f"000002{ID}076f726465727302000000030002{ID}076f726465727302000000000002{ID}046f6c640000",
        GroupWideKey(GroupRecordType.SHARE_STATE_PARTITIONS, "s1"),
        ShareStatePartitions(
            [ShareTopicPartitions(TOPIC_ID, "orders", [3])],
            [ShareTopicPartitions(TOPIC_ID, "orders", [0])],
            [ShareTopic(TOPIC_ID, "old")],
        ),
    ),
    (
        "ST_META_configs",
        "001100027374",
        "000000000002000000000000000502000400000001011902156e756d2e7374616e6462792e7265706c69636173023100",
        GroupWideKey(GroupRecordType.STREAMS_GROUP, "st"),
        StreamsGroup(2, 5, 1, [Setting("num.standby.replicas", "1")], -1, -1),
    ),
    (
        "ST_MEMBER_port",
        "00130002737400016d",
        "0000026902720263032f6800000001000000010270010278ffff0002057a6f6e6502610000",
        MemberKey(GroupRecordType.STREAMS_MEMBER, "st", "m"),
        StreamsMember("i", "r", "c", "/h", 1, 1, "p", Endpoint("x", 65_535), [Setting("zone", "a")]),
    ),
    (
        "ST_TGT_META",
        "001400027374",
        "0000000000020100080000018bcfe56800",
        GroupWideKey(GroupRecordType.STREAMS_TARGET, "st"),
        TargetEpoch(2, STAMP_MS),
    ),
    (
        "ST_TGT_MEMBER",
        "00150002737400016d",
        "0000020230030000000000000001000202310200000002000100",
        MemberKey(GroupRecordType.STREAMS_MEMBER_TARGET, "st", "m"),
        StreamsMemberTarget([TargetTasks("0", [0, 1])], [TargetTasks("1", [2])], []),
    ),
    (
        "ST_CUR",
        "00160002737400016d",
        "0000000000020000000102020230030000000000000001010009030000000100000002"
        "02023102000000020001020231020000000000010100",
        MemberKey(GroupRecordType.STREAMS_MEMBER_CURRENT, "st", "m"),
        STREAMS_CURRENT,
    ),
    (
        "ST_TOPOLOGY",
        "001700027374",
        "00000000000102023002076f7264657273020572652e2a020463686700000000000102026b02760000"
        "020573696e6b020472657000000004000001000202000001020000000000",
        GroupWideKey(GroupRecordType.STREAMS_TOPOLOGY, "st"),
        TOPOLOGY,
    ),
]


def key_meant(meaning: dict[str, Any]) -> GroupRecordKey:
    kind = GroupRecordType(meaning["type"])
    if "second" in meaning:
        return MemberKey(kind, meaning["group"], meaning["second"])
    return GroupWideKey(kind, meaning["group"])


def shared(name: str) -> tuple[str, bytes, bytes, GroupRecord]:
    record = SHARED[name]
    key, value = bytes.fromhex(record["key"]), bytes.fromhex(record["value"])
    return name, key, value, GroupRecord(key_meant(record["decoded_key"]), MEANT[name])


OF_KAFKA = [shared(name) for name in MEANT] + [
    (name, bytes.fromhex(key), bytes.fromhex(value), GroupRecord(meant_key, meant))
    for name, key, value, meant_key, meant in MORE
]


def every_record_but(*names: str) -> pytest.MarkDecorator:
    records = [pytest.param(*rest, id=name) for name, *rest in OF_KAFKA if name not in names]
    return pytest.mark.parametrize(("key", "value", "meant"), records)


every_record = every_record_but()


def refused(key: bytes | None, value: bytes | None) -> str:
    """The kind under which a record that cannot be decoded is counted."""
    with pytest.raises(DecodeError) as caught:
        decode_group_record(key, value)
    return caught.value.kind


def key_of(kind: int, *names: str) -> bytes:
    return kind.to_bytes(2, "big") + b"".join(len(name).to_bytes(2, "big") + name.encode() for name in names)


# Bytes written by Kafka's own serializers


def test_every_shared_vector_of_a_newer_group_is_among_the_records() -> None:
    assert set(MEANT) == {name for name, record in SHARED.items() if record["decoded_key"]["type"] > 2}


def test_every_type_that_has_a_decoder_has_bytes_of_kafka() -> None:
    without = {GroupRecordType.CLASSIC_GROUP, GroupRecordType.SHARE_PARTITIONS}

    assert {meant.key.type for _, _, _, meant in OF_KAFKA} == set(GroupRecordType) - without


@every_record
def test_a_record_of_kafka_decodes_and_encodes_to_the_same_bytes(key: bytes, value: bytes, meant: GroupRecord) -> None:
    assert decode_group_record(key, value) == meant
    assert encode_group_record_key(meant.key) == key
    assert meant.value is not None
    assert encode_group_value(meant.key.type, meant.value) == value


@every_record
def test_a_record_without_value_is_the_tombstone_of_its_key(key: bytes, value: bytes, meant: GroupRecord) -> None:
    assert value
    assert decode_group_record(key, None) == (meant.key, None)
    assert decode_group_record(key, b"") == (meant.key, None)


@every_record_but("SG_META_of_3.9")  # which only its length tells from its successor
def test_bytes_behind_a_record_are_tolerated(key: bytes, value: bytes, meant: GroupRecord) -> None:
    assert decode_group_record(key + b"more", value + b"more") == meant


@every_record
def test_a_record_cut_short_anywhere_is_malformed(key: bytes, value: bytes, meant: GroupRecord) -> None:
    without_hash = 7  # a share group cut there is one of Kafka 3.9
    for size in range(1, len(value)):
        if not (meant.key.type == GroupRecordType.SHARE_GROUP and size == without_hash):
            assert refused(key, value[:size]) == "malformed"
    for size in range(len(key)):
        assert refused(key[:size], value) == "malformed"


@every_record
def test_an_unknown_version_is_named_with_its_type(key: bytes, value: bytes, meant: GroupRecord) -> None:
    assert refused(key, b"\x00\x01" + value[2:]) == f"record type {meant.key.type.value} value version 1"


@every_record_but(
    *(
        "CG_META_hash",
        "CG_MEMBER_classic",
        "CG_TGT_META",
        "ST_META",
        "ST_META_configs",
        "ST_TGT_META",
    ),  # they have tags
    "SG_META_of_3.9",
)
def test_a_tagged_field_of_a_later_version_is_skipped(key: bytes, value: bytes, meant: GroupRecord) -> None:
    assert decode_group_record(key, value[:-1] + b"\x01\x63\x02ab") == meant


@pytest.mark.parametrize("name", [name for name, record in SHARED.items() if record["decoded_key"]["type"] == 2])
def test_a_classic_group_is_a_record_like_the_others(name: str) -> None:
    key, value = bytes.fromhex(SHARED[name]["key"]), bytes.fromhex(SHARED[name]["value"])
    expected = GroupWideKey(GroupRecordType.CLASSIC_GROUP, "g1")

    assert decode_group_record(key, value) == (expected, decode_group_metadata(value))
    assert decode_group_record(key, None) == (expected, None)


# Keys


@pytest.mark.parametrize("kind", [18, 24, 300])
def test_a_key_of_an_unknown_type_is_another_key(kind: int) -> None:
    assert decode_key(key_of(kind, "g", "t")) == OtherKey(kind)


@pytest.mark.parametrize("kind", [18, 24, 99])
@pytest.mark.parametrize("value", [None, b"\x00\x00\x00"])
def test_a_record_of_an_unknown_type_is_counted_under_its_number(kind: int, value: bytes | None) -> None:
    assert refused(key_of(kind, "g"), value) == f"record type {kind}"


def test_a_record_of_early_share_groups_is_counted_though_its_key_is_known() -> None:
    key = key_of(9, "s1")

    assert decode_key(key) == GroupWideKey(GroupRecordType.SHARE_PARTITIONS, "s1")
    assert refused(key, bytes.fromhex("0000010100")) == "record type 9"


def test_an_offset_commit_is_not_a_record_about_a_group() -> None:
    assert refused(encode_offset_key("g", "t", 0), None) == "record type 1"


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (None, "every record of this topic has a key"),
        (b"", "no record type"),
        (b"\x00\x03\xff\xff", "group may not be null"),
        (key_of(5, "g"), "no member"),
        (key_of(5, "g") + b"\xff\xff", "member may not be null"),
        (key_of(16, "g") + b"\x00\x01\xff", "expression is not UTF-8"),
    ],
)
def test_a_key_that_makes_no_sense_is_malformed(key: bytes | None, why: str) -> None:
    assert refused(key, None) == "malformed", why


def test_keys_of_different_types_are_different_keys() -> None:
    """Else the tombstone of a member's assignment would remove the member."""
    keys = [decode_key(key_of(kind, "g", "m")) for kind in [*range(2, 18), *range(19, 24)]]

    assert len(set(keys)) == len(keys)


# Values


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        (3, "0000000000090100070102030405060708", "hash of 7 bytes"),
        (3, "000000000009010009010203040506070809", "hash of 9 bytes"),
        (7, f"000002{ID}02ffffffff0000", "partition -1"),
        (7, f"000002{ID}027fffffff0000", "partition 2^31-1"),
        (7, "000000", "null where an array is required"),
        (7, "0000ffffffff0700", "2^31-1 topics"),
        (8, f"000000000009000000080002{ID}ffffffff07000100", "2^31-1 partitions"),
        (5, "0000000000", "client id may not be null"),
        (16, "0000ffffffffff7f", "2^35 topics"),
    ],
)
def test_a_value_that_makes_no_sense_is_malformed(kind: int, value: str, why: str) -> None:
    assert refused(key_of(kind, "g", "m"), bytes.fromhex(value)) == "malformed", why


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (4, f"00000000000902{ID}076f726465727300000002010000"),
        (5, "0000000002630a2f31302e302e302e3102076f726465727300000493e008756e69666f726d0100"),
        (7, f"00000002{ID}0300000000000000030000000100"),
        (8, f"000000000009000000080000000902{ID}02000000000001010000000100"),
    ],
)
def test_the_layouts_of_the_early_access_in_3_7_are_refused(kind: int, value: str) -> None:
    """They have the same type and version, and would be read as something else were it not for their zeros."""
    assert refused(key_of(kind, "g1", "m-1"), bytes.fromhex(value)) == "malformed"


@pytest.mark.parametrize("deleting", [[], [ShareTopic(TOPIC_ID, "old")]])
def test_the_share_state_of_kafka_4_0_lacks_the_first_list(deleting: list[ShareTopic]) -> None:
    now = ShareStatePartitions([], [ShareTopicPartitions(TOPIC_ID, "orders", [0])], deleting)
    value = encode_group_value(GroupRecordType.SHARE_STATE_PARTITIONS, now)
    of_4_0 = value[:2] + value[3:]

    assert decode_group_record(key_of(15, "s"), of_4_0).value == now


@pytest.mark.parametrize("number", [3, 126, 127, -1])
def test_a_state_of_a_later_version_is_unknown(number: int) -> None:
    value = bytearray(encode_group_value(GroupRecordType.CONSUMER_MEMBER_CURRENT, CONSUMER_CURRENT))
    value[10] = number & 0xFF
    decoded = decode_group_record(key_of(8, "g", "m"), bytes(value)).value

    assert decoded == CONSUMER_CURRENT._replace(state=MemberState.UNKNOWN)


def test_zero_is_no_state_of_a_streams_member() -> None:
    """Streams groups count their states from one."""
    value = bytearray(encode_group_value(GroupRecordType.STREAMS_MEMBER_CURRENT, STREAMS_CURRENT))
    value[10] = 0
    decoded = decode_group_record(key_of(22, "g", "m"), bytes(value)).value

    assert decoded == STREAMS_CURRENT._replace(state=MemberState.UNKNOWN)


def test_tagged_fields_that_are_null_are_null() -> None:
    tags = bytes.fromhex("01000100")  # one tag, number 0, of one byte: null
    value = bytes.fromhex(f"000000000009000000080002{ID}0200000003") + tags + bytes.fromhex("0100")

    assert decode_group_record(key_of(8, "g", "m"), value).value == CONSUMER_CURRENT._replace(
        assigned=[AssignedPartitions(TOPIC_ID, [3], None)]
    )


def test_a_record_does_not_share_its_defaults_with_another() -> None:
    value = bytes.fromhex("0000000000020000000000000000" + "00")
    first, second = (decode_group_record(key_of(17, "st"), value).value for _ in range(2))

    assert isinstance(first, StreamsGroup)
    assert isinstance(second, StreamsGroup)
    assert first.last_assignment_configs == []
    assert first.last_assignment_configs is not second.last_assignment_configs


def test_an_array_in_the_plain_encoding_may_be_null_too() -> None:
    assert Reader(b"\xff\xff\xff\xff").nullable_count() is None
    assert Reader(b"\x00\x00\x00\x01x").nullable_count() == 1


# What the records mean together


def current(
    epoch: int,
    state: MemberState = MemberState.STABLE,
    assigned: list[int] | None = None,
    revoking: list[int] | None = None,
) -> tuple[ConsumerMember, ConsumerCurrent]:
    return CONSUMER_MEMBER, ConsumerCurrent(
        epoch,
        epoch - 1,
        state,
        [AssignedPartitions(TOPIC_ID, assigned or [], None)],
        [AssignedPartitions(TOPIC_ID, revoking or [], None)],
    )


def test_what_a_member_has_to_give_up_is_its_own_until_it_has() -> None:
    members = {"a": current(9, assigned=[0], revoking=[1]), "b": current(9, assigned=[2])}

    assert consumer_group_owners(members) == {(TOPIC_ID, 0): "a", (TOPIC_ID, 1): "a", (TOPIC_ID, 2): "b"}


def test_of_two_owners_half_way_through_the_log_the_newer_counts() -> None:
    members = {"new": current(9, assigned=[0]), "old": current(8, assigned=[0])}

    assert consumer_group_owners(members) == {(TOPIC_ID, 0): "new"}


def test_a_member_that_joined_just_now_owns_nothing() -> None:
    assert consumer_group_owners({"a": (CONSUMER_MEMBER, None)}) == {}


@pytest.mark.parametrize(
    ("epoch", "assignment_epoch", "members", "state", "why"),
    [
        (9, 9, {}, GroupState.EMPTY, "no members"),
        (9, 8, {}, GroupState.EMPTY, "no members, whatever the epochs"),
        (9, 8, {"a": current(8)}, GroupState.ASSIGNING, "no target for this epoch yet"),
        (9, 9, {"a": current(9), "b": current(8)}, GroupState.RECONCILING, "a member is an epoch behind"),
        (9, 9, {"a": current(9, MemberState.UNREVOKED)}, GroupState.RECONCILING, "it has to give something up"),
        (9, 9, {"a": current(9, MemberState.UNRELEASED)}, GroupState.RECONCILING, "it waits for something"),
        (9, 9, {"a": current(9), "b": (CONSUMER_MEMBER, None)}, GroupState.RECONCILING, "a member has nothing yet"),
        (9, 9, {"a": current(9), "b": current(9)}, GroupState.STABLE, "all have what they are to have"),
    ],
)
def test_the_state_of_a_consumer_group_follows_from_epochs(
    epoch: int, assignment_epoch: int, members: dict[str, Any], state: GroupState, why: str
) -> None:
    assert consumer_group_state(epoch, assignment_epoch, members) == state, why


def test_the_owner_of_a_task_owns_that_partition_of_every_topic_the_subtopology_reads() -> None:
    owners = streams_group_owners(TOPOLOGY, {"m": (STREAMS_MEMBER, STREAMS_CURRENT), "n": (STREAMS_MEMBER, None)})

    assert owners == {(topic, partition): "m" for topic in ("orders", "rep") for partition in (0, 1)}


def test_a_standby_task_owns_nothing() -> None:
    standby = STREAMS_CURRENT._replace(active=[], active_pending_revocation=[], standby=[Tasks("0", [0], None)])

    assert streams_group_owners(TOPOLOGY, {"m": (STREAMS_MEMBER, standby)}) == {}


@pytest.mark.parametrize(
    ("validated", "topology", "state", "why"),
    [
        (1, TOPOLOGY, GroupState.STABLE, "the topology is the one that was found in order"),
        (0, TOPOLOGY, GroupState.NOT_READY, "an older topology was"),
        (-1, TOPOLOGY, GroupState.NOT_READY, "none was"),
        (-1, None, GroupState.NOT_READY, "there is no topology"),
    ],
)
def test_a_streams_group_is_not_ready_without_a_validated_topology(
    validated: int, topology: StreamsTopology | None, state: GroupState, why: str
) -> None:
    members = {"m": (STREAMS_MEMBER, STREAMS_CURRENT._replace(state=MemberState.STABLE))}

    assert streams_group_state(2, 2, validated, topology, members) == state, why
    assert streams_group_state(2, 2, validated, topology, {}) == GroupState.EMPTY


def test_a_streams_group_reconciles_like_a_consumer_group() -> None:
    members = {"m": (STREAMS_MEMBER, STREAMS_CURRENT)}

    assert streams_group_state(2, 2, 1, TOPOLOGY, members) == GroupState.RECONCILING
    assert streams_group_state(3, 2, 1, TOPOLOGY, members) == GroupState.ASSIGNING


def test_a_share_group_with_members_is_stable() -> None:
    assert share_group_state(["m"]) == GroupState.STABLE
    assert share_group_state([]) == GroupState.EMPTY


def test_a_member_as_kafka_4_3_writes_it_for_librdkafka_has_a_tag_that_says_it_is_not_classic() -> None:
    """Captured from a broker: the tag is there, and null in it is 0, not -1."""
    value = bytes.fromhex(
        "0000066669727374000a67672d636c69656e740b2f3132372e302e302e31020f746f7069632d316132653335363501000493e00001000100"
    )
    member = decode_group_value(GroupRecordType.CONSUMER_MEMBER, value)

    assert isinstance(member, ConsumerMember)
    assert (member.instance_id, member.client_id, member.classic) == ("first", "gg-client", None)
