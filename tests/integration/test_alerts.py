"""Alerts from a real broker to a real receiver, as a user of Burrow has configured them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.kafka import Cluster, eventually, unique
from tests.warren_process import CONFIG, WarrenProcess
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


class Hook:
    """Takes what is sent, unless it is told to refuse."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, dict[str, Any]]] = []
        self.refuses = 0
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if hook.refuses:
                    hook.refuses -= 1
                    self.send_response(503)
                else:
                    hook.taken.append((self.path, json.loads(body)))
                    self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", free_port()), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def of(self, group: str) -> list[tuple[str, dict[str, Any]]]:
        ids = {body["id"] for path, body in self.taken if path == f"/open?group={group}"}
        return [(path.partition("?")[0], body) for path, body in self.taken if body["id"] in ids]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Alerting:
    """A Warren with one notifier."""

    def __init__(self, directory: Path, broker: Broker) -> None:
        self.hook = Hook()
        self.directory = directory
        (directory / "open.tmpl").write_text(OPEN)
        (directory / "close.tmpl").write_text(CLOSE)
        usual = CONFIG.format(
            address="127.0.0.1:0", bootstrap=broker.bootstrap, intervals=10, offsets_topic="__consumer_offsets"
        )
        quick = usual.replace("[warren]", "[warren]\nevaluate-interval = 0.5")
        self.config = quick + NOTIFIER.format(port=self.hook.port, directory=directory)
        self.warren = self.start()

    def start(self) -> WarrenProcess:
        warren = WarrenProcess.with_burrow_file(self.directory, self.config, "default")
        WarrenProcess.started.discard(warren.process)  # it may outlive the test that starts it: the fixture ends it
        return warren.wait_until_ready()


@pytest.fixture(scope="module")
def alerting(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alerting]:
    running = Alerting(tmp_path_factory.mktemp("alerts"), broker)
    yield running
    code, _ = running.warren.stop()
    running.hook.close()
    log = running.warren.log_path.read_text()
    assert code == 0, log
    assert "s3cret" not in log


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


def test_what_could_not_be_sent_before_a_kill_is_sent_after_it(alerting: Alerting, kafka: Cluster, topic: str) -> None:
    group = unique("killed")
    alerting.hook.refuses = 1_000_000
    kafka.commit(group, topic, 4)
    eventually(lambda: alerting.hook.refuses < 1_000_000, 60)
    alerting.warren.process.kill()
    alerting.warren.process.wait()
    alerting.hook.refuses = 0
    alerting.warren = alerting.start()
    eventually(lambda: alerting.hook.of(group), 60)

    [(_, told), *_] = alerting.hook.of(group)
    assert told["status"] == "ERR"
