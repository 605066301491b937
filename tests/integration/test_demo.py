"""`warren demo` for real: a process of its own, seen from outside as a user sees it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.processes import assert_gone, die_with_parent
from tests.support.waiting import eventually
from warren.demo.behaviours import GROUPS
from warren.embedded.broker import free_port

SHOWN_S = 180
STOP_S = 10
LOOKS_IN_A_ROW = 20

EXPECTED = {group.name: (group.shows.of_group.name, group.shows.name) for group in GROUPS}
"""The status of each group, and the one of the partition that is the cause of it."""


class Demo:
    """A running `warren demo`."""

    def __init__(self, home: Path, port: int) -> None:
        self.output = home / "output.txt"
        self.url = f"http://127.0.0.1:{port}"
        environment = {**os.environ, "WARREN_HOME": str(home), "WARREN_HTTP": f"127.0.0.1:{port}"}
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "warren.cli", "demo"],
                env=environment,
                stdout=output,
                stderr=output,
                preexec_fn=die_with_parent,  # noqa: PLW1509  # no thread of ours holds a lock that it needs
            )

    def said(self) -> str:
        return self.output.read_text()

    def children(self) -> list[psutil.Process]:
        """Every process it has started, directly or not."""
        return list(psutil.Process(self.process.pid).children(recursive=True))

    def workload(self) -> list[psutil.Process]:
        """The process that plays the shop."""
        return [one for one in self.children() if "warren.demo.workload" in command_of(one)]

    def states(self) -> dict[str, tuple[str, str]]:
        """Each known group's status, and the one of its cause."""
        assert self.process.poll() is None, self.said()
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/clusters/demo/groups?limit=100", timeout=5) as answer:
                groups = json.load(answer)["groups"]
        except (urllib.error.URLError, ConnectionError):
            return {}
        causes = {one["group"]: (one["status"], (one["cause"] or one)["status"]) for one in groups}
        return {name: causes[name] for name in EXPECTED if name in causes}

    def wait_until_shown(self) -> None:
        """Wait until every group has shown its state in many looks in a row."""
        looks: deque[dict[str, tuple[str, str]]] = deque(maxlen=LOOKS_IN_A_ROW)

        def is_held() -> bool:
            looks.append(self.states())
            return len(looks) == LOOKS_IN_A_ROW and all(one == EXPECTED for one in looks)

        eventually(is_held, SHOWN_S, saw=lambda: looks)


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


def test_the_demo_shows_every_state_holds_it_and_leaves_nothing_behind(demo: Demo) -> None:
    demo.wait_until_shown()
    eventually(lambda: "Ctrl-C stops everything" in demo.said())
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
    eventually(demo.workload, SHOWN_S, saw=demo.said)
    started = demo.children()
    assert len(started) >= 4
    demo.process.kill()
    assert_gone(started, within_s=15)


@pytest.mark.long
def test_a_workload_that_dies_ends_the_demo_with_one_sentence(demo: Demo) -> None:
    [workload] = eventually(demo.workload, SHOWN_S, saw=demo.said)
    started = demo.children()
    workload.kill()
    assert demo.process.wait(STOP_S) == 1
    assert "warren: The workload ended unexpectedly" in demo.said().splitlines()[-1], demo.said()
    assert_gone(started, within_s=1)


def test_a_port_in_use_is_told_in_one_sentence_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        demo = Demo(tmp_path, taken.getsockname()[1])
        assert demo.process.wait(30) == 1
    assert demo.said() == f"warren: The address {demo.url[7:]} is in use. Stop what uses it, or choose another one.\n"
