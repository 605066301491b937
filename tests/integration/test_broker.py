"""The embedded broker for real: its jars, its start and stop, and that it never outlives us."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # its own import hides it

from tests.support.processes import assert_gone
from warren.embedded.broker import Broker, free_port
from warren.embedded.jars import fetch_kafka, is_complete, list_jars
from warren.errors import SetupError
from warren.machine.cache import cache_dir

VERSION = "4.3.1"


def ignore(_: str) -> None:
    """For who does not want to hear of progress."""


def admin_of(broker: Broker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap})


def create_topic(broker: Broker, name: str) -> None:
    admin = admin_of(broker)  # a handle that goes out of scope takes its requests with it
    for created in admin.create_topics([NewTopic(name, 1)]).values():
        created.result(10)


def commit_one_of_two_records(broker: Broker, topic: str, group: str) -> int:
    """Write two records, commit the first, and return the committed offset as the broker tells it."""
    create_topic(broker, topic)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for _ in range(2):
        producer.produce(topic, b"x")
    assert producer.flush(10) == 0
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    try:
        consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
        return int(consumer.committed([TopicPartition(topic, 0)], timeout=10)[0].offset)
    finally:
        consumer.close()


def test_a_group_commits_to_kafka_4(broker: Broker) -> None:
    assert commit_one_of_two_records(broker, "broker-commits", "broker-commits") == 1


@pytest.mark.long
def test_a_group_commits_to_kafka_3(broker_39: Broker) -> None:
    assert commit_one_of_two_records(broker_39, "broker-commits", "broker-commits") == 1


def test_the_broker_logs_to_its_data_directory(broker: Broker) -> None:
    assert broker.log_path.parent == broker.data_dir
    assert "Kafka Server started" in broker.log_path.read_text()


def test_asking_for_a_topic_does_not_create_it(broker: Broker) -> None:
    asked = admin_of(broker).list_topics("broker-mistyped", timeout=10).topics["broker-mistyped"]
    assert asked.error is not None
    assert asked.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
    assert "broker-mistyped" not in admin_of(broker).list_topics(timeout=10).topics


@pytest.mark.long
def test_a_directory_with_an_odd_name_keeps_its_topics_over_a_restart(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "a, b é=c", overrides={"offsets.topic.num.partitions": "1"})
    with broker:
        create_topic(broker, "kept")
        first = admin_of(broker).list_topics(timeout=10)
    with broker:
        second = admin_of(broker).list_topics("kept", timeout=10)
        assert second.topics["kept"].error is None
        assert second.cluster_id == first.cluster_id


def test_stopping_ends_the_java_process_and_starting_twice_is_harmless(tmp_path: Path) -> None:
    broker = Broker(tmp_path)
    broker.start()
    pid = broker.pid
    broker.start()
    assert broker.pid == pid
    broker.stop()
    broker.stop()
    assert not psutil.pid_exists(pid)
    with pytest.raises(SetupError, match="does not run"):
        _ = broker.bootstrap


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as other:
        port = free_port()
        other.bind(("127.0.0.1", port))
        other.listen()
        with pytest.raises(SetupError, match=rf"^Port {port} of 127\.0\.0\.1 is in use\."):
            Broker(tmp_path, port=port).start()


def test_a_wrong_setting_is_told_with_kafkas_reason(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="Invalid value zzz for configuration"):
        Broker(tmp_path, overrides={"num.partitions": "zzz"}).start()


def test_a_broker_that_dies_while_starting_is_told_with_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "meta.properties").write_text("version=1\nnode.id=7\ncluster.id=other\n")
    with pytest.raises(SetupError, match=r"ended while starting: .*Stored node id 7") as caught:
        Broker(tmp_path).start()
    assert str(tmp_path / "broker.log") in str(caught.value)


def test_a_directory_serves_one_broker_at_a_time(broker: Broker) -> None:
    with pytest.raises(SetupError, match="Another Kafka is running in"):
        Broker(broker.data_dir).start()
    assert broker.log_path.exists()


def test_a_broker_does_not_outlive_the_process_that_started_it(tmp_path: Path) -> None:
    code = f"""
