"""Which partitions are looked into, to tell marks of transactions from records."""

from __future__ import annotations

import numpy as np

from tests.support.scenario import GROUP, TOPIC, Story
from warren.rules.marks import MOST_DOUBTS, Doubt, doubts
from warren.windows.heads import HeadRows


def observed(story: Story, end: int, at_ms: int, last_stable: int | None = None) -> None:
    """One observation of a topic with one partition."""
    zero, stable = np.zeros(1, np.int64), np.array([end if last_stable is None else last_stable])
    story.windows.apply_heads(HeadRows([TOPIC], zero, zero, np.array([end]), zero, at_ms, last_stable=stable))


def behind(by: int, *, last_stable: int | None = None) -> Story:
    """A group that is so far behind an idle partition that ends at 100."""
    story = Story()
    observed(story, 100, 1_000, last_stable)
    story.commit(100 - by, 1, 1_500)
    observed(story, 100, 2_000, last_stable)
    return story


def test_a_small_lag_that_stays_is_looked_into() -> None:
    assert doubts(behind(1).windows) == [Doubt(TOPIC, 0, 99, 100)]


def test_no_lag_and_a_large_one_are_not() -> None:
    assert doubts(behind(0).windows) == []
    assert doubts(behind(11).windows) == []


def test_a_partition_that_is_written_to_is_not() -> None:
    story = behind(1)
    observed(story, 101, 3_000)

    assert doubts(story.windows) == []


def test_a_partition_with_an_open_transaction_is_not() -> None:
    assert doubts(behind(1, last_stable=90).windows) == []


def test_what_was_looked_into_is_looked_into_again_only_when_it_has_grown() -> None:
    story = behind(2)
    story.windows.heads.note_readable_end(TOPIC, 0, 98, 100)
    assert doubts(story.windows) == []
    assert story.windows.heads.readable_end_of(np.array([0])).tolist() == [98]

    observed(story, 101, 3_000)
    observed(story, 101, 4_000)

    assert doubts(story.windows) == [Doubt(TOPIC, 0, 98, 101)]
    assert story.windows.heads.readable_end_of(np.array([0])).tolist() == [101]


def test_of_several_groups_the_one_furthest_behind_says_where_to_begin() -> None:
    story = behind(2)
    story.commit(95, 2, 2_500, group=f"{GROUP}-2")

    assert doubts(story.windows) == [Doubt(TOPIC, 0, 95, 100)]


def test_a_topic_that_is_gone_meanwhile_is_not_noted() -> None:
    story = behind(2)
    story.windows.heads.note_readable_end("gone", 0, 98, 100)
    story.windows.heads.note_readable_end(TOPIC, 7, 98, 100)

    assert doubts(story.windows) == [Doubt(TOPIC, 0, 98, 100)]


def test_only_so_many_are_looked_into_at_a_time() -> None:
    story = Story(partitions=2 * MOST_DOUBTS)
    numbers = np.arange(2 * MOST_DOUBTS)
    for at_ms in (1_000, 2_000):
        ends = np.full(len(numbers), 100)
        rows = HeadRows([TOPIC], np.zeros(len(numbers), np.int64), numbers, ends, 0 * ends, at_ms, last_stable=ends)
        story.windows.apply_heads(rows)
        for number in numbers.tolist():
            story.commit(99, at_ms + number, at_ms, partition=number)

    assert len(doubts(story.windows)) == MOST_DOUBTS
