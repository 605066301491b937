"""Clients of brokers: what they say when something is wrong, and when they are made anew."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException

from warren.embedded.broker import free_port
from warren.errors import SourceError
from warren.kafka.clients import Kept, check_reachable, kafka_errors, library_settings, right
from warren.kafka.msk import IAM
from warren.notify.receivers.contract import Result
from warren.notify.receivers.kafka import Kafka, KafkaSettings


def test_brokers_that_are_away_say_why() -> None:
    client = {"bootstrap.servers": f"127.0.0.1:{free_port()}", "socket.timeout.ms": 1_000}

    with pytest.raises(SourceError, match="Connection refused"):
        check_reachable(client)


def test_what_is_not_allowed_says_how_to_allow_it() -> None:
    needs = right({"bootstrap.servers": "a:9092", "sasl.username": "warren"}, ("Read",), "--topic orders")

    with (
        pytest.raises(SourceError) as caught,
        kafka_errors("reading orders", needs=needs),
    ):
        raise KafkaException(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    assert str(caught.value).endswith(
        "It needs: kafka-acls.sh --bootstrap-server a:9092 --add --allow-principal 'User:warren' "
        "--operation Read --topic orders"
    )


def test_what_fails_for_another_reason_asks_for_no_right() -> None:
    with pytest.raises(SourceError) as caught, kafka_errors("reading orders", needs="a right"):
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT))

    assert "a right" not in str(caught.value)


@pytest.mark.parametrize(
    ("client", "principal"),
    [
        ({"sasl.username": "ann"}, "User:ann"),
        ({"sasl.oauthbearer.client.id": "app"}, "User:app"),
        ({"ssl.certificate.location": "me.pem"}, "User:<subject of me.pem>"),
        ({}, "User:ANONYMOUS"),
    ],
)
def test_a_right_is_for_whoever_logs_in(client: dict[str, str], principal: str) -> None:
    assert f"--allow-principal '{principal}'" in right(client, ("Read",), "--topic t")


def test_a_client_is_made_once_and_anew_when_its_certificate_has_changed(tmp_path: Path) -> None:
    certificate = tmp_path / "me.pem"
    certificate.write_text("old")
    closed: list[int] = []
    made = iter(range(10))
    kept: Kept[int] = Kept(closed.append)
    client = {"ssl.certificate.location": str(certificate)}
    first = [kept.get(client, None, lambda: next(made)) for _ in range(2)]
    os.utime(certificate, (1, 1))
    second = [kept.get(client, None, lambda: next(made)) for _ in range(2)]

    assert (first, second, closed) == ([0, 0], [1, 1], [0])


def test_without_amazons_package_a_login_to_msk_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aws_msk_iam_sasl_signer", None)

    with pytest.raises(SourceError, match=r"pip install 'warren\[msk\]'"):
        library_settings({IAM: {"region": "eu-west-1", "role_arn": "", "profile": ""}})


def test_a_notifier_that_logs_in_to_msk_needs_the_package_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aws_msk_iam_sasl_signer", None)
    receiver = Kafka(KafkaSettings("alerts", {IAM: {"region": "eu-west-1", "role_arn": "", "profile": ""}}))

    outcome = receiver.send([], "1")

    assert outcome.result is Result.RETRY
    assert "pip install 'warren[msk]'" in outcome.reason
