"""Receivers that are real programs, and a sender that is killed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Message, TopicPartition

from tests.support.kafka import Cluster, unique
from tests.support.programs import ALERTMANAGER
from tests.support.receivers.samples import CLOSED, OPENED, OTHER, REMINDER, WILD, WORSENED
from tests.support.receivers.web_server import Reply, WebServer
from tests.support.waiting import eventually
from tests.support.warren_process import die_with_parent
from warren.embedded.broker import Broker, free_port
from warren.model import Status
from warren.notify.database import Database
from warren.notify.events import Event
from warren.notify.outbox import Outbox
from warren.notify.receivers.alertmanager import Alertmanager, AlertmanagerSettings
from warren.notify.receivers.contract import DELIVERED, Outcome, Result
from warren.notify.receivers.kafka import Kafka, KafkaSettings

EVENTS = 1000
SEED = 7


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def recent(event: Event) -> Event:
    """The event, as if it happened now."""
    return event._replace(at_ms=now_ms(), opened_ms=now_ms() - 60_000)


# -- Alertmanager ------------------------------------------------------------------------------------------------

CONFIG = """
route: { receiver: nobody, group_wait: 0s }
receivers: [{ name: nobody }]
"""


class AlertmanagerProcess:
    """A real one."""

    def __init__(self, directory: Path) -> None:
        config, self.log_path = directory / "alertmanager.yml", directory / "log"
        config.write_text(CONFIG)
        address = f"127.0.0.1:{free_port()}"
        self.url = f"http://{address}"
        options = [f"--config.file={config}", f"--storage.path={directory / 'data'}"]
        options += [f"--web.listen-address={address}", "--cluster.listen-address="]
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(
                [str(ALERTMANAGER.path()), *options],
                cwd=ALERTMANAGER.home,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,  # noqa: PLW1509  # no thread of ours holds a lock that it needs
            )

    def get(self, path: str) -> Any:
        """An answer; None while there is none."""
        assert self.process.poll() is None, self.log_path.read_text()
        try:
            with urllib.request.urlopen(f"{self.url}{path}", timeout=5) as answer:
                return json.load(answer)
        except OSError:  # it is not up yet
            return None

    def firing(self, group: str) -> list[dict[str, Any]]:
        """The alerts of a group that are not over."""
        return [one for one in self.get("/api/v2/alerts") if one["labels"]["group"] == group]


@pytest.fixture(scope="module")
def alertmanager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AlertmanagerProcess]:
    server = AlertmanagerProcess(tmp_path_factory.mktemp("alertmanager"))
    try:
        eventually(lambda: server.get("/api/v2/status"))
        yield server
    finally:
        server.process.terminate()
        server.process.wait(30)


def tell(server: AlertmanagerProcess, *events: Event, valid_s: int = 3600) -> Outcome:
    receiver = Alertmanager(AlertmanagerSettings(server.url, (("team", "data"),), valid_s))
    try:
        return receiver.deliver([recent(event) for event in events], "key-1", now_ms=now_ms())
    finally:
        receiver.close()


def test_an_alert_fires(alertmanager: AlertmanagerProcess) -> None:
    group = unique("group")
    assert tell(alertmanager, OPENED._replace(group=group)) == DELIVERED

    [alert] = eventually(lambda: alertmanager.firing(group))
    wanted = {"alertname": "KafkaConsumerGroup", "cluster": "prod", "group": group, "status": "ERR", "team": "data"}
    assert wanted.items() <= alert["labels"].items()
    assert alert["annotations"]["reason"] == "no commit for 12 min while 1,204 records wait"
    assert alert["generatorURL"] == OPENED.link


def test_an_alert_ends_with_its_incident(alertmanager: AlertmanagerProcess) -> None:
    group = unique("group")
    tell(alertmanager, OPENED._replace(group=group))
    eventually(lambda: alertmanager.firing(group))
    tell(alertmanager, CLOSED._replace(group=group))

    eventually(lambda: not alertmanager.firing(group))


def test_a_status_takes_the_place_of_the_one_before(alertmanager: AlertmanagerProcess) -> None:
    group = unique("group")
    tell(alertmanager, OPENED._replace(group=group, now=Status.WARN))
    eventually(lambda: alertmanager.firing(group))
    tell(alertmanager, WORSENED._replace(group=group))

    eventually(lambda: [one["labels"]["status"] for one in alertmanager.firing(group)] == ["ERR"])


def test_an_alert_ends_by_itself_but_not_while_it_is_reminded_of(alertmanager: AlertmanagerProcess) -> None:
    reminded, forgotten = unique("group"), unique("group")
    tell(alertmanager, OPENED._replace(group=reminded), OPENED._replace(group=forgotten), valid_s=2)
    eventually(lambda: alertmanager.firing(forgotten))
    tell(alertmanager, REMINDER._replace(group=reminded), valid_s=60)

    eventually(lambda: not alertmanager.firing(forgotten))
    assert len(alertmanager.firing(reminded)) == 1


def test_any_name_is_taken(alertmanager: AlertmanagerProcess) -> None:
    assert tell(alertmanager, WILD) == DELIVERED


# -- Kafka -------------------------------------------------------------------------------------------------------


def read_all(broker: Broker, topic: str, count: int) -> list[Message]:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": unique("reader"), "log_level": 0})
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        return [message for message in consumer.consume(count + 1, timeout=2) if message.error() is None]
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

    first, second, wild = read_all(broker, topic, 3)
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


class Moody(WebServer):
    """Fails half of the time; remembers what it has taken, by the event."""

    def __init__(self) -> None:
        super().__init__()
        self.chance = random.Random(SEED)
        self.refused: Counter[str] = Counter()
        self.taken: Counter[str] = Counter()

    def next_reply(self) -> Reply:
        key = self.asked[-1].body.decode()
        fails = self.chance.random() < 0.5
        (self.refused if fails else self.taken)[key] += 1
        return Reply(503 if fails else 200)


def test_every_event_arrives_in_spite_of_failures_and_a_kill_and_none_twice_without_a_reason(tmp_path: Path) -> None:
    path, server = tmp_path / "warren.db", Moody()
    database = Database(path)
    outbox = Outbox(database)
    with database.change():
        for number in range(EVENTS):
            outbox.put("web", OPENED._replace(key=f"event-{number}", incident=str(number)), now_ms())
    server.start()
    command = [sys.executable, "-m", "tests.support.receivers.sender", str(path), server.url]
    try:
        first = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        eventually(lambda: sum(server.taken.values()) > EVENTS // 4)
        first.kill()
        first.wait()
        unfinished = {key for (key,) in database.read("SELECT key FROM outbox WHERE state = 'waiting'")}
        subprocess.run(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=50, check=True)
    finally:
        server.stop()

    assert set(server.taken) == {f"event-{number}" for number in range(EVENTS)}
    twice = {key for key, count in server.taken.items() if count > 1}
    assert twice <= unfinished  # what was on its way at the moment of the kill,
    assert len(twice) <= 1  # which is one at most
    attempts = dict(database.read("SELECT key, attempts FROM outbox"))
    assert all(attempts[key] >= server.taken[key] + server.refused[key] for key in server.taken)
    assert (outbox.results("web").sent, outbox.results("web").waiting) == (EVENTS, 0)
    assert sum(server.refused.values()) > EVENTS // 2
    database.close()
