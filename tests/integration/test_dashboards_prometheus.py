"""Every query of the dashboards for Prometheus, against a real one that scrapes two Warrens without Spark."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.support.alerts import config_with, deliver_some, step
from tests.support.example_cluster import MEMBERS, QUERIES, STRANGE, commits, heads, ms
from tests.support.grafana import (
    EVERYTHING,
    Chosen,
    Found,
    Target,
    Variable,
    as_promql,
    assert_finds_only_what_was_chosen,
    filled,
    tag_values,
    targets,
    variables,
)
from tests.support.process_health import PROCESS_HEALTH
from tests.support.programs import PROMETHEUS
from tests.support.receivers.web_server import Reply, web_server
from tests.support.servers import Prometheus
from tests.support.waiting import eventually, eventually_equal
from warren.clusters.keeper import Keeper
from warren.clusters.state import ClusterState
from warren.config.load import parse
from warren.config.model import HttpServer
from warren.model import Status
from warren.notify.events import Turn
from warren.notify.incidents import Incident
from warren.notify.service import Alerts
from warren.rules.rule import Settings
from warren.serve.app import make_app
from warren.serve.server import HttpListener
from warren.sinks import writers
from warren.sinks.contract import Sent
from warren.sinks.influxdb import Influx
from warren.sinks.service import Sinks
from warren.sinks.sink import Sink
from warren.windows.rows import COMMIT_ROWS, RowKind
from warren.windows.store import Limits

RULES = Path(__file__).parents[2] / "src" / "warren" / "dashboards" / "prometheus"
BUILT_IN = {"top": "20", "__range": "5m", "__rate_interval": "5s"}
CLUSTERS = ("local", "other")
"""The example cluster, and the same without `newcomer`, whose lag is the highest."""
TAGS = {"consumer_group": "group"}
"""Variables whose name differs from their label, by the label."""
OK_S, TROUBLE_S = 6.0, 31.0
MOMENTS = 3 * (len(CLUSTERS) + 1)
"""What waits for a sink: points of seconds 10, 20 and 30, of each cluster and of Warren itself."""


class ExampleWarren:
    """A Warren without Spark whose groups are OK at first and get into trouble later."""

    def __init__(self, home: Path, sink_urls: Mapping[str, str]) -> None:
        self.second = OK_S
        self.clusters = {name: new_state(name) for name in CLUSTERS}
        sinks = {name: {"class-name": "influxdb", "url": url, "database": "lag"} for name, url in sink_urls.items()}
        self.config = config_with(sink=parse({"sink": sinks}, "a test").sink)
        self.alerts = Alerts(self.config, self.clusters, home, self.now_ms)
        deliver_some(self.alerts._outbox)
        Keeper(self.clusters, home / "snapshots", 30, self.now_ms).save()
        self.sinks = Sinks(self.config, self.clusters, home, self.now_ms, lambda: PROCESS_HEALTH)
        self.sinks.start(object())  # type: ignore[arg-type]  # nothing is asked of Spark here
        app = make_app(
            self.clusters, lambda: self.config, self.now_ms, lambda: QUERIES, alerts=self.alerts, sinks=self.sinks
        )
        self.listener = HttpListener(HttpServer(address="127.0.0.1:0"))
        self.listener.start(app, app.at_once)
        self.address = self.listener.url.removeprefix("http://")

    def now_ms(self) -> int:
        return ms(self.second)

    def get_into_trouble(self) -> None:
        for state in self.clusters.values():
            state.apply_head_rows(heads(10), now_ms=ms(10))
            for index, second, log_start in ((1, 15, 0), (2, 25, 300)):
                state.apply_commit_rows("local", commits_of(state, second, index), now_ms=ms(second))
                state.apply_head_rows(heads(second + 5, log_start=log_start), now_ms=ms(second + 5))
            state.apply_commit_rows("local", MEMBERS, now_ms=ms(30))
            planned = [{"kind": RowKind.PLANNED, "timestamp_ms": [ms(30.5)]}]
            state.apply_commit_rows("local", pa.Table.from_pylist(planned, COMMIT_ROWS), now_ms=ms(TROUBLE_S))
        self.second = TROUBLE_S

    def open_incidents(self) -> None:
        """Open an incident in each cluster."""
        opened = step(OK_S, Turn.OPENED, Status.WARN)
        for name in self.clusters:
            self.alerts.incidents.write(Incident(name, name, "billing", ms(OK_S), Status.WARN, (opened,)))

    def has_settled_sinks(self) -> bool:
        """Return whether all points are taken: sent to one sink, refused by the other one."""
        lake, denied = (self.sinks.health()[name] for name in ("lake", "denied"))
        is_taken = denied.waiting_moments == MOMENTS and denied.is_failing
        return is_taken and lake.sent_points == denied.waiting_points

    def close(self) -> None:
        self.listener.stop()
        self.sinks.stop()
        self.alerts.stop()


def new_state(name: str) -> ClusterState:
    state = ClusterState(name, Limits(intervals=3), Settings(), {"local": "__consumer_offsets"})
    state.apply_head_rows(heads(0), now_ms=ms(0))
    state.apply_commit_rows("local", commits_of(state, 5, 0), now_ms=ms(5))
    return state


def commits_of(state: ClusterState, second: int, index: int) -> pa.Table:
    table = commits(second, index)
    is_newcomer = pc.equal(pc.fill_null(table["group"], ""), "newcomer")
    return table if state.name == "local" else table.filter(pc.invert(is_newcomer))


def write_without_spark(spark: object, sink: Sink, tables: Sequence[pa.Table]) -> Sent:
    """Send points as Spark's task does."""
    sender = Influx(sink.options)  # type: ignore[arg-type]  # all sinks here are InfluxDBs
    try:
        return sum((sender.send(batch) for table in tables for batch in table.to_batches()), Sent())
    finally:
        sender.close()


