"""Alerts from a real broker to a real receiver, as a user of Burrow has configured them."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.support.kafka import Cluster, unique
from tests.support.waiting import eventually
from tests.support.warren_process import CONFIG, WarrenProcess
from warren.codec.commits import OffsetCommit, encode_offset_commit
from warren.codec.keys import encode_offset_key
from warren.embedded.broker import Broker, free_port

NOTIFIER = """
[notifier.hook]
class-name = "http"
url-open = "http://127.0.0.1:{port}/open?group={{{{.Group}}}}"
url-close = "http://127.0.0.1:{port}/close"
template-open = "{directory}/open.tmpl"
template-close = "{directory}/close.tmpl"
send-close = true
interval = 5
extras = {{api_key = "s3cret"}}
group-denylist = "^quiet-"
"""

OPEN = (
    '{"id":"{{.ID}}","status":"{{.Result.Status}}","key":"{{index .Extras "api_key"}}","all":{{jsonencoder .Result}}}'
)
CLOSE = '{"id":"{{.ID}}","status":"{{.Result.Status}}"}'


MOST_REFUSALS = 3
"""Of one message: the wait for the next attempt doubles each time."""


class Hook:
    """Takes what is sent, unless it is told to refuse."""

    def __init__(self, chance_to_refuse: float = 0.0) -> None:
        self.taken: list[tuple[str, dict[str, Any]]] = []
        self.keys: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.refuses = 0
        self._chance, self._chance_to_refuse = random.Random(1), chance_to_refuse
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                key = self.headers["Idempotency-Key"]
                if hook.is_to_refuse(key):
                    self.send_response(503)
                else:
                    hook.taken.append((self.path, json.loads(body)))
                    hook.keys[key] += 1
                    self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", free_port()), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def is_to_refuse(self, key: str) -> bool:
        if self.refuses:
            self.refuses -= 1
            return True
        refuses = self._chance.random() < self._chance_to_refuse and self.refused[key] < MOST_REFUSALS
        self.refused[key] += refuses
        return refuses

    def of(self, group: str) -> list[tuple[str, dict[str, Any]]]:
        ids = {body["id"] for path, body in self.taken if path == f"/open?group={group}"}
        return [(path.partition("?")[0], body) for path, body in self.taken if body["id"] in ids]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Alerting:
    """A Warren with one notifier."""

    def __init__(
        self,
        directory: Path,
        broker: Broker,
        *,
        more: str = "",
        offsets_topic: str = "__consumer_offsets",
        chance_to_refuse: float = 0.0,
    ) -> None:
        self.hook = Hook(chance_to_refuse)
        self.directory = directory
        (directory / "open.tmpl").write_text(OPEN)
        (directory / "close.tmpl").write_text(CLOSE)
        usual = CONFIG.format(
            address="127.0.0.1:0", bootstrap=broker.bootstrap, intervals=10, offsets_topic=offsets_topic
        )
        quick = usual.replace("[warren]", "[warren]\nevaluate-interval = 0.5")
        self.config = quick + NOTIFIER.format(port=self.hook.port, directory=directory) + more
        self.warren = self.start()

    def kill(self) -> None:
        self.warren.process.kill()
        self.warren.process.wait()

    def close(self) -> None:
        """Ends both; nothing of the secret may have been said."""
        code, _ = self.warren.stop()
        self.hook.close()
        log = self.warren.log_path.read_text()
        assert code == 0, log
        assert "s3cret" not in log

    def start(self) -> WarrenProcess:
        warren = WarrenProcess.with_burrow_file(self.directory, self.config, "default")
        WarrenProcess.started.discard(warren.process)  # it may outlive the test that starts it: the fixture ends it
        return warren.wait_until_ready()


@pytest.fixture(scope="module")
def alerting(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alerting]:
    running = Alerting(tmp_path_factory.mktemp("alerts"), broker)
    yield running
    running.close()


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Cluster:
    return Cluster(broker.bootstrap)


@pytest.fixture
def topic(kafka: Cluster) -> str:
    topic = kafka.make_topic()
    kafka.produce(topic, 10)
    return topic


def test_an_incident_is_told_with_burrows_template_and_so_is_its_end(
    alerting: Alerting, kafka: Cluster, topic: str
) -> None:
    group = unique("stopped")
    kafka.commit(group, topic, 4)
    eventually(lambda: alerting.hook.of(group), 60)
    kafka.commit(group, topic, 10)
    eventually(lambda: alerting.hook.of(group)[-1][0] == "/close", 60)

    (opened_path, opened), *_, (closed_path, closed) = alerting.hook.of(group)
    assert (opened_path, opened["status"], opened["key"]) == ("/open", "ERR", "s3cret")
    assert opened["all"]["partitions"][0]["topic"] == topic
    assert (closed_path, closed["status"], closed["id"]) == ("/close", "OK", opened["id"])


def test_a_group_that_is_denied_is_not_told(alerting: Alerting, kafka: Cluster, topic: str) -> None:
    quiet, loud = unique("quiet"), unique("loud")
    for group in (quiet, loud):
        kafka.commit(group, topic, 4)
    eventually(lambda: alerting.hook.of(loud), 60)

    assert alerting.hook.of(quiet) == []


def test_a_receiver_that_refuses_is_asked_again_until_it_takes_the_message(
    alerting: Alerting, kafka: Cluster, topic: str
) -> None:
    group = unique("refused")
    alerting.hook.refuses = 3
    kafka.commit(group, topic, 4)
    eventually(lambda: alerting.hook.of(group), 90)

    assert alerting.hook.refuses == 0


GROUPS = 1_000


def stop_a_thousand_groups(broker: Broker, offsets_topic: str, topic: str) -> None:
    """Each commits once, and then no more."""
    producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 50})
    value = encode_offset_commit(OffsetCommit(4, -1, "", int(time.time() * 1000), -1, None), 3)
    for number in range(GROUPS):
        producer.produce(offsets_topic, key=encode_offset_key(f"stopped-{number}", topic, 0), value=value)
    assert producer.flush(30) == 0


@pytest.mark.timeout(400)
def test_of_a_thousand_incidents_each_is_told_in_spite_of_refusals_and_a_kill(
    broker: Broker, kafka: Cluster, topic: str, tmp_path: Path
) -> None:
    offsets_topic = kafka.make_topic(4)
    often = "send-once = true\nper-minute = 100000\n"
    alerting = Alerting(tmp_path, broker, more=often, offsets_topic=offsets_topic, chance_to_refuse=0.5)
    stop_a_thousand_groups(broker, offsets_topic, topic)
    eventually(lambda: len(alerting.hook.keys) > GROUPS // 4, 90)
    alerting.kill()
    alerting.warren = alerting.start()
    eventually(lambda: len({path for path, _ in alerting.hook.taken}) == GROUPS, 120)

    open_ids = {one["id"] for one in alerting.warren.get("/api/v1/incidents?state=open&limit=1000")["incidents"]}
    alerting.close()
    assert len(open_ids) == GROUPS
    assert {body["id"] for _, body in alerting.hook.taken} == open_ids
    repeated = {key for key, times in alerting.hook.keys.items() if times > 1}
    assert len(repeated) <= 1  # the one whose answer was on its way when it was killed
