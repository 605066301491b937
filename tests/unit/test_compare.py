"""What two tellings of the same time have in common, and the report of it."""

from __future__ import annotations

import re

import pytest

from warren.history.judging import Judging, RulesOf, ThresholdOf
from warren.model import Status
from warren.replay.compare import Alert, Terms, Turn, alerts_of, compare
from warren.replay.report import report

T0_MS = 1_767_225_600_000
DAY = Terms(T0_MS, T0_MS + 86_400_000)


def at(hours: float) -> int:
    return T0_MS + int(hours * 3_600_000)


def turns(*spec: tuple[float, Status], group: str = "billing", why: str = "orders 0: because") -> list[Turn]:
    return [Turn(at(hours), group, status, why) for hours, status in spec]


OK, WARN, ERR = Status.OK, Status.WARN, Status.ERR


def test_trouble_is_an_alert_from_its_beginning_to_its_end() -> None:
    [alert] = alerts_of(turns((1, WARN), (2, ERR), (3, WARN), (4, OK)), DAY)["billing"]
    assert alert == Alert("billing", at(1), at(4), ERR, "orders 0: because")
    assert alert.lasts_s == 3 * 3_600


def test_trouble_that_does_not_end_is_open() -> None:
    [alert] = alerts_of(turns((20, ERR)), DAY)["billing"]
    assert (alert.to_ms, alert.is_open) == (DAY.to_ms, True)


def test_trouble_from_before_counts_from_the_beginning_of_the_time() -> None:
    [alert] = alerts_of(turns((-5, ERR), (1, OK)), DAY)["billing"]
    assert (alert.from_ms, alert.to_ms) == (DAY.from_ms, at(1))


def test_trouble_outside_of_the_time_does_not_count() -> None:
    assert alerts_of(turns((-5, ERR), (-1, OK), (30, ERR), (31, OK)), DAY) == {}


def test_a_group_that_is_gone_is_no_longer_in_trouble() -> None:
    [alert] = alerts_of(turns((1, ERR), (2, Status.NOTFOUND)), DAY)["billing"]
    assert (alert.to_ms, alert.is_open) == (at(2), False)


def test_what_is_too_mild_or_too_short_is_no_alert() -> None:
    mild = turns((1, WARN), (2, OK), (3, ERR), (3.1, OK), (5, ERR), (6, OK))
    found = alerts_of(mild, DAY._replace(least=ERR, damp_ms=600_000))
    assert [alert.from_ms for alert in found["billing"]] == [at(5)]


def test_alerts_that_overlap_are_the_same_trouble() -> None:
    found = compare(turns((1, ERR), (2, OK)), turns((1.5, WARN), (4, OK)), DAY)
    assert (found.kept, found.saved, found.added) == (1, 0, 0)


def test_alerts_of_only_one_telling_are_saved_or_added() -> None:
    then = turns((1, ERR), (2, OK), (8, ERR), (9, OK))
    replayed = [*turns((8, ERR), (9, OK)), *turns((12, WARN), (13, OK), group="search")]
    found = compare(then, replayed, DAY)
    assert (found.kept, found.saved, found.added) == (1, 1, 1)
    billing, search = sorted(found.groups, key=lambda one: one.group)
    assert [alert.from_ms for alert in billing.saved] == [at(1)]
    assert [alert.from_ms for alert in search.added] == [at(12)]


def test_the_same_telling_twice_changes_nothing() -> None:
    told = turns((1, WARN), (2, OK), (3, ERR))
    found = compare(told, told, DAY)
    assert (found.saved, found.added, found.kept) == (0, 0, 2)


def test_the_report_says_everything_without_colour_and_asks_nothing_of_anybody() -> None:
    evil = "<script>alert(1)</script>"
    found = compare(turns((1, ERR), (2, OK), group=evil, why="orders 0: stopped"), [], DAY)
    page = report(found, "prod", {"rules": (RulesOf("", "warren"),), "allowed_lag": 5})
    assert evil not in page
    assert "ERR from 2026-01-01T01:00:00Z, until 2026-01-01T02:00:00Z: orders 0: stopped" in page
    assert "rules = use warren, allowed_lag = 5" in page
    assert not re.search(r"(src|href)=|https?://(?!www\.w3\.org)", page)


def test_a_report_of_a_quiet_time_says_so() -> None:
    assert "No group was or would have been in trouble." in report(compare([], [], DAY), "prod", {})


@pytest.mark.parametrize(
    "judging",
    [Judging(), Judging(intervals=3, rules=(RulesOf("^a", "warren"),), thresholds=(ThresholdOf("", "o", 5, None),))],
)
def test_how_groups_are_judged_can_be_written_down_and_read_back(judging: Judging) -> None:
    assert Judging.from_text(judging.to_text()) == judging


def test_what_an_older_warren_did_not_know_has_its_default() -> None:
    assert Judging.from_text('{"intervals": 7}') == Judging(intervals=7)
