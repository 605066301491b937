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

from warren.commands.durations import UNITS_MS, milliseconds_in
from warren.commands.options import UsageError
from warren.errors import HistoryError, SetupError, WarrenError
from warren.reports.moments import instant

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from warren.config.model import Config
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

_OF_DAY = re.compile(r"\d\d:\d\d")


def moment_ms(text: str, option: str, *, now_ms: int) -> int:
    """A moment as people give it; without a zone it is UTC."""
    if text == "now":
        return now_ms
    ago_ms = milliseconds_in(text)
    if ago_ms is not None and ago_ms <= now_ms:
        return now_ms - ago_ms
    try:
        if _OF_DAY.match(text):
            return _last_ms(clock_time.fromisoformat(text), now_ms)
        return _ms(datetime.fromisoformat(text))
    except ValueError as error:
        message = f"{option} {text!r} is no moment."
        hint = "It should be like 2026-11-16T03:00Z, 03:00 (the last time it was), or how long ago: 90m, 1d12h, 7d."
        raise UsageError(message, hint=hint) from error


def _last_ms(of_day: clock_time, now_ms: int) -> int:
    """The last time that it was so late."""
    today = datetime.fromtimestamp(now_ms / 1000, of_day.tzinfo or UTC).date()
    at_ms = _ms(datetime.combine(today, of_day))
    return at_ms if at_ms <= now_ms else at_ms - UNITS_MS["d"]


def _ms(moment: datetime) -> int:
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def cluster_of(reader: HistoryReader, cluster: str) -> str:
    """The cluster that is named, or the only one."""
    clusters = reader.catalog.clusters()
    if not cluster and len(clusters) > 1:
        message = f"There is a history of several clusters: {', '.join(clusters)}."
        raise HistoryError(message, hint="Name one with --cluster.")
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
    """A Spark of its own, and the history; whatever Spark fails at is one sentence."""
    from warren.config.load import load_directory
    from warren.config.model import Config
    from warren.history.reader import HistoryReader
    from warren.machine.logs import LogLevel, configure_logging
    from warren.pipeline.session import stop_session

    config = load_directory(config_dir, os.environ).config if config_dir else Config()
    where = path or config.history.path
    if not where:
        message = "Where is the history?"
        raise UsageError(message, hint="Name it with --history PATH, or --config-dir DIR with [history] in it.")
    configure_logging(LogLevel("warn"))
    # A JVM that could not be started well may still be writing there.
    with TemporaryDirectory(prefix="warren-", ignore_cleanup_errors=True) as home:
        with spark_told(SetupError, "Spark cannot be started"):
            spark = _started(master or config.spark.master, Path(home), config)
        try:
            with spark_told(HistoryError, f"The history in {where} cannot be read"):
                yield HistoryReader(spark, where, skips_damaged=skips_damaged)
        finally:
            stop_session(spark)


def _started(master: str, home: Path, config: Config) -> SparkSession:
    from warren.pipeline.session import LOCAL, start_session

    settings = {name: one.get_secret_value() for name, one in config.spark.settings.items()}
    local = {"spark.driver.memory": DRIVER_MEMORY, **settings}
    return start_session("local[*]" if master == LOCAL else master, home, local, config.spark.environment)


@contextmanager
def spark_told(kind: type[WarrenError], what: str, hint: str = "") -> Iterator[None]:
    """What Spark raises, as an error of ours with the cause in a sentence."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from warren.pipeline.queries import cause_of

    try:
        yield
    except (PySparkException, Py4JError) as error:
        message = f"{what}: {cause_of(error).rstrip('.')}."
        raise kind(message, hint=hint) from error


def write_report(path: Path, report: str) -> None:
    """A report for a browser; a `SetupError` if there is no room for it."""
    try:
        path.write_text(report, encoding="utf-8")
    except OSError as error:
        message = f"The report cannot be written to {path}: {error.strerror}."
        raise SetupError(message) from error