import time
from warren.embedded.broker import Broker
broker = Broker({str(tmp_path)!r})
broker.start()
print(broker.pid, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        java = psutil.Process(int(owner.stdout.readline()))
        owner.send_signal(signal.SIGKILL)
    assert_gone([java], within_s=30)


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An artifact registry on the local disk, in front of an empty cache: these tests need no network."""
    source = fetch_kafka(VERSION, ignore)
    for jar in list_jars(VERSION):
        folder = tmp_path / "registry" / Path(*jar.coordinates.split(":"))
        folder.mkdir(parents=True)
        shutil.copyfile(source / jar.name, folder / jar.name)  # no links: the tests damage files
    pattern = f"{tmp_path}/registry/[organisation]/[module]/[revision]/[artifact]-[revision].[ext]"
    settings = tmp_path / "settings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="disk"/><resolvers>'
        f'<filesystem name="disk"><artifact pattern="{pattern}"/></filesystem></resolvers></ivysettings>'
    )
    monkeypatch.setenv("WARREN_IVY_SETTINGS", str(settings))
    monkeypatch.setenv("WARREN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "registry"


def test_two_processes_that_fetch_at_once_fetch_once(registry: Path) -> None:
    command = [sys.executable, "-m", "warren.embedded.jars", VERSION]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum(text.count(f"fetched Kafka {VERSION}: 46 jars") for text in said) == 1
    assert is_complete(cache_dir() / "kafka" / VERSION)


def test_a_damaged_copy_and_a_damaged_download_are_repaired(registry: Path) -> None:
    reports: list[str] = []
    target = fetch_kafka(VERSION, reports.append)
    assert f"fetching Kafka {VERSION}: 23 of 46 jars" in reports
    damaged = target / f"kafka-clients-{VERSION}.jar"
    damaged.write_bytes(b"half")

    shutil.move(registry, registry.with_name("away"))  # what was downloaded once repairs the copy
    fetch_kafka(VERSION, ignore)
    assert is_complete(target)
    shutil.move(registry.with_name("away"), registry)

    damaged.unlink()
    [download] = cache_dir().glob(f"ivy/**/{damaged.name}")
    download.write_bytes(b"half")
    fetch_kafka(VERSION, reports.append)
    assert is_complete(target)
    assert f"fetching Kafka {VERSION}: the download cache is damaged, starting again" in reports


def test_a_jar_with_other_content_than_listed_is_refused(registry: Path) -> None:
    [jar] = registry.glob("**/jopt-simple-*.jar")
    jar.write_bytes(b"something else")
    with pytest.raises(SetupError, match="does not have the content it should have"):
        fetch_kafka(VERSION, ignore)
    assert sorted(path.name for path in (cache_dir() / "kafka").iterdir()) == [".lock"]


def test_a_registry_that_cannot_be_reached_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARREN_CACHE", str(tmp_path))
    monkeypatch.delenv("WARREN_IVY_SETTINGS", raising=False)
    proxy = f"-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort={free_port()}"
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", proxy)
    with pytest.raises(SetupError) as caught:
        fetch_kafka(VERSION, ignore)
    assert caught.value.message == f"Kafka {VERSION} cannot be fetched: the artifact registry cannot be reached."


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    answer = f"java.home = {tmp_path}\\njava.version = 17.0.1\\n"
    complaint = "java.io.IOException: No space left on device"
    java.write_text(
        f'#!/bin/sh\ncase "$*" in *-version) printf "{answer}" >&2;; *) echo "{complaint}"; exit 1;; esac\n'
    )
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("WARREN_CACHE", str(tmp_path / "cache"))
    with pytest.raises(SetupError, match=f"^There is no space left on the device that holds {tmp_path}"):
        fetch_kafka(VERSION, ignore)


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("WARREN_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(SetupError, match=r"^Cannot write to .*: Not a directory\."):
        fetch_kafka(VERSION, ignore)
