"""The history of a running Warren: what it thought at a moment of the past, and what other rules would have said."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import TopicPartition
from pyspark.sql import SparkSession

from tests.support.history_files import committed_offsets
from tests.support.kafka import Cluster, unique
from tests.support.waiting import eventually, eventually_equal
from tests.support.warren import StartWarren, Warren, config, run_warren
from warren.embedded.broker import Broker
from warren.errors import HistoryError
from warren.history.reader import HistoryReader, Span
from warren.model import Status
from warren.replay.job import Request
from warren.replay.verdicts import recorded_turns, replayed_turns

RECORDS, WINDOW = 1_000, 10
HISTORY = """
[history]
path = "{path}"
flush-interval = 10
sample-interval = 1
"""


class Site(NamedTuple):
    """A Warren that keeps a history, and a group that stopped committing while it had a lag."""

    warren: Warren
    path: Path
    topic: str
    group: str
    last: int
    """The offset of its last commit."""
    change: dict[str, Any]
    """When the group got into trouble; it is in the history."""


@pytest.fixture(scope="module")
def site(broker: Broker, start_warren: StartWarren, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("history")
    path, cluster = directory / "parquet", Cluster(broker.bootstrap)
    topic, group = cluster.make_topic(), unique("still")
    cluster.produce(topic, RECORDS)
    with start_warren(directory, config(broker.bootstrap, more=HISTORY.format(path=path))) as warren:
        warren.wait_until_ready()
        last = commit_until_well(warren, cluster, group, topic)
        change = eventually(lambda: turn_to_trouble(warren, group), saw=lambda: warren.lag(group))
        eventually(lambda: last_written_at(warren) > change["at"])
        yield Site(warren, path, topic, group, last, change)


def commit_until_well(warren: Warren, cluster: Cluster, group: str, topic: str) -> int:
    """Commit one offset after the other, each when the one before is shown; return the last one.

    A first commit with a lag counts as stopped, until the window holds more of them.
    """
    with closing(cluster.consumer(group)) as consumer:
        for offset in range(1, RECORDS):
            consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
            eventually_equal(lambda: warren.committed(group), {(topic, 0): offset})
            if offset > WINDOW and warren.lag(group)["status"] != "ERR":
                return offset
    raise AssertionError(f"{group} was in trouble all the time: {warren.lag(group)}")


def turn_to_trouble(warren: Warren, group: str) -> dict[str, Any] | None:
    """The newest change of the group, if it is the one to ERR because of its silence."""
    found = warren.get(f"/api/v1/clusters/test/changes?group={group}&limit=1")["changes"]
    return found[0] if found and found[0]["now"] == "ERR" and found[0]["cause"]["rule"] == "stopped" else None


def last_written_at(warren: Warren) -> str:
    return warren.get("/api/v1/history")["last_written_at"] or ""


def test_the_history_holds_the_commits_of_the_group(site: Site) -> None:
    found = committed_offsets(site.path, site.group)

    assert found == list(range(1, site.last + 1))


@pytest.mark.long
def test_what_was_thought_at_a_moment_of_the_past_can_be_told_and_why(site: Site) -> None:
    done = run_warren("explain", site.group, "--at", site.change["at"], "--history", str(site.path), "--json")
    assert done.returncode == 0, done.stderr
    [partition] = (told := json.loads(done.stdout))["partitions"]

    assert (told["status"], partition["rule"]) == ("ERR", site.change["cause"]["rule"])
    assert partition["reason"] == site.change["cause"]["reason"]
    assert [one["offset"] for one in partition["window"]][-2:] == [site.last - 1, site.last]


def test_a_replay_as_it_was_changes_nothing(site: Site, spark: SparkSession) -> None:
    reader = HistoryReader(spark, str(site.path))
    began_ms, until_ms = reader.catalog.span_ms("test") or (0, 0)
    request = Request(reader.checked(Span("test", began_ms, until_ms)), group_pattern=f"^{site.group}$")
    recorded = recorded_turns(reader, request)

    assert Status.ERR in {one.status for one in recorded}
    assert replayed_turns(reader, request) == recorded


def test_a_replay_under_calmer_rules_saves_the_alert_and_draws_it(site: Site, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    done = run_warren("replay", *where(site), "--allowed-lag", "100000", "--html", str(report))

    assert done.returncode == 0, done.stderr
    assert re.search(rf"{site.group}\s+\d+\s+0\s+", done.stdout), done.stdout
    assert "<svg" in report.read_text()


def where(site: Site) -> tuple[str, ...]:
    return "--history", str(site.path), "--from", "1h", "--group", f"^{site.group}$"


def test_the_api_tells_how_the_lag_of_a_group_went(site: Site) -> None:
    path = f"/api/v1/clusters/test/groups/{site.group}/history?points=50"
    eventually(lambda: len(site.warren.get(path)["times"]) > 1, saw=lambda: site.warren.get(path))
    found = site.warren.get(path)

    assert found["status"][-1] == "ERR"
    assert found["total_lag"][-1] == RECORDS - site.last
    assert found["times"] == sorted(found["times"])
    assert 1 < len(found["times"]) == len(found["total_lag"]) == len(found["status"]) <= 50


def test_the_api_tells_how_a_group_moved_through_a_partition(site: Site) -> None:
    path = f"/api/v1/clusters/test/groups/{site.group}/topics/{site.topic}/partitions/0/history?points=50"
    found = site.warren.get(path)

    assert found["committed_offset"][-1] == site.last
    assert found["end_offset"][-1] == RECORDS
    assert len(found["times"]) == len(found["committed_offset"]) == len(found["end_offset"]) <= 50


def test_a_time_before_the_history_is_told_in_a_sentence(site: Site, spark: SparkSession) -> None:
    with pytest.raises(HistoryError, match="before the history begins"):
        HistoryReader(spark, str(site.path)).checked(Span("test", 0, 1_000))


@pytest.mark.parametrize(
    ("arguments", "says"), [(("--from", "10m", "--to", "20m"), "is empty"), (("--from", "yesterday"), "is no moment")]
)
def test_a_time_that_makes_no_sense_is_told_in_a_sentence(site: Site, arguments: tuple[str, ...], says: str) -> None:
    done = run_warren("replay", "--history", str(site.path), *arguments)

    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
