"""`warren replay`: what would have been said under other rules; and `warren explain --at`: what was said, and why."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from warren.commands import past, show
from warren.commands.options import AsJson, UsageError
from warren.errors import SinkError
from warren.model import Status

if TYPE_CHECKING:
    from warren.history.reader import HistoryReader
    from warren.replay.compare import Alert, Comparison, GroupComparison
    from warren.replay.job import Request
    from warren.sinks.choice import Choice
    from warren.sinks.contract import Sent
    from warren.sinks.sink import Sink

AlertFrom = Literal["warn", "err"]
RuleSet = Literal["burrow", "warren"]


def replay(
    *,
    history: past.HistoryPath = "",
    config_dir: past.ConfigDir = None,
    cluster: past.ClusterName = "",
    from_: past.From = "1d",
    to: past.To = "now",
    group: past.GroupPattern = "",
    rules: Annotated[RuleSet | None, typer.Option(help="Another rule set for all groups.")] = None,
    intervals: Annotated[int | None, typer.Option(min=1, help="Another size of windows.")] = None,
    min_distance: Annotated[int | None, typer.Option(min=0, help="Another distance of commits, in seconds.")] = None,
    allowed_lag: Annotated[int | None, typer.Option(min=0, help="Another lag that is no lag.")] = None,
    minimum_complete: Annotated[float | None, typer.Option(min=0, max=1, help="Another share to be filled.")] = None,
    threshold_records: Annotated[int | None, typer.Option(min=0, help="WARN from this lag on.")] = None,
    threshold_seconds: Annotated[int | None, typer.Option(min=0, help="WARN from this lag in seconds on.")] = None,
    alert_from: Annotated[AlertFrom, typer.Option(help="What counts as an alert.")] = "warn",
    damp: Annotated[int, typer.Option(min=0, help="Shorter trouble, in seconds, is no alert.")] = 0,
    every: Annotated[int, typer.Option(min=0, help="Judge only so often, in seconds; 0: as often as then.")] = 0,
    as_json: AsJson = False,
    html: past.Html = None,
    sink: Annotated[str, typer.Option(metavar="NAME", help="Write the points of that time to this sink instead.")] = "",
    master: past.Master = "",
    skip_damaged: past.SkipDamaged = False,
) -> None:
    """Judge the past again, under other rules or settings: which alerts would have been saved, and which added."""
    values = {
        "intervals": intervals,
        "min_distance_ms": None if min_distance is None else min_distance * 1000,
        "allowed_lag": allowed_lag,
        "minimum_complete": minimum_complete,
    }
    changes: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    changes |= _rules(rules, threshold_records, threshold_seconds)
    terms = (Status.WARN if alert_from == "warn" else Status.ERR, damp * 1000)
    if sink and html:
        message = "--html is a report of alerts, and --sink looks for none."
        raise UsageError(message, hint="Give one of them.")
    past.checked_pattern("--group", group)
    when = past.range_of(from_, to)
    receiver = _receiver(sink, config_dir) if sink else None
    with past.history(history, config_dir, master, skips_damaged=skip_damaged) as reader:
        from warren.replay.compare import Terms, compare
        from warren.replay.job import Request
        from warren.replay.verdicts import recorded_turns, replayed_turns

        span = past.span_of(reader, cluster, when)
        request = Request(span, changes, group, every_ms=every * 1000)
        if receiver:
            _say_sent(_send(reader, request, receiver), receiver.sink.name, as_json)
            return
        found = compare(
            recorded_turns(reader, request), replayed_turns(reader, request), Terms(span.from_ms, span.to_ms, *terms)
        )
    if html:
        from warren.replay.report import report

        past.write_report(html, report(found, span.cluster, changes))
    if as_json:
        show.as_json(answer(found, span.cluster, changes))
        return
    _say(found, span.cluster)


class _Receiver(NamedTuple):
    """A sink of the configuration, and what it wants to have."""

    sink: Sink
    choose: Callable[[], Choice]
    interval_ms: int


def _receiver(name: str, config_dir: Path | None) -> _Receiver:
    from warren.config.load import load_directory
    from warren.sinks.choice import choice
    from warren.sinks.setup import sink_of

    if config_dir is None:
        message = f"Where is the sink {name} configured?"
        raise UsageError(message, hint="Name the directory of the configuration with --config-dir.")
    config = load_directory(config_dir, os.environ).config
    sink = sink_of(config, name)
    one = config.sink[sink.name]
    choose = partial(choice, one.cluster, one.group, one.topic, partitions=one.partitions, topics=one.topics)
    return _Receiver(sink, choose, one.interval * 1000)


def _send(reader: HistoryReader, request: Request, to: _Receiver) -> Sent:
    """Write the points of a time to a sink."""
    from warren.replay.points import replayed_points
    from warren.sinks.writers import write_points

    points = replayed_points(reader, request, to.choose, to.interval_ms)
    hint = "The command may be given again: points that are there already are written as they are."
    with past.spark_told(SinkError, f"Not all points could be written to {to.sink.name}", hint):
        return write_points(reader.spark, to.sink, points)


def _say_sent(sent: Sent, sink: str, as_json: bool) -> None:
    """How many arrived; exit code 1 if not all of them did."""
    if as_json:
        show.as_json({"sink": sink, "points": sent.points, "refused": sent.refused, "reason": sent.reason or None})
    else:
        reason = f": {sent.reason}" if sent.refused else ""
        show.line(show.plain(f"{sent.points:,} points were written to {sink}, {sent.refused:,} were refused{reason}."))
    if sent.refused:
        raise typer.Exit(1)


def _rules(rules: RuleSet | None, records: int | None, seconds: int | None) -> dict[str, Any]:
    from warren.history.judging import RulesOf, ThresholdOf

    changes: dict[str, Any] = {"rules": (RulesOf("", rules),)} if rules else {}
    if records is not None or seconds is not None:
        changes["thresholds"] = (ThresholdOf("", "", records, seconds),)
    return changes


def _say(found: Comparison, cluster: str) -> None:
    from warren.reports.moments import instant

    where = f"{cluster}, {instant(found.terms.from_ms)} to {instant(found.terms.to_ms)}"
    show.heading(f"{where}: {found.saved} alerts saved, {found.added} added, {found.kept} kept")
    titles = ("GROUP", "THEN", "REPLAYED", "SAVED", "ADDED", "TIME THEN", "TIME REPLAYED", "FIRST DIFFERENCE")
    show.table(titles, [_row(one) for one in found.groups], "No group was or would have been in trouble.")


def _row(one: GroupComparison) -> list[str]:
    different = min([*one.saved, *one.added], key=lambda alert: alert.from_ms, default=None)
    return [
        one.group,
        str(len(one.then)),
        str(len(one.replayed)),
        str(len(one.saved)),
        str(len(one.added)),
        show.seconds(sum(alert.lasts_s for alert in one.then)),
        show.seconds(sum(alert.lasts_s for alert in one.replayed)),
        _difference(different, one) if different else "",
    ]


def _difference(alert: Alert, one: GroupComparison) -> str:
    from warren.reports.moments import instant

    what = "saved" if alert in one.saved else "added"
    return f"{what} {instant(alert.from_ms)}, {show.seconds(alert.lasts_s)}: {alert.worst.name}, {alert.why}"


def answer(found: Comparison, cluster: str, changes: dict[str, Any]) -> dict[str, Any]:
    """The comparison for programs."""
    from warren.reports.moments import instant

    def alerts(of: list[Alert]) -> list[dict[str, Any]]:
        return [
            {
                "from": instant(one.from_ms),
                "to": None if one.is_open else instant(one.to_ms),
                "seconds": one.lasts_s,
                "worst": one.worst.name,
                "reason": one.why,
            }
            for one in of
        ]

    groups = [
        {
            "group": one.group,
            "then": alerts(one.then),
            "replayed": alerts(one.replayed),
            "saved": alerts(one.saved),
            "added": alerts(one.added),
        }
        for one in found.groups
    ]
    changed = {
        name: [one.__dict__ for one in value] if isinstance(value, tuple) else value for name, value in changes.items()
    }
    return {
        "cluster": cluster,
        "from": instant(found.terms.from_ms),
        "to": instant(found.terms.to_ms),
        "changes": changed,
        "alerts": {"saved": found.saved, "added": found.added, "kept": found.kept},
        "groups": groups,
    }


def explain_at(group: str, at: str, where: past.Where) -> None:
    """Show what was thought of a group at a moment of the past, and why."""
    import time

    at_ms = past.moment_ms(at, "--at", now_ms=time.time_ns() // 1_000_000)
    with past.history(where.history, where.config_dir, where.master) as reader:
        from warren.replay.moment import thought_at

        found = thought_at(reader, past.cluster_of(reader, where.cluster), group, at_ms)
    if where.as_json:
        show.as_json(found)
        return
    show.heading(show.plain(f"At {found['at']} {group} was {found['status']}, {found['total_lag']:,} records behind"))
    show.line(show.plain(f"Because {found['reason']} (rule set `{found['rule_set']}`)."))
    rows = [
        [one["topic"], str(one["partition"]), one["status"], show.number(one["lag"]), one["rule"], one["reason"]]
        for one in found["partitions"]
    ]
    show.table(("TOPIC", "PARTITION", "STATUS", "LAG", "RULE", "WHY"), rows, "It had no partitions.")
