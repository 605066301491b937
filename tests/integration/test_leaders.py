"""One of several Warrens notifies: by ZooKeeper, and by Kafka itself, with processes that are killed and paused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import groupby, product
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.kafka import unique
from tests.support.processes import die_with_parent
from tests.support.servers import ZooKeeper
from tests.support.waiting import eventually, eventually_equal
from warren.embedded.broker import Broker

SESSION_S = 2
STEADY_LINES = 40
"""So many lines in a row, of which each candidate writes twenty a second."""

STANDS = """
import json, sys, threading, time
from warren.config.model import Zookeeper
from warren.notify.kafka_leader import KafkaLeader
from warren.notify.zookeeper_leader import ZooKeeperLeader
kind, address, name, session_s = *sys.argv[1:4], int(sys.argv[5])
if kind == "zookeeper":
    leader = ZooKeeperLeader(Zookeeper(servers=[address], timeout=session_s, root_path=f"/warren/{name}"))
else:
    leader = KafkaLeader({"bootstrap.servers": address}, group=name, session_s=session_s)
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
leader.start()
while not over.is_set():
    with open(sys.argv[4], "a") as file:
        file.write(json.dumps([time.time(), leader.is_leader, leader.says]) + "\\n")
    time.sleep(0.05)
leader.stop()
"""


class Line(NamedTuple):
    """What a candidate wrote down."""

    at_s: float
    leads: bool
    says: str


class Candidate:
    """A process that stands for leadership, and writes down twenty times a second whether it has it."""

    def __init__(self, directory: Path, number: int, kind: str, address: str, group: str) -> None:
        self._file = directory / f"{number}.log"
        self._file.touch()
        command = [sys.executable, "-c", STANDS, kind, address, group, str(self._file), str(SESSION_S)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            preexec_fn=die_with_parent,  # noqa: PLW1509  # no thread of ours holds a lock that it needs
        )

    def lines(self) -> list[Line]:
        whole = self._file.read_text().rpartition("\n")[0]  # the last line may be half written
        return [Line(*json.loads(line)) for line in whole.splitlines()]

    @property
    def leads(self) -> bool:
        found = self.lines()
        return bool(found) and found[-1].leads

    @property
    def waits(self) -> bool:
        """Whether it has seen that another one leads."""
        found = self.lines()
        return bool(found) and found[-1].says.startswith("waiting: another")

    def reigns(self) -> list[tuple[float, float]]:
        """From when until when it wrote down, without a break, that it leads."""
        runs = [list(run) for leads, run in groupby(self.lines(), key=lambda line: line.leads) if leads]
        return [(run[0].at_s, run[-1].at_s) for run in runs]

    def leave(self) -> None:
        """Step down and end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)

    def end(self) -> None:
        with self.process:
            self.process.kill()


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeper]:
    with ZooKeeper(tmp_path_factory.mktemp("zookeeper")) as running:
        yield running


@pytest.fixture(params=["zookeeper", "kafka"])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Candidate]]:
    """Two candidates, the first of which leads; one that comes later may take it from the first at once."""
    kind = str(request.param)
    if kind == "zookeeper":
        server: ZooKeeper = request.getfixturevalue("zookeeper")
        address = server.address
    else:
        broker: Broker = request.getfixturevalue("broker")
        address = broker.bootstrap
    group = unique("leader")
    found = [Candidate(tmp_path, number, kind, address, group) for number in range(2)]
    try:
        eventually_equal(lambda: {(one.leads, one.waits) for one in found}, {(True, False), (False, True)})
        found.sort(key=lambda one: not one.leads)
        yield found
    finally:
        for one in found:
            one.end()


def lead_at_once_s(first: Candidate, second: Candidate) -> float:
    """For how many seconds both led; that one gives up just when the other one wins is as it should be."""
    pairs = product(first.reigns(), second.reigns())
    return sum(max(min(one[1], other[1]) - max(one[0], other[0]), 0.0) for one, other in pairs)


def test_exactly_one_leads_and_hands_over_when_it_leaves(two: list[Candidate]) -> None:
    first, second = two
    seen = len(first.lines())
    eventually(lambda: len(first.lines()) >= seen + STEADY_LINES)
    assert {line.leads for line in first.lines()[seen:]} == {True}

    first.leave()
    eventually(lambda: second.leads)
    assert lead_at_once_s(first, second) == 0.0


def test_another_one_leads_after_the_leader_is_killed(two: list[Candidate]) -> None:
    first, second = two
    first.end()

    eventually(lambda: second.leads)
    assert lead_at_once_s(first, second) == 0.0


def test_a_leader_that_was_paused_does_not_think_for_a_moment_that_it_still_leads(two: list[Candidate]) -> None:
    first, second = two
    first.process.send_signal(signal.SIGSTOP)
    eventually(lambda: second.leads)
    resumed_s = time.time()
    first.process.send_signal(signal.SIGCONT)
    after = eventually(lambda: [line for line in first.lines() if line.at_s > resumed_s][5:])

    assert after
    assert [line.leads for line in first.lines() if line.at_s > resumed_s][:5] == [False] * 5
    assert lead_at_once_s(first, second) == 0.0  # it may win again, but only after the other one has given up