class Scraped(NamedTuple):
    """A Prometheus, the Warrens that it scrapes, and the time that all queries are about."""

    server: Prometheus
    warrens: Sequence[ExampleWarren]
    at_s: float

    @property
    def chosen(self) -> Chosen:
        """Values of the variables; what is highest is elsewhere: incidents, and lag in seconds."""
        return {
            "cluster": ["other"],
            "group": ["billing", STRANGE],
            "topic": ["orders"],
            "instance": [self.warrens[0].address],
        }

    def found_by(self, target: Target, chosen: Chosen) -> Found:
        """Return the values of the series that a query finds, by labels."""
        expression = filled(target.target["expr"], chosen, BUILT_IN, as_promql, ".*")
        if target.target["instant"]:
            series = self.server.query(expression, time=str(self.at_s))
        else:
            series = self.server.query_range(expression, self.at_s - 120, self.at_s)
        return {
            tuple(sorted((TAGS.get(label, label), value) for label, value in one["metric"].items())): one.get(
                "value", one.get("values")
            )
            for one in series
        }

    def labels_in(self, target: Target) -> set[str]:
        """Return the labels of the metrics in a query, named like variables."""
        metrics = set(re.findall(r"(\w+)\{", target.target["expr"]))
        series = [one for metric in metrics for one in self.server.data("/api/v1/series", **{"match[]": metric})]
        return {TAGS.get(label, label) for one in series for label in one}


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scraped]:
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(writers, "register", lambda spark, sink: None)
        patch.setattr(writers, "write_tables", write_without_spark)
        receivers = {"lake": Reply(204), "denied": Reply(401)}
        urls = {name: stack.enter_context(web_server(reply)).url for name, reply in receivers.items()}
        warrens = []
        for name in ("warren-1", "warren-2"):
            warrens.append(ExampleWarren(tmp_path_factory.mktemp(name), urls))
            stack.callback(warrens[-1].close)
        warrens[1].open_incidents()
        directory, addresses = tmp_path_factory.mktemp("prometheus"), [warren.address for warren in warrens]
        server = stack.enter_context(Prometheus(directory, addresses, sorted(RULES.glob("*.yml"))))
        yield Scraped(server, warrens, scrape_ok_and_trouble(server, warrens))


def scrape_ok_and_trouble(server: Prometheus, warrens: Sequence[ExampleWarren]) -> float:
    """Wait until Prometheus has samples of both states; return a time up to which it has all of them."""
    scraped_ok = 'count(count_over_time(burrow_kafka_consumer_status{consumer_group="billing"}[1m]) >= 3)'
    eventually_equal(lambda: value_of(server, scraped_ok), "4")
    for warren in warrens:
        warren.get_into_trouble()
    scraped_trouble = "count(count_over_time(warren_undecodable_records_total[1m]) >= 3)"
    eventually_equal(lambda: value_of(server, scraped_trouble), "4")
    for warren in warrens:
        eventually(warren.has_settled_sinks, saw=warren.sinks.health)
        warren.second += 1  # a page of metrics is kept while the clock stands still
    points = warrens[0].sinks.health()["denied"].waiting_points
    for scraped in (
        f'warren_sink_points_total{{sink="lake", result="sent"}} == {points}',
        f'warren_sink_waiting_points{{sink="denied"}} == {points}',
        'warren_sink_up{sink="denied"} == 0',
    ):
        eventually_equal(lambda expression=f"count({scraped})": value_of(server, expression), "2")
    at_s = time.time()
    eventually(lambda: float(value_of(server, "min(timestamp(up))")) > at_s)
    return at_s


