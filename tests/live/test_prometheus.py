"""A real Prometheus scrapes `/metrics` of a live Warren, and promtool checks the page."""

from __future__ import annotations

import subprocess
import urllib.request
from collections.abc import Iterator

import pytest

from tests.support.asked import Asked
from tests.support.example_cluster import ms, new_state
from tests.support.metrics_page import OPENMETRICS_10, metrics_of, page_of
from tests.support.programs import PROMETHEUS
from tests.support.scenario import commit_table, head_table
from tests.support.servers import Prometheus
from tests.support.waiting import eventually, eventually_equal

BURROWS_OWN = 'burrow_kafka_consumer_lag_total non-counter metrics should not have "_total" suffix'
"""Burrow has a gauge of this name, and so have we."""


@pytest.fixture(scope="module")
def prometheus(asked: Asked, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    with Prometheus(tmp_path_factory.mktemp("prometheus"), [asked.warren.address]) as server:
        eventually_equal(lambda: values_of(server, "up"), {(): "1"})
        yield server


def values_of(server: Prometheus, expression: str) -> dict[tuple[str, ...], str]:
    """Return the newest values by the values of their labels, in the order of the labels' names."""
    values = {}
    for series in server.query(expression):
        labels = {name: text for name, text in series["metric"].items() if name not in ("__name__", "instance", "job")}
        values[tuple(labels[name] for name in sorted(labels))] = series["value"][1]
    return values


def complaints(page: str) -> list[str]:
    """Return what promtool finds wrong with a page."""
    command = [str(PROMETHEUS.path("promtool")), "check", "metrics"]
    done = subprocess.run(command, input=page.encode(), capture_output=True, timeout=30, check=False)
    return (done.stdout + done.stderr).decode().splitlines()


def test_the_target_is_up(prometheus: Prometheus) -> None:
    def health() -> list[tuple[str, str]]:
        targets = prometheus.data("/api/v1/targets")["activeTargets"]
        return [(target["health"], target["lastError"]) for target in targets]

    eventually_equal(health, [("up", "")])


def test_the_lag_of_a_group_can_be_queried(prometheus: Prometheus, asked: Asked) -> None:
    groups = f"{asked.behind}|{asked.level}|{asked.spaced}"
    lag = f'burrow_kafka_consumer_lag_total{{consumer_group=~"{groups}"}}'

    eventually_equal(
        lambda: values_of(prometheus, lag),
        {("test", asked.behind): "15", ("test", asked.level): "0", ("test", asked.spaced): "1"},
    )


def test_the_status_of_a_partition_can_be_queried(prometheus: Prometheus, asked: Asked) -> None:
    status = f'burrow_kafka_topic_partition_status{{consumer_group="{asked.behind}"}}'

    eventually_equal(
        lambda: values_of(prometheus, status),
        {("test", asked.behind, "0", asked.topic): "4", ("test", asked.behind, "1", asked.topic): "1"},
    )


def test_the_lag_in_seconds_grows_while_nothing_is_read(prometheus: Prometheus, asked: Asked) -> None:
    growth = f'delta(warren_group_lag_seconds{{consumer_group="{asked.behind}"}}[10s])'

    eventually(lambda: float(values_of(prometheus, growth).get(("test", asked.behind), "0")) > 0)


def test_prometheus_takes_counters_for_counters(prometheus: Prometheus) -> None:
    """OpenMetrics names the family without `_total`."""

    def types() -> list[str]:
        names = ("warren_batches_total", "warren_batches")
        found = [prometheus.data("/api/v1/metadata", metric=name) for name in names]
        return [entry["type"] for metadata in found for entries in metadata.values() for entry in entries]

    eventually_equal(types, ["counter"])


def test_promtool_accepts_the_live_page_except_for_a_name_that_is_burrows(asked: Asked) -> None:
    with urllib.request.urlopen(f"http://{asked.warren.address}/metrics", timeout=10) as answer:
        page = answer.read().decode()

    assert asked.spaced in page
    assert complaints(page) == [BURROWS_OWN]


def test_promtool_accepts_any_name() -> None:
    state = new_state()
    name = 'a\\b"c\nd{e="f"} 1\n# EOF\r\t\x00 ü\u2028'
    state.apply_head_rows(head_table({name: [100]}, ms(0)), now_ms=ms(0))
    state.apply_commit_rows("local", commit_table((name, name, 0, 40, ms(1))), now_ms=ms(1))

    assert complaints(page_of(metrics_of(state))) == [BURROWS_OWN]


def test_the_live_page_is_openmetrics_for_clients_that_accept_it(asked: Asked) -> None:
    url = f"http://{asked.warren.address}/metrics"
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": OPENMETRICS_10}), timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
        assert answer.read().endswith(b"# EOF\n")
