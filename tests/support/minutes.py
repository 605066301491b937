"""Where the time of a test run goes: minutes for each module, by lane."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

SECONDS_A_MINUTE = 60.0
SHOWN_FROM_S = 1.0
"""Modules that are quicker share one line."""


def print_minutes(reporter: pytest.TerminalReporter) -> None:
    """Print a table of the minutes that each module took, set-up of its fixtures included, the longest first."""
    seconds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for report in (one for reports in reporter.stats.values() for one in reports):
        if isinstance(report, pytest.TestReport):
            seconds[report.nodeid.partition("::")[0]][_lane(report)] += report.duration
    if not seconds:
        return
    lanes = sorted({lane for by_lane in seconds.values() for lane in by_lane})
    shown = {module: by_lane for module, by_lane in seconds.items() if by_lane.total() >= SHOWN_FROM_S}
    others = Counter[str]()
    for by_lane in (by_lane for module, by_lane in seconds.items() if module not in shown):
        others.update(by_lane)
    reporter.section("minutes per module")
    reporter.write_line(_row("", lanes))
    for module, by_lane in sorted(shown.items(), key=lambda one: -one[1].total()):
        reporter.write_line(_row(module, _minutes(by_lane, lanes)))
    if others:
        reporter.write_line(_row(f"{len(seconds) - len(shown)} others", _minutes(others, lanes)))
    total = Counter[str]()
    for by_lane in seconds.values():
        total.update(by_lane)
    reporter.write_line(_row("total", _minutes(total, lanes)))


def _lane(report: pytest.TestReport) -> str:
    """The xdist worker that ran it."""
    node = getattr(report, "node", None)
    return str(node.gateway.id) if node is not None else "main"


def _minutes(by_lane: Counter[str], lanes: list[str]) -> list[str]:
    return [f"{by_lane[lane] / SECONDS_A_MINUTE:.2f}" if by_lane[lane] else "" for lane in lanes]


def _row(module: str, cells: list[str]) -> str:
    return f"{module:<56}" + "".join(f"{cell:>8}" for cell in cells)
