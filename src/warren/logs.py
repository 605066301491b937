"""How Warren logs: one line for each event, for people on a terminal and as JSON for machines."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

import structlog


def configure_logging(level: int = logging.INFO, stream: TextIO | None = None) -> None:
    """Log to `stream`, or standard error: readable on a terminal, JSON lines elsewhere."""
    stream = stream or sys.stderr
    to_people = stream.isatty()
    last = structlog.dev.ConsoleRenderer() if to_people else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S" if to_people else "iso", utc=not to_people),
            structlog.processors.format_exc_info,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(stream),
    )
    logging.basicConfig(level=logging.ERROR, stream=stream)  # libraries speak only when something is broken
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # it reports our own shutdown as errors
