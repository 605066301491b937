"""What all receivers have in common: the same answers mean the same, payloads are whole, and no secret is told."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import pytest
from structlog.testing import capture_logs

from tests.support.receivers.golden import HERE, all_cases, path_of, written
from tests.support.receivers.samples import AT_MS, CASES, LONG, MAKERS, OPENED, REPORT, SECRETS
from tests.support.receivers.web_server import Reply, web_server
from warren.embedded.broker import free_port
from warren.notify.events import Event
from warren.notify.receivers.contract import DELIVERED, Outcome, Result
from warren.notify.receivers.null import Null
from warren.webclient.client import DEFAULTS, WebSettings

NAMES = sorted(MAKERS)
PATIENT = WebSettings(timeout_s=60)
HANG_S = 120.0
"""How long a server hangs: much longer than any receiver waits."""


def deliver(name: str, address: str, events: Sequence[Event] = (OPENED,), web: WebSettings = PATIENT) -> Outcome:
    receiver = MAKERS[name](address, web)
    try:
        return receiver.deliver(events, "key-1", now_ms=AT_MS)
    finally:
        receiver.close()


def assert_tells_no_secret(name: str, text: str) -> None:
    for secret in SECRETS[name]:
        assert secret not in text


@pytest.mark.parametrize(("name", "case"), all_cases(), ids=lambda value: value)
def test_the_payload_is_the_one_in_the_golden_file(name: str, case: str) -> None:
    assert written(name, CASES[case]).encode() == path_of(name, case).read_bytes()


def test_every_golden_file_is_compared() -> None:
    assert {path.name for path in HERE.iterdir()} == {path_of(*one).name for one in all_cases()}


@pytest.mark.parametrize("name", NAMES)
def test_a_receiver_that_takes_a_message_has_it(name: str) -> None:
    with web_server(Reply(202)) as server:
        assert deliver(name, server.url) == DELIVERED

    [asked] = server.asked
    expected = MAKERS[name](server.url, PATIENT).build([OPENED], now_ms=AT_MS)
    assert expected is not None
    assert asked.body == expected.body
    assert asked.headers["content-type"] == expected.content_type
    assert asked.headers["idempotency-key"] == "key-1"
    assert asked.headers["user-agent"].startswith("warren/")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("status", "result"),
    [
        (200, Result.DELIVERED),
        (204, Result.DELIVERED),
        (304, Result.PERMANENT),
        (400, Result.PERMANENT),
        (401, Result.PERMANENT),
        (404, Result.PERMANENT),
        (408, Result.RETRY),
        (410, Result.PERMANENT),
        (425, Result.RETRY),
        (429, Result.RETRY),
        (500, Result.RETRY),
        (503, Result.RETRY),
        (599, Result.RETRY),
    ],
)
def test_a_status_means_the_same_to_all(name: str, status: int, result: Result) -> None:
    with web_server(Reply(status, body=b"")) as server:
        outcome = deliver(name, server.url)

    assert outcome.result is result
    assert (f"answered {status}" in outcome.reason) is (result is not Result.DELIVERED)


@pytest.mark.parametrize("name", NAMES)
def test_a_receiver_says_when_it_wants_to_be_asked_again(name: str) -> None:
    with web_server(Reply(429, {"Retry-After": "17"})) as server:
        assert deliver(name, server.url).after_s == 17


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reply", [Reply(delay_s=HANG_S), Reply(drips=True)], ids=["silent", "dripping"])
def test_a_receiver_that_hangs_is_left_in_time(name: str, reply: Reply) -> None:
    with web_server(reply) as server:
        begun_s = time.monotonic()
        outcome = deliver(name, server.url, web=WebSettings(timeout_s=0.2))
        took_s = time.monotonic() - begun_s

    assert took_s < HANG_S / 2
    assert outcome.result is Result.RETRY
    assert "no answer within 0.2 s" in outcome.reason


@pytest.mark.parametrize("name", NAMES)
def test_a_receiver_that_is_away_is_tried_again(name: str) -> None:
    outcome = deliver(name, f"http://127.0.0.1:{free_port()}")

    assert outcome.result is Result.RETRY
    assert "connection refused" in outcome.reason


@pytest.mark.parametrize("name", NAMES)
def test_no_secret_is_told_by_a_receiver_that_repeats_the_request(name: str) -> None:
    with web_server(Reply(400, echoes=True)) as server, capture_logs() as logs:
        outcome = deliver(name, server.url)

    assert "answered 400" in outcome.reason
    assert_tells_no_secret(name, outcome.reason + str(logs))
    sent = f"{server.asked[0].path} {server.asked[0].headers} {server.asked[0].body!r}"
    assert any(secret in sent for secret in SECRETS[name]) or name in ("sms", "alertmanager")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1", "http://no such host", "http://[::1", "ftp://x", "https://u"]
)
def test_no_secret_is_told_about_an_address_that_does_not_work(name: str, address: str) -> None:
    outcome = deliver(name, address, web=WebSettings(timeout_s=0.5))

    assert outcome.result is not Result.DELIVERED
    assert outcome.reason
    assert_tells_no_secret(name, outcome.reason)


@pytest.mark.parametrize("name", NAMES)
def test_no_secret_is_in_the_words_for_the_settings(name: str) -> None:
    receiver = MAKERS[name]("http://127.0.0.1:1", DEFAULTS)

    assert_tells_no_secret(name, f"{receiver!r} {vars(receiver)!r}")


@pytest.mark.parametrize("name", NAMES)
def test_the_longest_names_are_cut_so_that_a_message_stays_within_its_limits(name: str) -> None:
    receiver = MAKERS[name]("http://127.0.0.1:1", DEFAULTS)
    request = receiver.build([LONG] * receiver.most_events, now_ms=AT_MS)

    assert request is not None
    assert len(request.body) < {"teams": 28_000, "telegram": 9_000}.get(name, 2_000_000)


def test_the_longest_message_of_telegram_has_at_most_4096_characters() -> None:
    receiver = MAKERS["telegram"]("http://127.0.0.1:1", DEFAULTS)
    request = receiver.build([LONG] * receiver.most_events, now_ms=AT_MS)

    assert request is not None
    assert len(json.loads(request.body)["text"]) <= 4096


@pytest.mark.parametrize("name", ["pagerduty", "opsgenie", "alertmanager"])
def test_those_who_know_incidents_only_are_not_told_that_a_group_is_well(name: str) -> None:
    with web_server() as server:
        assert deliver(name, server.url, [REPORT]) == DELIVERED

    assert server.asked == []


def test_telegram_says_in_its_body_how_long_to_wait() -> None:
    body = b'{"ok":false,"error_code":429,"parameters":{"retry_after":35}}'
    with web_server(Reply(429, body=body)) as server:
        assert deliver("telegram", server.url).after_s == 35


@pytest.mark.parametrize("body", [b"", b"[]", b'{"parameters":{"retry_after":"x"}}', b'{"parameters":{}}', b"\xff"])
def test_telegram_may_also_say_nothing_about_it(body: bytes) -> None:
    with web_server(Reply(429, body=body)) as server:
        outcome = deliver("telegram", server.url)

    assert (outcome.result, outcome.after_s) == (Result.RETRY, None)


def test_sms_and_alertmanager_log_in() -> None:
    with web_server() as server:
        deliver("sms", server.url)
        deliver("alertmanager", server.url)

    assert all(asked.headers["authorization"].startswith("Basic ") for asked in server.asked)


def test_nobody_takes_everything() -> None:
    assert Null().deliver([OPENED], "key-1", now_ms=AT_MS) == DELIVERED
