"""Warrens for the tests of the page: a real one that watches the demo's shop, and small ones without Spark."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.support.process_health import PROCESS_HEALTH
from tests.support.scenario import head_rows
from tests.support.waiting import eventually
from tests.support.warren import StartWarren, Warren, config
from warren.clusters.state import ClusterState
from warren.config.load import parse
from warren.demo.behaviours import GROUPS
from warren.embedded.broker import Broker, free_port
from warren.history.service import History, Plan
from warren.notify.service import Alerts
from warren.rules.rule import Settings
from warren.serve.app import make_app
from warren.serve.server import HttpListener
from warren.sinks.service import Sinks
from warren.windows.commit_rows import CommitRows
from warren.windows.store import Limits

NOTIFIER = """
[notifier.chat]
class-name = "slack"
url = "http://127.0.0.1:{port}/hunter2-hunter2-hunter2"
"""
HISTORY = """
[history]
path = "{path}"
flush-interval = 15
sample-interval = 1
"""
SINK = """
[sink.lake]
class-name = "influxdb"
url = "http://127.0.0.1:{port}"
database = "lag"
interval = 5
"""
"""Nobody listens there."""
SECRET = "hunter2"
HISTORY_OF_A_GROUP = "/api/v1/clusters/test/groups/orders-stalled/history"


@contextmanager
def shop(directory: Path, broker: Broker, start_warren: StartWarren) -> Iterator[Warren]:
    """A Warren that watches the groups of the demo, once each of them shows its state and there is a history."""
    command = [sys.executable, "-P", "-m", "warren.demo.workload", "--bootstrap", broker.bootstrap]
    more = (
        NOTIFIER.format(port=free_port()) + HISTORY.format(path=directory / "history") + SINK.format(port=free_port())
    )
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as workload:
        try:
            with start_warren(
                directory, config(broker.bootstrap, more=more, trigger=2, evaluate_interval=1, snapshot_interval=10)
            ) as warren:
                eventually(lambda: _statuses(warren).items() >= EXPECTED.items(), 240, saw=lambda: _statuses(warren))
                eventually(lambda: "times" in warren.get(HISTORY_OF_A_GROUP), saw=lambda: warren.get("/api/v1/history"))
                yield warren
        finally:
            workload.kill()


EXPECTED = {group.name: group.shows.name for group in GROUPS if group.shows.name not in ("OK", "REWIND")}


def _statuses(warren: Warren) -> dict[str, str]:
    groups = warren.get("/api/v1/clusters/test/groups").get("groups", ())
    return {one["group"]: one["cause"]["status"] for one in groups if one["cause"]}


class Health(NamedTuple):
    """How a query is doing."""

    state: str = "running"
    last_error: str = ""
    restarts: int = 0


class Site:
    """A Warren that answers from memory; everything about it can be changed."""

    def __init__(self, home: Path, *, groups: int = 0, security: dict[str, list[str]] | None = None) -> None:
        self.port = free_port()
        raw = {
            "httpserver": {"default": {"address": f"127.0.0.1:{self.port}"}},
            "cluster": {"big": {"servers": ["127.0.0.1:9092"]}},
            "consumer": {"big": {"cluster": "big"}},
            "security": security or {},
        }
        self.config = parse(raw, "a test")
        self.state = ClusterState("big", Limits(intervals=3), Settings(), {"big": "__consumer_offsets"})
        if groups:
            fill(self.state, groups)
        self.clusters = {"big": self.state}
        self.queries = {"heads-big": Health(), "commits-big": Health()}
        self._alerts = Alerts(self.config, self.clusters, home, now_ms)
        self._app = make_app(
            self.clusters,
            lambda: self.config,
            now_ms,
            lambda: self.queries,
            alerts=self._alerts,
            sinks=Sinks(self.config, self.clusters, home, now_ms, lambda: PROCESS_HEALTH),
            history=History(Plan(path=""), home, now_ms),
        )
        self._listener: HttpListener | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def add_cluster(self, name: str, groups: int) -> None:
        state = self.clusters[name] = ClusterState(name, Limits(intervals=3), Settings(), {"big": "__consumer_offsets"})
        fill(state, groups)

    def start(self) -> None:
        self._listener = HttpListener(next(iter(self.config.listeners.values())))
        self._listener.start(self._app, self._app.at_once)

    def stop(self) -> None:
        """Answer no more."""
        if self._listener is not None:
            self._listener.stop()
            self._listener = None

    def close(self) -> None:
        self.stop()
        self._alerts.stop()


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def fill(state: ClusterState, groups: int, partitions: int = 2) -> None:
    """So many groups, of which every tenth is stalled."""
    topics = [f"topic-{number:02}" for number in range(20)]
    windows, began_ms = state._windows, now_ms() - 30_000
    count = groups * partitions
    for step in range(4):
        at_ms = began_ms + 5_000 * step
        ends = {topic: [1_000 + 100 * step] * partitions for topic in topics}
        windows.apply_heads(head_rows(ends, at_ms - 1))
        moved = np.array([0 if number % 10 == 0 else 100 * step for number in range(groups)], np.int64)
        pairs = [(f"service-{number:05}", topics[number % len(topics)]) for number in range(groups)]
        windows.apply_commits(
            CommitRows(
                pairs=pairs,
                pair=np.repeat(np.arange(groups), partitions),
                partition=np.tile(np.arange(partitions), groups),
                offset=np.repeat(1_000 + moved, partitions),
                timestamp_ms=np.full(count, at_ms, np.int64),
                order=np.arange(count) + step * count,
                tombstone=np.zeros(count, np.bool_),
            ),
            at_ms,
        )
    state._reading.modules["big"].caught_up = True
    state.evaluate(now_ms=now_ms())


@contextmanager
def behind_prefix(target: str, prefix: str) -> Iterator[str]:
    """A proxy that shows a Warren below a path; the address of its page."""

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith(f"{prefix}/"):
                self.send_error(404)
                return
            try:
                with urllib.request.urlopen(target.rstrip("/") + self.path.removeprefix(prefix), timeout=10) as answer:
                    self._pass_on(answer.status, answer.headers.items(), answer.read())
            except urllib.error.HTTPError as error:
                self._pass_on(error.code, error.headers.items(), error.read())

        def _pass_on(self, status: int, headers: object, body: bytes) -> None:
            self.send_response(status)
            for name, value in list(headers):  # type: ignore[call-overload]
                if name.lower() not in ("connection", "content-length", "transfer-encoding", "date", "server"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", free_port()), Proxy)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}{prefix}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
