"""A real Prometheus scrapes `/metrics`, and its own checker reads the page."""

from __future__ import annotations

import json
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Asked
from tests.support.programs import PROMETHEUS
from tests.support.scenario import commit_table, head_table
from tests.support.waiting import eventually
from tests.support.warren_process import die_with_parent
from tests.unit.test_metrics import metrics_of, page_of
from tests.unit.test_metrics_page import OPENMETRICS_10
from tests.unit.test_v1 import ms, new_state
from warren.embedded.broker import free_port

CONFIG = """
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: warren
    static_configs: [{{ targets: ["{address}"] }}]
"""

BURROWS_OWN = 'burrow_kafka_consumer_lag_total non-counter metrics should not have "_total" suffix'
"""Burrow has a gauge of this name, and so have we."""


class Prometheus:
    """A server with its data in a directory."""

    def __init__(self, directory: Path, target: str) -> None:
        config, self.address = directory / "prometheus.yml", f"127.0.0.1:{free_port()}"
        config.write_text(CONFIG.format(address=target))
        where = [f"--storage.tsdb.path={directory / 'data'}", f"--web.listen-address={self.address}"]
        self.log_path = directory / "log"
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(
                [str(PROMETHEUS.path()), f"--config.file={config}", *where],
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,  # noqa: PLW1509  # no thread of ours holds a lock that it needs
            )

    def get(self, path: str) -> Any:
        """The data of an answer; None while there is none."""
        assert self.process.poll() is None, self.log_path.read_text()
        try:
            with urllib.request.urlopen(f"http://{self.address}{path}", timeout=5) as answer:
                return json.load(answer)["data"]
        except OSError:  # it is not up yet
            return None

    def query(self, text: str) -> dict[tuple[str, ...], str]:
        """What a query finds now: values by the values of their labels but for where they came from."""
        found = self.get(f"/api/v1/query?{urllib.parse.urlencode({'query': text})}") or {"result": []}
        ours = [
            {name: value for name, value in one["metric"].items() if name not in ("__name__", "instance", "job")}
            for one in found["result"]
        ]
        return {
            tuple(labels[name] for name in sorted(labels)): one["value"][1]
            for labels, one in zip(ours, found["result"], strict=True)
        }


@pytest.fixture(scope="module")
def prometheus(asked: Asked, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    server = Prometheus(tmp_path_factory.mktemp("prometheus"), asked.warren.address)
    try:
        eventually(lambda: server.query("up"))
        yield server
    finally:
        server.process.terminate()
        server.process.wait(30)


def complaints(page: str) -> list[str]:
    """What promtool finds wrong with a page."""
    command = [str(PROMETHEUS.path("promtool")), "check", "metrics"]
    done = subprocess.run(command, input=page.encode(), capture_output=True, timeout=30, check=False)
    return (done.stdout + done.stderr).decode().splitlines()


def test_the_target_is_up(prometheus: Prometheus) -> None:
    [target] = prometheus.get("/api/v1/targets")["activeTargets"]

    assert (target["health"], target["lastError"]) == ("up", "")


def test_the_lag_of_a_group_can_be_asked_for(prometheus: Prometheus, asked: Asked) -> None:
    wanted = {("test", asked.behind): "15", ("test", asked.level): "0", ("test", asked.spaced): "1"}

    eventually(lambda: wanted.items() <= prometheus.query("burrow_kafka_consumer_lag_total").items())


def test_the_status_of_a_partition_can_be_asked_for(prometheus: Prometheus, asked: Asked) -> None:
    found = prometheus.query(f'burrow_kafka_topic_partition_status{{consumer_group="{asked.behind}"}}')

    assert found == {("test", asked.behind, "0", asked.topic): "4", ("test", asked.behind, "1", asked.topic): "1"}


def test_the_lag_in_seconds_grows_while_nothing_is_read(prometheus: Prometheus, asked: Asked) -> None:
    grows = f'delta(warren_group_lag_seconds{{consumer_group="{asked.behind}"}}[10s])'

    eventually(lambda: float(next(iter(prometheus.query(grows).values()), "0")) > 0)


def test_counters_are_taken_for_counters(prometheus: Prometheus) -> None:
    found = prometheus.get("/api/v1/metadata?metric=warren_batches_total") or {}
    found |= prometheus.get("/api/v1/metadata?metric=warren_batches") or {}

    assert [one["type"] for metadata in found.values() for one in metadata] == ["counter"]


def test_its_checker_finds_nothing_in_the_live_page_but_what_is_burrows(asked: Asked) -> None:
    with urllib.request.urlopen(f"http://{asked.warren.address}/metrics", timeout=10) as answer:
        page = answer.read().decode()

    assert asked.spaced in page
    assert complaints(page) == [BURROWS_OWN]


def test_its_checker_reads_any_name() -> None:
    state = new_state()
    name = 'a\\b"c\nd{e="f"} 1\n# EOF\r\t\x00 ü\u2028'
    state.apply_head_rows(head_table({name: [100]}, ms(0)), now_ms=ms(0))
    state.apply_commit_rows("local", commit_table((name, name, 0, 40, ms(1))), now_ms=ms(1))

    assert complaints(page_of(metrics_of(state))) == [BURROWS_OWN]


def test_a_live_page_is_served_as_openmetrics_to_those_who_ask(asked: Asked) -> None:
    url = f"http://{asked.warren.address}/metrics"
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": OPENMETRICS_10}), timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
        assert answer.read().endswith(b"# EOF\n")
