"""Points from a real broker to real receivers, all of which go away in the middle, as does Warren itself."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import TopicPartition

from tests.support.grafana import ALL, Target, as_regex, filled, targets
from tests.support.kafka import Cluster, unique
from tests.support.line_protocol import points as points_in
from tests.support.programs import TELEGRAF
from tests.support.servers.influxdb import PASSWORD, InfluxDB
from tests.support.servers.receivers import (
    GROUPS,
    INTERVAL_MS,
    LONG_BAD_SINKS,
    LONG_SINKS,
    QUICK_BAD_SINKS,
    QUICK_SINKS,
    WRONG,
    Lags,
    Receivers,
    lags_of_documents,
)
from tests.support.waiting import eventually, eventually_equal
from tests.support.warren import WarrenProcess, config
from warren.embedded.broker import Broker

pytestmark = pytest.mark.timeout(900)  # all of it happens before the first test

SINKS = [*QUICK_SINKS, *(pytest.param(one, marks=pytest.mark.long) for one in LONG_SINKS)]
BAD_SINKS = [*QUICK_BAD_SINKS.items(), *(pytest.param(*one, marks=pytest.mark.long) for one in LONG_BAD_SINKS.items())]


class Site(NamedTuple):
    """A Warren that has lived through all of it."""

    receivers: Receivers
    warren: WarrenProcess
    directory: Path
    topic: str
    behind: str
    level: str
    gathered: list[Any]
    """What telegraf has asked for at a quiet moment, at the same time as the sinks; nothing in the quick suite."""
    quiet_ms: int
    killed_ms: int
    sinks: dict[str, dict[str, Any]]
    """What Warren said of them before it was killed."""


@pytest.fixture(scope="module")
def site(broker: Broker, is_long: bool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("sinks")
    receivers, kafka = Receivers(directory / "receivers", is_long=is_long), Cluster(broker.bootstrap)
    topic = kafka.make_topic(2, "sinks-orders")
    kafka.produce(topic, 20, 0)
    kafka.produce(topic, 10, 1)
    behind, level = unique("sinks-behind, and=odd"), unique("sinks-level")
    with ExitStack() as stack:
        stack.callback(receivers.stop)
        receivers.start()
        receivers.make_topic()
        text = config(broker.bootstrap, more=receivers.config())
        warren = stack.enter_context(WarrenProcess(directory, text)).wait_until_ready()
        member = stack.enter_context(closing(kafka.member(level, topic)))
        member.commit(offsets=[TopicPartition(topic, 0, 20), TopicPartition(topic, 1, 10)], asynchronous=False)
        for offset in (4, 5):  # a group is given a minute after its first commit
            kafka.commit(behind, topic, offset)
        eventually_equal(lambda: _last_status(receivers.influx, behind), "STOP")
        gathered = _telegraf(directory, warren.address) if is_long else []
        quiet_ms = _now_ms()
        eventually(lambda: max(at for at, _ in receivers.lags("influx")) > quiet_ms)
        eventually_equal(
            lambda: {name for name, one in _sinks(warren).items() if one["failing"]}, set(receivers.bad_sinks)
        )
        text += receivers.late_config()
        warren.reload(text)
        eventually(lambda: _sinks(warren).get("late", {}).get("sent"))
        receivers.stop()
        kafka.commit(behind, topic, 8)
        eventually(lambda: all(one["failing"] and one["waiting"] > 4 for one in _sinks(warren).values()), 180)
        sinks = _sinks(warren)
        killed_ms = warren.kill()
        with WarrenProcess(directory, text) as warren:
            warren.wait_until_ready()
            receivers.start()
            eventually(lambda: all(_sinks(warren)[name]["last_sent_at"] for name in receivers.sinks), 180)
            _wait_for(receivers, _now_ms())
        yield Site(receivers, warren, directory, topic, behind, level, gathered, quiet_ms, killed_ms, sinks)


def _now_ms() -> int:
    return int(time.time() * 1000)


def _sinks(warren: WarrenProcess) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in warren.get("/api/v1/sinks")["sinks"]}


def _last_status(influx: InfluxDB, group: str) -> str:
    """Of its only partition: stalled in the second of its only commit, and stopped from then on."""
    rows = [row for row in influx.rows("SELECT * FROM burrow_partition") if row["group"] == group]
    return max(rows, key=lambda row: row["time"])["status"] if rows else ""


def _wait_for(receivers: Receivers, moment_ms: int) -> None:
    """Until all of them have points of later than that."""
    for name in receivers.sinks:
        eventually(
            lambda: max((at for at, _ in receivers.lags(name)), default=0) > moment_ms,  # noqa: B023  # called at once
            180,
            saw=lambda: (name, moment_ms, max((at for at, _ in receivers.lags(name)), default=0)),  # noqa: B023
        )


TELEGRAF_CONFIG = """
[agent]
omit_hostname = true
[[inputs.burrow]]
servers = ["http://{address}"]
groups_include = ["sinks-*"]
topics_include = ["sinks-*"]
[[outputs.file]]
files = ["{output}"]
data_format = "influx"
"""


def _telegraf(directory: Path, address: str) -> list[Any]:
    config, output = directory / "telegraf.conf", directory / "telegraf.out"
    config.write_text(TELEGRAF_CONFIG.format(address=address, output=output))
    command = [str(TELEGRAF.path()), "--config", str(config), "--once"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert output.exists(), done.stderr
    return points_in(output.read_text())


# -- no point is missing ---------------------------------------------------------------------------------------------


def moments(lags: Lags, group: str) -> list[int]:
    return sorted(at for at, name in lags if name == group)


def gaps(found: list[int]) -> list[tuple[int, int]]:
    return [(one, other) for one, other in pairwise(found) if other - one != INTERVAL_MS]


@pytest.mark.parametrize("sink", SINKS)
def test_every_moment_is_there_but_while_warren_was_away(site: Site, sink: str) -> None:
    found = moments(site.receivers.lags(sink), site.level)

    assert all(at % INTERVAL_MS == 0 for at in found)
    assert len(gaps(found)) == 1, found
    [(before_ms, after_ms)] = gaps(found)
    assert before_ms <= site.killed_ms < after_ms
    assert site.killed_ms - before_ms < 2 * INTERVAL_MS


@pytest.mark.parametrize("sink", [one for one in SINKS if one != "influx"])
def test_all_sinks_have_the_same(site: Site, sink: str) -> None:
    first, other = site.receivers.lags("influx"), site.receivers.lags(sink)
    common = {at for at, _ in first} & {at for at, _ in other}  # they are not ended at the same instant

    assert len(common) > 6
    for at, group in first:
        if at in common:
            assert other[at, group] == first[at, group]


def test_lags_are_those_of_their_moments(site: Site) -> None:
    lags = site.receivers.lags("influx")
    of = [lags[at, site.behind] for at in moments(lags, site.behind)]

    assert [of[0], of[-1]] == [15, 12]
    assert sorted(set(of)) == [12, 15]
    assert of == sorted(of, reverse=True)
    assert {lags[at, site.level] for at in moments(lags, site.level)} == {0}


def test_a_document_is_there_once_under_an_id_of_its_own(site: Site) -> None:
    for index in ("burrow-*", "points"):
        hits = site.receivers.search.hits(index, GROUPS)
        assert hits
        assert len(hits) == len(lags_of_documents(hits))


def test_compaction_of_the_topic_would_keep_one_record_for_each_series(site: Site) -> None:
    keys = {record.key().decode() for record in site.receivers.messages()}
    warrens = {instance for _, instance in site.receivers.readiness("records")}
    partitions = {f"test/{group}/{site.topic}/{number}" for group in (site.behind, site.level) for number in (0, 1)}

    assert keys == {
        *(f"test/{group}" for group in (site.behind, site.level)),
        *partitions,
        *(f"test//{site.topic}/{number}" for number in (0, 1)),
        *(f"{cluster}///{instance}" for cluster in ("test", "") for instance in warrens),
    }


def test_a_sink_that_comes_with_another_configuration_is_written_to(site: Site) -> None:
    found = site.receivers.victoria.samples("burrow_group_total_lag")

    assert {dict(key)["group"] for key in found} == {site.behind, site.level}


# -- Warren itself ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sink", SINKS)
def test_every_moment_tells_how_warren_itself_is_doing(site: Site, sink: str) -> None:
    found = site.receivers.readiness(sink)
    until, _ = max(found)  # what is of later still waited when it was stopped
    was_killed = range(site.killed_ms - INTERVAL_MS, site.killed_ms)  # maybe in the middle of taking points
    taken = {at for at, _ in site.receivers.lags(sink) if at <= until and at not in was_killed}

    assert until > site.killed_ms
    assert taken <= {at for (at, _), ready in found.items() if ready}
    assert all(at % INTERVAL_MS == 0 for at, _ in found)
    assert len({instance for _, instance in found}) == 2  # it was started twice, on another port
    assert max(found)[1] == f"{socket.gethostname()}:{site.warren.address.rpartition(':')[2]}"


@pytest.mark.parametrize("one", [one for one in targets("influxdb") if one.dashboard == "warren"], ids=str)
def test_the_dashboard_finds_what_warren_has_written_of_itself(site: Site, one: Target) -> None:
    built_in = {"top": "10", "timeFilter": "time >= now() - 30m", "__interval": "30s"}
    query = filled(one.target["query"], {"cluster": ALL, "instance": ALL}, built_in, as_regex, ".*")

    values = [value for series in site.receivers.influx.query(query) for row in series["values"] for value in row[1:]]
    assert any(value is not None for value in values)


# -- telegraf --------------------------------------------------------------------------------------------------------

OURS = ("lag_seconds", "reason")
TAGS = ("cluster", "group", "topic", "partition", "owner")


def written(site: Site, measurement: str) -> dict[frozenset[tuple[str, str]], dict[str, Any]]:
    """What InfluxDB has of the moment after telegraf has asked: fields by tags."""
    rows = site.receivers.influx.rows(f"SELECT * FROM {measurement}")
    at = min(row["time"] for row in rows if row["time"] > site.quiet_ms)
    return {
        frozenset((name, row[name]) for name in TAGS if name in row): {
            name: value for name, value in row.items() if name not in (*TAGS, "time")
        }
        for row in rows
        if row["time"] == at
    }


@pytest.mark.long
@pytest.mark.parametrize("measurement", ["burrow_group", "burrow_partition", "burrow_topic"])
def test_points_are_what_telegraf_makes_of_our_answers(site: Site, measurement: str) -> None:
    telegrafs = {frozenset(one.tags.items()): one.fields for one in site.gathered if one.name == measurement}
    ours = {
        tags: {name: value for name, value in fields.items() if name not in OURS}
        for tags, fields in written(site, measurement).items()
    }

    assert ours == telegrafs


def test_groups_have_their_seconds_and_a_reason_too(site: Site) -> None:
    found = {dict(tags)["group"]: fields for tags, fields in written(site, "burrow_group").items()}

    assert (found[site.behind]["reason"], found[site.level]["reason"]) == ("stopped", "caught_up")
    assert found[site.behind]["lag_seconds"] > 0
    assert found[site.level]["lag_seconds"] == 0


# -- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sink", "sentence"), BAD_SINKS)
def test_what_is_wrong_is_told_in_a_sentence(site: Site, sink: str, sentence: str) -> None:
    log = site.warren.log_path.read_text()

    assert sentence in log.replace('\\"', '"')
    assert f"sink={sink}" in log or f'"sink": "{sink}"' in log


def test_a_receiver_that_is_away_is_told_in_a_sentence(site: Site) -> None:
    assert site.sinks["influx"]["last_error"].endswith("connection refused")
    assert site.sinks["influx"]["oldest_waiting_at"] is not None
    assert site.sinks["influx"]["dropped"] == 0


def test_no_secret_is_told(site: Site) -> None:
    told = site.warren.log_path.read_text() + json.dumps(site.sinks)
    for path in (site.directory / "home").rglob("*"):
        told += path.read_text(errors="replace") if path.is_file() else ""

    assert PASSWORD not in told
    assert WRONG not in told
