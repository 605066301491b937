"""Groups that commit to ZooKeeper, as old consumers and Storm's spouts do, and groups that only the brokers tell of."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_digest_acl

from tests.support.kafka import Cluster, unique
from tests.support.servers import ZooKeeper
from tests.support.waiting import eventually, eventually_equal
from tests.support.warren import StartWarren, WarrenInProcess, WarrenProcess
from warren.embedded.broker import Broker
from warren.sources.admin import AdminOptions, AdminPlace, KafkaAdmin

SECRET = "z00-s3cret"

CONFIG = """
[warren]
trigger = 1
snapshot-interval = 1
evaluate-interval = 0.5
retry-max = 2

[httpserver.default]
address = "127.0.0.1:0"

[storage.default]
class-name = "inmemory"
intervals = 3

[cluster.old]
class-name = "kafka"
servers = ["{bootstrap}"]
offset-refresh = 3
topic-refresh = 3

[consumer.zk]
class-name = "kafka_zk"
cluster = "old"
servers = ["127.0.0.1:1", "{zookeeper}"]
zookeeper-path = "/kafka"
zookeeper-timeout = 5
zookeeper-auth = "warren:{secret}"
group-denylist = "^denied"
poll-interval = 1

[consumer.spouts]
class-name = "storm_zk"
cluster = "old"
servers = ["{zookeeper}"]
zookeeper-path = "/storm"
poll-interval = 1

[cluster.asked]
class-name = "kafka"
servers = ["{bootstrap}"]
offset-refresh = 3
topic-refresh = 3

