"""`warren plan`: how many partitions and consumers groups need, by what the history tells."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warren.commands import past, show
from warren.commands.durations import duration_ms
from warren.commands.options import AsJson, UsageError

if TYPE_CHECKING:
    from warren.capacity.result import Plan
    from warren.capacity.sizing import Sizing, Target

TITLES = ("GROUP", "TOPIC", "VERDICT", "PEAK/S", "ONE CONSUMER/S", "CONSUMERS", "NEEDED", "PARTITIONS", "NEEDED", "WHY")


def plan(
    *,
    history: past.HistoryPath = "",
    config_dir: past.ConfigDir = None,
    cluster: past.ClusterName = "",
    from_: past.From = "7d",
    to: past.To = "now",
    group: past.GroupPattern = "",
    topic: Annotated[str, typer.Option(metavar="PATTERN", help="Only topics in which this is found.")] = "",
    drain: Annotated[str, typer.Option(metavar="TIME", help="No record is to wait longer: 30s, 5m, 1h.")] = "5m",
    growth: Annotated[float, typer.Option(metavar="PERCENT", help="So much more will be produced.")] = 0.0,
    headroom: Annotated[float, typer.Option(metavar="PERCENT", help="So much of each consumer is to stay free.")] = 0.0,
    as_json: AsJson = False,
    html: past.Html = None,
    master: past.Master = "",
    skip_damaged: past.SkipDamaged = False,
) -> None:
    """Say whether groups have enough partitions and consumers for their peaks, and which have other trouble to come."""
    target = target_of(drain, growth, headroom)
    past.checked_pattern("--group", group)
    past.checked_pattern("--topic", topic)
    when = past.range_of(from_, to)
    with past.history(history, config_dir, master, skips_damaged=skip_damaged) as reader:
        from warren.capacity.plan import make_plan
        from warren.capacity.rates import Wanted

        wanted = Wanted(past.span_of(reader, cluster, when), group, topic)
        found = make_plan(reader, wanted, target, with_plots=html is not None)
    if html:
        from warren.capacity.report import report

        past.write_report(html, report(found))
    if as_json:
        show.as_json(answer(found))
        return
    _say(found)


def target_of(drain: str, growth: float, headroom: float) -> Target:
    """The target as it is given; a `UsageError` if it makes no sense."""
    from warren.capacity.sizing import Target

    if not -100 < growth < 100_000:
        message = f"--growth {growth:g} is no growth in percent."
        raise UsageError(message, hint="30 means that 30 % more will be produced; it must be more than -100.")
    if not 0 <= headroom < 100:
        message = f"--headroom {headroom:g} is no share of a consumer in percent."
        raise UsageError(message, hint="It must be 0 or more, and less than 100.")
    return Target(duration_ms(drain, "--drain") / 1000, growth / 100, headroom / 100)


def _say(found: Plan) -> None:
    show.heading(f"{found.about}; target: {found.aim}")
    show.table(TITLES, [_row(one) for one in found.sizings], "There are no commits to be measured.")
    if found.findings:
        show.line("")
        rows = [[one.kind.value, one.group, one.topic or "-", one.says] for one in found.findings]
        show.table(("FINDING", "GROUP", "TOPIC", "NUMBERS"), rows, "")
    for note in found.notes:
        show.line(show.plain(note))


def _row(one: Sizing) -> list[str]:
    from warren.capacity.words import amount

    measured = one.measured
    at_most = "<= " if one.is_upper_bound else ""
    able = f">= {amount(measured.highest)}" if measured.capacity is None else amount(measured.capacity)
    return [
        measured.group,
        measured.topic,
        one.verdict.value,
        amount(measured.produce_peak),
        able,
        str(one.consumers),
        at_most + show.number(one.consumers_needed),
        str(measured.partitions),
        (at_most if one.needs_partitions else "") + show.number(one.partitions_needed),
        one.why,
    ]


# -- for programs and browsers ---------------------------------------------------------------------------------------


def answer(found: Plan) -> dict[str, Any]:
    """The plan for programs."""
    from warren.reports.moments import instant

    target = found.target
    return {
        "cluster": found.cluster,
        "from": instant(found.from_ms),
        "to": instant(found.to_ms),
        "target": {"drain_seconds": target.drain_s, "growth": target.growth, "headroom": target.headroom},
        "notes": found.notes,
        "groups": [_sized(one) for one in found.sizings],
        "findings": [{**one._asdict(), "kind": one.kind.value} for one in found.findings],
    }


def _sized(one: Sizing) -> dict[str, Any]:
    demand = one.demand
    return {
        "group": one.measured.group,
        "topic": one.measured.topic,
        "verdict": one.verdict.value,
        "why": one.why,
        "needed_per_second": demand.rate,
        "peak": {"seconds": demand.window_s, "records": demand.records, "is_average": demand.is_average},
        "consumers": {"now": one.consumers, "needed": one.consumers_needed},
        "needed_is_upper_bound": one.is_upper_bound,
        "partitions": {"now": one.measured.partitions, "needed": one.partitions_needed},
        "capacity_is_known": one.measured.capacity is not None,
        "trend_a_day": one.trend_a_day,
        "trend": one.trend,
        "catch_up": one.catch_up,
        "measured": asdict(one.measured)
        | {"produce_mean": one.measured.produce_mean, "consume_mean": one.measured.consume_mean},
    }
