"""Seven clusters in one Warren: guarded in every way, of another version, dead, and closed to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka.admin import AclOperation

from tests.support.kafka import Cluster, unique
from tests.support.secured import PLAIN_PASSWORD, SCRAM_PASSWORD, SECRETS, TOKEN_SECRET, SecuredBroker
from tests.support.waiting import eventually, eventually_equal
from tests.support.warren import WarrenProcess
from warren.embedded.broker import Broker, free_port

WRONG_PASSWORD = "wrong-s3cret"
GOOD = ("scram", "mtls", "oauth", "old")
REASONS = {"dead": "Connection refused", "wrong": "uthentication", "denied": "kafka-acls.sh"}
"""What the clusters that cannot be read say."""

CONFIG = """
[warren]
trigger = 1
snapshot-interval = 5
evaluate-interval = 1
retry-max = 4

[httpserver.default]
address = "127.0.0.1:0"

[tls.corp]
cafile = "{ca}"

[tls.mine]
cafile = "{ca}"
certfile = "{client_pem}"
keyfile = "{client_key}"

[sasl.scram]
mechanism = "SCRAM-SHA-512"
username = "scrambled"
password-file = "scram-password"

[sasl.wrong]
mechanism = "SCRAM-SHA-512"
username = "scrambled"
password = "{wrong_password}"

[sasl.plain]
mechanism = "PLAIN"
username = "plainly"
password = "{plain_password}"

[sasl.token]
mechanism = "OAUTHBEARER"
token-url = "{token_url}"
client-id = "watcher"
client-secret = "${{WATCHERS_SECRET}}"

[client-profile.scram]
tls = "corp"
sasl = "scram"
properties = {{"socket.keepalive.enable" = "true"}}
[client-profile.wrong]
tls = "corp"
sasl = "wrong"
[client-profile.denied]
tls = "corp"
sasl = "plain"
[client-profile.oauth]
tls = "corp"
sasl = "token"
[client-profile.mtls]
tls = "mine"
[client-profile.none]
"""

ONE_CLUSTER = """
[cluster.{name}]
servers = ["{servers}"]
client-profile = "{profile}"
offset-refresh = 3
topic-refresh = 3

[consumer.{name}]
cluster = "{name}"
client-profile = "{profile}"
"""

SECOND_MODULE = """
[consumer.old-again]
cluster = "old"
group-allowlist = "^again-"
"""


class Fleet:
    """The brokers and the Warren that watches them."""

    def __init__(self, directory: Path, secured: SecuredBroker, old: Broker) -> None:
        self.secured = secured
        self.kafka, self.old = Cluster(secured.bootstrap), Cluster(old.bootstrap)
        self._servers = {
            "scram": secured.sasl,
            "mtls": secured.mtls,
            "oauth": secured.oauth,
            "old": old.bootstrap,
            "dead": f"127.0.0.1:{free_port()}",
            "wrong": secured.sasl,
            "denied": secured.sasl,
        }
        (directory / "scram-password").write_text(f"{SCRAM_PASSWORD}\n")
        spark = directory / "spark"
        spark.mkdir()
        (spark / "spark-defaults.conf").write_text(
            f"spark.eventLog.enabled true\nspark.eventLog.dir {spark.as_uri()}\nspark.eventLog.compress false\n"
        )
        environ = {"WATCHERS_SECRET": TOKEN_SECRET, "SPARK_CONF_DIR": str(spark)}
        self.warren = WarrenProcess(directory, self.config(), environ=environ)

    def config(self, wrong_password: str = WRONG_PASSWORD) -> str:
        head = CONFIG.format(
            ca=self.secured.authority.pem,
            client_pem=self.secured.client_pem,
            client_key=self.secured.client_key,
            wrong_password=wrong_password,
            plain_password=PLAIN_PASSWORD,
            token_url=self.secured.tokens.url,
        )
        profiles = {"old": "none", "dead": "none"}
        clusters = (
            ONE_CLUSTER.format(name=name, servers=servers, profile=profiles.get(name, name))
            for name, servers in self._servers.items()
        )
        return head + "".join(clusters) + SECOND_MODULE

    def cluster(self, name: str) -> dict[str, Any]:
        return self.warren.get(f"/api/v1/clusters/{name}")

    def committed(self, cluster: str, group: str) -> list[int]:
        found = self.warren.get(f"/api/v1/clusters/{cluster}/groups/{group}")
        return [one["committed_offset"] for one in found.get("partitions", [])]

    def everything_written(self) -> Iterator[tuple[str, bytes]]:
        """What Warren and Spark have left on the disk, and what Warren answers."""
        for path in self.warren.directory.rglob("*"):
            if path.is_file() and path.name not in (self.warren.config_path.name, "scram-password"):
                yield str(path), path.read_bytes()
        addresses = ["/metrics", "/v3/config", "/api/v1/clusters", "/api/v1/pipeline", "/v3/kafka", "/api/v1/incidents"]
        for address in [*addresses, *(f"/v3/kafka/{name}" for name in self._servers)]:
            yield address, self.warren.read(address)


class Bad(NamedTuple):
    """A cluster that could not be read, as Warren told it before anything was put right."""

    cluster: dict[str, Any]
    metrics: str


@pytest.fixture(scope="module")
def fleet(broker_39: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Ready, as far as it can be."""
    with SecuredBroker(tmp_path_factory.mktemp("secured")) as secured:
        secured.allow(
            ["scrambled", "CN=lagmon", "watcher"],
            {"__consumer_offsets": [AclOperation.READ, AclOperation.DESCRIBE], "*": [AclOperation.DESCRIBE]},
        )
        running = Fleet(tmp_path_factory.mktemp("fleet"), secured, broker_39)
        with running.warren as warren:
            warren.wait_until_ready(240)
            yield running


