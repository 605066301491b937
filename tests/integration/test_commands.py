"""`warren describe` and `warren doctor` against a real broker, as somebody types them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.kafka import Cluster, unique
from warren.embedded.broker import Broker, free_port


def warren(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warren.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def kafka(broker: Broker) -> Cluster:
    return Cluster(broker.bootstrap)


def described(broker: Broker, group: str) -> dict[str, Any]:
    done = warren("describe", "--bootstrap", broker.bootstrap, "--group", group, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_group_is_described_in_records_and_seconds_without_a_server(broker: Broker, kafka: Cluster) -> None:
    group, topic = unique("described"), kafka.make_topic(2)
    kafka.produce(topic, 10)
    kafka.commit(group, topic, 4)
    [partition] = [one for one in described(broker, group)["partitions"] if one["committed_offset"] is not None]

    assert (partition["topic"], partition["committed_offset"], partition["lag"]) == (topic, 4, 6)
    assert 0 <= partition["lag_seconds"] < 120


def test_a_group_is_described_for_people(broker: Broker, kafka: Cluster) -> None:
    group, topic = unique("described"), kafka.make_topic(1)
    kafka.produce(topic, 10)
    kafka.commit(group, topic, 10)
    done = warren("describe", "--bootstrap", broker.bootstrap, "--group", group)

    assert done.stdout.startswith(f"{group} is OK, 0 records behind\nTOPIC")
    assert f"{topic}  0          OK      10         10   0    0 s" in done.stdout


def test_a_group_that_is_not_there_is_told(broker: Broker) -> None:
    done = warren("describe", "--bootstrap", broker.bootstrap, "--group", "nobody")

    assert done.returncode == 1
    assert "The group 'nobody' has no commit" in done.stderr


def test_a_doctor_finds_a_good_cluster_well(broker: Broker, kafka: Cluster) -> None:
    kafka.commit(unique("well"), kafka.make_topic(), 1)
    done = warren("doctor", "--bootstrap", broker.bootstrap, "--json")
    found = {one["question"]: one for one in json.loads(done.stdout)["findings"]}

    assert done.returncode == 0, done.stdout
    assert list(found) == ["versions", "Java", "disk", "brokers", "offsets topic", "topics", "groups", "clocks"]
    assert found["offsets topic"]["says"] == "50 partitions, and it can be read"


def test_a_doctor_says_why_a_cluster_cannot_be_reached() -> None:
    done = warren("doctor", "--bootstrap", f"127.0.0.1:{free_port()}")

    assert done.returncode == 1
    assert "Connection refused" in done.stdout
