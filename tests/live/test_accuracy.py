"""The promise that Warren makes for its colours, with real clients: who keeps up is OK, and who does not is found.

`tests/support/consumer_fleet.py` is what is watched, by one Warren that observes ends every 1, 2 and 10 seconds.
`make test` watches for half a minute, the long suite for three minutes. `pytest --long -s tests/live/test_accuracy.py`
prints the tables of docs/accuracy.md.
"""

from __future__ import annotations

import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest

from tests.support.consumer_fleet import HEALTHY, OFF_BY_ONE, PATTERNS, SHARED, TRANSACTIONS, TROUBLES, group_of
from tests.support.kafka import unique
from tests.support.waiting import eventually
from tests.support.warren import QUICK, StartWarren, Warren
from warren.embedded.broker import Broker

REFRESH_S = (1, 2, 10)
CLUSTERS = tuple(f"every-{seconds}" for seconds in REFRESH_S)
INTERVALS = 10
COMMIT_S = 1.0
"""Of the groups that get into trouble."""
WATCHED_S, WATCHED_LONG_S = 30.0, 180.0
LATE_S = 6.0
"""Until a commit is read, an evaluation is made and the test has asked."""
RULE_SETS = ("burrow", "warren")

CONFIG = """
[warren]
{warren}

[httpserver.default]
address = "127.0.0.1:0"
"""
CLUSTER = """
[cluster.{name}]
class-name = "kafka"
servers = ["{bootstrap}"]
offset-refresh = {refresh_s}

[consumer.{name}]
class-name = "kafka"
cluster = "{name}"
"""


class Sample(NamedTuple):
    """The status of each group, as one rule set has it at a moment."""

    at_s: float
    cluster: str
    rule_set: str
    statuses: dict[str, str]
    reasons: dict[str, str]


class Watched(NamedTuple):
    """All that was said, and when the trouble began."""

    prefix: str
    samples: list[Sample]
    trouble_s: float

    def not_ok(self, group: str, rule_set: str) -> list[tuple[str, str, str]]:
        """Return cluster, status and reason of each sample in which a group was not OK."""
        return [
            (one.cluster, one.statuses[group], one.reasons.get(group, ""))
            for one in self.samples
            if one.rule_set == rule_set and one.statuses.get(group, "OK") != "OK"
        ]

    def share_not_ok(self, group: str, rule_set: str, cluster: str) -> float:
        """Return the share of samples in which a group was not OK."""
        statuses = [
            one.statuses[group]
            for one in self.samples
            if (one.rule_set, one.cluster) == (rule_set, cluster) and group in one.statuses
        ]
        return sum(status != "OK" for status in statuses) / len(statuses)

    def times_seen(self, group: str) -> int:
        return sum(group in one.statuses for one in self.samples)

    def delay_s(self, group: str, rule_set: str, cluster: str) -> float:
        """Return how long after the trouble began a group was first not OK."""
        found = (
            one.at_s - self.trouble_s
            for one in self.samples
            if (one.rule_set, one.cluster) == (rule_set, cluster)
            and one.at_s >= self.trouble_s
            and one.statuses.get(group, "OK") != "OK"
        )
        return next(found, float("inf"))


