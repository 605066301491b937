"""Windows: what commits, heads, owners and deletes do to a store. Numbers `D..` are Burrow's defects."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.scenario import GROUP, TOPIC, Story, commit_rows, head_rows
from warren.windows.labels import Owner
from warren.windows.store import GROWN_PARTITIONS, Assignment, Limits, Windows


def lagged(story: Story) -> list[tuple[int, int, int | None]]:
    return story.entries()


class TestMinDistance:
    """Burrow's worked example: 4 intervals, min-distance 3 s, the topic ends at 1000."""

    STEPS = (
        ((100, 10, 0), [(100, 0)]),
        ((110, 11, 1000), [(110, 0)]),
        ((120, 12, 2999), [(120, 0)]),
        ((130, 13, 3000), [(120, 0), (130, 3000)]),
        ((140, 14, 5000), [(120, 0), (140, 3000)]),
        ((150, 15, 9000), [(120, 0), (140, 3000), (150, 9000)]),
    )

    def test_a_commit_within_the_distance_overwrites_the_entry_but_not_its_time(self) -> None:
        story = Story(Limits(4, 3000)).heads(1000, 1)
        for (offset, order, at_ms), expected in self.STEPS:
            story.commit(offset, order, at_ms)

            assert [(o, ms) for o, ms, _ in story.entries()] == expected

    def test_a_commit_with_an_earlier_time_opens_an_entry_of_its_own(self) -> None:
        """D2: Burrow merges it, so one time in the future freezes the window for as long."""
        story = Story(Limits(10, 0)).heads(1000, 1)
        for offset, order, at_ms in [(100, 1, 0), (110, 2, 10_000), (120, 3, 3_610_000), (130, 4, 20_000)]:
            story.commit(offset, order, at_ms)

        assert [(o, ms) for o, ms, _ in story.entries()] == [
            (100, 0), (110, 10_000), (120, 3_610_000), (130, 20_000)
        ]  # fmt: skip

    def test_a_ring_of_one_entry_is_replaced_with_the_commits_own_time(self) -> None:
        story = Story(Limits(1, 60_000)).heads(1000, 1).commit(1, 1, 0).commit(2, 2, 1000)

        assert [(o, ms) for o, ms, _ in story.entries()] == [(2, 1000)]


class TestOrder:
    """Commits (order, offset) at `order` seconds, in a window of 4."""

    def offsets(self, *steps: tuple[int, int]) -> list[int]:
        story = Story(Limits(4)).heads(1000, 1)
        for order, offset in steps:
            story.commit(offset, order, order * 1000)
        return [offset for offset, _, _ in story.entries()]

    def test_a_commit_that_comes_again_changes_nothing(self) -> None:
        assert self.offsets((50, 500), (60, 600), (60, 600), (50, 500)) == [500, 600]

    def test_a_commit_that_comes_after_a_newer_one_changes_nothing(self) -> None:
        assert self.offsets((50, 500), (60, 600), (55, 550), (40, 400)) == [500, 600]

    def test_a_newer_commit_pushes_the_oldest_out(self) -> None:
        assert self.offsets((40, 400), (50, 500), (55, 550), (60, 600), (70, 700)) == [500, 550, 600, 700]


