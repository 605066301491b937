"""Conditions: what is out of the ordinary with a partition, in a name and a sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.rule_windows import group_windows, parse_window
from warren.model import Status
from warren.rules.conditions import conditions_of
from warren.rules.rule import Rule, Settings
from warren.rules.rule_sets import judge
from warren.windows.views import GroupWindows

READ_TO_300 = "100@10/0 200@20/0 300@30/0"
MINUTE_MS = 60_000


def windows(head: int, window: str = READ_TO_300, **changed: object) -> GroupWindows:
    """One partition that ends at `head`."""
    windows = group_windows([parse_window(window)], [[head]])
    return replace(windows, **{key: np.array([value]) for key, value in changed.items()})


def told(of: GroupWindows, now_ms: int = 40_000) -> dict[str, str]:
    return {one.name.value: one.says for one in conditions_of(of, 0, now_ms)}


def test_as_a_rule_there_is_nothing_to_say() -> None:
    assert told(windows(300)) == {}
    assert told(windows(350)) == {}


def test_a_partition_without_a_leader_says_so_and_keeps_its_lag() -> None:
    of = windows(350, has_leader=False, last_stable=-1)

    assert list(told(of)) == ["no_leader"]
    assert of.current_lag.tolist() == [50]


def test_an_open_transaction_tells_where_and_for_how_long() -> None:
    found = told(windows(400, last_stable=350, held_since_ms=10_000))

    assert found == {"open_transaction": "a transaction at offset 350 has been open for at least 30 s"}


def test_a_group_that_waits_at_an_open_transaction_is_told() -> None:
    assert "this group has come so far" in told(windows(400, last_stable=300, held_since_ms=1))["open_transaction"]


def test_marks_of_transactions_are_not_records() -> None:
    of = windows(302, readable_end=299)

    assert told(of) == {"only_marks": "the 2 offsets up to the end are marks of transactions"}


def test_commits_to_a_topic_that_was_made_anew_are_told() -> None:
    assert list(told(windows(350, is_of_another=True))) == ["other_topic"]


def test_a_commit_beyond_the_end_is_told() -> None:
    assert list(told(windows(120))) == ["beyond_end"]


def test_a_commit_before_the_log_start_tells_what_is_lost() -> None:
    found = told(windows(500, log_start=420))

    assert found == {"before_log_start": "120 records after the committed offset were deleted before they were read"}


def test_a_partition_without_commits_has_conditions_of_its_log_only() -> None:
    assert list(told(windows(50, "", has_leader=False, readable_end=0))) == ["no_leader"]


@pytest.mark.parametrize(
    ("changed", "now_ms", "rule", "status"),
    [
        ({"readable_end": 300}, 99 * MINUTE_MS, Rule.ONLY_MARKS, Status.OK),
        ({"last_stable": 300, "held_since_ms": 1}, 5 * MINUTE_MS, Rule.OPEN_TRANSACTION, Status.OK),
        ({"last_stable": 300, "held_since_ms": 1}, 16 * MINUTE_MS, Rule.HANGING_TRANSACTION, Status.WARN),
        ({"last_stable": 280, "held_since_ms": 1}, 16 * MINUTE_MS, Rule.SILENT, Status.STOP),
        ({"last_stable": 320, "held_since_ms": 1}, 16 * MINUTE_MS, Rule.SILENT, Status.STOP),
        ({}, 16 * MINUTE_MS, Rule.SILENT, Status.STOP),
    ],
    ids=["marks", "open", "hanging", "reads uncommitted", "has more to read", "no transaction"],
)
def test_warrens_rules_do_not_blame_a_group_for_a_transaction(
    changed: dict[str, int], now_ms: int, rule: Rule, status: Status
) -> None:
    since_ms = np.array([30_000])
    verdicts = judge("warren", windows(302, **changed), Settings(), now_ms=now_ms, unread_since_ms=since_ms)

    assert (Rule(int(verdicts.rule[0])), Status(int(verdicts.status[0]))) == (rule, status)
