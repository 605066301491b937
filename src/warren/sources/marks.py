"""Looks into a partition whether records lie there, or only marks of transactions."""

from __future__ import annotations

import time

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from warren.kafka.clients import GROUP_REFUSED, ClientConfig, kafka_errors, make_consumer, right

LIMIT_S = 2.0
POLL_S = 0.2


class MarksReader:
    """Reads a few offsets as a reader of committed records would. Connects when it is first asked."""

    def __init__(self, client: ClientConfig) -> None:
        self._client = client
        self._consumer: Consumer | None = None

    def readable_end(self, topic: str, partition: int, start: int, end: int) -> int | None:
        """The offset after the last record between `start` and `end`, `start` if there is none; None if too slow."""
        consumer = self._connected()
        needs = right(self._client, ("Read",), f"--topic {topic}")
        with kafka_errors(f"looking into {topic} {partition}", needs=needs):
            consumer.assign([TopicPartition(topic, partition, start)])
            try:
                return _read(consumer, start, end)
            finally:
                consumer.unassign()

    def close(self) -> None:
        """Disconnect."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def _connected(self) -> Consumer:
        if self._consumer is None:
            settings = {"isolation.level": "read_committed", "enable.partition.eof": True, "fetch.wait.max.ms": 100}
            self._consumer = make_consumer(self._client, **settings)
        return self._consumer


def _read(consumer: Consumer, start: int, end: int) -> int | None:
    after, deadline = start, time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        message = consumer.poll(POLL_S)
        if message is None:
            continue
        error, offset = message.error(), message.offset()
        if error is not None and error.code() == GROUP_REFUSED:
            continue
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        if error is not None:
            return after
        assert offset is not None
        after = max(after, offset + 1)
        if after >= end:
            return after
    return None