class TestLag:
    """Lag is measured against where the topic ended at the moment of the commit (D25)."""

    def test_a_commit_waits_for_a_head_observed_after_it(self) -> None:
        """Burrow compares with a head from before the commit, and stores 0 where lag is 500."""
        story = Story().heads(1000, 10_000).commit(1000, 1, 19_000)
        assert story.entries() == [(1000, 19_000, None)]

        story.heads(2000, 20_000)

        assert story.entries() == [(1000, 19_000, 900)]

    def test_a_commit_from_before_the_first_head_never_has_a_lag(self) -> None:
        story = Story().commit(1000, 1, 5_000, now_ms=30_000).heads(2000, 10_000).heads(3000, 20_000)

        assert story.entries() == [(1000, 5_000, None)]

    def test_a_commit_at_the_very_moment_of_a_head_is_measured_with_it(self) -> None:
        assert Story().heads(1500, 10_000).commit(1000, 1, 10_000).entries() == [(1000, 10_000, 500)]

    def test_lag_is_never_negative(self) -> None:
        story = Story().heads(100, 10_000).commit(500, 1, 15_000).heads(110, 20_000)

        assert story.entries() == [(500, 15_000, 0)]

    def test_a_merged_commit_is_measured_at_its_own_time_not_at_its_entrys(self) -> None:
        story = Story(Limits(10, 60_000)).heads(0, 10_000).commit(0, 1, 10_000).commit(0, 2, 19_000)
        story.heads(1000, 20_000)

        assert story.entries() == [(0, 10_000, 900)]

    def test_current_lag_is_newest_head_minus_newest_commit(self) -> None:
        story = Story().heads(100, 10_000).commit(60, 1, 11_000).heads(150, 20_000)
        shown = story.windows.group(GROUP)

        assert shown is not None
        assert shown.current_lag.tolist() == [90]


class TestTopics:
    def test_a_commit_for_a_topic_not_known_yet_waits(self) -> None:
        """D15: Burrow drops it."""
        story = Story().commit(10, 1, 5_000)
        assert story.windows.groups() == []

        story.heads(20, 6_000)

        assert story.windows.groups() == [GROUP]
        assert story.entries() == [(10, 5_000, None)]

    def test_partitions_without_commits_are_listed_beside_their_siblings(self) -> None:
        shown = Story(partitions=3).heads(100, 1).commit(10, 1, 5_000, partition=1).windows.group(GROUP)

        assert shown is not None
        assert shown.partition.tolist() == [0, 1, 2]
        assert shown.window.length.tolist() == [0, 1, 0]

    def test_windows_stay_when_a_topic_gets_more_partitions(self) -> None:
        story = Story(partitions=2).heads(100, 1).commit(10, 1, 5_000, partition=1)
        story.windows.apply_heads(head_rows({TOPIC: [100] * 5}, 6_000))
        story.commit(40, 2, 7_000, partition=4).windows.apply_heads(head_rows({TOPIC: [110] * 5}, 8_000))

        shown = story.windows.group(GROUP)
        assert shown is not None
        assert shown.window.length.tolist() == [0, 1, 0, 0, 1]
        assert story.entries(1) == [(10, 5_000, 90)]
        assert story.entries(4) == [(40, 7_000, 65)]

    def test_a_topic_that_is_gone_is_gone_everywhere(self) -> None:
        """D19, D20: with its topics the group goes too."""
        story = Story().heads(100, 1).commit(10, 1, 5_000)
        story.windows.apply_heads(head_rows({"other": [5]}, 6_000))

        assert story.windows.topics() == ["other"]
        assert story.windows.groups() == []
        assert story.windows.groups_of_topic(TOPIC) == []

    def test_a_partition_whose_end_was_never_observed_keeps_its_place(self) -> None:
        """D22: Burrow closes the gap, and the numbers move to other partitions."""
        windows = Windows(Limits())
        windows.apply_heads(head_rows({TOPIC: [7, -1, 9]}, 1))

        assert windows.topic_ends(TOPIC) == [7, -1, 9]

    def test_a_commit_for_a_partition_the_brokers_do_not_have_is_not_shown(self) -> None:
        shown = Story().heads(100, 1).commit(1, 1, 5_000).commit(1, 2, 5_000, partition=7).windows.group(GROUP)

        assert shown is not None
        assert shown.partition.tolist() == [0]