[consumer.asked]
class-name = "kafka_admin"
cluster = "asked"
group-denylist = "^denied"
poll-interval = 1
"""


class Site:
    """A Warren, and the offset stores that it polls."""

    def __init__(self, zookeeper: ZooKeeper, start: Callable[[], WarrenInProcess | WarrenProcess]) -> None:
        self.zookeeper = zookeeper
        self.start = start
        self.client = KazooClient(hosts=zookeeper.address, timeout=5)
        self.client.start(30)
        self.warren = start()

    def close(self) -> None:
        self.client.stop()
        self.client.close()

    def write(self, path: str, text: str) -> None:
        """As a consumer does: make the node, or write it again."""
        if self.client.exists(path):
            self.client.set(path, text.encode())
        else:
            self.client.create(path, text.encode(), makepath=True)

    def commit(self, group: str, topic: str, offset: int, partition: int = 0) -> None:
        self.write(f"/kafka/consumers/{group}/offsets/{topic}/{partition}", str(offset))

    def spout(self, name: str, topic: str, offset: int, partition: int = 0) -> None:
        """As the spout of storm-kafka does."""
        state = {
            "topology": {"id": "3f1c", "name": f"{name}-topology"},
            "offset": offset,
            "partition": partition,
            "broker": {"host": "127.0.0.1", "port": 9092},
            "topic": topic,
        }
        self.write(f"/storm/{name}/partition_{partition}", json.dumps(state))

    def partition(self, cluster: str, group: str, partition: int = 0) -> dict[str, Any]:
        """A partition as v3 tells it; empty if nothing was committed to it."""
        found = {number: one for (_, number), one in self.warren.partitions(group, cluster).items() if one["end"]}
        return found.get(partition, {})

    def offset(self, cluster: str, group: str, partition: int = 0) -> int | None:
        found = self.partition(cluster, group, partition)
        return found["end"]["offset"] if found else None

    def window(self, cluster: str, group: str) -> list[int]:
        """The offsets in the window of partition 0."""
        [offsets] = [one for (_, number), one in self.warren.window(group, cluster).items() if number == 0]
        return offsets

    def bad(self) -> dict[str, str]:
        """What could not be read, by its path."""
        told = self.warren.get("/api/v1/clusters/old")["undecodable_examples"]
        return {path: reason for one in told for path, _, reason in [one["reason"].partition(": ")]}


@pytest.fixture(scope="module")
def site(broker: Broker, start_warren: StartWarren, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("offset-stores")
    with ZooKeeper(directory / "zookeeper") as zookeeper:
        text = site_config(broker, zookeeper)
        running = Site(zookeeper, lambda: start_warren(directory / "warren", text).wait_until_ready())
        yield running
        log = running.warren.log()
        running.warren.stop()
        running.close()
    assert SECRET not in log


def site_config(broker: Broker, zookeeper: ZooKeeper) -> str:
    return CONFIG.format(bootstrap=broker.bootstrap, zookeeper=zookeeper.address, secret=SECRET)


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Cluster:
    return Cluster(broker.bootstrap)


@pytest.fixture(scope="module")
def topic(kafka: Cluster) -> str:
    """Of 10 records in each of its partitions 0 and 3, and none in 1 and 2."""
    topic = kafka.make_topic(4)
    for partition in (0, 3):
        kafka.produce(topic, 10, partition)
    return topic


# -- ZooKeeper -------------------------------------------------------------------------------------------------------


def test_offsets_in_zookeeper_are_told_with_lag_and_owner(site: Site, topic: str) -> None:
    group, owner = unique("old"), "old_host7-1700000000000-1a2b3c4d-0"
    site.write(f"/kafka/consumers/{group}/owners/{topic}/3", owner)
    site.commit(group, topic, 10)
    site.commit(group, topic, 4, 3)  # numbers need not follow one another
    eventually_equal(lambda: (site.offset("old", group), site.offset("old", group, 3)), (10, 4))

    found = site.partition("old", group, 3)
    assert found
    assert (found["owner"], found["client_id"], found["current_lag"]) == (owner, "", 6)
    mtime_ms = site.client.exists(f"/kafka/consumers/{group}/offsets/{topic}/3").mtime
    assert found["end"]["timestamp"] == mtime_ms
    told = site.warren.get(f"/api/v1/clusters/old/groups/{group}")
    assert (told["type"], told["total_lag"], told["stale_since"]) == ("simple", 6, None)


def test_a_consumer_that_goes_silent_with_a_lag_stops(site: Site, topic: str) -> None:
    group = unique("silent")
    for offset in (3, 4):
        site.commit(group, topic, offset)
        eventually_equal(lambda: site.offset("old", group), offset)
    eventually_equal(lambda: site.partition("old", group)["status"], "STOP")


def test_the_same_offset_written_again_and_again_is_a_stall(site: Site, topic: str) -> None:
    group = unique("stalled")

    def is_told() -> bool:
        site.commit(group, topic, 5)
        found = site.partition("old", group)
        return bool(found) and found["status"] == "STALL" and site.window("old", group) == [5, 5, 5]

    eventually(is_told)


def test_what_is_removed_from_zookeeper_is_gone_and_what_is_made_again_is_back(site: Site, topic: str) -> None:
    group = unique("leaving")
    site.commit(group, topic, 10)
    site.commit(group, topic, 5, 3)
    eventually_equal(lambda: site.offset("old", group, 3), 5)
    site.client.delete(f"/kafka/consumers/{group}/offsets/{topic}/3")
    eventually_equal(lambda: site.offset("old", group, 3), None)
    assert site.offset("old", group) == 10

    site.client.delete(f"/kafka/consumers/{group}", recursive=True)
    eventually(lambda: group not in site.warren.groups("old"))

    site.commit(group, topic, 7)
    eventually_equal(lambda: site.offset("old", group), 7)


def test_a_node_that_is_no_offset_is_told_with_its_path_and_stops_nothing(site: Site, topic: str) -> None:
    group = unique("odd")
    path = f"/kafka/consumers/{group}/offsets/{topic}/0"
    site.write(path, "ten")
    site.commit(group, topic, 3, 3)
    eventually_equal(lambda: site.offset("old", group, 3), 3)

    assert site.bad()[path] == "'ten' is not an offset"


def test_a_group_that_is_denied_is_not_read(site: Site, topic: str) -> None:
    denied, wanted = unique("denied"), unique("wanted")
    for group in (denied, wanted):
        site.commit(group, topic, 1)
    eventually_equal(lambda: site.offset("old", wanted), 1)

    assert denied not in site.warren.groups("old")


def test_nodes_that_only_we_may_read_are_read_and_those_of_others_are_told(site: Site, topic: str) -> None:
    ours, others = unique("ours"), unique("others")
    for group, user in ((ours, "warren"), (others, "somebody")):
        site.commit(group, topic, 6)
        path = f"/kafka/consumers/{group}/offsets/{topic}/0"
        site.client.set_acls(path, [make_digest_acl(user, SECRET, all=True)])
    eventually_equal(lambda: site.offset("old", ours), 6)
    eventually(lambda: f"/kafka/consumers/{others}/offsets/{topic}/0" in site.bad())


# -- Storm -----------------------------------------------------------------------------------------------------------


def test_the_offsets_of_a_spout_are_told_under_its_id(site: Site, topic: str) -> None:
    spout = unique("spout")
    site.spout(spout, topic, 8)
    eventually_equal(lambda: site.offset("old", spout), 8)

    found = site.partition("old", spout)
    assert found
    assert (found["topic"], found["current_lag"], found["client_id"]) == (topic, 2, f"{spout}-topology")


def test_a_spout_that_cannot_be_read_is_told_with_the_reason(site: Site) -> None:
    path = f"/storm/{unique('spout')}/partition_3"
    site.write(path, '{"offset": 3')

    eventually(lambda: site.bad().get(path, "").startswith("not JSON"), saw=site.bad)


# -- the brokers are asked -------------------------------------------------------------------------------------------


def test_what_the_brokers_tell_of_a_group_is_told_until_they_have_it_no_more(
    site: Site, kafka: Cluster, topic: str
) -> None:
    group, denied = unique("asked"), unique("denied")
    kafka.commit(denied, topic, 3)
    kafka.commit(group, topic, 4)
    eventually_equal(lambda: site.offset("asked", group), 4)
    kafka.commit(group, topic, 9)
    eventually_equal(lambda: site.offset("asked", group), 9)

    assert site.window("asked", group) == [4, 9]
    assert denied not in site.warren.groups("asked")
    kafka.delete_group(group)
    eventually(lambda: group not in site.warren.groups("asked"))


def test_a_member_that_the_brokers_tell_of_owns_its_partition(site: Site, kafka: Cluster, topic: str) -> None:
    group = unique("member")
    kafka.commit(group, topic, 6)
    eventually_equal(lambda: site.offset("asked", group), 6)
    member = kafka.running_member(group, topic)
    try:
        eventually_equal(lambda: site.partition("asked", group).get("client_id"), f"{group}-client")
        told = site.warren.get(f"/api/v1/clusters/asked/groups/{group}")
    finally:
        member.close()

    assert (told["type"], told["state"], told["members"][0]["client_id"]) == ("classic", "Stable", f"{group}-client")


def test_a_broker_of_the_last_line_before_4_tells_the_same(broker_39: Broker) -> None:
    kafka, group = Cluster(broker_39.bootstrap), unique("asked")
    topic = kafka.make_topic()
    kafka.commit(group, topic, 6)
    client = {"bootstrap.servers": broker_39.bootstrap}
    picture = AdminPlace(AdminOptions(client, 1.0, allow=(group,)), KafkaAdmin(client)).look(7)

    assert picture.commits == [(group, topic, 0, 6, 7, 7)]
    assert picture.views[group].type == "simple"


def test_a_cluster_without_an_offsets_topic_has_no_groups(tmp_path: Path) -> None:
    """In a process of its own: a client that asks for offsets there ends with it."""
    look = (
        "import sys; from warren.sources.admin import *; client = {'bootstrap.servers': sys.argv[1]};"
        "place = AdminPlace(AdminOptions(client, 1.0), KafkaAdmin(client)); print(place.look(0))"
    )
    with Broker(tmp_path, "4.3.1") as empty:
        command = [sys.executable, "-c", look, empty.bootstrap]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stdout.strip()[:32]) == (0, "Picture(place_id='', commits=[],"), done.stderr


# -- what may happen -------------------------------------------------------------------------------------------------


def test_zookeeper_may_go_and_come_back(site: Site, topic: str) -> None:
    group = unique("patient")
    site.commit(group, topic, 1)
    eventually_equal(lambda: site.offset("old", group), 1)
    site.zookeeper.stop()
    eventually(lambda: "cannot be read" in str(_query(site, "commits-zk")["last_error"]))
    site.zookeeper.start()
    eventually(lambda: site.client.connected)
    site.commit(group, topic, 2)

    eventually_equal(lambda: site.offset("old", group), 2)
    assert site.window("old", group) == [1, 2]


def _query(site: Site, name: str) -> dict[str, Any]:
    queries = site.warren.get("/api/v1/clusters/old")["queries"]
    return next(one for one in queries if one["name"] == name)


def restart_amid_commits(site: Site, kafka: Cluster, topic: str, end: Callable[[], None]) -> None:
    """End a Warren, have consumers go on, and start it again: nothing is doubled and nothing is lost."""
    in_zookeeper, asked, leaving = unique("kept"), unique("kept-asked"), unique("gone")
    site.commit(leaving, topic, 1)
    for offset in (1, 2):
        site.commit(in_zookeeper, topic, offset)
        kafka.commit(asked, topic, offset)
        eventually_equal(lambda: site.offset("old", in_zookeeper), offset)
        eventually_equal(lambda: site.offset("asked", asked), offset)
    eventually_equal(lambda: site.offset("old", leaving), 1)
    end()
    site.commit(in_zookeeper, topic, 3)
    site.client.delete(f"/kafka/consumers/{leaving}", recursive=True)
    site.warren = site.start()

    eventually_equal(lambda: site.offset("old", in_zookeeper), 3)
    assert site.window("old", in_zookeeper) == [1, 2, 3]
    assert site.window("asked", asked) == [1, 2]
    assert leaving not in site.warren.groups("old")


def test_after_a_restart_nothing_is_doubled_and_nothing_is_lost(site: Site, kafka: Cluster, topic: str) -> None:
    restart_amid_commits(site, kafka, topic, site.warren.stop)


@pytest.mark.long
def test_after_a_kill_nothing_is_doubled_and_nothing_is_lost(
    broker: Broker, kafka: Cluster, topic: str, tmp_path: Path
) -> None:
    with ExitStack() as running:
        zookeeper = running.enter_context(ZooKeeper(tmp_path / "zookeeper"))
        text, directory = site_config(broker, zookeeper), tmp_path / "warren"

        def start() -> WarrenProcess:
            return running.enter_context(WarrenProcess(directory, text)).wait_until_ready(240)

        site = Site(zookeeper, start)
        running.callback(site.close)
        restart_amid_commits(site, kafka, topic, lambda: kill_after_a_snapshot(site.warren))
        assert SECRET not in "".join(one.read_text(errors="replace") for one in directory.rglob("*.log*"))


def kill_after_a_snapshot(warren: WarrenProcess) -> None:
    """A killed Warren has what its last snapshot has: it writes one each half second."""
    files = sorted((warren.directory / "home" / "snapshots").glob("*.snapshot"))
    for _ in range(2):  # one that is under way may have begun too early
        before = [one.stat().st_mtime_ns for one in files]
        eventually(lambda: _are_newer(files, before))  # noqa: B023  # called at once
    warren.kill()


def _are_newer(files: list[Path], before: list[int]) -> bool:
    """Whether all were written again; a file is away for a moment while it is."""
    return all(one.exists() and one.stat().st_mtime_ns > was for one, was in zip(files, before, strict=True))
