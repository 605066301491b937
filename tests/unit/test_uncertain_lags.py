"""Lags that are known between two bounds only: what is certain of them, and what the rules make of it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.rule_windows import group_windows, parse_window
from tests.support.scenario import GROUP, Story
from warren.rules.reasons import reason
from warren.rules.rule import Rule, Settings
from warren.rules.rule_sets import judge
from warren.windows.rings import HIGHEST_BOUND, Entry


def certain(story: Story) -> list[int]:
    """Return what is certain of each lag, oldest commit first."""
    shown = story.windows.group(GROUP)
    assert shown is not None
    return [int(value) for value in shown.window.lag_at_least[: int(shown.length[0]), 0]]


def usual_lag(story: Story) -> int:
    shown = story.windows.group(GROUP)
    assert shown is not None
    return int(shown.usual_lag[0])


class TestWhatIsCertain:
    def test_records_that_came_after_the_observation_before_the_commit_are_not_certain_lag(self) -> None:
        """All ten may have come in one pulse, right after the commit."""
        story = Story().heads(100, 10_000).commit(100, 1, 11_900).heads(110, 12_500)

        assert [lag for _, _, lag in story.entries()] == [7]
        assert certain(story) == [0]

    def test_records_that_were_observed_before_the_commit_are_certain_lag_at_once(self) -> None:
        story = Story().heads(100, 10_000).commit(60, 1, 12_000)

        assert [lag for _, _, lag in story.entries()] == [None]
        assert certain(story) == [40]

    def test_records_observed_less_than_a_second_before_the_commit_may_be_on_their_way(self) -> None:
        story = Story().heads(100, 10_000).heads(120, 11_500).commit(100, 1, 12_000).heads(120, 13_000)

        assert certain(story) == [0]

    def test_an_observation_that_comes_late_makes_more_certain(self) -> None:
        story = Story().heads(100, 10_000).commit(100, 1, 14_000).heads(130, 12_000)

        assert certain(story) == [30]

    def test_nothing_is_certain_of_commits_from_before_the_first_observation(self) -> None:
        assert certain(Story().commit(10, 1, 5_000, now_ms=30_000).heads(2000, 10_000).heads(3000, 20_000)) == [0]

    def test_a_bound_that_is_cut_off_is_still_one(self) -> None:
        assert certain(Story().heads(1 << 40, 10_000).commit(0, 1, 12_000)) == [HIGHEST_BOUND]


class TestUsualLag:
    """The lag that a group leaves each time it has read to the end; a record comes every 10 s."""

    def read(self, *behind: int) -> Story:
        """Each commit leaves so many records; the end is observed before and after it."""
        story = Story().heads(1_000, 0)
        for turn, lag in enumerate(behind):
            end, at_ms = 1_000 + turn, 10_000 * turn
            story.heads(end, at_ms + 1_000).commit(end - lag, turn + 1, at_ms + 3_000).heads(end, at_ms + 6_000)
        return story

    def test_a_client_that_commits_the_last_record_is_known_by_its_first_commit(self) -> None:
        assert usual_lag(self.read(1)) == 1

    def test_more_than_one_record_has_to_be_left_three_times(self) -> None:
        assert [usual_lag(self.read(*[3] * times)) for times in (1, 2, 3)] == [0, 0, 3]

    def test_a_group_that_reaches_the_end_leaves_nothing(self) -> None:
        assert usual_lag(self.read(1, 1, 1, 0)) == 0

    def test_one_stop_short_of_the_end_is_no_habit(self) -> None:
        assert usual_lag(self.read(0, 0, 1)) == 0

    def test_a_habit_is_given_up_when_as_many_commits_speak_against_it(self) -> None:
        assert usual_lag(self.read(0, 0, 1, 1, 1)) == 1

    def test_many_records_are_no_habit(self) -> None:
        assert usual_lag(self.read(11, 11, 11, 11)) == 0

    def test_commits_of_the_same_offset_count_once(self) -> None:
        story = Story().heads(1_000, 0)
        for turn in range(5):
            story.commit(997, turn + 1, 2_000 + 2_000 * turn).heads(1_000, 3_000 + 2_000 * turn)

        assert usual_lag(story) == 0


# -- rules -----------------------------------------------------------------------------------------------------------

PULSES = "95@10/2 100@11/2 105@12/2 110@13/2"
RISING = "95@10/5 100@11/10 105@12/15 110@13/20"

CASES = [
    (PULSES, [0, 0, 0, 0], Rule.KEEPS_UP, "each commit may have been made at the end"),
    (PULSES, [2, 2, 2, 2], Rule.FALLING_BEHIND, "a lag that certainly stays, as in Burrow"),
    (PULSES, [0, 2, 0, 2], Rule.LAG_FELL, "a lag that stays is only certain where every lag is"),
    (RISING, [0, 0, 0, 1], Rule.FALLING_BEHIND, "behind at one commit, and each estimate is above the one before"),
    (RISING, [0, 0, 0, 0], Rule.KEEPS_UP, "the rise may be one of the estimates only"),
    ("95@10/5 100@11/5 105@12/9 110@13/9", [0, 0, 0, 6], Rule.FALLING_BEHIND, "6 are certain, after an estimate of 5"),
    ("95@10/5 100@11/5 105@12/9 110@13/9", [0, 0, 0, 5], Rule.LAG_FELL, "5 are certain, after an estimate of 5"),
    ("95@10/5 100@11/10 105@12/9 110@13/20", [4, 4, 4, 3], Rule.LAG_FELL, "both have fallen"),
    ("95@10/5 100@11/10 105@12/9 110@13/20", [3, 4, 4, 4], Rule.FALLING_BEHIND, "what is certain never fell"),
    ("95@10/null 100@11/null 105@12/null 110@13/null", [9, 8, 8, 8], Rule.LAG_FELL, "known estimates show a rise"),
    ("95@10/null 100@11/5 105@12/null 110@13/9", [0, 0, 1, 8], Rule.LAG_FELL, "two estimates are no rise"),
    ("110@10/2 110@11/2 110@12/2 110@13/2", [0, 0, 0, 0], Rule.KEEPS_UP, "nothing to read, as far as is certain"),
    ("110@10/2 110@11/2 110@12/2 110@13/2", [0, 0, 0, 1], Rule.STALLED, "it did not read what was there"),
    ("110@10/2 110@11/2 110@12/0 110@13/2", [0, 0, 0, 1], Rule.CAUGHT_UP_LATELY, "the estimate says so"),
]


@pytest.mark.parametrize(("window", "at_least", "rule", "why"), CASES, ids=[why for *_, why in CASES])
def test_burrows_rules_go_by_what_is_certain(window: str, at_least: list[int], rule: Rule, why: str) -> None:
    windows = group_windows([parse_window(window)], [[120]], intervals=4, certain=[at_least])

    assert judge("burrow", windows, Settings(), now_ms=13_500).rule.tolist() == [rule]


def test_estimates_show_a_rise_over_a_whole_window_only() -> None:
    windows = group_windows([parse_window(RISING)], [[130]], intervals=5, certain=[[0, 0, 0, 1]])

    assert judge("burrow", windows, Settings(), now_ms=13_500).rule.tolist() == [Rule.LAG_FELL]


@pytest.mark.parametrize(
    ("end", "now_s", "rule"),
    [(111, 900, Rule.USUAL_LAG), (112, 14, Rule.KEEPS_UP), (112, 900, Rule.SILENT), (200, 900, Rule.SILENT)],
)
def test_warrens_rules_allow_the_lag_that_a_group_always_leaves(end: int, now_s: int, rule: Rule) -> None:
    entries = parse_window("110@10/1 110@11/1 110@12/1 110@13/1")
    windows = group_windows([entries], [[end]], intervals=4, certain=[[1, 1, 1, 1]], usual_lag=1)
    since_ms = np.array([14_000])

    assert judge("warren", windows, Settings(), now_ms=now_s * 1000, unread_since_ms=since_ms).rule.tolist() == [rule]


@pytest.mark.parametrize(
    ("lag", "words"),
    [
        (1, "always 1 behind: this client commits the last record it processed"),
        (5, "always 5 behind: the group leaves this lag each time it reads to the end"),
    ],
)
def test_the_reason_names_what_the_client_does(lag: int, words: str) -> None:
    assert reason(Rule.USUAL_LAG, [Entry(10, 0, 0, lag, lag)], lag, Settings(), 0) == words


# -- silence ---------------------------------------------------------------------------------------------------------

SILENCES = [
    ("10@95/null", 100, 159, Rule.KEEPS_UP, "one commit from before Warren watched: most commit within a minute"),
    ("10@95/null", 100, 161, Rule.STOPPED, "a minute of silence since Warren watches"),
    ("10@5/null", 100, 101, Rule.KEEPS_UP, "long ago, but it may have been at the end until now"),
    ("10@101/5", 20, 103, Rule.STOPPED, "one commit that was made while there was more: Burrow's rule"),
    ("10@85/null 12@90/null", 100, 110, Rule.KEEPS_UP, "two commits 5 s apart: 10 s are no silence yet"),
    ("10@85/null 12@90/null", 100, 111, Rule.STOPPED, "more than twice their distance"),
    ("10@80/0 12@85/0 14@90/0", 195, 200, Rule.CAUGHT_UP_LATELY, "a record came 5 s ago, and commits are 5 s apart"),
    ("10@80/0 12@85/0 14@90/0", 185, 200, Rule.STOPPED, "a record came 15 s ago"),
    ("10@80/5 12@85/5 14@90/5", 20, 101, Rule.STOPPED, "unread all the time, silent for longer than the window"),
]


@pytest.mark.parametrize(
    ("window", "unread_since_s", "now_s", "rule", "why"), SILENCES, ids=[why for *_, why in SILENCES]
)
def test_silence_counts_where_there_was_time_to_commit(
    window: str, unread_since_s: int, now_s: int, rule: Rule, why: str
) -> None:
    entries = parse_window(window)
    windows = group_windows([entries], [[120]], certain=[[0] * len(entries)])
    since_ms = np.array([unread_since_s * 1000])

    assert judge("burrow", windows, Settings(), now_ms=now_s * 1000, unread_since_ms=since_ms).rule.tolist() == [rule]
