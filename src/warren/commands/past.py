"""What the commands about the past share: where the history is, which time is meant, and a Spark to read it with."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from datetime import time as clock_time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from warren.commands.options import UsageError
from warren.reports.moments import instant

if TYPE_CHECKING:
    from warren.history.reader import HistoryReader, Span

DRIVER_MEMORY = "2g"

HistoryPath = Annotated[
    str, typer.Option("--history", metavar="PATH", help="Where the history is; else as [history] of the configuration.")
]
ConfigDir = Annotated[Path | None, typer.Option(metavar="DIR", help="Directory with the configuration.")]
ClusterName = Annotated[str, typer.Option("--cluster", metavar="NAME", help="Not needed if there is only one.")]
From = Annotated[str, typer.Option("--from", metavar="MOMENT", help="2026-11-16T03:00Z, 03:00, or how long ago: 6h.")]
To = Annotated[str, typer.Option("--to", metavar="MOMENT", help="The same; or now.")]
GroupPattern = Annotated[str, typer.Option("--group", metavar="PATTERN", help="Only groups in which this is found.")]
Master = Annotated[str, typer.Option(help="Spark's master; else as [spark] of the configuration, or this machine.")]
SkipDamaged = Annotated[bool, typer.Option("--skip-damaged", help="Leave out files that are damaged or missing.")]
Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report with plots, for a browser.")]

_AGO = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|d)")
_OF_DAY = re.compile(r"\d\d:\d\d")
_UNIT_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def moment_ms(text: str, option: str, *, now_ms: int) -> int:
    """A moment as people give it; without a zone it is UTC."""
    if text == "now":
        return now_ms
    if ago := _AGO.fullmatch(text):
        return now_ms - round(float(ago[1]) * _UNIT_MS[ago[2]])
    try:
        if _OF_DAY.match(text):
            return _last_ms(clock_time.fromisoformat(text), now_ms)
        return _ms(datetime.fromisoformat(text))
    except ValueError as error:
        message = f"{option} {text!r} is no moment."
        hint = "It should be like 2026-11-16T03:00Z, 03:00 (the last time it was), or how long ago: 90m, 6h, 7d."
        raise UsageError(message, hint=hint) from error


def _last_ms(of_day: clock_time, now_ms: int) -> int:
    """The last time that it was so late."""
    today = datetime.fromtimestamp(now_ms / 1000, of_day.tzinfo or UTC).date()
    at_ms = _ms(datetime.combine(today, of_day))
    return at_ms if at_ms <= now_ms else at_ms - _UNIT_MS["d"]


def _ms(moment: datetime) -> int:
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def duration_ms(text: str, option: str) -> int:
    """A duration as people give it."""
    found = _AGO.fullmatch(text)
    if not found:
        message = f"{option} {text!r} is no duration."
        raise UsageError(message, hint="It should be like 30s, 5m or 1h.")
    return round(float(found[1]) * _UNIT_MS[found[2]])


def cluster_of(reader: HistoryReader, cluster: str) -> str:
    """The cluster that is named, or the only one."""
    clusters = reader.catalog.clusters()
    if not cluster and len(clusters) > 1:
        message = f"There is a history of several clusters: {', '.join(clusters)}."
        raise UsageError(message, hint="Name one with --cluster.")
    return cluster or next(iter(clusters), "")


class Range(NamedTuple):
    """A time as it was asked for."""

    from_ms: int
    to_ms: int


def range_of(from_: str, to: str) -> Range:
    """The time that is meant; wrong ones are told before Spark is bothered."""
    now_ms = time.time_ns() // 1_000_000
    found = Range(moment_ms(from_, "--from", now_ms=now_ms), moment_ms(to, "--to", now_ms=now_ms))
    if found.from_ms >= found.to_ms:
        message = f"The range from {instant(found.from_ms)} to {instant(found.to_ms)} is empty."
        raise UsageError(message, hint="--from must be before --to.")
    return found


def checked_pattern(option: str, pattern: str) -> None:
    """A `UsageError` if it is no regular expression."""
    from warren.patterns import PatternError, compile_pattern

    try:
        compile_pattern(pattern)
    except PatternError as error:
        message = f"{option} {pattern!r} is no regular expression: {error}."
        raise UsageError(message, hint="It is RE2, and searched anywhere in the name.") from error


def span_of(reader: HistoryReader, cluster: str, wanted: Range) -> Span:
    """The part of a time that there is a history of."""
    from warren.history.reader import Span

    return reader.checked(Span(cluster_of(reader, cluster), *wanted))


class Where(NamedTuple):
    """Where the past is to be found, and how it is shown."""

    history: str
    config_dir: Path | None
    cluster: str
    master: str
    as_json: bool


@contextmanager
def history(path: str, config_dir: Path | None, master: str, *, skips_damaged: bool = False) -> Iterator[HistoryReader]:
    """A Spark of its own, and the history."""
    from warren.config.load import load_directory
    from warren.config.model import Config
    from warren.history.reader import HistoryReader
    from warren.machine.logs import LogLevel, configure_logging
    from warren.pipeline.session import LOCAL, start_session, stop_session

    config = load_directory(config_dir, os.environ).config if config_dir else Config()
    where = path or config.history.path
    if not where:
        message = "Where is the history?"
        raise UsageError(message, hint="Name it with --history PATH, or --config-dir DIR with [history] in it.")
    configure_logging(LogLevel("warn"))
    chosen = master or config.spark.master
    settings = {name: one.get_secret_value() for name, one in config.spark.settings.items()}
    with TemporaryDirectory(prefix="warren-") as home:
        local = {"spark.driver.memory": DRIVER_MEMORY, **settings}
        where_to = "local[*]" if chosen == LOCAL else chosen
        spark = start_session(where_to, Path(home), local, config.spark.environment)
        try:
            yield HistoryReader(spark, where, skips_damaged=skips_damaged)
        finally:
            stop_session(spark)
