"""A topic in Kafka: a record for each event, of which none is lost and the library makes no second one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from confluent_kafka import KafkaError, KafkaException, Producer

from warren.errors import SourceError
from warren.kafka.clients import library_settings, secrets_of
from warren.notify.events import Event
from warren.notify.receivers.contract import DELIVERED, Outcome, Receiver, permanent, retry
from warren.notify.receivers.webhook import as_json

FLUSH_MARGIN_S = 5.0
"""The library gives up by itself before."""

_HOPELESS = (
    KafkaError._INVALID_ARG,
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.INVALID_MSG,
    KafkaError.INVALID_RECORD,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.TOPIC_EXCEPTION,
)


@dataclass(frozen=True)
class KafkaSettings:
    """The topic, and how its cluster is reached: settings of librdkafka."""

    topic: str
    client: Mapping[str, object] = field(repr=False)
    timeout_s: float = 30.0


class Record(NamedTuple):
    """One event."""

    key: bytes
    value: bytes
    timestamp_ms: int
    event_key: str


class Kafka(Receiver[list[Record]]):
    """A topic; records of one group are in one partition, so in their order."""

    most_events = 100

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._producer: Producer | None = None

    def build(self, events: Sequence[Event], *, now_ms: int) -> list[Record]:
        """A record for each event; whoever reads can tell a second one by the event's key."""
        return [_record(event) for event in events]

    def send(self, message: list[Record], key: str) -> Outcome:
        """Wait until all brokers that must have them do."""
        results: list[KafkaError | None] = []
        try:
            producer = self._connected()
            for record in message:
                self._produce(producer, record, results)
            producer.flush(self._settings.timeout_s + FLUSH_MARGIN_S)
        except KafkaException as error:
            results.append(error.args[0])
        except SourceError as error:  # Amazon's package is missing
            return retry(str(error))
        errors = [error for error in results if error is not None]
        return DELIVERED if len(results) == len(message) and not errors else self._failed(errors)

    def _produce(self, producer: Producer, record: Record, results: list[KafkaError | None]) -> None:
        headers: list[tuple[str, str | bytes | None]] = [("warren-event", record.event_key.encode())]
        producer.produce(
            self._settings.topic,
            key=record.key,
            value=record.value,
            timestamp=record.timestamp_ms,
            headers=headers,
            on_delivery=lambda error, _: results.append(error),
        )

    def secrets(self) -> Iterable[str]:
        """What librdkafka has in settings that sound like it."""
        return secrets_of(self._settings.client)

    def close(self) -> None:
        """Drop what was not sent; it is in the outbox."""
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()
            producer.flush(1)

    def _connected(self) -> Producer:
        if self._producer is None:
            timeout_ms = int(self._settings.timeout_s * 1000)
            ours: dict[str, object] = {
                "acks": "all",
                "enable.idempotence": True,
                "delivery.timeout.ms": timeout_ms,
                "linger.ms": 0,
                "log_level": 0,
                "error_cb": lambda error: None,  # else it writes to standard error what is told in the end anyway
            }
            self._producer = Producer({**library_settings(self._settings.client), **ours})
        return self._producer

    def _failed(self, errors: Sequence[KafkaError]) -> Outcome:
        self.close()  # a producer that has lost a record may refuse all others; and nothing of it may arrive later
        if not errors:
            return retry(f"Kafka did not answer within {self._settings.timeout_s:g} s")
        worst = next((error for error in errors if error.code() in _HOPELESS), errors[0])
        reason = f"topic {self._settings.topic}: {worst.str()} ({worst.name()})"
        return permanent(reason) if worst.code() in _HOPELESS else retry(reason)


def _record(event: Event) -> Record:
    body = event._asdict() | {
        "was": event.was.name,
        "now": event.now.name,
        "cause": event.cause._asdict() if event.cause else None,
    }
    name = f"{event.cluster}/{event.group}".encode("utf-8", "surrogateescape")
    return Record(name, as_json(body), event.at_ms, event.key.encode("utf-8", "backslashreplace").decode())
