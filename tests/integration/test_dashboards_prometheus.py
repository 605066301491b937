"""Every query of the dashboards for Prometheus, asked of a real one that reads the page of a Warren without Spark."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.support.grafana import ALL, Chosen, Target, Variable, as_promql, filled, targets, variables
from tests.support.programs import PROMETHEUS
from tests.support.servers.server import Server, with_query
from tests.support.waiting import eventually
from tests.unit.test_v1 import MEMBERS, QUERIES, STRANGE, commits, heads, ms, new_state
from tests.unit.test_v1_alerts import config_with, deliver_some
from warren.clusters.keeper import Keeper
from warren.config.model import HttpServer
from warren.notify.service import Alerts
from warren.serve.app import make_app
from warren.serve.server import HttpListener
from warren.windows.rows import COMMIT_ROWS, RowKind

CONFIG = """
global: {{ scrape_interval: 1s, evaluation_interval: 1s }}
rule_files: ["{rules}/*.yml"]
scrape_configs:
  - job_name: warren
    static_configs: [{{ targets: ["{address}", "{with_sinks}"] }}]
"""
SINKS = b"""\
# TYPE warren_build_info gauge
warren_build_info{version="1"} 1
# TYPE warren_sink_up gauge
warren_sink_up{sink="metrics"} 1
# TYPE warren_sink_points_total counter
warren_sink_points_total{sink="metrics",result="sent"} 5
# TYPE warren_sink_waiting_seconds gauge
warren_sink_waiting_seconds{sink="metrics"} 2
# TYPE warren_sink_waiting_bytes gauge
warren_sink_waiting_bytes{sink="metrics"} 9
"""
"""What a Warren that has a sink tells about it; the one here has none."""
RULES = Path(__file__).parents[2] / "src" / "warren" / "dashboards" / "prometheus"
ALL_OF_IT: Chosen = {"cluster": ALL, "group": ALL, "topic": ALL, "instance": ALL}
SOME: Chosen = {**ALL_OF_IT, "cluster": ["local"], "group": ["billing", STRANGE], "topic": ["orders"]}
BUILT_IN = {"top": "10", "__range": "5m", "__rate_interval": "5s"}
OK_S, TROUBLE_S = 6.0, 31.0


class Site:
    """A Warren without Spark whose groups are fine first and get into trouble then."""

    def __init__(self, home: Path) -> None:
        self.second = OK_S
        self.state = new_state()
        self.state.apply_head_rows(heads(0), now_ms=ms(0))
        self.state.apply_commit_rows("local", commits(5, 0), now_ms=ms(5))
        clusters, config = {"local": self.state}, config_with()
        self.alerts = Alerts(config, clusters, home, lambda: ms(self.second))
        deliver_some(self.alerts._outbox)
        Keeper(clusters, home / "snapshots", 30, lambda: ms(OK_S)).save()
        app = make_app(clusters, lambda: config, lambda: ms(self.second), lambda: QUERIES, alerts=self.alerts)
        self.listener = HttpListener(HttpServer(address="127.0.0.1:0"))
        self.listener.start(app, app.at_once)

    def get_into_trouble(self) -> None:
        self.state.apply_head_rows(heads(10), now_ms=ms(10))
        for at, second in ((1, 15), (2, 25)):
            self.state.apply_commit_rows("local", commits(second, at), now_ms=ms(second))
            self.state.apply_head_rows(heads(second + 5), now_ms=ms(second + 5))
        self.state.apply_commit_rows("local", MEMBERS, now_ms=ms(30))
        planned = [{"kind": RowKind.PLANNED, "timestamp_ms": [ms(30.5)]}]
        self.state.apply_commit_rows("local", pa.Table.from_pylist(planned, COMMIT_ROWS), now_ms=ms(TROUBLE_S))
        self.second = TROUBLE_S

    def close(self) -> None:
        self.listener.stop()
        self.alerts.stop()


class Scraper(Server):
    """A Prometheus that reads a page every second."""

    def __init__(self, directory: Path, target: str, with_sinks: str) -> None:
        super().__init__(directory)
        config = CONFIG.format(address=target, with_sinks=with_sinks, rules=RULES)
        (self.directory / "prometheus.yml").write_text(config)

    def command(self) -> list[str]:
        where = [f"--web.listen-address=127.0.0.1:{self.port}", f"--storage.tsdb.path={self.directory / 'data'}"]
        return [str(PROMETHEUS.path()), "--config.file=prometheus.yml", *where]

    def answers(self) -> bool:
        return self.ask("/-/ready").status == 200

    def data(self, path: str, **parameters: str) -> Any:
        """The data of an answer that must be a good one."""
        answer = self.ask(with_query(path, **parameters))
        assert answer.status == 200, answer.body.decode()
        return answer.json()["data"]

    def found(self, expression: str, *, instant: bool) -> list[dict[str, Any]]:
        """The series that an expression finds."""
        now = time.time()
        if instant:
            result = self.data("/api/v1/query", query=expression, time=str(now))["result"]
        else:
            about = {"start": str(now - 120), "end": str(now), "step": "1"}
            result = self.data("/api/v1/query_range", query=expression, **about)["result"]
        series: list[dict[str, Any]] = result
        return series


class PageOfSinks(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(SINKS)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
        pass


@contextmanager
def page_of_sinks() -> Iterator[str]:
    """Where it is."""
    with ThreadingHTTPServer(("127.0.0.1", 0), PageOfSinks) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scraper]:
    site = Site(tmp_path_factory.mktemp("home"))
    address = site.listener.url.removeprefix("http://")
    try:
        with page_of_sinks() as other, Scraper(tmp_path_factory.mktemp("prometheus"), address, other) as server:
            eventually(lambda: seen(server, "burrow_kafka_consumer_status == 1"))
            site.get_into_trouble()
            eventually(lambda: seen(server, "burrow_kafka_consumer_status == 3"))
            eventually(lambda: float(seen(server, "min(count_over_time(up[1m]))") or 0) >= 6)
            yield server
    finally:
        site.close()


def seen(server: Scraper, expression: str) -> str:
    """The value of the first series, if there is one."""
    found = server.found(expression, instant=True)
    return found[0]["value"][1] if found else ""


def asked(one: Target, chosen: Chosen) -> str:
    return filled(one.target["expr"], chosen, BUILT_IN, as_promql, ".*")


@pytest.mark.parametrize("one", targets("prometheus"), ids=str)
def test_a_query_finds_something(prometheus: Scraper, one: Target) -> None:
    assert prometheus.found(asked(one, ALL_OF_IT), instant=one.target["instant"])


@pytest.mark.parametrize("one", targets("prometheus"), ids=str)
def test_a_query_finds_only_what_was_chosen(prometheus: Scraper, one: Target) -> None:
    found = prometheus.found(asked(one, SOME), instant=one.target["instant"])

    assert {one["metric"].get("consumer_group", STRANGE) for one in found} <= {"billing", STRANGE}


def test_groups_of_any_name_can_be_chosen(prometheus: Scraper) -> None:
    lag = next(one for one in targets("prometheus") if (one.dashboard, one.panel) == ("group", "Unread records"))
    found = prometheus.found(asked(lag, SOME), instant=True)

    assert {one["metric"]["consumer_group"] for one in found} == {"billing", STRANGE}


@pytest.mark.parametrize("one", variables("prometheus"), ids=str)
def test_a_variable_has_values(prometheus: Scraper, one: Variable) -> None:
    text = filled(one.query["query"], ALL_OF_IT, BUILT_IN, as_promql, ".*")
    found = re.fullmatch(r"label_values\((.+), (\w+)\)", text)
    assert found is not None

    assert prometheus.data(f"/api/v1/label/{found[2]}/values", **{"match[]": found[1]})


def test_a_group_in_trouble_tells_when_it_was_ok(prometheus: Scraper) -> None:
    last_ok = next(one for one in targets("prometheus") if "max_over_time(timestamp" in one.target["expr"])
    found = prometheus.found(asked(last_ok, ALL_OF_IT), instant=True)

    by_group = {one["metric"]["consumer_group"]: float(one["value"][1]) / 1000 for one in found}
    assert time.time() - 300 < by_group["billing"] < time.time()
    assert STRANGE not in by_group


def test_the_rules_are_taken_on_and_come_to_something(prometheus: Scraper) -> None:
    groups = prometheus.data("/api/v1/rules")["groups"]

    rules = [rule for group in groups for rule in group["rules"]]
    assert {one["health"] for one in rules} == {"ok"}
    recorded = [one["name"] for one in rules if one["type"] == "recording"]
    assert [name for name in recorded if not prometheus.found(name, instant=True)] == []


def test_the_checker_of_prometheus_accepts_the_rules() -> None:
    files = [str(path) for path in sorted(RULES.glob("*.yml"))]
    done = subprocess.run(
        [str(PROMETHEUS.path("promtool")), "check", "rules", *files],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert (done.returncode, len(files)) == (0, 2), done.stdout + done.stderr


def test_each_alert_fires_when_it_should_and_only_then() -> None:
    tests = Path(__file__).parents[1] / "rules" / "alerts.yml"
    done = subprocess.run(
        [str(PROMETHEUS.path("promtool")), "test", "rules", str(tests)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
