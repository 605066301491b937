"""What `warren plan` is told and tells, without Spark."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.measured_groups import BUSY
from warren.capacity.findings import findings
from warren.capacity.report import report
from warren.capacity.result import Plan
from warren.capacity.sizing import Target, size
from warren.commands.options import UsageError
from warren.commands.past import checked_pattern
from warren.commands.plan import answer, target_of


def plan(*groups: str) -> Plan:
    sizings = [size(replace(BUSY, group=group), Target(growth=0.3)) for group in groups]
    return Plan("c", 0, 86_400_000, Target(growth=0.3), sizings, findings(sizings), ["A note."])


def test_a_target_is_read_as_people_give_it() -> None:
    assert target_of("90s", 30, 20) == Target(90, 0.3, 0.2)


@pytest.mark.parametrize(
    ("drain", "growth", "headroom", "says"),
    [
        ("soon", 0, 0, "--drain 'soon' is no duration. It should be like 30s, 5m, 1.5h or 1d12h."),
        ("5m", -100, 0, "--growth -100 is no growth in percent"),
        ("5m", float("nan"), 0, "--growth nan is no growth"),
        ("5m", 0, 100, "--headroom 100 is no share of a consumer"),
    ],
)
def test_targets_that_make_no_sense_are_told(drain: str, growth: float, headroom: float, says: str) -> None:
    with pytest.raises(UsageError) as told:
        target_of(drain, growth, headroom)
    assert says in str(told.value)


def test_a_pattern_that_is_none_is_told() -> None:
    with pytest.raises(UsageError, match="--group '\\(' is no regular expression: "):
        checked_pattern("--group", "(")


def test_programs_get_all_numbers_and_sentences() -> None:
    [found] = answer(plan("billing"))["groups"]
    assert found["consumers"] == {"now": 4, "needed": 7}
    assert found["measured"]["capacity"] == 2_100
    assert found["why"].startswith("at the peak 12,000/s for 1 h")


def test_names_of_others_are_harmless_in_a_report() -> None:
    made = report(plan("<script>alert(1)</script>"))
    assert "<script>" not in made
    assert "&lt;script&gt;" in made


def test_a_plan_of_nothing_is_a_report_that_says_so() -> None:
    assert "No group committed anything in that time." in report(plan())
