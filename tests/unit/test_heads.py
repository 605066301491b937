"""Heads: what is known of a partition beside its end, its leader and its last stable offset."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tests.support.scenario import GROUP, TOPIC, Story, head_rows, head_table
from warren.windows.columns import UNKNOWN
from warren.windows.heads import Heads
from warren.windows.rows import HEAD_ROWS
from warren.windows.rows import head_rows as read_head_rows
from warren.windows.store import Limits, Windows

NOWHERE = np.array([-1])


def observed(*observations: tuple[int, int, int]) -> Heads:
    """A partition as it was observed: (end, last stable offset, when)."""
    windows = Windows(Limits())
    for end, last_stable, at_ms in observations:
        windows.apply_heads(head_rows({TOPIC: [end]}, at_ms, last_stable=np.array([last_stable])))
    return windows.heads


def rows(heads: Heads) -> np.ndarray:
    return heads.topics[TOPIC].row_numbers()


class TestLeader:
    LOST = np.array([True, False])

    def story(self) -> Story:
        """A partition with a leader, and one that loses it."""
        story = Story(partitions=2).heads(100, 1_000).commit(60, 1, 1_500, partition=1).heads(110, 2_000)
        story.windows.apply_heads(head_rows({TOPIC: [120, -1]}, 3_000, has_leader=self.LOST))
        return story

    def test_a_partition_without_a_leader_is_where_it_was(self) -> None:
        story = self.story()
        shown = story.windows.group(GROUP)

        assert story.windows.heads.has_leader_of(rows(story.windows.heads)).tolist() == [True, False]
        assert shown is not None
        assert (shown.head.tolist(), shown.log_start.tolist(), shown.current_lag.tolist()) == (
            [120, 110],
            [0, 0],
            [0, 50],
        )

    def test_a_partition_without_a_leader_keeps_its_history(self) -> None:
        heads = self.story().windows.heads

        assert heads.history.time_of(rows(heads)[1:], np.array([104])).tolist() == [1_500]

    def test_a_leader_that_comes_back_is_seen(self) -> None:
        heads = self.story().heads(130, 4_000).windows.heads

        assert heads.has_leader_of(rows(heads)).all()
        assert heads.current(rows(heads)).tolist() == [130, 130]

    def test_without_a_leader_nobody_knows_what_is_stable(self) -> None:
        story, stable = Story(partitions=2), np.array([90, 90])
        story.windows.apply_heads(head_rows({TOPIC: [100, 100]}, 1_000, last_stable=stable))
        story.windows.apply_heads(
            head_rows({TOPIC: [100, -1]}, 2_000, last_stable=stable, has_leader=self.LOST),
        )
        heads = story.windows.heads

        assert heads.last_stable_of(rows(heads)).tolist() == [90, UNKNOWN]
        assert heads.held_since_of(rows(heads)).tolist() == [1_000, 0]

    def test_a_partition_that_nobody_knows_is_not_said_to_have_no_leader(self) -> None:
        heads = Heads(10)

        assert heads.has_leader_of(NOWHERE).tolist() == [True]
        assert heads.last_stable_of(NOWHERE).tolist() == [UNKNOWN]
        assert heads.held_since_of(NOWHERE).tolist() == [0]


class TestLastStable:
    def held_since(self, *observations: tuple[int, int, int]) -> int:
        heads = observed(*observations)
        (since_ms,) = heads.held_since_of(rows(heads)).tolist()
        return int(since_ms)

    def test_it_is_what_was_observed_last(self) -> None:
        heads = observed((100, 100, 1_000), (110, 105, 2_000))

        assert heads.last_stable_of(rows(heads)).tolist() == [105]

    def test_nothing_is_held_while_everything_is_stable(self) -> None:
        assert self.held_since((100, 100, 1_000), (110, 110, 2_000)) == 0

    def test_an_open_transaction_holds_it_since_it_was_first_seen_there(self) -> None:
        assert self.held_since((100, 100, 1_000), (105, 100, 2_000), (110, 100, 3_000)) == 2_000

    def test_the_next_transaction_starts_anew(self) -> None:
        assert self.held_since((105, 100, 1_000), (110, 107, 2_000), (120, 107, 3_000)) == 2_000

    def test_a_transaction_that_ends_holds_nothing(self) -> None:
        assert self.held_since((105, 100, 1_000), (106, 106, 2_000)) == 0

    def test_what_is_not_known_is_not_held(self) -> None:
        assert self.held_since((105, 100, 1_000), (106, -1, 2_000)) == 0

    def test_it_is_not_held_since_a_time_to_come(self) -> None:
        """The clock was set back."""
        assert self.held_since((105, 100, 9_000), (106, 100, 2_000)) == 2_000

    def test_rows_that_move_take_it_along(self) -> None:
        windows = Windows(Limits())
        held, led = np.array([90]), np.array([False, True, True])
        windows.apply_heads(head_rows({TOPIC: [100]}, 1_000, last_stable=held))
        windows.apply_heads(head_rows({TOPIC: [-1, 5, 5]}, 2_000, has_leader=led))
        heads = windows.heads

        assert heads.has_leader_of(rows(heads)).tolist() == [False, True, True]
        assert heads.last_stable_of(rows(heads)).tolist() == [UNKNOWN] * 3


class TestTable:
    """How the rows of the source are read."""

    def test_what_the_source_tells_is_read(self) -> None:
        row = {"topic": "a", "partition": 0, "end": 9, "log_start": 1, "observed_ms": 5, "cluster_id": "k"}
        more = [
            {**row, "last_stable": 7, "has_leader": True, "topic_id": "id-a"},
            {**row, "partition": 1, "last_stable": -1, "has_leader": False, "topic_id": None},
            {**row, "topic": "b", "last_stable": 9, "has_leader": True, "topic_id": ""},
        ]
        read = read_head_rows(pa.Table.from_pylist(more, HEAD_ROWS))

        assert read.last_stable.tolist() == [7, -1, 9]
        assert read.has_leader.tolist() == [True, False, True]
        assert read.topic_ids == {"a": "id-a"}

    def test_what_it_does_not_tell_is_unknown_and_nobody_lacks_a_leader(self) -> None:
        read = read_head_rows(head_table({"a": [1, 2]}, 1))

        assert read.last_stable.tolist() == [-1, -1]
        assert read.has_leader.tolist() == [True, True]
        assert read.topic_ids == {}

    def test_an_empty_table_is_an_observation_of_nothing(self) -> None:
        windows = Story().heads(1, 1).windows
        windows.apply_heads(read_head_rows(HEAD_ROWS.empty_table()))

        assert windows.topics() == []