@pytest.fixture(scope="module")
def bad(fleet: Fleet) -> dict[str, Bad]:
    """The clusters that cannot be read, once each has said why."""
    for name, reason in REASONS.items():
        eventually(
            lambda: reason in (fleet.cluster(name)["last_error"] or ""),  # noqa: B023  # called at once
            90,
            saw=lambda: fleet.cluster(name),  # noqa: B023
        )
    metrics = fleet.warren.read("/metrics").decode()
    return {name: Bad(fleet.cluster(name), metrics) for name in REASONS}


@pytest.fixture(scope="module")
def opened(fleet: Fleet, bad: dict[str, Bad]) -> Fleet:
    """After `denied` was given the right that it asked for."""
    assert bad["denied"]
    fleet.secured.allow(["plainly"], {"__consumer_offsets": [AclOperation.DESCRIBE, AclOperation.READ]})
    eventually(lambda: fleet.cluster("denied")["caught_up"], 90, saw=lambda: fleet.cluster("denied"))
    return fleet


def test_clusters_that_cannot_be_read_keep_nobody_waiting(fleet: Fleet, bad: dict[str, Bad]) -> None:
    assert [fleet.cluster(name)["ready"] for name in GOOD] == [True] * len(GOOD)
    assert [fleet.cluster(name)["unreachable_since"] for name in GOOD] == [None] * len(GOOD)
    assert [bad[name].cluster["ready"] for name in REASONS] == [False, False, False]


@pytest.mark.parametrize("name", ["scram", "mtls", "oauth"])
def test_commits_are_read_with_the_rights_of_the_documentation_and_no_others(fleet: Fleet, name: str) -> None:
    group, topic = unique(name), fleet.kafka.make_topic()
    fleet.kafka.produce(topic, 10)
    fleet.kafka.commit(group, topic, 4)

    eventually_equal(lambda: fleet.committed(name, group), [4])
    eventually_equal(lambda: fleet.warren.get(f"/api/v1/clusters/{name}/groups/{group}")["total_lag"], 6)


def test_each_module_of_a_cluster_brings_its_groups(fleet: Fleet) -> None:
    topic = fleet.old.make_topic()
    group = unique("again")
    fleet.old.commit(group, topic, 3)

    eventually_equal(lambda: fleet.committed("old", group), [3])
    assert {one["name"] for one in fleet.cluster("old")["queries"]} == {"heads-old", "commits-old", "commits-old-again"}


@pytest.mark.parametrize("name", REASONS)
def test_what_cannot_be_read_says_since_when_and_why(bad: dict[str, Bad], name: str) -> None:
    assert REASONS[name] in bad[name].cluster["last_error"]
    assert bad[name].cluster["unreachable_since"] is not None
    assert f'warren_cluster_reachable{{cluster="{name}"}} 0.0' in bad[name].metrics


def test_a_good_cluster_goes_on_beside_one_that_does_not_answer(fleet: Fleet, bad: dict[str, Bad]) -> None:
    """A task that waits for brokers does so for half a minute: whoever waited for it would be later than this."""
    group, topic = unique("quick"), fleet.old.make_topic()
    for offset in range(1, 7):
        fleet.old.commit(group, topic, offset)
        eventually_equal(lambda: fleet.committed("old", group), [offset], 15)

    assert fleet.cluster("dead")["unreachable_since"] == bad["dead"].cluster["unreachable_since"]


def test_the_right_that_it_asks_for_opens_a_cluster(opened: Fleet, bad: dict[str, Bad]) -> None:
    asked = bad["denied"].cluster["last_error"]

    assert "--allow-principal 'User:plainly' --operation Describe --operation Read --topic __consumer_offsets" in asked
    eventually_equal(lambda: opened.cluster("denied")["unreachable_since"], None, 90)


def test_topics_that_it_may_not_see_are_named(opened: Fleet) -> None:
    topic = opened.kafka.make_topic()
    opened.kafka.commit(unique("hidden"), topic, 1)

    eventually(lambda: topic in opened.cluster("denied")["unseen_topics"])


def test_a_corrected_password_takes_effect_without_a_restart(fleet: Fleet, bad: dict[str, Bad]) -> None:
    assert bad["wrong"]
    fleet.warren.reload(fleet.config(wrong_password=SCRAM_PASSWORD))

    eventually(lambda: fleet.cluster("wrong")["ready"], 120, saw=lambda: fleet.cluster("wrong"))


def test_no_secret_is_told_anywhere(fleet: Fleet, bad: dict[str, Bad]) -> None:
    """Also not by those that were refused."""
    assert bad
    found = [
        (where, secret)
        for where, content in fleet.everything_written()
        for secret in (*SECRETS, WRONG_PASSWORD)
        if secret.encode() in content
    ]

    assert found == []
    assert any("eventlog" in where or "local-" in where for where, _ in fleet.everything_written())
