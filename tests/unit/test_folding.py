"""Folding: from the raw records of a task to the rows that leave it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tests.support.offset_records import commit_value, group_value
from warren.codec.keys import (
    GroupRecordType,
    GroupWideKey,
    MemberKey,
    encode_group_key,
    encode_group_record_key,
    encode_offset_key,
)
from warren.groups.records import RawRecord
from warren.sources.folding import LATEST_MS, POISON_EXAMPLES, BatchProgress, Folder, FoldSettings
from warren.sources.reading import Records
from warren.windows.rows import CommitBatch, Poison, commit_batch


def folded(records: list[tuple[bytes | None, bytes | None]], **settings: object) -> CommitBatch:
    folder = Folder(FoldSettings(**{"intervals": 3, "min_distance_ms": 0, **settings}))  # type: ignore[arg-type]
    numbers = list(range(len(records)))
    where = np.full(len(records), 7), np.array(numbers)
    folder.add(Records(*where, [key for key, _ in records], [value for _, value in records]))
    return commit_batch(pa.Table.from_batches(folder.rows(BatchProgress({7: len(records)}, {}))), {})


def test_commits_become_rows_and_the_position_is_told() -> None:
    batch = folded([(encode_offset_key("g", "t", 4), commit_value(42, 1000))])

    commits = batch.commits
    assert commits.pairs == [("g", "t")]
    assert (commits.partition.tolist(), commits.offset.tolist()) == ([4], [42])
    assert (commits.timestamp_ms.tolist(), commits.order.tolist()) == ([1000], [0])
    assert batch.positions == {7: 1}


def test_only_what_a_window_can_show_leaves_the_worker() -> None:
    key = encode_offset_key("g", "t", 0)
    batch = folded([(key, commit_value(i, i * 1000)) for i in range(10)])

    assert batch.commits.offset.tolist() == [7, 8, 9]


def test_a_record_under_the_same_key_elsewhere_does_not_make_a_commit_look_applied() -> None:
    """Anyone may write it, into any partition; what was read of that one says nothing of the commit."""
    key, folder = encode_offset_key("g", "t", 0), Folder(FoldSettings(3, 0))
    values: list[bytes | None] = [b"\x00\x09", commit_value(42, 1000)]
    folder.add(Records(np.array([8, 7]), np.array([500, 3]), [key, key], values))
    table = pa.Table.from_batches(folder.rows(BatchProgress({7: 4, 8: 501}, {})))

    assert commit_batch(table, {7: 3, 8: 500}).commits.offset.tolist() == [42]


def test_what_cannot_be_decoded_is_counted_by_kind_and_hides_nothing() -> None:
    key = encode_offset_key("g", "t", 0)
    batch = folded(
        [
            (None, b"x"),
            (b"\x00", b"x"),
            (b"\x00\x63junk", b"x"),
            (key, b"\x00\x09" + bytes(30)),
            (key, b"\x00"),
            (encode_group_key("g"), b"\x00\x63"),
            (key, commit_value(5, 1000)),
        ]
    )

    assert batch.skipped == {
        "malformed": 3,
        "record type 99": 1,
        "offset commit value version 9": 1,
        "group metadata value version 99": 1,
    }
    assert batch.commits.offset.tolist() == [5]


def test_a_tombstone_leaves_as_one() -> None:
    key = encode_offset_key("g", "t", 0)
    batch = folded([(key, commit_value(5, 1000)), (key, None)])

    assert batch.commits.tombstone.tolist() == [True]


def test_a_commit_after_a_tombstone_stands_after_it() -> None:
    key = encode_offset_key("g", "t", 0)
    batch = folded([(key, commit_value(5, 1000)), (key, None), (key, commit_value(6, 2000))])

    assert batch.commits.tombstone.tolist() == [True, False]
    assert batch.commits.order.tolist() == [1, 2]
    assert batch.commits.offset.tolist() == [-1, 6]
    assert batch.commits.timestamp_ms.tolist() == [-1, 2000]


def test_only_the_last_record_of_a_key_leaves_the_worker() -> None:
    key, last = encode_group_key("g"), group_value(("t", [1]))
    batch = folded([(key, group_value(("t", [0, 1]))), (key, last)])

    assert batch.group_records == [RawRecord(7, 1, key, last)]


def test_a_tombstone_of_a_group_leaves_as_one() -> None:
    key = encode_group_key("g")

    assert folded([(key, group_value(("t", [0]))), (key, None)]).group_records == [RawRecord(7, 1, key, None)]


def test_a_record_of_a_group_that_cannot_be_decoded_does_not_hide_the_good_one_before_it() -> None:
    key, good = encode_group_key("g"), group_value(("t", [0]))
    batch = folded([(key, good), *[(key, b"\x00\x63")] * 10])

    assert batch.group_records == [RawRecord(7, 0, key, good)]
    assert batch.skipped == {"group metadata value version 99": 10}


def test_what_members_are_to_have_one_day_is_checked_but_stays_behind() -> None:
    key = encode_group_record_key(MemberKey(GroupRecordType.CONSUMER_MEMBER_TARGET, "g", "m"))
    batch = folded([(key, b"\x00\x00\x7f")])

    assert (batch.group_records, batch.skipped) == ([], {"malformed": 1})


def test_a_member_whose_assignment_cannot_be_read_is_counted_and_the_group_is_told() -> None:
    value = group_value(("t", [0])).replace(b"\x00\x01t", b"\x7f\xfft")
    batch = folded([(encode_group_key("g"), value)])

    assert batch.skipped == {"member assignment": 1}
    assert [one.value for one in batch.group_records] == [value]


def test_examples_of_what_cannot_be_decoded_tell_where_it_lies_and_why() -> None:
    key = encode_offset_key("g", "t", 0)
    unknown = encode_group_record_key(GroupWideKey(GroupRecordType.CONSUMER_GROUP, "g")).replace(b"\x03", b"\x63", 1)
    batch = folded([(key, commit_value(1, 1)), (key, b"\x00"), (unknown, b""), (b"", b"")])

    told = {(one.source_partition, one.offset, one.record_type, one.kind) for one in batch.poison}
    assert told == {(7, 1, 1, "malformed"), (7, 2, 99, "record type 99"), (7, 3, -1, "malformed")}
    assert all(one.detail for one in batch.poison)


def test_few_examples_stand_for_many() -> None:
    key = encode_offset_key("g", "t", 0)
    batch = folded([(key, b"\x00\x09" + bytes(30)), (b"\x00", b""), (key, b"\x00")] * 1000)

    assert batch.skipped == {"malformed": 2000, "offset commit value version 9": 1000}
    assert len(batch.poison) == 2 * POISON_EXAMPLES
    assert isinstance(batch.poison[0], Poison)


OLD_ID, NEW_ID = bytes.fromhex("a1f0c3" * 5 + "07"), bytes.fromhex("5b29ee" * 5 + "4c")


def test_what_was_committed_to_the_topic_before_it_was_made_anew_stays_behind() -> None:
    key = encode_offset_key("g", "t", 0)
    old, new = commit_value(900, 1000, OLD_ID), commit_value(3, 2000, NEW_ID)
    batch = folded([(key, old), (key, old), (key, new)])

    assert batch.commits.offset.tolist() == [-1, 3]
    assert batch.commits.tombstone.tolist() == [True, False]
    assert batch.commits.order.tolist() == [1, 2]


def test_a_commit_that_does_not_tell_its_topic_id_is_not_another_topic() -> None:
    key = encode_offset_key("g", "t", 0)
    batch = folded([(key, commit_value(1, 1, OLD_ID)), (key, commit_value(2, 2)), (key, commit_value(3, 3, OLD_ID))])

    assert batch.commits.offset.tolist() == [1, 2, 3]
    assert batch.commits.incarnation is not None
    assert (batch.commits.incarnation != 0).tolist() == [True, False, True]


def test_groups_that_are_not_wanted_stay_out_with_their_members() -> None:
    """D8: in Burrow the lists do not hold for members."""
    records = [(encode_offset_key(name, "t", 0), commit_value(1, 1)) for name in ("app-1", "app-2-test", "console-7")]
    records += [(encode_group_key("console-7"), group_value(("t", [0])))]
    batch = folded(records, allow=("", "^app"), deny=("", "test$"))

    assert batch.commits.pairs == [("app-1", "t")]
    assert batch.group_records == []


def test_rows_before_the_applied_position_are_left_out() -> None:
    folder = Folder(FoldSettings(3, 0))
    key = encode_offset_key("g", "t", 0)
    folder.add(Records(np.array([7, 7]), np.array([4, 5]), [key, key], [commit_value(1, 1), commit_value(2, 2)]))
    batch = commit_batch(pa.Table.from_batches(folder.rows(BatchProgress({7: 6}, {}))), {7: 5})

    assert batch.commits.offset.tolist() == [2]


FUTURE_MS = 3_600_000


@pytest.mark.parametrize(
    ("committed_ms", "stamp_ms", "taken_ms"),
    [
        (10_000 + FUTURE_MS, 10_000, 10_000),
        (10_000 + FUTURE_MS, 10_000 + FUTURE_MS - 5, 10_000 + FUTURE_MS),
        (10_000 + FUTURE_MS, -1, 10_000 + FUTURE_MS),
        (10_000 + 30_000, 10_000, 10_000 + 30_000),
        (2_000, 10_000, 2_000),
    ],
    ids=["of the future", "by a broker ahead of us", "no stamp", "not far ahead", "of the past"],
)
def test_d2_a_commit_of_the_future_was_made_when_the_broker_wrote_it(
    committed_ms: int, stamp_ms: int, taken_ms: int
) -> None:
    folder = Folder(FoldSettings(3, 0))
    value = commit_value(42, committed_ms)
    key = encode_offset_key("g", "t", 0)
    folder.add(Records(np.array([7]), np.array([0]), [key], [value], 10_000, lambda _: stamp_ms))
    batch = commit_batch(pa.Table.from_batches(folder.rows(BatchProgress({7: 1}, {}))), {})

    assert batch.commits.timestamp_ms.tolist() == [taken_ms]


def test_what_some_commits_tell_of_their_topic_is_not_lost_beside_those_that_do_not() -> None:
    first, second = (encode_offset_key(group, "t", 0) for group in ("g", "h"))
    batch = folded([(first, commit_value(1, 1)), (first, None), (second, commit_value(2, 2, OLD_ID))])

    assert batch.commits.tombstone.tolist() == [True, False]
    assert batch.commits.incarnation is not None
    assert (batch.commits.incarnation != 0).tolist() == [False, True]


@pytest.mark.parametrize(("told_ms", "taken_ms"), [(-(2**63), 0), (-1, 0), (2**63 - 1, LATEST_MS)])
def test_times_that_cannot_be_are_taken_for_the_nearest_that_can(told_ms: int, taken_ms: int) -> None:
    batch = folded([(encode_offset_key("g", "t", 0), commit_value(1, told_ms))])

    assert batch.commits.timestamp_ms.tolist() == [taken_ms]


def test_wild_versions_and_types_are_counted_together() -> None:
    """Each kind is kept, shown and logged on its own, so there must not be one for each number."""
    key, group_key = encode_offset_key("g", "t", 0), encode_group_key("g")
    wild = [number.to_bytes(2, "big", signed=True) for number in (-(2**15), -1, 100, 2**15 - 1)]
    records = [(key, number + b"x") for number in wild] + [(group_key, number) for number in wild]
    batch = folded(records + [(number, b"") for number in wild] + [(key, b"\x00\x63")])

    assert batch.skipped == {
        "offset commit value version beyond all known": 4,
        "group metadata value version beyond all known": 4,
        "record type beyond all known": 4,
        "offset commit value version 99": 1,
    }
    assert {one.detail for one in batch.poison} >= {"record type 32767 is not decoded"}, "an example tells the number"


def test_commits_under_both_types_of_key_are_of_one_partition_in_the_order_of_the_log() -> None:
    new, old = (encode_offset_key("g", "t", 0, legacy=legacy) for legacy in (False, True))
    batch = folded([(new, commit_value(1, 1)), (old, commit_value(2, 2)), (new, None), (old, commit_value(4, 4))])

    assert batch.commits.tombstone.tolist() == [True, False]
    assert batch.commits.offset.tolist() == [-1, 4]
