"""Sound records of every type: what inputs are made of, before they are damaged. Made of files of this repository."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from tests.support.scenario import classic_group
from warren.codec.commits import OffsetCommit, encode_offset_commit
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
from warren.codec.group_records import GroupValue, encode_group_value
from warren.codec.keys import GroupRecordType
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

VECTORS = Path(__file__).parents[1] / "data" / "consumer-offsets-vectors.json"
NOW_MS = 1_700_000_000_000
ORDERS_ID, OTHER_ID = bytes(range(16)), bytes(range(16, 32))

_ASSIGNED = [AssignedPartitions(ORDERS_ID, [0, 1], None), AssignedPartitions(OTHER_ID, [3], [7])]
_TOPICS = [TopicPartitions(ORDERS_ID, [0, 1])]
_SHARED = [ShareTopicPartitions(ORDERS_ID, "orders", [0, 1])]
_TASKS, _TARGET_TASKS = [Tasks("0", [0, 1], [3, 3])], [TargetTasks("0", [0, 1])]
_INTERNAL = [InternalTopic("repartition", 2, 1, [Setting("a", "b")])]
_CLASSIC = ClassicMember(45_000, [ClassicProtocol("range", b"\x00\x01")])
_SUBTOPOLOGY = Subtopology(
    "0", ["orders"], ["ord.*"], _INTERNAL, ["sink"], _INTERNAL, [CopartitionGroup([0], [0], [0])]
)

GROUP_VALUES: dict[GroupRecordType, GroupValue] = {
    GroupRecordType.CONSUMER_GROUP: ConsumerGroup(7, 99),
    GroupRecordType.CONSUMER_PARTITIONS: ConsumerPartitions(
        [TopicMetadata(ORDERS_ID, "orders", 2, [PartitionRacks(0, ["a"])])]
    ),
    GroupRecordType.CONSUMER_MEMBER: ConsumerMember(
        "i", "r", "app", "/10.0.0.7", ["orders"], "ord.*", 1, "uniform", _CLASSIC
    ),
    GroupRecordType.CONSUMER_TARGET: TargetEpoch(7, NOW_MS),
    GroupRecordType.CONSUMER_MEMBER_TARGET: MemberTarget(_TOPICS),
    GroupRecordType.CONSUMER_MEMBER_CURRENT: ConsumerCurrent(7, 6, MemberState.STABLE, _ASSIGNED, _ASSIGNED),
    GroupRecordType.CONSUMER_REGEX: ConsumerRegex(["orders"], 1, NOW_MS),
    GroupRecordType.SHARE_GROUP: ShareGroup(7, 99),
    GroupRecordType.SHARE_MEMBER: ShareMember("r", "app", "/10.0.0.7", ["orders"]),
    GroupRecordType.SHARE_TARGET: TargetEpoch(7, NOW_MS),
    GroupRecordType.SHARE_MEMBER_TARGET: MemberTarget(_TOPICS),
    GroupRecordType.SHARE_MEMBER_CURRENT: ShareCurrent(7, 6, MemberState.STABLE, _TOPICS),
    GroupRecordType.SHARE_STATE_PARTITIONS: ShareStatePartitions(_SHARED, _SHARED, [ShareTopic(OTHER_ID, "old")]),
    GroupRecordType.STREAMS_GROUP: StreamsGroup(7, 99, 7, [Setting("a", "b")], 1, 1),
    GroupRecordType.STREAMS_MEMBER: StreamsMember(
        "i", "r", "app", "/10.0.0.7", 1, 7, "p", Endpoint("h", 80), [Setting("a", "b")]
    ),
    GroupRecordType.STREAMS_TARGET: TargetEpoch(7, NOW_MS),
    GroupRecordType.STREAMS_MEMBER_TARGET: StreamsMemberTarget(_TARGET_TASKS, _TARGET_TASKS, _TARGET_TASKS),
    GroupRecordType.STREAMS_MEMBER_CURRENT: StreamsCurrent(
        7, 6, MemberState.STABLE, _TASKS, _TASKS, _TASKS, _TASKS, _TASKS, _TASKS
    ),
    GroupRecordType.STREAMS_TOPOLOGY: StreamsTopology(7, [_SUBTOPOLOGY]),
}


def sound_values() -> dict[int, list[bytes]]:
    """Values by record type; the most telling ones first."""
    values: dict[int, list[bytes]] = defaultdict(list)
    for kind, value in GROUP_VALUES.items():
        values[kind].append(encode_group_value(kind, value))
    for offset, version in ((42, 4), (50, 3), (60, 1), (2**63 - 1, 4), (0, 0)):
        commit = OffsetCommit(offset, 1, "m", NOW_MS + 1000 * offset % 60_000, NOW_MS, ORDERS_ID)
        values[0].append(encode_offset_commit(commit, version))
        values[1].append(encode_offset_commit(commit, version))
    values[2].append(classic_group(("/10.0.0.7", "app", [("orders", [0, 1]), ("later", [5])]), ("/h", "b", [])))
    for record in json.loads(VECTORS.read_text())["records"]:
        if record["value"]:
            values[int(record["key"][:4], 16)].append(bytes.fromhex(record["value"]))
    return dict(values)
