"""Folding: from the raw records of a task to the rows that leave it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from warren.codec.commits import OffsetCommit, encode_offset_commit
from warren.codec.groups import GroupMetadata, Member, encode_assignment, encode_group_metadata
from warren.codec.keys import encode_group_key, encode_offset_key
from warren.sources.folding import Folder, FoldSettings
from warren.sources.reading import Records
from warren.windows.labels import Owner
from warren.windows.rows import CommitBatch, commit_batch
from warren.windows.store import Assignment


def commit_value(offset: int, timestamp_ms: int) -> bytes:
    return encode_offset_commit(OffsetCommit(offset, -1, "", timestamp_ms, -1, None), 4)


def group_value(*owned: tuple[str, list[int]]) -> bytes:
    member = Member("m", None, "app", "/10.0.0.7", 1, 1, b"", encode_assignment(owned))
    return encode_group_metadata(GroupMetadata("consumer", 1, "range", "m", 1, [member]), 3)


def folded(records: list[tuple[bytes | None, bytes | None]], **settings: object) -> CommitBatch:
    folder = Folder(FoldSettings(**{"intervals": 3, "min_distance_ms": 0, **settings}))  # type: ignore[arg-type]
    numbers = list(range(len(records)))
    where = np.full(len(records), 7), np.array(numbers)
    folder.add(Records(*where, [key for key, _ in records], [value for _, value in records]))
    return commit_batch(pa.Table.from_batches(folder.rows({7: len(records)}, {})), {})


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


def test_what_cannot_be_decoded_is_counted_by_kind_and_hides_nothing() -> None:
    key = encode_offset_key("g", "t", 0)
    batch = folded(
        [
            (None, b"x"),
            (b"\x00", b"x"),
            (b"\x00\x07junk", b"x"),
            (key, b"\x00\x09" + bytes(30)),
            (key, b"\x00"),
            (encode_group_key("g"), b"\x00\x63"),
            (key, commit_value(5, 1000)),
        ]
    )

    assert batch.skipped == {
        "malformed": 3,
        "record type 7": 1,
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


def test_only_the_last_assignment_of_a_group_counts() -> None:
    key = encode_group_key("g")
    batch = folded([(key, group_value(("t", [0, 1]))), (key, group_value(("t", [1])))])

    assert batch.assignments == [Assignment("g", {("t", 1): Owner("/10.0.0.7", "app")})]


def test_a_group_tombstone_clears_owners() -> None:
    key = encode_group_key("g")

    assert folded([(key, group_value(("t", [0]))), (key, None)]).assignments == [Assignment("g", {})]


def test_groups_that_are_not_wanted_stay_out_with_their_members() -> None:
    """D8: in Burrow the lists do not hold for members."""
    records = [(encode_offset_key(name, "t", 0), commit_value(1, 1)) for name in ("app-1", "app-2-test", "console-7")]
    records += [(encode_group_key("console-7"), group_value(("t", [0])))]
    batch = folded(records, allow=("", "^app"), deny=("", "test$"))

    assert batch.commits.pairs == [("app-1", "t")]
    assert batch.assignments == []


def test_rows_before_the_applied_position_are_left_out() -> None:
    folder = Folder(FoldSettings(3, 0))
    key = encode_offset_key("g", "t", 0)
    folder.add(Records(np.array([7, 7]), np.array([4, 5]), [key, key], [commit_value(1, 1), commit_value(2, 2)]))
    batch = commit_batch(pa.Table.from_batches(folder.rows({7: 6}, {})), {7: 5})

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
    batch = commit_batch(pa.Table.from_batches(folder.rows({7: 1}, {})), {})

    assert batch.commits.timestamp_ms.tolist() == [taken_ms]
