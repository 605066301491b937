"""Notifications to a real Alertmanager and a real Kafka, and from a sender that is killed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from tests.support import servers
from tests.support.kafka import Cluster, unique
from tests.support.receivers.samples import CLOSED, OPENED, OTHER, REMINDER, WILD, WORSENED
from tests.support.receivers.web_server import Reply, WebServer
from tests.support.waiting import eventually, eventually_equal
from warren.embedded.broker import Broker, free_port
from warren.model import Status
from warren.notify.database import Database
from warren.notify.events import Event
from warren.notify.outbox import Outbox
from warren.notify.receivers.alertmanager import Alertmanager, AlertmanagerSettings
from warren.notify.receivers.contract import DELIVERED, Outcome, Result
from warren.notify.receivers.kafka import Kafka, KafkaSettings

SEED = 7


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def recent(event: Event) -> Event:
    """Return the event as if it happened now."""
    return event._replace(at_ms=now_ms(), opened_ms=now_ms() - 60_000)


# -- Alertmanager ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def alertmanager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Alertmanager]:
    with servers.Alertmanager(tmp_path_factory.mktemp("alertmanager")) as server:
        yield server


def deliver(server: servers.Alertmanager, *events: Event, valid_s: int = 3600) -> Outcome:
    receiver = Alertmanager(AlertmanagerSettings(server.url, (("team", "data"),), valid_s))
    try:
        return receiver.deliver([recent(event) for event in events], "key-1", now_ms=now_ms())
    finally:
        receiver.close()


def test_an_alert_fires(alertmanager: servers.Alertmanager) -> None:
    group = unique("group")
    assert deliver(alertmanager, OPENED._replace(group=group)) == DELIVERED

    [alert] = eventually(lambda: alertmanager.firing(group))
    wanted = {"alertname": "KafkaConsumerGroup", "cluster": "prod", "group": group, "status": "ERR", "team": "data"}
    assert wanted.items() <= alert["labels"].items()
    assert alert["annotations"]["reason"] == "no commit for 12 min while 1,204 records wait"
    assert alert["generatorURL"] == OPENED.link


def test_an_alert_ends_with_its_incident(alertmanager: servers.Alertmanager) -> None:
    group = unique("group")
    deliver(alertmanager, OPENED._replace(group=group))
    eventually(lambda: alertmanager.firing(group))
    deliver(alertmanager, CLOSED._replace(group=group))

    eventually_equal(lambda: alertmanager.firing(group), [])


def test_a_new_status_replaces_the_previous_one(alertmanager: servers.Alertmanager) -> None:
    group = unique("group")
    deliver(alertmanager, OPENED._replace(group=group, now=Status.WARN))
    eventually(lambda: alertmanager.firing(group))
    deliver(alertmanager, WORSENED._replace(group=group))

    eventually_equal(lambda: [alert["labels"]["status"] for alert in alertmanager.firing(group)], ["ERR"])


def test_an_alert_expires_unless_a_reminder_renews_it(alertmanager: servers.Alertmanager) -> None:
    reminded, forgotten = unique("group"), unique("group")
    deliver(alertmanager, OPENED._replace(group=reminded), OPENED._replace(group=forgotten), valid_s=4)
    eventually(lambda: alertmanager.firing(forgotten))
    deliver(alertmanager, REMINDER._replace(group=reminded), valid_s=60)

    eventually_equal(lambda: alertmanager.firing(forgotten), [])
    assert len(alertmanager.firing(reminded)) == 1


def test_alertmanager_accepts_any_name(alertmanager: servers.Alertmanager) -> None:
    assert deliver(alertmanager, WILD) == DELIVERED


# -- Kafka -------------------------------------------------------------------------------------------------------


def read_all(broker: Broker, topic: str) -> list[Message]:
    """Return the records of a topic with one partition."""
    client = {"bootstrap.servers": broker.bootstrap, "group.id": unique("reader"), "log_level": 0}
    consumer = Consumer({**client, "enable.partition.eof": True})
    consumer.assign([TopicPartition(topic, 0, 0)])
    records: list[Message] = []
    try:
        while True:
            message = consumer.poll(30)
            assert message is not None, f"no more records, and no end of {topic}; read so far: {len(records)}"
            if error := message.error():
                assert error.code() == KafkaError._PARTITION_EOF, error
                return records
            records.append(message)
    finally:
        consumer.close()


def produce(broker: Broker, topic: str, *events: Event, **client: object) -> Outcome:
    receiver = Kafka(KafkaSettings(topic, {"bootstrap.servers": broker.bootstrap, **client}, timeout_s=3))
    try:
        return receiver.deliver(events, "key-1", now_ms=now_ms())
    finally:
        receiver.close()


def test_each_event_is_a_record(broker: Broker) -> None:
    topic = Cluster(broker.bootstrap).make_topic(1, "alerts")
    assert produce(broker, topic, OPENED, OTHER, WILD) == DELIVERED

    first, second, wild = read_all(broker, topic)
    assert (first.key(), second.key()) == (b"prod/payments_v2", b"prod/audit")
    body = json.loads(first.value() or b"")
    assert (body["turn"], body["now"], body["cause"]["lag_records"]) == ("opened", "ERR", 1204)
    assert first.timestamp()[1] == OPENED.at_ms
    assert first.headers() == [("warren-event", OPENED.key.encode())]
    assert b"\xff" in (wild.key() or b"")


def test_a_topic_that_does_not_exist_may_come(broker: Broker) -> None:
    outcome = produce(broker, unique("nowhere"), OPENED)

    assert outcome.result is Result.RETRY
    assert "nowhere" in outcome.reason


def test_a_record_that_is_too_large_never_arrives(broker: Broker) -> None:
    topic = Cluster(broker.bootstrap).make_topic(1, "alerts", **{"max.message.bytes": "1000"})

    assert produce(broker, topic, OPENED._replace(group="g" * 5000)).result is Result.PERMANENT


def test_brokers_that_are_away_are_tried_again_and_no_password_is_told() -> None:
    client = {"bootstrap.servers": f"127.0.0.1:{free_port()}", "sasl.password": "kafka-secret", "sasl.username": "u"}
    client |= {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    settings = KafkaSettings("alerts", client, timeout_s=1)
    outcome = Kafka(settings).deliver([OPENED], "key-1", now_ms=now_ms())

    assert outcome.result is Result.RETRY
    assert "kafka-secret" not in outcome.reason + repr(settings)


# -- a crash -----------------------------------------------------------------------------------------------------


class FlakyServer(WebServer):
    """Fails half of the requests; counts the events that it has refused and accepted."""

    def __init__(self) -> None:
        super().__init__()
        self.chance = random.Random(SEED)
        self.refused: Counter[str] = Counter()
        self.accepted: Counter[str] = Counter()

    def next_reply(self) -> Reply:
        key = self.asked[-1].body.decode()
        fails = self.chance.random() < 0.5
        (self.refused if fails else self.accepted)[key] += 1
        return Reply(503 if fails else 200)


def test_every_event_arrives_in_spite_of_failures_and_a_kill_and_none_twice_without_a_reason(
    tmp_path: Path, is_long: bool
) -> None:
    events = 1000 if is_long else 200
    path, server = tmp_path / "warren.db", FlakyServer()
    database = Database(path)
    outbox = Outbox(database)
    with database.change():
        for number in range(events):
            outbox.put("web", OPENED._replace(key=f"event-{number}", incident=str(number)), now_ms())
    server.start()
    command = [sys.executable, "-m", "tests.support.receivers.sender", str(path), server.url]
    try:
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as sender:
            try:
                eventually(lambda: server.accepted.total() > events // 4, saw=server.accepted.total)
            finally:
                sender.kill()
        unfinished = {key for (key,) in database.read("SELECT key FROM outbox WHERE state = 'waiting'")}
        subprocess.run(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=120, check=True)
    finally:
        server.stop()

    assert set(server.accepted) == {f"event-{number}" for number in range(events)}
    twice = {key for key, count in server.accepted.items() if count > 1}
    assert twice <= unfinished  # what was on its way at the moment of the kill,
    assert len(twice) <= 1  # which is one at most
    attempts = dict(database.read("SELECT key, attempts FROM outbox"))
    assert all(attempts[key] >= server.accepted[key] + server.refused[key] for key in server.accepted)
    assert (outbox.results("web").sent, outbox.results("web").waiting) == (events, 0)
    assert server.refused.total() > events // 2
    database.close()
