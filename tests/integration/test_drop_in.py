"""Warren in Burrow's place: the files that its users have start as they are, and are read again on SIGHUP."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.kafka import Cluster, unique
from tests.support.waiting import eventually
from tests.support.warren_process import WarrenProcess
from warren.clusters.reaper import groups_of
from warren.embedded.broker import Broker

PUBLISHED = Path(__file__).parents[1] / "data" / "burrow"
ZOOKEEPER = "127.0.0.1:2181"
QUICK = {f"BURROW_CLUSTER_{name}_REFRESH": "1" for name in ("LOGIS_DEV_OFFSET", "LOGIS_DEV_TOPIC", "MINMAN_OFFSET")}


class Replaced:
    """A Warren that was started with a published file of Burrow's."""

    def __init__(self, directory: Path, name: str, listener: str, broker: Broker) -> None:
        self.directory = directory
        self.path = directory / "burrow.toml"
        text = (PUBLISHED / name).read_text().replace("KAFKA", broker.bootstrap).replace("ZOOKEEPER", ZOOKEEPER)
        self.process = WarrenProcess.with_burrow_file(directory, text, listener, **QUICK)

    def change(self, old: str, new: str) -> None:
        """Change the file, and say so."""
        text = self.path.read_text()
        assert old in text
        self.path.write_text(text.replace(old, new))
        self.process.process.send_signal(signal.SIGHUP)

    def log(self) -> str:
        return next(self.directory.rglob("burrow.log")).read_text()

    def groups(self, cluster: str) -> list[str]:
        found: list[str] = self.process.get(f"/v3/kafka/{cluster}/consumer").get("consumers", [])
        return found

    def lag(self, cluster: str, group: str) -> dict[str, Any]:
        found: dict[str, Any] = self.process.get(f"/v3/kafka/{cluster}/consumer/{group}/lag")["status"]
        return found


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Cluster:
    return Cluster(broker.bootstrap)


@pytest.fixture(scope="module")
def topic(kafka: Cluster) -> str:
    """A topic with ten records."""
    topic = kafka.make_topic()
    kafka.produce(topic, 10)
    return topic


@pytest.fixture(scope="module")
def replaced(broker: Broker, topic: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replaced]:
    running = Replaced(tmp_path_factory.mktemp("burrow"), "with-client-profile.toml", "default", broker)
    running.process.wait_until_ready()
    yield running
    code, _ = running.process.stop()
    assert code == 0, running.log()
    assert not (running.directory / "burrow.pid").exists()


def test_a_published_file_starts_as_it_is(replaced: Replaced, kafka: Cluster, topic: str) -> None:
    group = unique("shipping")
    kafka.commit(group, topic, 4)
    kafka.commit(unique("quick"), topic, 4)
    eventually(lambda: group in replaced.groups("logis-dev"))

    assert not [one for one in replaced.groups("logis-dev") if one.startswith("quick-")]
    assert (replaced.directory / "burrow.pid").read_text() == str(replaced.process.process.pid)
    printed = (replaced.directory / "burrow.out").read_text()
    assert "answering" in replaced.log()
    assert "answering" not in printed


def test_the_reaper_sees_the_groups_that_the_brokers_have(broker: Broker, kafka: Cluster, topic: str) -> None:
    group = unique("listed")
    kafka.commit(group, topic, 0)

    assert group in groups_of({"bootstrap.servers": broker.bootstrap})


def test_what_is_denied_goes_and_windows_stay_when_the_file_is_read_again(
    replaced: Replaced, kafka: Cluster, topic: str
) -> None:
    kept, denied = unique("kept"), unique("denied")
    for group in (kept, denied):
        kafka.commit(group, topic, 4)
    eventually(lambda: {kept, denied} <= set(replaced.groups("logis-dev")))
    before = replaced.lag("logis-dev", kept)["partitions"][0]["start"]["timestamp"]

    def look(looks: list[list[str]]) -> list[str]:
        looks.append(replaced.groups("logis-dev"))
        return looks[-1]

    replaced.change("|quick-)", "|quick-|denied-)")
    looks: list[list[str]] = []
    eventually(lambda: denied not in look(looks))
    assert all(kept in one for one in looks)
    kafka.commit(denied, topic, 5)
    kafka.commit(kept, topic, 5)
    eventually(lambda: replaced.lag("logis-dev", kept)["partitions"][0]["end"]["offset"] == 5)

    assert replaced.lag("logis-dev", kept)["partitions"][0]["start"]["timestamp"] == before
    assert denied not in replaced.groups("logis-dev")


def test_clusters_come_and_go_when_the_file_is_read_again(
    replaced: Replaced, kafka: Cluster, topic: str, broker: Broker
) -> None:
    group = unique("stays")
    kafka.commit(group, topic, 0)
    eventually(lambda: group in replaced.groups("logis-dev"))
    more = f'[cluster.more]\nservers = ["{broker.bootstrap}"]\n[consumer.more]\ncluster = "more"\n[httpserver.default]'
    replaced.change("[httpserver.default]", more)
    eventually(lambda: group in replaced.groups("more"), 60)

    replaced.change(more, "[httpserver.default]")
    eventually(lambda: replaced.process.get("/v3/kafka")["clusters"] == ["logis-dev"])
    assert group in replaced.groups("logis-dev")


def test_rules_thresholds_and_the_level_take_effect_when_the_file_is_read_again(
    replaced: Replaced, kafka: Cluster, topic: str
) -> None:
    group = unique("slow")
    kafka.commit(group, topic, 4)
    eventually(lambda: replaced.lag("logis-dev", group)["status"] == "ERR")  # Burrow calls a first commit with lag STOP

    rules = '[rules.x]\ngroup = "slow-"\nuse = "warren"\n[threshold.x]\ngroup = "slow-"\nrecords = 5\n'
    replaced.change('level = "info"', 'level = "error"')
    replaced.change("[httpserver.default]", f"{rules}[httpserver.default]")
    eventually(lambda: replaced.lag("logis-dev", group)["status"] == "WARN")
    assert replaced.process.get("/v3/admin/loglevel")["level"] == "error"


def test_a_file_that_is_wrong_changes_nothing_and_is_told(replaced: Replaced) -> None:
    clusters = replaced.process.get("/v3/kafka")["clusters"]
    replaced.change("[cluster.logis-dev]", "[cluster.renamed]")
    eventually(lambda: "everything stays as it is" in replaced.log())

    assert "consumer.logis-dev.cluster: there is no [cluster.logis-dev]; there is renamed" in replaced.log()
    assert replaced.process.get("/v3/kafka")["clusters"] == clusters
    assert os.path.exists(replaced.directory / "burrow.pid")
    replaced.change("[cluster.renamed]", "[cluster.logis-dev]")


def test_a_published_file_without_a_client_profile_starts_as_it_is(
    tmp_path: Path, broker: Broker, kafka: Cluster, topic: str
) -> None:
    group = unique("any")
    kafka.commit(group, topic, 0)
    running = Replaced(tmp_path, "without-client-profile.toml", "listener", broker)
    running.process.wait_until_ready()

    assert group in running.groups("minman")
    assert running.process.stop()[0] == 0
    assert (tmp_path / "logs" / "burrow.log").exists()
