"""`warren demo` for real: a process of its own, seen from outside as a user sees it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from warren.demo.behaviours import GROUPS
from warren.embedded.broker import free_port

ALL_SHOWN_S = 90
HOLD_S = 10
STOP_S = 10

EXPECTED = {group.name: (group.shows.of_group.name, group.shows.name) for group in GROUPS}


class Demo:
    """A running `warren demo`."""

    def __init__(self, home: Path, port: int) -> None:
        self.output = home / "output.txt"
        self.url = f"http://127.0.0.1:{port}"
        environment = {**os.environ, "WARREN_HOME": str(home), "WARREN_HTTP": f"127.0.0.1:{port}"}
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "warren.cli", "demo"], env=environment, stdout=output, stderr=output
            )
        self.started_s = time.monotonic()

    @property
    def age_s(self) -> float:
        return time.monotonic() - self.started_s

    def said(self) -> str:
        return self.output.read_text()

    def children(self) -> list[psutil.Process]:
        """Every process it has started, directly or not."""
        return list(psutil.Process(self.process.pid).children(recursive=True))

    def states(self) -> dict[str, tuple[str, str]]:
        """Each known group's status, and its worst partition's."""
        return {name: state for name in EXPECTED if (state := self._state(name))}

    def _state(self, group: str) -> tuple[str, str] | None:
        try:
            with urllib.request.urlopen(f"{self.url}/v3/kafka/demo/consumer/{group}/lag", timeout=5) as answer:
                status = json.load(answer)["status"]
        except (urllib.error.URLError, ConnectionError):
            return None
        worst = {status["status"]} if status["status"] != "ERR" else {one["status"] for one in status["partitions"]}
        expected = EXPECTED[group][1]
        return status["status"], expected if expected in worst else ", ".join(sorted(worst))

    def wait_until(self, condition: Callable[[], bool], by_s: float) -> None:
        while not condition():
            assert self.process.poll() is None, self.said()
            assert self.age_s < by_s, f"not within {by_s} s: {self.states()}\n{self.said()}"
            time.sleep(0.25)

    def is_ready(self) -> bool:
        return "Ctrl-C stops everything" in self.said()


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    running = Demo(tmp_path, free_port())
    yield running
    if running.process.poll() is None:
        running.process.terminate()
        running.process.wait(STOP_S)


def command_of(process: psutil.Process) -> list[str]:
    """Its command line; none for one that has just ended."""
    try:
        return list(process.cmdline())
    except psutil.NoSuchProcess:  # a zombie's error is a kind of this
        return []


def assert_gone(processes: list[psutil.Process], within_s: float) -> None:
    _, alive = psutil.wait_procs(processes, within_s)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def test_the_demo_shows_every_state_holds_it_and_leaves_nothing_behind(demo: Demo) -> None:
    demo.wait_until(lambda: demo.states() == EXPECTED, by_s=ALL_SHOWN_S)
    print(f"all six states after {demo.age_s:.1f} s")
    held_from_s = demo.age_s
    while demo.age_s < held_from_s + HOLD_S:
        assert demo.states() == EXPECTED
        time.sleep(0.5)
    started = demo.children()
    assert len(started) >= 4  # Spark, the workload, Kafka and its guard
    demo.process.send_signal(signal.SIGINT)
    assert demo.process.wait(STOP_S) == 0, demo.said()
    assert_gone(started, within_s=1)
    assert "Traceback" not in demo.said()
    assert f"curl {demo.url}/v3/kafka/demo/consumer/orders-slow/lag" in demo.said()
    assert f"warren explain orders-stalled --url {demo.url}" in demo.said()
    assert re.search(r"orders-stopped: ERR \(STOP\), orders \d: no commit for", demo.said())


def test_nothing_outlives_a_demo_that_was_killed(demo: Demo) -> None:
    demo.wait_until(demo.is_ready, by_s=ALL_SHOWN_S)
    started = demo.children()
    assert len(started) >= 4
    demo.process.kill()
    assert_gone(started, within_s=15)


def test_a_workload_that_dies_ends_the_demo_with_one_sentence(demo: Demo) -> None:
    def workload() -> list[psutil.Process]:
        return [one for one in demo.children() if "warren.demo.workload" in command_of(one)]

    demo.wait_until(lambda: bool(workload()), by_s=ALL_SHOWN_S)
    started = demo.children()
    workload()[0].kill()
    assert demo.process.wait(STOP_S) == 1
    assert "warren: The workload ended unexpectedly" in demo.said().splitlines()[-1], demo.said()
    assert_gone(started, within_s=1)


def test_a_port_in_use_is_told_in_one_sentence_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        demo = Demo(tmp_path, taken.getsockname()[1])
        assert demo.process.wait(15) == 1
    assert demo.said() == f"warren: The address {demo.url[7:]} is in use. Stop what uses it, or choose another one.\n"
