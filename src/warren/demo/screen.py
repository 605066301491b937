"""What the demo shows while it runs: a live table in a terminal, elsewhere a line whenever a group's status changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.table import Column, Table
from rich.text import Text

from warren.model import Status
from warren.rules.verdict import GroupVerdict

Verdicts = Mapping[str, GroupVerdict | None]
"""What is said about each group; None as long as it is not known."""

COLOURS = {Status.OK: "green", Status.WARN: "yellow", Status.ERR: "red"}

console = Console(highlight=False, markup=False)


class Screen(Protocol):
    """Shows verdicts, again and again."""

    def show(self, verdicts: Verdicts) -> None:
        """Show how the groups are now."""


def say(text: str, style: str = "") -> None:
    """Say one line; it is not broken where the terminal ends, so that it can be copied."""
    console.print(text, style=style or None, soft_wrap=True)


@contextmanager
def open_screen() -> Iterator[Screen]:
    """The screen that suits where the output goes."""
    if not console.is_terminal:
        yield LineScreen()
        return
    with Live(console=console, auto_refresh=False) as live:
        yield TableScreen(live)


class TableScreen:
    """A table that changes in place."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, verdicts: Verdicts) -> None:
        self._live.update(as_table(verdicts), refresh=True)


class LineScreen:
    """One line for each change."""

    def __init__(self) -> None:
        self._told: dict[str, str] = {}

    def show(self, verdicts: Verdicts) -> None:
        for group, verdict in verdicts.items():
            if verdict and self._told.get(group) != (status := worst_status(verdict)):
                self._told[group] = status
                say(f"{group}: {status}, {verdict.reason}")


def as_table(verdicts: Verdicts) -> Table:
    """The groups with their status, lag, and the reason of their worst partition."""
    table = Table("Group", "Status", Column("Total lag", justify="right"), "Worst partition", expand=True)
    for group, verdict in verdicts.items():
        if verdict is None:
            table.add_row(group, Text("not seen yet", "dim"), "", "")
        else:
            status = Text(worst_status(verdict), COLOURS.get(verdict.status, ""))
            table.add_row(group, status, f"{verdict.total_lag:,}", verdict.reason)
    return table


def worst_status(verdict: GroupVerdict) -> str:
    """The group's status, and in trouble the kind of it: `ERR (STOP)`."""
    worst = max((one.status for one in verdict.partitions), default=verdict.status)
    return verdict.status.name if worst == verdict.status else f"{verdict.status.name} ({worst.name})"