class TestRemoval:
    def test_an_offset_tombstone_removes_exactly_that_partition(self) -> None:
        """D6: Burrow ignores it, and the partition stays STOP until it expires."""
        story = Story(partitions=2).heads(100, 1).commit(10, 1, 5_000).commit(20, 2, 5_000, partition=1)
        story.commit(None, 3, 0)

        assert story.entries(0) == []
        assert [offset for offset, _, _ in story.entries(1)] == [20]

    def test_the_last_tombstone_removes_the_group(self) -> None:
        story = Story().heads(100, 1).commit(10, 1, 5_000).commit(None, 2, 0)

        assert story.windows.groups() == []

    def test_a_tombstone_of_something_unknown_is_nothing(self) -> None:
        story = Story().heads(100, 1).commit(None, 2, 0)

        assert story.windows.groups() == []

    def test_a_group_expires_by_its_newest_commit_of_any_partition(self) -> None:
        """D16: in Burrow an old commit of one partition ages the whole group."""
        story = Story(Limits(expire_group_ms=10_000), partitions=2).heads(100, 1)
        story.commit(10, 1, 20_000).commit(10, 2, 12_000, partition=1, now_ms=20_000)
        story.windows.expire(29_000)
        assert story.windows.groups() == [GROUP]

        story.windows.expire(30_001)

        assert story.windows.groups() == []

    def test_an_old_commit_of_a_living_group_stays(self) -> None:
        story = Story(Limits(expire_group_ms=10_000), partitions=2).heads(100, 1)
        story.commit(10, 1, 5_000, now_ms=20_000).commit(10, 2, 19_000, now_ms=20_000, partition=1)
        story.windows.expire(20_000)

        assert [offset for offset, _, _ in story.entries(0)] == [10]

    def test_a_group_with_old_commits_only_goes(self) -> None:
        story = Story(Limits(expire_group_ms=10_000)).heads(100, 1).commit(10, 1, 5_000, now_ms=20_000)
        story.windows.expire(20_000)

        assert story.windows.groups() == []

    def test_a_deleted_group_starts_afresh_with_its_next_commit(self) -> None:
        story = Story().heads(100, 1).commit(10, 1, 5_000).commit(20, 2, 6_000)
        assert story.windows.delete_group(GROUP)

        story.commit(30, 3, 7_000)

        assert [offset for offset, _, _ in story.entries()] == [30]

    def test_deleting_what_is_not_there_says_so(self) -> None:
        windows = Story().heads(100, 1).windows

        assert not windows.delete_group("nobody")
        assert not windows.delete_group_topic("nobody", TOPIC)

    def test_a_freed_row_is_clean_for_its_next_user(self) -> None:
        story = Story().heads(100, 1).commit(10, 1, 5_000).commit(20, 2, 6_000)
        story.windows.delete_group(GROUP)

        story.commit(30, 1, 7_000, group="next")

        assert story.entries(group="next") == [(30, 7_000, None)]


class TestOwners:
    HOST = Owner("/10.0.0.7", "app-1")

    def test_an_assignment_names_the_owner_of_each_partition(self) -> None:
        story = Story(partitions=2).heads(100, 1).commit(10, 1, 5_000)
        story.windows.apply_assignment(Assignment(GROUP, {(TOPIC, 0): self.HOST}))

        shown = story.windows.group(GROUP)
        assert shown is not None
        assert shown.owners == [self.HOST, Owner()]

    def test_an_assignment_replaces_the_whole_one_before(self) -> None:
        """D9: in Burrow a partition that was taken away keeps its old owner."""
        story = Story(partitions=2).heads(100, 1).commit(10, 1, 5_000)
        story.windows.apply_assignment(Assignment(GROUP, {(TOPIC, 0): self.HOST}))
        story.windows.apply_assignment(Assignment(GROUP, {(TOPIC, 1): self.HOST}))

        shown = story.windows.group(GROUP)
        assert shown is not None
        assert shown.owners == [Owner(), self.HOST]

    def test_a_group_with_members_but_no_commit_is_shown(self) -> None:
        """D18: Burrow lists it, and then says it is not there."""
        story = Story().heads(100, 1)
        story.windows.apply_assignment(Assignment(GROUP, {(TOPIC, 0): self.HOST}))
        story.windows.expire(10**15)

        assert story.windows.groups() == [GROUP]

    def test_a_group_that_loses_its_members_keeps_its_windows(self) -> None:
        """D4: Kafka writes the same tombstone when a group moves to the new protocol."""
        story = Story().heads(100, 1).commit(10, 1, 5_000)
        story.windows.apply_assignment(Assignment(GROUP, {(TOPIC, 0): self.HOST}))
        story.windows.apply_assignment(Assignment(GROUP, {}))

        assert [offset for offset, _, _ in story.entries()] == [10]