@contextmanager
def fleet(bootstrap: str, prefix: str, trouble_after_s: float) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.support.consumer_fleet", "--bootstrap", bootstrap, "--prefix", prefix]
    command += ["--trouble-after", str(trouble_after_s)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def sample(warren: Warren, prefix: str) -> Iterator[Sample]:
    for cluster in CLUSTERS:
        for rule_set in RULE_SETS:
            told = warren.get(f"/api/v1/clusters/{cluster}/groups?name={prefix}&limit=1000&rules={rule_set}")
            groups = told.get("groups", ())
            statuses = {
                one["group"]: one["status"] for one in groups if one["status"]
            }  # its topic may not be known yet
            reasons = {one["group"]: one["cause"]["reason"] for one in groups if one["cause"]}
            yield Sample(time.monotonic(), cluster, rule_set, statuses, reasons)


@pytest.fixture(scope="module")
def watched(
    broker: Broker, start_warren: StartWarren, is_long: bool, tmp_path_factory: pytest.TempPathFactory
) -> Watched:
    """The fleet starts first, so that Warren starts in the middle of everything."""
    keys = "\n".join(f"{name} = {value}" for name, value in QUICK.items())
    text = CONFIG.format(warren=keys) + "".join(
        CLUSTER.format(name=name, bootstrap=broker.bootstrap, refresh_s=seconds)
        for name, seconds in zip(CLUSTERS, REFRESH_S, strict=True)
    )
    prefix, watched_s = unique("fleet"), WATCHED_LONG_S if is_long else WATCHED_S
    samples: list[Sample] = []
    with (
        fleet(broker.bootstrap, prefix, watched_s) as process,
        start_warren(tmp_path_factory.mktemp("accuracy"), text) as warren,
    ):
        trouble_s = float("inf")
        eventually(lambda: warren.status("/burrow/admin") == 200)
        while time.monotonic() < trouble_s + found_after_s(max(REFRESH_S)):
            assert process.poll() is None, "the fleet has ended"
            samples += sample(warren, prefix)
            if trouble_s == float("inf") and has_begun(process):
                trouble_s = time.monotonic()
    watched = Watched(prefix, samples, trouble_s)
    if is_long:
        print("\n".join(tables(watched)))
    return watched


def tables(watched: Watched) -> Iterator[str]:
    """Write down what was seen, in Markdown: the highest and the longest over all topics and clusters."""
    topics = [*PATTERNS, TRANSACTIONS]
    yield "| commits | " + " | ".join(f"{topic}, `burrow` / `warren`" for topic in topics) + " |"
    for reader in (*HEALTHY, OFF_BY_ONE):
        groups = [group_of(watched.prefix, topic, reader.name) for topic in topics]
        cells = [
            " / ".join(f"{max(watched.share_not_ok(group, one, c) for c in CLUSTERS):.1%}" for one in RULE_SETS)
            for group in groups
        ]
        yield f"| {reader.name} | {' | '.join(cells)} |"
    yield "| trouble | " + " | ".join(f"offset-refresh {s} s, `burrow` / `warren`" for s in REFRESH_S) + " |"
    for trouble in TROUBLES:
        group = group_of(watched.prefix, "steady", trouble)
        cells = [" / ".join(f"{watched.delay_s(group, one, c):.0f} s" for one in RULE_SETS) for c in CLUSTERS]
        yield f"| {trouble} | {' | '.join(cells)} |"


def has_begun(process: subprocess.Popen[str]) -> bool:
    """Whether the fleet has printed that the trouble began; wait a moment for it."""
    assert process.stdout
    ready, _, _ = select.select([process.stdout], [], [], 0.5)
    return bool(ready) and process.stdout.readline().strip() == "trouble"


def found_after_s(refresh_s: float) -> float:
    """A window that holds nothing but commits since the trouble, and an observation after it."""
    return (INTERVALS + 1) * COMMIT_S + refresh_s + LATE_S


@pytest.mark.parametrize("rule_set", RULE_SETS)
@pytest.mark.parametrize("reader", [one.name for one in HEALTHY])
@pytest.mark.parametrize("topic", [*PATTERNS, TRANSACTIONS])
def test_a_consumer_that_keeps_up_is_never_anything_but_ok(
    watched: Watched, topic: str, reader: str, rule_set: str
) -> None:
    group = group_of(watched.prefix, topic, reader)

    assert watched.times_seen(group)
    assert watched.not_ok(group, rule_set) == []


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_a_group_that_rebalances_and_keeps_up_is_never_anything_but_ok(watched: Watched, rule_set: str) -> None:
    group = group_of(watched.prefix, SHARED, "rebalanced")

    assert watched.times_seen(group)
    assert watched.not_ok(group, rule_set) == []


@pytest.mark.parametrize("topic", [*PATTERNS, TRANSACTIONS])
def test_a_client_that_commits_the_last_record_is_ok_by_warrens_rules(watched: Watched, topic: str) -> None:
    group = group_of(watched.prefix, topic, OFF_BY_ONE.name)

    assert watched.times_seen(group)
    assert watched.not_ok(group, "warren") == []


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("trouble", [one for one in TROUBLES if one != "stopped"])
@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_a_consumer_in_trouble_is_found_within_a_window(
    watched: Watched, cluster: str, trouble: str, rule_set: str
) -> None:
    group = group_of(watched.prefix, "steady", trouble)
    refresh_s = REFRESH_S[CLUSTERS.index(cluster)]

    assert watched.delay_s(group, rule_set, cluster) <= found_after_s(refresh_s)


@pytest.mark.parametrize("cluster", CLUSTERS[:2])
def test_a_consumer_that_stops_is_found_once_no_remembered_end_was_reached(watched: Watched, cluster: str) -> None:
    """Burrow excuses a silent consumer for as long as it remembers an end that it had reached."""
    group = group_of(watched.prefix, "steady", "stopped")
    remembered_s = INTERVALS * REFRESH_S[CLUSTERS.index(cluster)]

    assert watched.delay_s(group, "burrow", cluster) <= max(found_after_s(0), remembered_s + LATE_S)
