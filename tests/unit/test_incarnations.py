"""Topics that were deleted and made again between two looks: another id says so (D23)."""

from __future__ import annotations

import numpy as np

from tests.support.scenario import GROUP, TOPIC, Story, commit_table, head_rows, head_table
from tests.support.snapshot_files import CONSUMERS, saved_and_restored
from warren.clusters.state import ClusterState
from warren.rules.rule import Settings
from warren.windows.columns import UNKNOWN
from warren.windows.labels import Owner
from warren.windows.store import Assignment, Limits

OLD, NEW = {TOPIC: "old"}, {TOPIC: "new"}
SOMEBODY = Owner("/10.0.0.7", "app-1")


def seen(story: Story, ends: list[int], at_ms: int, topic_ids: dict[str, str]) -> Story:
    story.windows.apply_heads(head_rows({TOPIC: ends}, at_ms, topic_ids=topic_ids))
    return story


def recreated(ends: list[int]) -> Story:
    """Two partitions with a commit each before the old topic was last seen, and one after it; then it is new."""
    story = seen(Story(), [100, 100], 1_000, OLD).commit(60, 1, 1_500).commit(70, 2, 1_500, partition=1)
    seen(story, [100, 100], 2_000, OLD).commit(3, 3, 2_500)
    return seen(story, ends, 3_000, NEW)


def offsets(story: Story, partition: int = 0) -> list[int]:
    return [offset for offset, _, _ in story.entries(partition)]


def test_commits_to_the_old_topic_are_forgotten_and_those_since_it_was_last_seen_stay() -> None:
    """In Burrow the old commits are beyond the new end, so lag is 0 and all is well."""
    story = recreated([5, 5])

    assert offsets(story) == [3]
    assert offsets(story, 1) == []


def test_a_commit_at_the_very_moment_when_the_old_topic_was_seen_is_of_the_old_one() -> None:
    story = seen(Story(), [100], 1_000, OLD).commit(60, 1, 1_000).commit(61, 2, 1_001)
    seen(story, [5], 2_000, NEW)

    assert offsets(story) == [61]


def test_what_was_committed_before_an_old_commit_is_old_whatever_its_time_says() -> None:
    story = seen(Story(), [100], 1_000, OLD).commit(60, 1, 5_000).commit(61, 2, 900).commit(1, 3, 1_500)
    seen(story, [5], 2_000, NEW)

    assert offsets(story) == [1]


def test_by_the_brokers_clock_a_commit_may_be_earlier_than_it_says() -> None:
    story = seen(Story(), [100], 1_000, OLD)
    story.windows.clock_skew_ms = 500
    story.commit(60, 1, 1_500).commit(1, 2, 1_501)
    seen(story, [5], 2_000, NEW)

    assert offsets(story) == [1]


def test_a_merged_commit_that_still_waits_counts_by_its_own_time() -> None:
    story = seen(Story(Limits(10, 60_000)), [100], 1_000, OLD).commit(60, 1, 900).commit(1, 2, 1_500)
    seen(story, [5], 2_000, NEW)

    assert offsets(story) == [1]


def test_the_lags_of_commits_that_stay_are_worked_out_against_the_new_topic() -> None:
    story = seen(Story(), [100], 1_000, OLD).commit(90, 1, 1_500).commit(2, 2, 9_000)
    seen(story, [100], 2_000, {})
    assert story.entries() == [(90, 1_500, 10), (2, 9_000, None)]

    seen(story, [0], 8_000, NEW)
    assert story.entries() == [(90, 1_500, None), (2, 9_000, None)]
    seen(story, [20], 10_000, NEW)

    assert story.entries() == [(90, 1_500, None), (2, 9_000, 8)]


def test_a_window_that_lost_its_old_commits_goes_on_filling() -> None:
    story = seen(Story(Limits(3)), [100], 1_000, OLD)
    for order, at_ms in enumerate([500, 600, 700, 1_100, 1_200]):
        story.commit(order, order, at_ms)
    seen(story, [5], 2_000, NEW)
    assert offsets(story) == [3, 4]

    story.commit(5, 5, 2_100).commit(6, 6, 2_200)

    assert offsets(story) == [4, 5, 6]


def test_where_the_old_topic_ended_is_forgotten() -> None:
    heads = recreated([5, -1]).windows.heads
    rows = heads.topics[TOPIC].row_numbers()

    assert heads.current(rows).tolist() == [5, UNKNOWN]
    assert heads.lowest(rows).tolist() == [5, UNKNOWN]
    assert heads.log_start_of(rows).tolist() == [0, 0]
    assert heads.history.oldest_ms(rows).tolist() == [3_000, UNKNOWN]
    assert heads.log_start_history.oldest_ms(rows).tolist() == [3_000, 3_000]


