"""Warren's HTTP API in this process, for tests of the `warren` commands that query it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import structlog
from starlette.types import ASGIApp

from tests.support.alerts import NOW_S, config_with
from tests.support.example_cluster import filled_state, ms
from warren.config.model import HttpServer, Security
from warren.notify.service import Alerts
from warren.serve.app import make_app
from warren.serve.server import HttpListener

TOKEN = "correct-horse"


class CommandResult(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


Command = Callable[..., CommandResult]
"""Run `warren` with these arguments."""


class RunningWarren(NamedTuple):
    """Where the API listens, and its alerts."""

    url: str
    alerts: Alerts


@contextmanager
def listening(app: ASGIApp) -> Iterator[str]:
    """Serve `app` on a free port while the block runs, and return its URL."""
    listener = HttpListener(HttpServer(address="127.0.0.1:0"), None)
    listener.start(app)
    try:
        yield f"http://127.0.0.1:{listener.url.rpartition(':')[2]}"
    finally:
        listener.stop()


@contextmanager
def running_warren(home: Path, security: Security) -> Iterator[RunningWarren]:
    """Serve the example cluster as of second 60; state is kept in `home`."""
    with structlog.testing.capture_logs():
        clusters, config = {"local": filled_state()}, config_with(security=security)
    alerts = Alerts(config, clusters, home, lambda: ms(NOW_S))
    app = make_app(clusters, lambda: config, lambda: ms(NOW_S), alerts=alerts)
    # Captured, since log lines would mix with the output of the commands under test.
    with structlog.testing.capture_logs(), listening(app) as url:
        yield RunningWarren(url, alerts)
    alerts.stop()
