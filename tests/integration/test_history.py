"""The history of a real Warren, killed under load: every commit once, and what was thought can be told later."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from tests.support.kafka import Cluster, unique
from tests.support.waiting import eventually
from tests.support.warren_process import WarrenProcess
from warren.embedded.broker import Broker

pytestmark = pytest.mark.timeout(400)  # Warren is started four times

MORE = """
[history]
path = "{path}"
flush-interval = 3
sample-interval = 1
"""


class Site:
    """A Warren that keeps a history, and a group that stands still while its topic grows."""

    def __init__(self, broker: Broker, directory: Path) -> None:
        self.cluster = Cluster(broker.bootstrap)
        self.bootstrap = broker.bootstrap
        self.directory = directory
        self.path = directory / "parquet"
        self.topic, self.group, self.last = self.cluster.make_topic(), unique("still"), 30
        self.start()

    def start(self) -> None:
        self.warren = WarrenProcess(self.directory, self.bootstrap, more=MORE.format(path=self.path))
        WarrenProcess.started.discard(self.warren.process)  # it outlives the test that starts it: the fixture ends it
        self.warren.wait_until_ready()

    def commit(self, offset: int) -> None:
        self.cluster.commit(self.group, self.topic, offset)

    def stand_still(self) -> None:
        """After commits that came quickly, and were noticed: it is silent when it was so for longer than these took."""
        while self.last < 40 or self._is_in_trouble():
            self.last += 1
            self.commit(self.last)
            time.sleep(0.2)

    def _is_in_trouble(self) -> bool:
        found = self.warren.get(f"/api/v1/clusters/test/changes?group={self.group}&limit=1")["changes"]
        return bool(found) and found[0]["now"] == "ERR"

    def status(self) -> str:
        return str(self.warren.get(f"/v3/kafka/test/consumer/{self.group}/status")["status"]["status"])

    def commits(self) -> list[int]:
        """The offsets of the group's commits in the history, as anybody reads Parquet."""
        catalog = sorted(self.path.glob("_log/*.version.json"))
        named = [one["path"] for file in catalog for one in json.loads(file.read_text())["add"]]
        files = [str(self.path / path) for path in named if path.startswith("commits/")]
        if not files:
            return []
        table = ds.dataset(files, format="parquet").to_table(filter=ds.field("group") == self.group)
        return sorted(table["offset"].to_pylist())


@pytest.fixture(scope="module")
def site(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(broker, tmp_path_factory.mktemp("history"))
    yield site
    code, _ = site.warren.stop()
    assert code == 0, site.warren.log_path.read_text()


def ask(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warren.cli", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=170, cwd=cwd)


def test_a_warren_that_is_killed_again_and_again_keeps_every_commit_once(site: Site) -> None:
    site.cluster.produce(site.topic, 1_000)
    expected = []
    for round_ in range(3):
        for offset in range(10 * round_ + 1, 10 * round_ + 11):
            site.commit(offset)
            expected.append(offset)
        eventually(lambda last=expected[-1]: last in _window(site))
        site.warren.stop(signal.SIGKILL)
        site.start()
    eventually(lambda: site.commits() == expected, 60)


def _window(site: Site) -> list[int]:
    found = site.warren.get(f"/v3/kafka/test/consumer/{site.group}").get("topics", {})
    return [one["offset"] for part in found.get(site.topic, ()) for one in part["offsets"] if one]


def test_what_was_thought_at_a_moment_of_the_past_can_be_told_and_why(site: Site) -> None:
    site.stand_still()
    silent_since = datetime.now(UTC).isoformat()
    changes = eventually(lambda: _turns_to_trouble(site, silent_since), 120)
    at = changes[0]["at"]
    eventually(lambda: _is_written(site, at), 60)
    done = ask("explain", site.group, "--at", at, "--history", str(site.path), "--json", cwd=site.directory)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["status"], told["partitions"][0]["rule"]) == ("ERR", changes[0]["cause"]["rule"])
    assert told["partitions"][0]["reason"] == changes[0]["cause"]["reason"]
    assert [one["offset"] for one in told["partitions"][0]["window"]][-2:] == [site.last - 1, site.last]


def _turns_to_trouble(site: Site, after: str) -> list[dict[str, Any]]:
    """The newest change, if it is to ERR and later than that moment: an earlier one is of the time between kills."""
    found = site.warren.get(f"/api/v1/clusters/test/changes?group={site.group}&limit=1")["changes"]
    return [one for one in found if one["now"] == "ERR" and one["at"] > after]


def _is_written(site: Site, at: str) -> bool:
    answer: dict[str, Any] = site.warren.get("/api/v1/history")
    return bool(answer["last_written_at"]) and answer["last_written_at"] > at


def test_a_replay_as_it_was_changes_nothing_and_other_rules_do(site: Site) -> None:
    where = ("--history", str(site.path), "--from", "1h", "--group", f"^{site.group}$")
    as_it_was = json.loads(ask("replay", *where, "--json", cwd=site.directory).stdout)
    assert as_it_was["alerts"]["saved"] == as_it_was["alerts"]["added"] == 0
    assert as_it_was["alerts"]["kept"] >= 1
    report = site.directory / "report.html"
    calmer = ask("replay", *where, "--allowed-lag", "100000", "--html", str(report), cwd=site.directory)
    assert calmer.returncode == 0, calmer.stderr
    assert re.search(rf"{site.group}\s+\d+\s+0\s+", calmer.stdout), calmer.stdout
    assert "<svg" in report.read_text()


def test_the_api_tells_how_the_lag_of_a_group_went(site: Site) -> None:
    found = site.warren.get(f"/api/v1/clusters/test/groups/{site.group}/history?points=50")
    assert found["status"][-1] in ("OK", "WARN", "ERR")
    assert max(found["total_lag"]) >= 900
    assert len(found["times"]) == len(found["total_lag"]) <= 50


def test_the_api_tells_how_a_group_moved_through_a_partition(site: Site) -> None:
    path = f"/api/v1/clusters/test/groups/{site.group}/topics/{site.topic}/partitions/0/history?points=50"
    found = site.warren.get(path)
    assert found["committed_offset"][-1] == site.last
    assert found["end_offset"][-1] == 1_000
    assert len(found["times"]) == len(found["committed_offset"]) == len(found["end_offset"]) <= 50


@pytest.mark.parametrize(
    ("arguments", "says", "code"),
    [
        (("--from", "2020-01-01T00:00Z", "--to", "2020-01-02T00:00Z"), "before the history begins", 1),
        (("--from", "10m", "--to", "20m"), "is empty", 2),
        (("--from", "yesterday"), "is no moment", 2),
    ],
)
def test_a_time_that_makes_no_sense_is_told_in_a_sentence(
    site: Site, arguments: tuple[str, ...], says: str, code: int
) -> None:
    done = ask("replay", "--history", str(site.path), *arguments, cwd=site.directory)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr
