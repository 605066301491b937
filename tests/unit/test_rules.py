"""Rules: Burrow's worked windows, each with the reason why it is judged so."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import model
from tests.support.rule_windows import group_windows, parse_window
from warren.model import Status
from warren.rules.insight import LogFacts
from warren.rules.rule import Settings
from warren.rules.rule_sets import RULE_SETS, judge
from warren.rules.verdict import GroupFacts, GroupVerdict, judge_group, shortest_float
from warren.windows.views import GroupWindows

# window as offset@second/lag, oldest first; heads remembered, the last is current; now in s; allowed lag; status; why
WORKED = [
    ("100@10/0 200@20/0 300@30/0", "300", 35, 0, "OK", "no lag now"),
    ("100@10/5 110@20/5", "110", 1000, 0, "OK", "silent for long, but no lag now"),
    ("100@10/0 150@20/50 200@30/100 250@40/150", "300 400", 45, 0, "OK", "one zero in the window, though lag grows"),
    ("100@10/10 150@20/50 200@30/100 250@40/150", "300 400", 45, 0, "WARN", "lag never fell"),
    ("100@10/50 150@20/50 200@30/50 250@40/50", "300", 45, 0, "WARN", "a lag that stays is one that never fell"),
    ("100@10/50 150@20/49 200@30/500 250@40/5000", "5250", 45, 0, "OK", "a single dip is enough"),
    ("100@10/50 100@20/60 100@30/60 100@40/70", "170", 45, 0, "STALL", "the same offset again and again"),
    ("100@10/5 110@20/5 120@30/4 130@40/5", "150", 70, 0, "OK", "30 s is not longer than 30 s"),
    ("100@10/5 110@20/5 120@30/4 130@40/5", "150", 71, 0, "STOP", "31 s is longer than 30 s"),
    ("100@10/5 110@20/5 120@30/5 130@40/0", "130 130 150", 100, 0, "OK", "was at a remembered end; a zero"),
    ("100@10/5 110@20/5 120@30/5 130@40/5", "130 150", 100, 0, "WARN", "not STOP as above, but no zero"),
    ("100@10/0 110@20/0 120@30/0", "121 130", 60, 0, "STOP", "zeros do not protect from silence"),
    ("100@10/5", "105", 11, 0, "STOP", "one commit spans 0 s, 1 s is longer"),
    ("100@10/5", "105", 10, 0, "STALL", "not silent within the same second"),
    ("300@10/0 310@20/0 0@30/310 50@40/270", "320", 45, 0, "REWIND", "asked before the zeros"),
    ("310@10/5 300@20/15 310@30/6", "320", 35, 0, "OK", "the old place was reached again; lag fell"),
    ("300@10/5 310@20/5 305@30/15 312@40/20", "332", 45, 0, "WARN", "reached again, but lag never fell"),
    ("300@10/5 290@20/20 310@30/10 100@40/230", "330", 45, 0, "OK", "only the first step back is looked at"),
    ("300@10/5 310@20/5 100@30/200", "320", 60, 0, "STOP", "silence is asked before the step back"),
    ("100@10/null 150@20/null 200@30/null", "300", 35, 0, "WARN", "there are no lags that could fall"),
    ("100@10/50 100@20/50 100@30/50", "150", 35, 50, "OK", "50 is allowed"),
    ("100@10/50 100@20/60 100@30/70", "170", 35, 50, "OK", "it was at the allowed lag in the window"),
    ("100@10/5 110@20/5", "160 170", 500, 50, "STOP", "60 is more than allowed"),
]


def judged(windows: GroupWindows, now_ms: int) -> GroupVerdict:
    unknown, unknown_rate = np.full(len(windows.head), -1), np.full(len(windows.head), -1.0)
    log = LogFacts(unknown, unknown, unknown, unknown_rate, unknown_rate)
    return judge_group("g", GroupFacts(windows, log, dict.fromkeys(RULE_SETS, unknown)), Settings(), now_ms=now_ms)


@pytest.mark.parametrize(("window", "heads", "now_s", "allowed", "status", "why"), WORKED)
def test_worked_windows(window: str, heads: str, now_s: int, allowed: int, status: str, why: str) -> None:
    entries, ends = parse_window(window), [int(end) for end in heads.split()]
    verdicts = judge("burrow", group_windows([entries], [ends]), Settings(allowed), now_ms=now_s * 1000)

    assert Status(int(verdicts.status[0])).name == status, why
    assert model.judge(entries, ends, now_ms=now_s * 1000, intervals=10, allowed_lag=allowed) == status, why


@pytest.mark.parametrize(("minimum", "status"), [(0.0, "STOP"), (0.2, "STOP"), (0.21, "OK")])
def test_a_window_that_is_not_complete_enough_is_not_judged(minimum: float, status: str) -> None:
    windows = group_windows([parse_window("100@10/5 110@20/5")], [[500]])

    assert Status(int(judge("burrow", windows, Settings(0, minimum), now_ms=10**9).status[0])).name == status


def test_a_group_is_as_bad_as_its_worst_partition() -> None:
    good, late, stuck = "90@10/10 100@20/0", "10@10/10 20@20/20", "10@10/10 10@20/20"
    windows = [parse_window(window) for window in (good, late, stuck)]
    verdict = judged(group_windows(windows, [[100], [90], [80]]), 25_000)

    assert [one.status.name for one in verdict.partitions] == ["OK", "WARN", "STALL"]
    assert verdict.status is Status.ERR
    assert verdict.total_lag == 140
    assert verdict.max_lag is verdict.partitions[1] or verdict.max_lag is verdict.partitions[2]
    assert verdict.reason.startswith("orders 2: the last 2 commits are all of offset 10")


def test_max_lag_is_the_first_partition_with_the_highest_lag_even_if_it_is_0() -> None:
    verdict = judged(group_windows([[], []], [[5], [5]]), 0)

    assert verdict.max_lag is verdict.partitions[0]
    assert verdict.complete == 0


def test_complete_is_the_share_of_partitions_with_a_full_window() -> None:
    full = [(i, i * 1000, 0) for i in range(10)]
    verdict = judged(group_windows([full, full[:3], full], [[9]] * 3), 10_000)

    assert [one.complete for one in verdict.partitions] == [1.0, 0.3, 1.0]
    assert verdict.complete == 0.6666667


@pytest.mark.parametrize(
    ("window", "heads", "now_s", "reason"),
    [
        ("100@10/5 110@20/5", [500], 450, "no commit for 430 s, window spans 10 s, lag 390"),
        ("100@10/5 110@20/5", [110], 25, "caught up"),
        ("300@10/0 310@20/0 0@30/310", [320], 35, "went back from offset 310 to 0 and has not reached it again"),
        ("1000@10/5 1000@20/9", [1009], 25, "the last 2 commits are all of offset 1,000, lag 9"),
        ("1@10/5 2@20/9", [12], 25, "lag did not fall in 2 commits: 5 then, 9 at the last commit, 10 now"),
        ("1@10/null 2@20/null", [12], 25, "lag 10, and no earlier lag is known to compare it with"),
        ("1@10/0 2@20/9", [12], 25, "lag 10, but caught up within the last 2 commits"),
        ("1@10/9 2@20/8", [12], 25, "lag 10, and it fell within the last 2 commits"),
        ("1@10/9", [], 25, "the end of this partition is not known"),
    ],
)
def test_each_verdict_says_why(window: str, heads: list[int], now_s: int, reason: str) -> None:
    verdict = judged(group_windows([parse_window(window)], [heads]), now_s * 1000)

    assert verdict.partitions[0].reason == reason


@pytest.mark.parametrize(("part", "whole", "text"), [(1, 3, "0.33333334"), (2, 3, "0.6666667"), (7, 10, "0.7")])
def test_shares_print_as_short_as_a_single_can(part: int, whole: int, text: str) -> None:
    assert str(shortest_float(np.float32(part) / np.float32(whole))) == text
