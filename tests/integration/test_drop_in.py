"""Warren in Burrow's place: the files that its users have start as they are, and are read again on SIGHUP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.kafka import Cluster, unique, unique_beside
from tests.support.waiting import eventually, eventually_equal
from tests.support.warren import WarrenProcess
from warren.clusters.reaper import groups_of
from warren.embedded.broker import Broker

PUBLISHED = Path(__file__).parents[1] / "data" / "burrow"
ZOOKEEPER = "127.0.0.1:2181"
QUICK = {f"BURROW_CLUSTER_{name}_REFRESH": "1" for name in ("LOGIS_DEV_OFFSET", "LOGIS_DEV_TOPIC", "MINMAN_OFFSET")}


class Replaced(WarrenProcess):
    """A Warren that was started with a published file of Burrow's."""

    def __init__(self, directory: Path, name: str, listener: str, broker: Broker) -> None:
        text = (PUBLISHED / name).read_text().replace("KAFKA", broker.bootstrap).replace("ZOOKEEPER", ZOOKEEPER)
        super().__init__(directory, text, file="burrow.toml", listener=listener, environ=QUICK)

    def change(self, old: str, new: str) -> None:
        """Change the file, and say so."""
        text = self.config_path.read_text()
        assert old in text
        self.reload(text.replace(old, new))

    def log(self) -> str:
        """The log file that the configuration names."""
        return next(self.directory.rglob("burrow.log")).read_text()


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
    directory = tmp_path_factory.mktemp("burrow")
    with Replaced(directory, "with-client-profile.toml", "default", broker) as running:
        yield running.wait_until_ready()
    assert not (directory / "burrow.pid").exists()


def test_a_published_file_starts_as_it_is(replaced: Replaced, kafka: Cluster, topic: str) -> None:
    group = unique("shipping")
    denied = unique_beside(group, "quick")
    kafka.commit(denied, topic, 4)
    kafka.commit(group, topic, 4)
    eventually(lambda: group in replaced.groups("logis-dev"))

    assert denied not in replaced.groups("logis-dev")
    assert (replaced.directory / "burrow.pid").read_text() == str(replaced.process.pid)
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
    kept = unique("kept")
    denied = unique_beside(kept, "denied")
    for group in (kept, denied):
        kafka.commit(group, topic, 4)
    eventually(lambda: {kept, denied} <= set(replaced.groups("logis-dev")))
    [before] = [one["start"]["timestamp"] for one in replaced.partitions(kept, "logis-dev").values()]

    def look(looks: list[list[str]]) -> list[str]:
        looks.append(replaced.groups("logis-dev"))
        return looks[-1]

    replaced.change("|quick-)", "|quick-|denied-)")
    looks: list[list[str]] = []
    eventually(lambda: denied not in look(looks))
    assert all(kept in one for one in looks)
    kafka.commit(denied, topic, 5)
    kafka.commit(kept, topic, 5)
    eventually_equal(lambda: replaced.committed(kept, "logis-dev"), {(topic, 0): 5})

    assert [one["start"]["timestamp"] for one in replaced.partitions(kept, "logis-dev").values()] == [before]
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
    eventually_equal(lambda: replaced.get("/v3/kafka")["clusters"], ["logis-dev"])
    assert group in replaced.groups("logis-dev")


def test_rules_thresholds_and_the_level_take_effect_when_the_file_is_read_again(
    replaced: Replaced, kafka: Cluster, topic: str
) -> None:
    group = unique("slow")
    for offset in (3, 4):  # a group is given a minute after its first commit
        kafka.commit(group, topic, offset)
    eventually_equal(lambda: replaced.lag(group, "logis-dev").get("status"), "ERR")

    rules = '[rules.x]\ngroup = "slow-"\nuse = "warren"\n[threshold.x]\ngroup = "slow-"\nrecords = 5\n'
    replaced.change('level = "info"', 'level = "error"')
    replaced.change("[httpserver.default]", f"{rules}[httpserver.default]")
    eventually_equal(lambda: replaced.lag(group, "logis-dev")["status"], "WARN")
    assert replaced.get("/v3/admin/loglevel")["level"] == "error"


def test_a_file_that_is_wrong_changes_nothing_and_is_told(replaced: Replaced) -> None:
    clusters = replaced.get("/v3/kafka")["clusters"]
    replaced.change("[cluster.logis-dev]", "[cluster.renamed]")
    eventually(lambda: "everything stays as it is" in replaced.log())

    assert "consumer.logis-dev.cluster: there is no [cluster.logis-dev]; there is renamed" in replaced.log()
    assert replaced.get("/v3/kafka")["clusters"] == clusters
    assert (replaced.directory / "burrow.pid").exists()
    replaced.change("[cluster.renamed]", "[cluster.logis-dev]")


@pytest.mark.long
def test_a_published_file_without_a_client_profile_starts_as_it_is(
    tmp_path: Path, broker: Broker, kafka: Cluster, topic: str
) -> None:
    group = unique("any")
    kafka.commit(group, topic, 0)
    with Replaced(tmp_path, "without-client-profile.toml", "listener", broker) as running:
        running.wait_until_ready()
        assert group in running.groups("minman")
    assert (tmp_path / "logs" / "burrow.log").exists()