def test_with_fewer_partitions_the_rows_beyond_go_with_their_owners() -> None:
    story = seen(Story(), [100] * 3, 1_000, OLD).commit(60, 1, 1_500, partition=2).commit(3, 2, 1_500)
    story.windows.apply_assignment(Assignment(GROUP, {(TOPIC, 0): SOMEBODY, (TOPIC, 2): SOMEBODY}))
    seen(story, [5], 2_000, NEW)
    shown = story.windows.group(GROUP)

    assert story.windows.topic_ends(TOPIC) == [5]
    assert shown is not None
    assert shown.owners == [SOMEBODY]

    seen(story, [5, 5, 5], 3_000, NEW)
    shown = story.windows.group(GROUP)

    assert shown is not None
    assert shown.owners == [SOMEBODY, Owner(), Owner()]
    assert shown.window.length.tolist() == [1, 0, 0]


def test_with_more_partitions_all_are_shown() -> None:
    story = recreated([5, 5, 5, 5])

    assert story.windows.topic_ends(TOPIC) == [5] * 4
    assert [offsets(story, partition) for partition in range(4)] == [[3], [], [], []]


def test_a_group_that_had_nothing_but_old_commits_goes() -> None:
    story = seen(Story(), [100], 1_000, OLD).commit(60, 1, 900)
    seen(story, [5], 2_000, NEW)

    assert story.windows.groups() == []
    assert story.windows.groups_of_topic(TOPIC) == []


def test_a_group_that_owns_partitions_stays_without_its_old_commits() -> None:
    story = seen(Story(), [100], 1_000, OLD).commit(60, 1, 900)
    story.windows.apply_assignment(Assignment(GROUP, {(TOPIC, 0): SOMEBODY}))
    seen(story, [5], 2_000, NEW)

    assert story.windows.groups() == [GROUP]
    assert offsets(story) == []


def test_other_topics_and_groups_that_only_read_those_are_left_alone() -> None:
    story = Story()
    ids = {TOPIC: "old", "other": "same"}
    story.windows.apply_heads(head_rows({TOPIC: [100], "other": [100]}, 1_000, topic_ids=ids))
    story.commit(60, 1, 900, topic="other", group="other")
    story.windows.apply_heads(head_rows({TOPIC: [5], "other": [100]}, 2_000, topic_ids={**ids, TOPIC: "new"}))

    assert [offset for offset, _, _ in story.entries(group="other")] == [60]
    assert story.windows.topic_ends("other") == [100]


def test_an_id_that_is_not_told_says_nothing() -> None:
    story = seen(Story(), [100], 1_000, {}).commit(60, 1, 900)
    for at_ms, topic_ids in ((2_000, OLD), (3_000, {}), (4_000, OLD)):
        seen(story, [100], at_ms, topic_ids)

    assert offsets(story) == [60]
    assert story.windows.heads.topic_ids == OLD
    assert story.windows.heads.id_seen_ms == {TOPIC: 4_000}


def test_an_id_that_was_not_told_for_a_while_was_last_seen_before() -> None:
    story = seen(Story(), [100], 1_000, OLD)
    seen(story, [100], 2_000, {}).commit(60, 1, 1_500)
    seen(story, [5], 3_000, NEW)

    assert offsets(story) == [60]


def test_a_topic_that_was_seen_to_be_gone_has_no_id() -> None:
    story = seen(Story(), [100], 1_000, OLD)
    story.windows.apply_heads(head_rows({"other": [1]}, 2_000))

    assert story.windows.heads.topic_ids == {}
    assert story.windows.heads.id_seen_ms == {}


def test_what_was_worked_out_about_the_old_rows_does_not_hold() -> None:
    story = seen(Story(), [100], 1_000, OLD).commit(60, 1, 1_500)
    before = story.windows.layout
    seen(story, [5], 2_000, NEW)

    assert story.windows.layout != before


def test_a_topic_recreated_while_warren_was_down_is_noticed_with_the_first_observation() -> None:
    state = ClusterState("x", Limits(), Settings(), CONSUMERS)
    state.apply_head_rows(head_table({TOPIC: [100]}, 2_000, **OLD), now_ms=2_000)
    commits = [(GROUP, TOPIC, 0, 60, 1_500), (GROUP, TOPIC, 0, 3, 2_500)]
    state.apply_commit_rows("c", commit_table(*commits), now_ms=3_000)
    state = saved_and_restored(state, Limits())
    state.apply_head_rows(head_table({TOPIC: [5]}, 9_000, **NEW), now_ms=9_000)
    verdict = state.judge(GROUP, now_ms=9_000)

    assert verdict is not None
    assert [entry.offset for entry in verdict.partitions[0].entries] == [3]


def test_leaders_and_what_is_stable_are_not_kept_over_a_restart() -> None:
    state = ClusterState("x", Limits(), Settings(), CONSUMERS)
    rows = head_rows({TOPIC: [9, 9]}, 1, last_stable=np.array([3, 3]), has_leader=np.array([True, False]))
    state._windows.apply_heads(rows)
    heads = saved_and_restored(state, Limits())._windows.heads
    at = heads.topics[TOPIC].row_numbers()

    assert heads.has_leader_of(at).tolist() == [True, True]
    assert heads.last_stable_of(at).tolist() == [UNKNOWN, UNKNOWN]
    assert heads.held_since_of(at).tolist() == [0, 0]
