"""Alerts from a real broker to a real receiver, as a user of Burrow has configured them."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from confluent_kafka import Producer

from tests.support.kafka import Cluster, unique, unique_beside
from tests.support.waiting import eventually, eventually_equal
from tests.support.warren import StartWarren, WarrenProcess, config
from warren.codec.commits import OffsetCommit, encode_offset_commit
from warren.codec.keys import encode_offset_key
from warren.embedded.broker import Broker, free_port

NOTIFIER = """
[notifier.hook]
class-name = "http"
url-open = "http://127.0.0.1:{port}/open?group={{{{.Group}}}}"
url-close = "http://127.0.0.1:{port}/close?group={{{{.Group}}}}"
template-open = "{directory}/open.tmpl"
template-close = "{directory}/close.tmpl"
send-close = true
interval = 5
extras = {{api_key = "s3cret"}}
group-allowlist = "^alerts-"
group-denylist = "^alerts-quiet-"
"""

OPEN = (
    '{"id":"{{.ID}}","status":"{{.Result.Status}}","key":"{{index .Extras "api_key"}}","all":{{jsonencoder .Result}}}'
)
CLOSE = '{"id":"{{.ID}}","status":"{{.Result.Status}}"}'

SECRET = "s3cret"


class Hook:
    """A receiver that takes what is sent, unless `refuses` says otherwise of a group and an idempotency key."""

    def __init__(self, refuses: Callable[[str, str], bool] = lambda group, key: False) -> None:
        self.taken: list[tuple[str, str, dict[str, Any]]] = []
        """Path, group and body of each message."""
        self.keys: Counter[str] = Counter()
        self.refuses = refuses
        self.refused: Counter[str] = Counter()
        """How many messages of each group were refused."""
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                url, key = urlparse(self.path), self.headers["Idempotency-Key"]
                [group] = parse_qs(url.query)["group"]
                if hook.refuses(group, key):
                    hook.refused[group] += 1
                    self.send_response(503)
                else:
                    hook.taken.append((url.path, group, json.loads(body)))
                    hook.keys[key] += 1
                    self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", free_port()), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def of(self, group: str) -> list[tuple[str, dict[str, Any]]]:
        """Path and body of each message about a group."""
        return [(path, body) for path, name, body in self.taken if name == group]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def kafka(broker: Broker) -> Cluster:
    return Cluster(broker.bootstrap)


@pytest.fixture
def topic(kafka: Cluster) -> str:
    """A topic of ten records."""
    topic = kafka.make_topic()
    kafka.produce(topic, 10)
    return topic


def notifier(directory: Path, hook: Hook) -> str:
    (directory / "open.tmpl").write_text(OPEN)
    (directory / "close.tmpl").write_text(CLOSE)
    return NOTIFIER.format(port=hook.port, directory=directory)


@pytest.fixture(scope="module")
def hook(broker: Broker, start_warren: StartWarren, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hook]:
    """The receiver of a Warren that watches `broker`."""
    directory, hook = tmp_path_factory.mktemp("alerts"), Hook()
    with start_warren(directory, config(broker.bootstrap, more=notifier(directory, hook))) as warren:
        warren.wait_until_ready()
        yield hook
        log = warren.log()
    hook.close()
    assert SECRET not in log


def stop(kafka: Cluster, group: str, topic: str) -> None:
    """Commit twice, and no more: a group is given a minute after its first commit."""
    for offset in (3, 4):
        kafka.commit(group, topic, offset)


def test_an_incident_is_told_with_burrows_template_and_so_is_its_end(hook: Hook, kafka: Cluster, topic: str) -> None:
    group = unique("alerts-stopped")
    stop(kafka, group, topic)
    eventually(lambda: hook.of(group))
    kafka.commit(group, topic, 10)
    eventually_equal(lambda: hook.of(group)[-1][0], "/close")

    (opened_path, opened), *_, (_, closed) = hook.of(group)
    assert (opened_path, opened["status"], opened["key"]) == ("/open", "ERR", SECRET)
    assert opened["all"]["partitions"][0]["topic"] == topic
    assert (closed["status"], closed["id"]) == ("OK", opened["id"])


def test_a_group_that_is_denied_is_not_told(hook: Hook, kafka: Cluster, topic: str) -> None:
    quiet = unique("alerts-quiet")
    loud = unique_beside(quiet, "alerts-loud")
    for group in (quiet, loud):
        stop(kafka, group, topic)
    eventually(lambda: hook.of(loud))

    assert hook.of(quiet) == []


def test_a_receiver_that_refuses_is_asked_again_until_it_takes_the_message(
    hook: Hook, kafka: Cluster, topic: str
) -> None:
    group, refusals = unique("alerts-refused"), 2
    hook.refuses = lambda of, key: of == group and hook.refused[of] < refusals
    stop(kafka, group, topic)
    eventually(lambda: hook.of(group))

    assert hook.refused[group] == refusals


GROUPS = 1_000
MOST_REFUSALS = 3
"""Of one message: the wait for the next attempt doubles each time."""


def stop_a_thousand_groups(broker: Broker, offsets_topic: str, topic: str) -> None:
    """Each commits twice within a second, and then no more."""
    producer, now_ms = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 50}), int(time.time() * 1000)
    for offset, committed_ms in ((3, now_ms - 1_000), (4, now_ms)):
        value = encode_offset_commit(OffsetCommit(offset, -1, "", committed_ms, -1, None), 3)
        for number in range(GROUPS):
            producer.produce(offsets_topic, key=encode_offset_key(f"alerts-{number}", topic, 0), value=value)
    assert producer.flush(30) == 0


def refuse_half() -> Callable[[str, str], bool]:
    chance, refused = random.Random(1), Counter[str]()

    def refuses(_: str, key: str) -> bool:
        refuses = chance.random() < 0.5 and refused[key] < MOST_REFUSALS
        refused[key] += refuses
        return refuses

    return refuses


@pytest.mark.long
@pytest.mark.timeout(600)
def test_of_a_thousand_incidents_each_is_told_in_spite_of_refusals_and_a_kill(
    broker: Broker, kafka: Cluster, topic: str, tmp_path: Path
) -> None:
    offsets_topic, hook = kafka.make_topic(4), Hook(refuse_half())
    often = "send-once = true\nper-minute = 100000\n"
    text = config(broker.bootstrap, offsets_topic=offsets_topic, more=notifier(tmp_path, hook) + often)
    with WarrenProcess(tmp_path, text) as first:
        first.wait_until_ready()
        stop_a_thousand_groups(broker, offsets_topic, topic)
        eventually(lambda: len(hook.keys) > GROUPS // 4, 120)
        first.kill()
    with WarrenProcess(tmp_path, text) as second:
        second.wait_until_ready()
        eventually_equal(lambda: len({group for _, group, _ in hook.taken}), GROUPS, 240)
        opened = second.get("/api/v1/incidents?state=open&limit=1000")["incidents"]
    hook.close()

    assert {body["id"] for _, _, body in hook.taken} == {one["id"] for one in opened}
    assert len(opened) == GROUPS
    repeated = {key for key, times in hook.keys.items() if times > 1}
    assert len(repeated) <= 1  # the one whose answer was on its way when Warren was killed
    assert SECRET not in second.log()
