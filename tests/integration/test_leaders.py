"""One of several Warrens notifies: by ZooKeeper, and by Kafka itself, with processes that are killed and paused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import groupby, product
from pathlib import Path

import pytest

from tests.support.kafka import unique
from tests.support.waiting import eventually
from tests.support.warren_process import die_with_parent
from tests.support.zookeeper import ZooKeeper
from warren.embedded.broker import Broker

TAKE_OVER_S = 15.0

STANDS = """
import json, sys, time
from warren.config.model import Zookeeper
from warren.notify.kafka_leader import KafkaLeader
from warren.notify.zookeeper_leader import ZooKeeperLeader
kind, address, name = sys.argv[1:4]
if kind == "zookeeper":
    leader = ZooKeeperLeader(Zookeeper(servers=[address], timeout=6, root_path="/warren/test"))
else:
    leader = KafkaLeader({"bootstrap.servers": address}, group=name)
import threading
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
leader.start()
while not over.is_set():
    with open(sys.argv[4], "a") as file:
        file.write(json.dumps([time.time(), leader.is_leader, leader.says]) + "\\n")
    time.sleep(0.05)
leader.stop()
"""


class Candidate:
    """A process that stands for leadership, and writes down twenty times a second whether it has it."""

    def __init__(self, directory: Path, number: int, kind: str, address: str, group: str) -> None:
        self._file = directory / f"{number}.log"
        self._file.touch()
        command = [sys.executable, "-c", STANDS, kind, address, group, str(self._file)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            preexec_fn=die_with_parent,  # noqa: PLW1509  # no thread of ours holds a lock that it needs
        )

    def history(self) -> list[tuple[float, bool]]:
        return [(at_s, leads) for at_s, leads, _ in self._lines()]

    @property
    def leads(self) -> bool:
        found = self.history()
        return bool(found) and found[-1][1] and time.time() - found[-1][0] < 1

    @property
    def waits(self) -> bool:
        """Whether it has seen that another one leads."""
        found = self._lines()
        return bool(found) and found[-1][2].startswith("waiting: another")

    def _lines(self) -> list[tuple[float, bool, str]]:
        whole = self._file.read_text().rpartition("\n")[0]  # the last line may be half written
        return [(at_s, leads, says) for at_s, leads, says in map(json.loads, whole.splitlines())]

    def leave(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(20)

    def end(self) -> None:
        with self.process:
            self.process.kill()


Candidates = Callable[[], list[Candidate]]


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeper]:
    with ZooKeeper(tmp_path_factory.mktemp("zookeeper")) as running:
        yield running


@pytest.fixture(params=["zookeeper", "kafka"])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Candidate]]:
    """Two candidates, the first of which leads; one that comes later may take it from the first at once."""
    kind, group = str(request.param), unique("leader")
    if kind == "zookeeper":
        server: ZooKeeper = request.getfixturevalue("zookeeper")
        address = server.address
    else:
        broker: Broker = request.getfixturevalue("broker")
        address = broker.bootstrap
    found = [Candidate(tmp_path, number, kind, address, group) for number in range(2)]
    try:
        eventually(lambda: {(one.leads, one.waits) for one in found} == {(True, False), (False, True)}, 60)
        found.sort(key=lambda one: not one.leads)
        yield found
    finally:
        for one in found:
            one.end()


def reigns(one: Candidate) -> list[tuple[float, float]]:
    """From when until when it wrote down, without a break, that it leads."""
    runs = [list(run) for leads, run in groupby(one.history(), key=lambda line: line[1]) if leads]
    return [(run[0][0], run[-1][0]) for run in runs]


def lead_at_once(first: Candidate, second: Candidate) -> float:
    """For how many seconds both led; that one gives up just when the other one wins is as it should be."""
    pairs = product(reigns(first), reigns(second))
    return sum(max(min(one[1], other[1]) - max(one[0], other[0]), 0.0) for one, other in pairs)


def test_exactly_one_leads_and_hands_over_when_it_leaves(two: list[Candidate]) -> None:
    first, second = two
    time.sleep(2)
    assert (first.leads, second.leads) == (True, False)

    first.leave()
    eventually(lambda: second.leads, TAKE_OVER_S)
    assert lead_at_once(first, second) == 0.0


def test_another_one_leads_soon_after_the_leader_is_killed(two: list[Candidate]) -> None:
    first, second = two
    first.end()

    eventually(lambda: second.leads, TAKE_OVER_S)


def test_a_leader_that_was_paused_does_not_think_for_a_moment_that_it_still_leads(two: list[Candidate]) -> None:
    first, second = two
    first.process.send_signal(signal.SIGSTOP)
    eventually(lambda: second.leads, TAKE_OVER_S)
    first.process.send_signal(signal.SIGCONT)
    resumed_s = time.time()
    time.sleep(3)

    assert [leads for at_s, leads in first.history() if at_s > resumed_s][:5] == [False] * 5
    assert lead_at_once(first, second) == 0.0  # it may win again, but only after the other one has given up
