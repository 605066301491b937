"""A plan as an HTML report. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from warren.capacity.findings import Finding
from warren.capacity.result import Plan
from warren.capacity.sizing import Sizing, Verdict
from warren.capacity.words import amount, count, rate, records
from warren.reports.moments import duration
from warren.reports.page import cards, page, section, table, text
from warren.reports.plots import Line, chart


def report(plan: Plan) -> str:
    """The whole file."""
    parts = [
        cards(_figures(plan.sizings, plan.findings)),
        *(text(note) for note in plan.notes),
        section("What is needed", _needs(plan.sizings)),
        section("What else was found", _odd(plan.findings)),
        section("Measured", _measured(plan.sizings)),
        section("Trend, and what is left to catch up with", _outlook(plan.sizings)),
        section("The worst, over time", *_plots(plan)),
    ]
    return page("Are there enough partitions and consumers?", f"{plan.about}. Target: {plan.aim}.", parts)


def _figures(sizings: Sequence[Sizing], odd: Sequence[Finding]) -> list[tuple[str, str]]:
    numbers = Counter(one.verdict for one in sizings)
    shown = (Verdict.PARTITIONS, Verdict.CONSUMERS, Verdict.UNKNOWN, Verdict.ENOUGH)
    return [*((str(numbers[one]), one.value) for one in shown), (str(len(odd)), "other findings")]


def _needs(sizings: Sequence[Sizing]) -> str:
    titles = ("Group", "Topic", "Verdict", "Consumers", "Needed", "Partitions", "Needed ", "Why")
    if not sizings:
        return text("No group committed anything in that time.")
    return table(titles, [_need(one) for one in sizings], ("Consumers", "Needed", "Partitions", "Needed "))


def _need(one: Sizing) -> list[str]:
    return [
        one.measured.group,
        one.measured.topic,
        one.verdict.value,
        _whole(one.consumers),
        _at_most(one.is_upper_bound) + _whole(one.consumers_needed),
        _whole(one.measured.partitions),
        _at_most(one.is_upper_bound and one.needs_partitions) + _whole(one.partitions_needed),
        one.why,
    ]


def _odd(odd: Sequence[Finding]) -> str:
    if not odd:
        return text("Nothing.")
    return table(("Finding", "Group", "Topic", "Numbers"), [(one.kind.value, *one[1:]) for one in odd])


def _measured(sizings: Sequence[Sizing]) -> str:
    numbers = ("Mean/s", "95 %/s", "Peak hour/s", "Peak/s", "Consumed/s", "One consumer/s", "Largest lag", "Behind")
    titles = ("Group", "Topic", *numbers)
    return table(titles, [_numbers(one) for one in sizings], numbers) if sizings else text("Nothing.")


def _numbers(sizing: Sizing) -> list[str]:
    one = sizing.measured
    able = f"at least {amount(one.highest)}" if one.capacity is None else amount(one.capacity)
    rates = (one.produce_mean, one.produce_p95, one.peak_hour, one.produce_peak, one.consume_mean)
    shown = ["-" if value is None else amount(value) for value in rates]
    behind = ("at least " if one.lag_s_is_least else "") + duration(one.lag_s_max) if one.lag_s_max else "-"
    return [one.group, one.topic, *shown, able, f"{one.lag_max:,.0f}", behind]


def _outlook(sizings: Sequence[Sizing]) -> str:
    rows = [(one.measured.group, one.measured.topic, one.trend, one.catch_up) for one in sizings]
    return table(("Group", "Topic", "Trend", "Catching up"), rows) if rows else text("Nothing.")


def _plots(plan: Plan) -> list[str]:
    shown = [(one, of) for one in plan.sizings if (of := plan.series.get((one.measured.group, one.measured.topic)))]
    plots = [part for one, of in shown if of["series_ms"] for part in _plot(one, of)]
    left = len(plan.sizings) - len(shown)
    more = [text(f"{count(left, 'more pair')} of group and topic in the tables only.")] if left else []
    return [*plots, *more]


def _plot(sizing: Sizing, of: Mapping[str, Any]) -> list[str]:
    name = f"{sizing.measured.group} on {sizing.measured.topic}"
    at_ms = of["series_ms"]
    needed = [Line("needed", at_ms, [sizing.demand.rate] * len(at_ms))]
    rates = [Line("produced", at_ms, of["series_produced"]), Line("consumed", at_ms, of["series_consumed"])]
    return [
        f"<h3>{escape(name)}</h3>",
        text(f"{sizing.verdict.value}: {sizing.why}"),
        chart("Records a second", rate, [*rates, *needed]),
        chart("Lag", records, [Line("largest lag", at_ms, of["series_lag"])]),
    ]


def _at_most(is_upper_bound: bool) -> str:
    """A number that follows from what a consumer did at least is the most that can be needed."""
    return "at most " if is_upper_bound else ""


def _whole(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
