"""Insight: what is said beside the status, and what thresholds may change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.rule_windows import group_windows, parse_window
from warren.model import Status
from warren.rules.insight import Insight, LogFacts, Threshold, apply_thresholds, first_unread, insight
from warren.rules.rule import Rule, Settings
from warren.rules.rule_sets import judge
from warren.rules.verdict import reason
from warren.windows.head_history import HeadHistory
from warren.windows.rings import Entry
from warren.windows.views import GroupWindows

STEADY = "100@10/20 110@20/20 120@30/20 130@40/20"
UNKNOWN = -1


def facts(**known: float) -> LogFacts:
    """Of one partition; what is not given is not known."""
    values = {field: np.array([known.get(field, UNKNOWN)]) for field in LogFacts._fields}
    return LogFacts(
        **{name: value.astype(np.float64 if "per_s" in name else np.int64) for name, value in values.items()}
    )


def told(window: str, head: int, now_s: float, clock_skew_s: int = 0, **known: float) -> dict[str, Any]:
    """What is said about one partition."""
    windows = group_windows([parse_window(window)], [[head] if head >= 0 else []])
    found = insight(windows, facts(**known), now_ms=int(now_s * 1000), clock_skew_ms=clock_skew_s * 1000)
    return {name: column.tolist()[0] for name, column in found._asdict().items()}


@pytest.mark.parametrize(
    ("head", "since_s", "history_s", "lag_s", "at_least_s", "why"),
    [
        (130, -1, 5, 0, 0, "nothing is unread"),
        (130, 35, 5, 0, 0, "nothing is unread, whatever was before"),
        (150, 35, 5, 10, 10, "the first unread record was written at 35 s"),
        (150, 46, 5, 0, 0, "never negative, though an estimate may lie ahead"),
        (150, -1, 5, UNKNOWN, 40, "it is older than the history, which begins at 5 s"),
        (150, -1, -1, UNKNOWN, UNKNOWN, "there is no history"),
        (-1, -1, 5, UNKNOWN, UNKNOWN, "the end is not known"),
    ],
)
def test_lag_in_seconds_is_the_age_of_the_first_unread_record(
    head: int, since_s: int, history_s: int, lag_s: float, at_least_s: float, why: str
) -> None:
    found = told(STEADY, head, 45, unread_since_ms=since_s * 1000, history_since_ms=history_s * 1000)

    assert (found["lag_s"], found["lag_s_at_least"]) == (lag_s, at_least_s), why


def test_lag_in_seconds_does_not_grow_on_an_idle_topic_that_was_read_to_its_end() -> None:
    assert [told(STEADY, 130, now_s)["lag_s"] for now_s in (45, 4500, 450_000)] == [0, 0, 0]


def test_lag_in_seconds_grows_on_an_idle_topic_with_something_unread() -> None:
    assert [told(STEADY, 131, now_s, unread_since_ms=40_000)["lag_s"] for now_s in (45, 4500)] == [5, 4460]


def test_lag_in_seconds_of_records_that_are_all_gone_is_none() -> None:
    assert told(STEADY, 500, 45, log_start=500)["lag_s"] == 0


def test_what_a_history_says_can_be_passed_on() -> None:
    history = HeadHistory()
    history.grow(1)
    history.clear(slice(0, 1))
    row = np.array([0])
    for end, at_s in [(100, 1000), (120, 1010), (140, 1020), (140, 1030)]:
        history.observe(row, np.array([end]), at_s * 1000)
    windows = group_windows([parse_window("90@1000/10 110@1010/10 130@1015/0")], [[140]])
    log_start = np.array([40])
    log = LogFacts(
        log_start,
        history.time_of(row, first_unread(windows, log_start)),
        history.oldest_ms(row),
        history.rate_per_s(row, windows.window.timestamp_ms[0]),
        np.array([-1.0]),
    )
    found = insight(windows, log, now_ms=1_030_000)

    assert found.lag_s.tolist() == [14.5]
    assert found.produced_per_s.tolist() == [40 / 30]


@pytest.mark.parametrize(
    ("window", "now_s", "per_s", "why"),
    [
        (STEADY, 45, 1.0, "30 records in 30 s, the next commit is not due"),
        (STEADY, 80, 0.5, "a commit has been due for 30 s"),
        ("100@10/0", 15, UNKNOWN, "one commit is no speed"),
        ("100@10/0 120@10/0", 15, UNKNOWN, "two at the same moment are none"),
        ("100@10/0 120@20/0 110@30/0 130@40/0", 45, 40 / 30, "going back is not unreading"),
        ("100@10/0 100@20/0", 25, 0.0, "it stands still"),
    ],
)
def test_the_speed_of_a_consumer(window: str, now_s: int, per_s: float, why: str) -> None:
    assert told(window, 150, now_s)["consumed_per_s"] == per_s, why


@pytest.mark.parametrize(
    ("window", "known", "per_s", "why"),
    [
        (STEADY, 7.5, 7.5, "the history says so"),
        ("100@10/20 110@20/null 120@30/60", UNKNOWN, 3.0, "from 120 to 180 in 20 s, for want of a history"),
        ("100@10/null 110@20/20 120@30/null", UNKNOWN, UNKNOWN, "one known end is no speed"),
    ],
)
def test_the_speed_of_the_producers(window: str, known: float, per_s: float, why: str) -> None:
    assert told(window, 500, 35, produced_per_s=known)["produced_per_s"] == per_s, why


@pytest.mark.parametrize(
    ("head", "produced_per_s", "catch_up_s", "why"),
    [
        (150, 0.5, 40, "20 records at half a record a second"),
        (150, 1.0, UNKNOWN, "never: as many come in as go out"),
        (150, 2.0, UNKNOWN, "never: more come in"),
        (130, 2.0, 0, "it is there"),
    ],
)
def test_time_to_catch_up(head: int, produced_per_s: float, catch_up_s: float, why: str) -> None:
    assert told(STEADY, head, 45, produced_per_s=produced_per_s)["catch_up_s"] == catch_up_s, why


def test_the_age_of_the_last_commit_is_by_the_brokers_clock() -> None:
    assert told(STEADY, 150, 45)["commit_age_s"] == 5
    assert told(STEADY, 150, 45, clock_skew_s=-3)["commit_age_s"] == 2
    assert told(STEADY, 150, 45, clock_skew_s=-30)["commit_age_s"] == 0


@pytest.mark.parametrize(
    ("log_start", "per_s", "lost", "loss_in_s", "why"),
    [
        (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, "the log start is not known"),
        (100, UNKNOWN, 0, UNKNOWN, "it is not known to move"),
        (100, 0.0, 0, UNKNOWN, "it does not move"),
        (100, 0.5, 0, UNKNOWN, "the consumer is faster, at one record a second"),
        (100, 4.0, 0, 10, "30 records at 4 a second less the one that is read"),
        (130, 4.0, 0, 0, "the next record to go is the first unread one"),
        (137, 4.0, 7, 0, "7 are gone"),
    ],
)
def test_records_lost_and_in_danger(log_start: int, per_s: float, lost: int, loss_in_s: float, why: str) -> None:
    found = told(STEADY, 500, 45, log_start=log_start, log_start_per_s=per_s)

    assert (found["lost_records"], found["loss_in_s"]) == (lost, loss_in_s), why


def test_records_that_were_read_are_not_in_danger() -> None:
    assert told(STEADY, 130, 45, log_start=100, log_start_per_s=4.0)["loss_in_s"] == UNKNOWN


def test_nothing_is_said_about_a_partition_without_commits() -> None:
    assert set(told("", 150, 45, log_start=3, history_since_ms=1000).values()) == {UNKNOWN}


# -- thresholds ------------------------------------------------------------------------------------------------------


def with_threshold(windows: GroupWindows, lag_s: list[float], threshold: Threshold) -> list[tuple[str, Rule]]:
    columns = {field: np.array(lag_s, np.float64) for field in Insight._fields}
    found = Insight(**columns)._replace(lost_records=np.zeros(len(lag_s), np.int64))
    verdicts = apply_thresholds(judge("burrow", windows, Settings(), now_ms=45_000), windows, found, [threshold])
    return [
        (Status(status).name, Rule(rule))
        for status, rule in zip(verdicts.status.tolist(), verdicts.rule.tolist(), strict=True)
    ]


FALLING = "100@10/30 110@20/25 120@30/22 130@40/20"


@pytest.mark.parametrize(
    ("threshold", "status", "rule", "why"),
    [
        (Threshold(), "OK", Rule.LAG_FELL, "no threshold"),
        (Threshold(records=20), "OK", Rule.LAG_FELL, "20 is not above 20"),
        (Threshold(records=19), "WARN", Rule.OVER_RECORDS, "20 is above 19"),
        (Threshold(seconds=60), "OK", Rule.LAG_FELL, "60 s is not above 60 s"),
        (Threshold(seconds=59), "WARN", Rule.OVER_SECONDS, "60 s is above 59 s"),
        (Threshold(records=19, seconds=60), "WARN", Rule.OVER_RECORDS, "either is enough"),
    ],
)
def test_a_threshold_makes_a_good_partition_a_warning(threshold: Threshold, status: str, rule: Rule, why: str) -> None:
    assert with_threshold(group_windows([parse_window(FALLING)], [[150]]), [60.0], threshold) == [(status, rule)], why


def test_a_threshold_never_makes_a_bad_partition_better() -> None:
    stalled, rewound = "100@20/20 100@40/30", "100@20/20 90@40/30"
    windows = group_windows([parse_window(stalled), parse_window(rewound)], [[150], [150]])

    assert with_threshold(windows, [60.0, 60.0], Threshold(1, 1)) == [("STALL", Rule.STALLED), ("REWIND", Rule.REWOUND)]


def test_an_unknown_age_is_above_no_threshold() -> None:
    assert with_threshold(group_windows([parse_window(FALLING)], [[150]]), [-1.0], Threshold(seconds=0)) == [
        ("OK", Rule.LAG_FELL)
    ]


def test_thresholds_are_by_topic() -> None:
    windows = group_windows([parse_window(FALLING)] * 2, [[150]] * 2)
    windows = replace(windows, topics=["a", "b"], topic=np.array([0, 1]))
    found = insight(windows, LogFacts(*(np.array([-1, -1]) for _ in LogFacts._fields)), now_ms=45_000)
    verdicts = apply_thresholds(
        judge("burrow", windows, Settings(), now_ms=45_000),
        windows,
        found,
        [Threshold(records=5), Threshold(records=50)],
    )

    assert verdicts.status.tolist() == [Status.WARN, Status.OK]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Rule.OVER_RECORDS, "lag 20 is above the threshold that was set"),
        (Rule.OVER_SECONDS, "the first of 20 unread records is older than the threshold that was set"),
    ],
)
def test_a_threshold_says_so(rule: Rule, words: str) -> None:
    entries = [Entry(offset, ms, ms, lag, 0) for offset, ms, lag in parse_window(FALLING)]

    assert reason(rule, entries, 20, Settings(), 45_000) == words