def value_of(server: Prometheus, expression: str) -> str:
    """Return the value of an expression that finds one series or none."""
    series = server.query(expression)
    return str(series[0]["value"][1]) if series else ""


@pytest.mark.parametrize("target", targets("prometheus"), ids=str)
def test_a_query_finds_something(prometheus: Scraped, target: Target) -> None:
    assert prometheus.found_by(target, EVERYTHING)


@pytest.mark.parametrize("target", targets("prometheus"), ids=str)
def test_a_query_finds_only_what_was_chosen(prometheus: Scraped, target: Target) -> None:
    assert_finds_only_what_was_chosen(
        target, prometheus.labels_in(target), prometheus.chosen, lambda chosen: prometheus.found_by(target, chosen)
    )


def named(dashboard: str, panel: str) -> list[Target]:
    return [one for one in targets("prometheus") if (one.dashboard, one.panel) == (dashboard, panel)]


def test_groups_of_any_name_can_be_chosen(prometheus: Scraped) -> None:
    found = prometheus.found_by(named("group", "Unread records")[0], prometheus.chosen)

    assert tag_values(found, "group") == {"billing", STRANGE}


@pytest.mark.parametrize("variable", variables("prometheus"), ids=str)
def test_a_variable_has_values(prometheus: Scraped, variable: Variable) -> None:
    text = filled(variable.query["query"], EVERYTHING, BUILT_IN, as_promql, ".*")
    match = re.fullmatch(r"label_values\((.+), (\w+)\)", text)
    assert match is not None

    assert prometheus.server.data(f"/api/v1/label/{match[2]}/values", **{"match[]": match[1]})


def test_a_group_in_trouble_has_the_time_when_it_was_last_ok(prometheus: Scraped) -> None:
    [last_ok] = [target for target in targets("prometheus") if "max_over_time(timestamp" in target.target["expr"]]
    found = prometheus.found_by(last_ok, {**prometheus.chosen, "group": ()})

    [(_, time_ms)] = [values for key, values in found.items() if ("group", "billing") in key]
    assert prometheus.at_s - 300 < float(time_ms) / 1000 < prometheus.at_s
    assert STRANGE not in tag_values(found, "group")


def test_sinks_show_what_they_have_sent_and_what_waits(prometheus: Scraped) -> None:
    [is_up], [waiting] = named("warren", "Sinks that take points"), named("warren", "Points that wait")
    points = prometheus.server.query("warren_sink_points_total", time=str(prometheus.at_s))

    for warren in prometheus.warrens:
        health = warren.sinks.health()
        chosen = {**EVERYTHING, "instance": [warren.address]}
        assert newest_by_sink(prometheus.found_by(is_up, chosen)) == {"denied": "0", "lake": "1"}
        waiting_bytes = {name: str(sink.waiting_bytes) for name, sink in health.items()}
        assert newest_by_sink(prometheus.found_by(waiting, chosen)) == waiting_bytes
        labels = {"instance": warren.address, "sink": "lake", "result": "sent"}
        [sent] = [one["value"][1] for one in points if labels.items() <= one["metric"].items()]
        assert int(sent) == health["lake"].sent_points > 0


def newest_by_sink(found: Found) -> dict[str, str]:
    return {dict(key)["sink"]: values[-1][1] for key, values in found.items()}


def test_prometheus_evaluates_the_rules(prometheus: Scraped) -> None:
    groups = prometheus.server.data("/api/v1/rules")["groups"]

    rules = [rule for group in groups for rule in group["rules"]]
    assert {rule["health"] for rule in rules} == {"ok"}
    recorded = [rule["name"] for rule in rules if rule["type"] == "recording"]
    assert [name for name in recorded if not prometheus.server.query(name)] == []


def test_promtool_accepts_the_rules() -> None:
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
