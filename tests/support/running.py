"""A Warren in this process that commands can ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import structlog
from starlette.types import ASGIApp

from tests.unit.test_v1 import filled_state, ms
from tests.unit.test_v1_alerts import NOW_S, config_with
from warren.config.model import HttpServer, Security
from warren.notify.service import Alerts
from warren.serve.app import make_app
from warren.serve.server import HttpListener

TOKEN = "correct-horse"


class Said(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Said]


class Running(NamedTuple):
    url: str
    alerts: Alerts


@contextmanager
def listening(app: ASGIApp) -> Iterator[str]:
    listener = HttpListener(HttpServer(address="127.0.0.1:0"), None)
    listener.start(app)
    try:
        yield f"http://127.0.0.1:{listener.url.rpartition(':')[2]}"
    finally:
        listener.stop()


@contextmanager
def running_warren(home: Path, security: Security) -> Iterator[Running]:
    with structlog.testing.capture_logs():
        clusters, config = {"local": filled_state()}, config_with(security=security)
    alerts = Alerts(config, clusters, home, lambda: ms(NOW_S))
    app = make_app(clusters, lambda: config, lambda: ms(NOW_S), alerts=alerts)
    with structlog.testing.capture_logs(), listening(app) as url:  # its log would stand among what is said
        yield Running(url, alerts)
    alerts.stop()