def test_commits_of_one_batch_are_applied_in_their_order() -> None:
    windows = Story(Limits(3)).heads(100, 1).windows
    windows.apply_commits(commit_rows([(i, i, i * 1000) for i in range(1, 8)]), 10_000)

    shown = windows.group(GROUP)
    assert shown is not None
    assert shown.window.offset[:, 0].tolist() == [5, 6, 7]


@pytest.mark.parametrize("groups", [1, 50])
def test_rows_of_many_groups_do_not_mix(groups: int) -> None:
    windows = Windows(Limits(3))
    windows.apply_heads(head_rows({TOPIC: [1000] * 4}, 1))
    for order in range(1, 5):
        for number in range(groups):
            windows.apply_commits(
                commit_rows([(number * 10 + order, order, order * 1000)], group=f"g{number}", partition=order % 4),
                5_000,
            )

    for number in range(groups):
        shown = windows.group(f"g{number}")
        assert shown is not None
        assert np.array_equal(shown.window.offset[0], [number * 10 + 4, *(number * 10 + i for i in (1, 2, 3))])


class TestPartitionsThatCannotBe:
    """A window takes memory for each partition up to the highest, so not every number is believed."""

    def test_a_partition_far_beyond_those_of_its_topic_is_not_believed(self) -> None:
        windows = Story(partitions=2).heads(10, 1).windows
        far, near = 2 + GROWN_PARTITIONS, 1 + GROWN_PARTITIONS

        assert not windows.is_believed(commit_rows([(1, 1, 1)], partition=far)).any()
        assert windows.is_believed(commit_rows([(1, 1, 1)], partition=near)).all(), "the topic may have grown"
        assert windows.is_believed(commit_rows([(1, 1, 1)], partition=far, topic="unknown")).all()

    def test_what_was_committed_beyond_a_topic_is_forgotten_once_the_topic_is_known(self) -> None:
        story = Story(partitions=2).commit(5, 1, 1, partition=70_000).commit(6, 2, 1, group="other", partition=1)
        story.commit(7, 3, 1, group="other", partition=70_000).heads(10, 2)

        assert story.windows.groups() == ["other"]
        assert story.entries(1, "other") == [(6, 1, None)]
        assert {block.length for _, _, block in story.windows.blocks()} == {2 + GROWN_PARTITIONS}

    @pytest.mark.parametrize("known", [True, False])
    def test_an_owner_far_beyond_a_topic_takes_no_memory(self, known: bool) -> None:
        story = Story(partitions=2)
        if known:
            story.heads(10, 1)
        owner = Owner("h", "c", "m")
        owners = {(TOPIC, 0): owner, (TOPIC, 99_999): owner}
        story.windows.apply_assignment(Assignment(GROUP, owners))
        story.heads(10, 2)

        shown = story.windows.group(GROUP)
        assert shown is not None
        assert shown.owners[0] == owner
        assert story.windows.used_rows <= 3 * (2 + GROWN_PARTITIONS)

    def test_owners_of_a_large_topic_are_kept_before_the_topic_is_known(self) -> None:
        story = Story(partitions=5_000)
        owner = Owner("h", "c", "m")
        story.windows.apply_assignment(Assignment(GROUP, {(TOPIC, number): owner for number in range(5_000)}))
        story.heads(10, 1)

        shown = story.windows.group(GROUP)
        assert shown is not None
        assert set(shown.owners) == {owner}
