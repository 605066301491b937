"""A replay as an HTML report: what was said and what would have been said, lane by lane. Pure."""

from __future__ import annotations

from typing import Any

from warren.model import Status
from warren.replay.compare import Alert, Comparison, GroupComparison
from warren.reports.moments import duration, instant
from warren.reports.page import cards, page, section, table, text
from warren.reports.plots import Bar, Lane, lanes

MOST_PLOTTED = 60


def report(found: Comparison, cluster: str, changes: dict[str, Any]) -> str:
    """The whole file."""
    figures = [(str(found.saved), "alerts saved"), (str(found.added), "alerts added"), (str(found.kept), "alerts kept")]
    about = f"{cluster}, {instant(found.terms.from_ms)} to {instant(found.terms.to_ms)}, under {_changed(changes)}"
    plotted = found.groups[:MOST_PLOTTED]
    more = [text(f"{len(found.groups) - MOST_PLOTTED} more groups are in the table.")][
        : len(found.groups) > MOST_PLOTTED
    ]
    return page(
        "The past, judged again",
        about,
        [
            cards(figures),
            section("Times of trouble, as they were and as they would have been", _plot(plotted, found), *more),
            section("Groups", _groups(found)),
            section("Alerts that differ", _differences(found)),
        ],
    )


def _changed(changes: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {_value(value)}" for name, value in changes.items()) or "the settings of that time"


def _value(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    return "; ".join(", ".join(f"{k} {v}" for k, v in vars(one).items() if v not in ("", None)) for one in value)


def _plot(groups: list[GroupComparison], found: Comparison) -> str:
    if not groups:
        return text("No group was or would have been in trouble.")
    both = [lane for one in groups for lane in (_lane(f"{one.group}, then", one.then), _lane("replayed", one.replayed))]
    return lanes(both, found.terms.from_ms, found.terms.to_ms)


def _lane(name: str, alerts: list[Alert]) -> Lane:
    return Lane(name, [Bar(one.from_ms, one.to_ms, _kind(one.worst), _words(one)) for one in alerts])


def _kind(status: Status) -> str:
    return "WARN" if status == Status.WARN else "ERR"


def _words(alert: Alert) -> str:
    until = "still open at the end" if alert.is_open else f"until {instant(alert.to_ms)}"
    return f"{alert.worst.name} from {instant(alert.from_ms)}, {until}: {alert.why}"


def _groups(found: Comparison) -> str:
    titles = ("Group", "Alerts then", "Replayed", "Saved", "Added", "Time then", "Time replayed")
    rows = [
        (
            one.group,
            str(len(one.then)),
            str(len(one.replayed)),
            str(len(one.saved)),
            str(len(one.added)),
            duration(sum(alert.lasts_s for alert in one.then)),
            duration(sum(alert.lasts_s for alert in one.replayed)),
        )
        for one in found.groups
    ]
    return table(titles, rows, titles[1:])


def _differences(found: Comparison) -> str:
    rows = [
        (what, one.group, instant(alert.from_ms), duration(alert.lasts_s), alert.worst.name, alert.why)
        for one in found.groups
        for what, alerts in (("saved", one.saved), ("added", one.added))
        for alert in alerts
    ]
    return table(("", "Group", "From", "Lasts", "Worst", "Why"), rows) if rows else text("None.")
