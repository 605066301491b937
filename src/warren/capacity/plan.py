"""Makes a plan: measures with Spark, sizes, and looks for what else is odd."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from warren.capacity.findings import findings
from warren.capacity.grid import DAY_MS, MINUTE_MS
from warren.capacity.holes import Hole
from warren.capacity.rates import Rates, Wanted
from warren.capacity.result import Plan
from warren.capacity.sizing import Target, size
from warren.capacity.words import count
from warren.history.reader import HistoryReader
from warren.reports.moments import duration, instant

MOST_PLOTTED = 20
MOST_NAMED = 10


def make_plan(reader: HistoryReader, wanted: Wanted, target: Target, *, with_plots: bool = False) -> Plan:
    """Measure the time that is wanted, and say what is needed to meet the target."""
    with closing(Rates(reader, wanted)) as rates:
        sizings = sorted((size(one, target) for one in rates.measured()), key=lambda one: one.rank)
        worst = [(one.measured.group, one.measured.topic) for one in sizings[:MOST_PLOTTED]]
        series = rates.series(worst) if with_plots else {}
        nothing = [] if sizings else [_nothing(wanted)]
        time = [*_about_time(rates.seen_s, rates.grid.step_ms), *_about_holes(rates.grid.holes)]
        notes = [*nothing, *time, *_about_silent(rates.silent_groups(), wanted)]
    return Plan(*wanted.span, target, sizings, findings(sizings), notes, series)


def _nothing(wanted: Wanted) -> str:
    patterns = [("a group", wanted.group_pattern), ("a topic", wanted.topic_pattern)]
    of = " and ".join(f"{what} in which {pattern!r} is found" for what, pattern in patterns if pattern)
    return f"There are no commits in that time{' of ' + of if of else ''}."


def _about_time(seen_s: float, step_ms: int) -> list[str]:
    notes = []
    if seen_s < DAY_MS / 1000:
        notes.append(f"There are only {duration(seen_s)} to look at: the peak of a whole day may be higher.")
    if step_ms > MINUTE_MS:
        notes.append(f"So long a time is measured by {duration(step_ms / 1000)}: shorter peaks are not seen.")
    return notes


def _about_holes(holes: Sequence[Hole]) -> list[str]:
    if not holes:
        return []
    missing_s = sum(hole.to_ms - hole.from_ms for hole in holes) / 1000
    named = _named([f"{instant(hole.from_ms)} to {instant(hole.to_ms)}" for hole in holes])
    return [
        f"Nothing was observed for {duration(missing_s)} of that time: {named}. "
        "What came then is known in sum at best, so peaks may have been higher."
    ]


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")


def _about_silent(groups: list[str], wanted: Wanted) -> list[str]:
    if not groups:
        return []
    where = " to such topics" if wanted.topic_pattern else ""
    return [
        f"{count(len(groups), 'group')} committed nothing{where} in that time, so nothing is known of them: "
        f"{_named(groups)}"
    ]
