"""How commands show things: coloured tables in a terminal, plain columns in a pipe."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from io import StringIO

import typer
from rich.console import Console, Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from warren.reports.moments import duration

SIGNS = {"OK": "●", "WARN": "▲", "ERR": "⬣", "STOP": "■", "STALL": "‖", "REWIND": "◀"}
"""A status has a shape and a word: not everybody sees the colours."""
COLOURS = {"OK": "green", "WARN": "yellow", "ERR": "red", "STOP": "red", "STALL": "red", "REWIND": "red"}

NUMBERS = frozenset({"LAG", "BEHIND", "SINCE", "PARTITIONS", "GROUPS", "TOPICS", "OK", "WARN", "ERR", "COMMITTED"})
NUMBERS |= {"END", "START", "PER SECOND", "OFFSET", "PARTITION", "LOST"}
"""Columns that are read from the right."""

console = Console(highlight=False, markup=False, emoji=False)
beside = Console(stderr=True, highlight=False, markup=False, emoji=False)
"""For what is no part of the output."""


def lines_of(say: Callable[[], None]) -> list[Text]:
    """What would be shown, line by line, for a screen that something else is drawn on."""
    global console, beside  # noqa: PLW0603  # all that is shown goes through these two
    outside, written = (console, beside), StringIO()
    console = beside = Console(
        file=written, force_terminal=True, width=console.width, highlight=False, markup=False, emoji=False
    )
    try:
        say()
    finally:
        console, beside = outside
    return list(Text.from_ansi(written.getvalue()).split())


def as_json(answer: object) -> None:
    """What the API answered."""
    typer.echo(json.dumps(answer, indent=2))


def as_json_line(answer: object) -> None:
    """One thing of many, on one line, at once."""
    typer.echo(json.dumps(answer))


def heading(text: str) -> None:
    """A line above a table."""
    console.print(Text(text, "bold"), soft_wrap=True)


def line(text: str | Text) -> None:
    """One line; it is not broken where the terminal ends, so that it can be copied."""
    console.print(text, soft_wrap=True)


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], nothing: str) -> None:
    """Rows under their titles; where there are none, `nothing` is said beside the output."""
    found = [[plain(cell) for cell in row] for row in rows]
    if not found:
        beside.print(nothing, soft_wrap=True)
    elif console.is_terminal:
        console.print(rich_table(titles, found))
    else:
        typer.echo(columns(titles, found))


def columns(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns, for people with grep and awk."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    return "\n".join(("  ".join(map(str.ljust, row, widths))).rstrip() for row in [titles, *rows])


def rich_table(titles: Sequence[str], rows: Iterable[Sequence[str]], chosen: int | None = None) -> Table:
    """The same for a terminal; the last column takes the room that is left. One row may be the chosen one."""
    aligned = [Column(title, justify="right" if title in NUMBERS else "left", no_wrap=True) for title in titles[:-1]]
    found = Table(*aligned, Column(titles[-1], overflow="fold"), box=None, pad_edge=False, header_style="dim")
    for number, row in enumerate(rows):
        cells = (status_text(cell) if cell in SIGNS else Text(cell) for cell in row)
        found.add_row(*cells, style="reverse" if number == chosen else None)
    return found


def status_text(status: str) -> Text:
    """A status, by shape, word and colour."""
    return Text(f"{SIGNS[status]} {status}", COLOURS[status])


def together(*parts: RenderableType) -> Group:
    """Several things under each other, for a screen that changes."""
    return Group(*parts)


def plain(value: object) -> str:
    """On one line, and without anything that a terminal would take for a command: others have written it."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(value))


def number(value: float | None) -> str:
    """With its thousands apart; a dash for what is not known."""
    return "-" if value is None else f"{value:,.0f}"


def rate(value: float | None) -> str:
    """Records a second."""
    return "-" if value is None else f"{value:,.1f}"


def seconds(value: float | None) -> str:
    """A duration in its two largest units."""
    return "-" if value is None else duration(value)


def ago(moment: str | None, now: datetime | None = None) -> str:
    """How long ago a moment of the API was."""
    if moment is None:
        return "-"
    then = datetime.fromisoformat(moment)
    return seconds(((now or datetime.now(UTC)) - then).total_seconds())


def clock(moment: str | None) -> str:
    """A moment of the API in local time."""
    if moment is None:
        return "-"
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M:%S}"
