"""Planning: how a micro-batch of the offsets topic is cut."""

from __future__ import annotations

from warren.sources.planning import SMALL_BATCH_RECORDS, Range, balanced, limited_ends, ranges_between


def test_a_backlog_that_fits_is_taken_whole() -> None:
    assert limited_ends({0: 5, 1: 0}, {0: 10, 1: 7}, 100) == {0: 10, 1: 7}


def test_whole_partitions_are_taken_first_and_only_one_is_cut() -> None:
    assert limited_ends({}, {0: 60, 1: 50, 2: 40}, 100) == {0: 10, 1: 50, 2: 40}


def test_a_single_large_partition_is_read_in_pieces() -> None:
    assert limited_ends({0: 100}, {0: 1000}, 300) == {0: 400}


def test_a_partition_that_is_new_is_read_from_its_beginning() -> None:
    assert ranges_between({0: 5}, {0: 5, 1: 3}) == [Range(1, 0, 3)]


def test_a_small_batch_is_one_task() -> None:
    assert balanced([Range(0, 0, 10), Range(1, 0, 10)], 4) == [[Range(0, 0, 10), Range(1, 0, 10)]]


def test_a_large_batch_is_spread_by_size() -> None:
    big = SMALL_BATCH_RECORDS
    tasks = balanced([Range(0, 0, 3 * big), Range(1, 0, big), Range(2, 0, big), Range(3, 0, big)], 2)

    assert [sum(one.records for one in task) for task in tasks] == [3 * big, 3 * big]


def test_nothing_to_read_is_no_task() -> None:
    assert balanced([], 2) == []
