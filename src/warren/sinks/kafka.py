"""A topic in Kafka: a JSON document for each point, keyed so that compaction keeps the newest one of each series."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException, Producer

from warren.errors import SinkError
from warren.kafka.clients import ClientConfig, library_settings, secrets_of
from warren.sinks.columns import joined, numbers, texts
from warren.sinks.contract import Sent
from warren.sinks.documents import flat_documents_of
from warren.webclient.hiding import Hider

POLL_EVERY = 1_000
FLUSH_MARGIN_S = 5.0
"""The library gives up by itself before."""
_REFUSED = (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG, KafkaError.INVALID_MSG_SIZE)
"""It is the record that is wrong."""


class KafkaSinkOptions(NamedTuple):
    """A topic and how librdkafka reaches it."""

    client: ClientConfig
    topic: str
    timeout_s: float = 30.0


def keys_of(points: pa.RecordBatch) -> pa.StringArray:
    """cluster/group, cluster/group/topic/partition, or cluster//topic/partition; slashes in names are written %2F.

    Of Warren itself cluster///instance and ///instance, which no topic has: none is called "".
    """
    cluster = texts(points.column("cluster"), _escaped)
    if "instance" in points.schema.names:
        return joined([cluster, "///", texts(points.column("instance"), _escaped)])
    topic = texts(points.column("topic"), _escaped)
    group = texts(points.column("group"), lambda value: f"/{_escaped(value)}", missing="/")
    has_topic = texts(points.column("topic"), lambda _: "/")
    return joined([cluster, group, has_topic, topic, numbers(points.column("partition"), "/")])


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F")


class KafkaTopic:
    """Writes points; the same one again is a record with the same key, value and timestamp."""

    def __init__(self, options: KafkaSinkOptions) -> None:
        self._options = options
        self._hider = Hider(secrets_of(options.client))
        self._producer: Producer | None = None

    def send(self, points: pa.RecordBatch) -> Sent:
        """Send all of them, and wait until the brokers have them."""
        errors: list[KafkaError] = []
        try:
            left = self._produce(points, errors)
        except (KafkaException, BufferError) as error:
            self.close()
            raise SinkError(self._told(str(error))) from error
        refused = [error for error in errors if error.code() in _REFUSED]
        if left or len(refused) < len(errors):
            self.close()  # nothing of it may arrive later
            raise SinkError(self._failure([error for error in errors if error not in refused]))
        reason = self._failure(refused) if refused else ""
        return Sent(points.num_rows - len(refused), len(refused), reason)

    def _produce(self, points: pa.RecordBatch, errors: list[KafkaError]) -> int:
        """How many records nothing was heard of."""
        producer, topic = self._connected(), self._options.topic

        def delivered(error: KafkaError | None, _: object) -> None:
            if error is not None:
                errors.append(error)

        rows = zip(
            keys_of(points).to_pylist(),
            flat_documents_of(points).to_pylist(),
            points.column("time_ms").to_pylist(),
            strict=True,
        )
        for at, (key, value, time_ms) in enumerate(rows):
            producer.produce(topic, key=key, value=value, timestamp=time_ms, on_delivery=delivered)
            if at % POLL_EVERY == 0:
                producer.poll(0)
        return producer.flush(self._options.timeout_s + FLUSH_MARGIN_S)

    def _connected(self) -> Producer:
        if self._producer is None:
            ours: dict[str, object] = {
                "acks": "all",
                "enable.idempotence": True,
                "delivery.timeout.ms": int(self._options.timeout_s * 1000),
                "topic.metadata.propagation.max.ms": int(self._options.timeout_s * 500),  # a topic that is missing
                "linger.ms": 5,
                "compression.type": "lz4",
                "queue.buffering.max.messages": 1_000_000,
                "log_level": 0,
                "error_cb": lambda error: None,  # else it writes to standard error what is told in the end anyway
            }
            self._producer = Producer({**library_settings(self._options.client), **ours})
        return self._producer

    def close(self) -> None:
        """Drop what was not sent; whoever sends keeps it."""
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()
            producer.flush(1)

    def _failure(self, errors: list[KafkaError]) -> str:
        if not errors:
            return f"topic {self._options.topic}: Kafka did not answer within {self._options.timeout_s:g} s"
        return self._told(f"topic {self._options.topic}: {errors[0].str()} ({errors[0].name()})")

    def _told(self, text: str) -> str:
        return self._hider.hide(" ".join(text.split()))
