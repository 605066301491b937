"""Warren's rules beside Burrow's: histories that they judge alike, and those that Burrow gets wrong."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.rule_windows import group_windows, parse_window
from warren.model import Status
from warren.rules import warren
from warren.rules.reasons import reason
from warren.rules.rule import STATUS_OF_RULE, Rule, Settings
from warren.rules.rule_sets import judge
from warren.windows.head_history import HeadHistory
from warren.windows.rings import Entry

HOUR_S = 3600
DAY_S = 24 * HOUR_S


def status(
    rules: str,
    window: str,
    heads: str,
    now_s: float,
    allowed: int = 0,
    unread_since_s: float = -1,
    clock_skew_s: int = 0,
) -> str:
    """What a rule set says about one partition."""
    verdicts = judge(
        rules,
        group_windows([parse_window(window)], [[int(end) for end in heads.split()]]),
        Settings(allowed),
        now_ms=int(now_s * 1000),
        unread_since_ms=np.array([int(unread_since_s * 1000)]),
        clock_skew_ms=clock_skew_s * 1000,
    )
    return Status(int(verdicts.status[0])).name


def warrens_rule(window: str, heads: str, now_s: int, **more: int) -> Rule:
    windows = group_windows([parse_window(window)], [[int(end) for end in heads.split()]])
    unread_since_ms = np.array([more.get("unread_since_s", -1) * 1000])
    verdicts = judge("warren", windows, Settings(), now_ms=now_s * 1000, unread_since_ms=unread_since_ms)
    return Rule(int(verdicts.rule[0]))


# window as offset@second/lag, heads remembered, now in s, allowed lag, Burrow's status, Warren's status, why
HISTORIES = [
    ("100@10/0 200@20/0 300@30/0", "300", 35, 0, "OK", "OK", "no lag now"),
    ("100@10/5 110@20/5", "110", 1000, 0, "OK", "OK", "silent for long, but no lag now"),
    ("100@10/10 150@20/50 200@30/100 250@40/150", "300 400", 45, 0, "WARN", "WARN", "every lag is above the last"),
    ("100@10/0 150@20/50 200@30/100 250@40/150", "300 400", 45, 0, "OK", "WARN", "a zero is one lag of four"),
    ("100@10/50 150@20/49 200@30/500 250@40/5000", "5250", 45, 0, "OK", "WARN", "a dip is one pair of six"),
    ("100@10/90 150@20/0 200@30/80 250@40/0 300@50/70", "400", 55, 0, "OK", "OK", "up and down is no trend"),
    ("100@10/90 150@20/70 200@30/80 250@40/60 300@50/70", "400", 55, 0, "OK", "OK", "it falls more than it rises"),
    ("100@10/10 150@20/90 200@30/99 250@40/100 300@50/0", "400", 55, 0, "OK", "OK", "it was at the end just now"),
    ("100@10/50 150@20/50 200@30/50 250@40/50", "300", 45, 0, "WARN", "OK", "a lag that stays is one that keeps up"),
    ("100@10/5 150@20/8 200@30/9 250@40/12", "300", 45, 0, "WARN", "OK", "12 is less than the 50 it reads in one go"),
    (
        "100@10/5 150@20/25 200@30/40 250@40/51",
        "300",
        45,
        0,
        "WARN",
        "WARN",
        "51 is more than the 50 it reads in one go",
    ),
    ("100@10/50 100@20/60 100@30/60 100@40/70", "170", 45, 0, "STALL", "STALL", "the same offset again and again"),
    (
        "100@10/0 100@20/60 100@30/60 100@40/70",
        "170",
        45,
        0,
        "OK",
        "WARN",
        "it was at the end, and has not moved since",
    ),
    ("100@10/0 100@20/0 100@30/0 100@40/0", "170", 45, 0, "OK", "OK", "records came just now"),
    ("100@10/5 110@20/5 120@30/4 130@40/5", "150", 100, 0, "STOP", "OK", "60 s can be a member that is replaced"),
    ("100@10/5 110@20/5 120@30/4 130@40/5", "150", 101, 0, "STOP", "STOP", "61 s is more than 60 s and 3 * 10 s"),
    ("100@0/5 110@60/5 120@120/4 130@180/5", "150", 360, 0, "OK", "OK", "180 s is 3 * 60 s"),
    ("100@0/5 110@60/5 120@120/4 130@180/5", "150", 361, 0, "STOP", "STOP", "181 s is more than 3 * 60 s"),
    ("100@10/5 110@20/5 120@30/5 130@40/5", "130 150", 200, 0, "WARN", "OK", "was at a remembered end, and lag stays"),
    ("300@10/0 310@20/0 0@30/310 50@40/270", "320", 45, 0, "REWIND", "REWIND", "went back by 310, made up for 50"),
    ("310@10/5 300@20/15 310@30/6", "320", 35, 0, "OK", "OK", "the old place was reached again"),
    ("300@10/5 310@20/5", "400", 25, 0, "WARN", "OK", "two lags are no trend"),
    ("310@10/5 300@20/15", "400", 25, 0, "REWIND", "REWIND", "two commits are enough to have gone back"),
    ("100@10/50 100@20/50 100@30/50", "150", 35, 50, "OK", "OK", "50 is allowed"),
    ("100@10/50 110@20/60 120@30/70", "210", 35, 75, "OK", "OK", "90 is not allowed, but it had never more than 75"),
]


@pytest.mark.parametrize(("window", "heads", "now_s", "allowed", "burrows", "warrens", "why"), HISTORIES)
def test_histories(window: str, heads: str, now_s: int, allowed: int, burrows: str, warrens: str, why: str) -> None:
    assert status("burrow", window, heads, now_s, allowed) == burrows, why
    assert status("warren", window, heads, now_s, allowed) == warrens, why


def test_d26_a_first_commit_is_not_a_stop_a_second_later() -> None:
    assert status("burrow", "100@10/5", "105", 11) == "STOP"
    assert status("warren", "100@10/5", "105", 11) == "OK"
    assert warrens_rule("100@10/5", "105", 11) is Rule.TOO_FEW_COMMITS


def test_d26_a_first_commit_that_stays_the_only_one_is_a_stop_in_the_end() -> None:
    assert status("warren", "100@10/5", "105", 310) == "OK"
    assert status("warren", "100@10/5", "105", 311) == "STOP"


@pytest.mark.parametrize(
    "lags",
    [
        [10, 20, 30, 0, 50, 60, 70, 80, 90, 99],
        [0, 20, 30, 40, 50, 60, 70, 65, 90, 99],
        [10, 20, 30, 900, 50, 60, 70, 80],
    ],
)
def test_d27_one_zero_one_dip_or_one_spike_does_not_hide_that_the_lag_climbs(lags: list[int]) -> None:
    window = " ".join(f"{100 + i}@{10 * i}/{lag}" for i, lag in enumerate(lags))

    assert status("burrow", window, "1000", 105) == "OK"
    assert status("warren", window, "1000", 105) == "WARN"


def test_d28_a_step_back_after_one_that_was_made_up_for_is_seen() -> None:
    window = "300@10/5 290@20/20 310@30/10 100@40/230"

    assert status("burrow", window, "330", 45) == "OK"
    assert status("warren", window, "330", 45) == "REWIND"


def test_d29_a_long_pause_in_the_window_does_not_put_off_a_stop() -> None:
    resumed = 2 * DAY_S
    window = f"100@0/0 110@{resumed}/900 120@{resumed + 5}/890 130@{resumed + 10}/880"

    assert status("burrow", window, "1010", resumed + HOUR_S) == "OK"
    assert status("warren", window, "1010", resumed + HOUR_S) == "STOP"
    assert status("warren", window, "1010", resumed + 70) == "OK", "60 s of silence are not enough"


def test_d30_a_consumer_without_work_has_not_stopped() -> None:
    """A record an hour for a consumer that commits what it has read: the last one came 2 s ago."""
    window = " ".join(f"{n}@{n * HOUR_S + 2}/0" for n in range(1, 4))
    now_s = 8 * HOUR_S + 2
    came_late = {"window": window, "heads": "4", "now_s": now_s}

    assert status("burrow", **came_late) == "STOP"
    assert status("warren", **came_late) == "STOP", "not better without a history"
    assert status("warren", **came_late, unread_since_s=8 * HOUR_S) == "OK"


def test_d30_silence_counts_from_when_there_was_work() -> None:
    window, heads = "100@0/0 110@5/0 120@10/0 130@15/0", "130 131"

    assert status("warren", window, heads, HOUR_S, unread_since_s=HOUR_S - 60) == "OK"
    assert status("warren", window, heads, HOUR_S, unread_since_s=HOUR_S - 61) == "STOP", "with 130 still remembered"


def test_d30_what_a_history_says_can_be_passed_on() -> None:
    history = HeadHistory()
    history.grow(1)
    history.clear(slice(0, 1))
    for end, at_s in [(100, 1000), (130, 1010), (130, 5000), (131, 5010)]:
        history.observe(np.array([0]), np.array([end]), at_s * 1000)
    windows = group_windows([parse_window("100@1000/0 110@1003/0 120@1006/0 130@1010/0")], [[130, 131]])

    def judged_at(now_s: int) -> Status:
        since_ms = history.passed_since(np.array([0]), warren.first_too_many(windows, Settings()))
        verdicts = judge("warren", windows, Settings(), now_ms=now_s * 1000, unread_since_ms=since_ms)
        return Status(int(verdicts.status[0]))

    assert judged_at(5070) is Status.OK
    assert judged_at(5071) is Status.STOP


def test_d31_unknown_lags_are_no_evidence() -> None:
    window = "100@10/null 150@20/null 200@30/null"

    assert status("burrow", window, "300", 35) == "WARN"
    assert status("warren", window, "300", 35) == "OK"
    assert warrens_rule(window, "300", 35) is Rule.UNKNOWN_LAG
    assert status("warren", "100@10/null 100@20/null 100@30/null", "300", 35) == "OK", "nor of a stall"


def test_d31_what_needs_no_lag_is_seen_without() -> None:
    assert status("warren", "100@10/null 150@20/null 120@30/null", "300", 35) == "REWIND"
    assert status("warren", "100@10/null 150@20/null 200@30/null", "300", 95) == "STOP"


def test_d32_the_brokers_clock_says_how_old_a_commit_is() -> None:
    window, heads = "100@0/5 110@10/5 120@20/4 130@30/5", "150"

    assert status("burrow", window, heads, 92) == "STOP"
    assert status("warren", window, heads, 92) == "STOP"
    assert status("warren", window, heads, 92, clock_skew_s=-60) == "OK", "our clock is a minute ahead"
    assert status("warren", window, heads, 32, clock_skew_s=60) == "STOP", "our clock is a minute behind"


def test_d32_a_wrong_clock_of_ours_does_not_touch_what_only_it_has_measured() -> None:
    window, heads = "100@0/0 110@10/0 120@20/0 130@30/0", "150"
    in_step = [status("warren", window, heads, now_s, unread_since_s=500) for now_s in (560, 561)]
    ahead = [status("warren", window, heads, now_s, unread_since_s=560, clock_skew_s=-60) for now_s in (620, 621)]

    assert in_step == ahead == ["OK", "STOP"]


def test_d35_the_allowed_lag_is_allowed_in_having_been_at_the_end() -> None:
    """Always one record behind, which is allowed; then more came than are allowed."""
    window, heads = "100@10/1 110@20/1 120@30/1", "121 121 180"

    assert status("burrow", window, heads, 100, allowed=50) == "STOP"
    assert status("warren", window, heads, 100, allowed=50) == "OK"
    assert status("warren", window, heads, 100, allowed=0) == "STOP"


def test_a_window_that_is_not_complete_enough_is_not_judged() -> None:
    windows = group_windows([parse_window("100@10/5 110@20/5")], [[500]])

    rules = [int(judge("warren", windows, Settings(0, least), now_ms=10**9).rule[0]) for least in (0.2, 0.21)]
    assert rules == [Rule.SILENT, Rule.INCOMPLETE]


def test_windows_of_one_commit_can_be_judged() -> None:
    windows = group_windows([[(100, 1000, 5)], []], [[105], [7]], intervals=1)

    assert judge("warren", windows, Settings(), now_ms=10**9).status.tolist() == [Status.STOP, Status.OK]


@pytest.mark.parametrize(
    ("window", "heads", "now_s", "rule", "words"),
    [
        ("1@0/9 2@5/9 3@10/9", "12", 422, Rule.SILENT, "no commit for 412 s, usually one every 5 s, lag 9"),
        ("1@10/9", "12", 422, Rule.SILENT, "no commit for 412 s after only 1, lag 11"),
        (
            "300@10/5 290@20/20 310@30/10 100@40/230",
            "330",
            45,
            Rule.WENT_BACK,
            "went back from offset 310 to 100 and has not reached it again",
        ),
        ("1@10/9", "12", 25, Rule.TOO_FEW_COMMITS, "lag 11, but only 1 of at least 3 commits seen to tell a trend"),
        (
            "1@10/null 2@20/null 3@30/4",
            "12",
            35,
            Rule.UNKNOWN_LAG,
            "lag 9, but known at only 1 of 3 commits, too few to tell a trend",
        ),
        (
            "1@10/9 2@20/1000 3@30/2000",
            "2500",
            35,
            Rule.CLIMBING,
            "lag climbs over the last 3 commits: from 9 to 2,000, 2,497 now",
        ),
        (
            "1@10/9 2@20/9 3@30/8",
            "12",
            35,
            Rule.NOT_CLIMBING,
            "lag 9, but it does not climb: 9 then, 8 at the last commit",
        ),
    ],
)
def test_each_rule_says_why(window: str, heads: str, now_s: int, rule: Rule, words: str) -> None:
    entries = [Entry(offset, ms, ms, lag, 0) for offset, ms, lag in parse_window(window)]
    lag = int(heads) - entries[-1].offset

    assert warrens_rule(window, heads, now_s) is rule
    assert reason(rule, entries, lag, Settings(), now_s * 1000) == words


@pytest.mark.parametrize("rule", [rule for rule in Rule if rule in warren.OWN_RULES or rule.name.startswith("OVER")])
def test_no_rule_is_without_words_of_its_own(rule: Rule) -> None:
    entries = [Entry(offset, ms, ms, lag, 0) for offset, ms, lag in parse_window("5@10/9 7@20/9 3@30/8")]
    words = reason(rule, entries, 9, Settings(), 35_000)

    assert words != reason(Rule.LAG_FELL, entries, 9, Settings(), 35_000)
    assert "9" in words or STATUS_OF_RULE[rule] is Status.REWIND
