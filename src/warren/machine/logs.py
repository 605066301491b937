"""How Warren logs: one line for each event, for people on a terminal and as JSON for machines."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, TextIO

import structlog

from warren.config.model import Logging
from warren.machine.rotating import RotatingFile

LEVELS = {"debug": 10, "info": 20, "warn": 30, "error": 40, "dpanic": 45, "panic": 50, "fatal": 60}
"""Burrow's names."""

_NAMES = {"warning": "warn", "exception": "error", "critical": "panic"}
"""What structlog calls otherwise."""

MEGABYTE = 1_048_576

Event = MutableMapping[str, Any]


class LogLevel:
    """Below it nothing is logged; it may change while Warren runs."""

    def __init__(self, name: str = "info") -> None:
        self._name = name

    def get(self) -> str:
        """Its name, one of `LEVELS`."""
        return self._name

    def set(self, name: str) -> None:
        """From now on another one."""
        self._name = name

    def filter(self, logger: object, method: str, event: Event) -> Event:
        """Let an event pass, or not."""
        level = _NAMES.get(method, method)
        if LEVELS[level] < LEVELS[self._name]:
            raise structlog.DropEvent
        event["level"] = level
        return event


def configure_logging(level: LogLevel | None = None, stream: TextIO | RotatingFile | None = None) -> None:
    """Log to `stream`, or standard error: readable on a terminal, JSON lines elsewhere."""
    stream = stream or sys.stderr
    to_people = stream.isatty()
    processors: list[Any] = [(level or LogLevel()).filter, structlog.processors.format_exc_info]
    if to_people:
        processors += [structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False), structlog.dev.ConsoleRenderer()]
    else:
        processors += [structlog.processors.TimeStamper(key="ts"), _as_burrow, structlog.processors.JSONRenderer()]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
        logger_factory=structlog.WriteLoggerFactory(stream),  # type: ignore[arg-type]  # it only writes and flushes
    )
    logging.basicConfig(level=logging.ERROR, stream=stream, force=True)  # libraries speak only when something is broken
    silence_py4j()


def silence_py4j() -> None:
    """Keep Py4J from printing a traceback for each call that the end of the JVM breaks off.

    Py4J raises the same error, so the caller decides what to log. Some of its lines go to the root logger.
    """
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"


def log_stream(settings: Logging) -> TextIO | RotatingFile:
    """Where the log goes: a file that is rotated, or standard output."""
    if not settings.filename:
        return sys.stdout
    return RotatingFile(
        Path(settings.filename),
        max_bytes=settings.max_size * MEGABYTE,
        max_backups=settings.max_backups,
        max_age_days=settings.max_age,
        is_local_time=settings.use_local_time,
        is_compressed=settings.use_compression,
    )


def _as_burrow(logger: object, method: str, event: Event) -> Event:
    """Level, time and message first and under Burrow's names, then what belongs to it."""
    return {"level": event.pop("level"), "ts": event.pop("ts"), "msg": event.pop("event"), **event}
