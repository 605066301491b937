"""How old records are: reads one of each partition."""

from __future__ import annotations

import time
from collections.abc import Mapping

from confluent_kafka import TopicPartition

from warren.kafka.clients import ClientConfig, kafka_errors, make_consumer

POLL_S = 0.2


def ages_s(
    client: ClientConfig, offsets: Mapping[tuple[str, int], int], now_ms: int, limit_s: float
) -> dict[tuple[str, int], float]:
    """The age of the record at (or next after) each offset; without those that do not come in time.

    It is negative where the brokers' clock is ahead.
    """
    consumer = make_consumer(client, **{"isolation.level": "read_committed"})
    found: dict[tuple[str, int], float] = {}
    try:
        with kafka_errors("reading records"):
            consumer.assign([TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()])
            deadline_s = time.monotonic() + limit_s
            while len(found) < len(offsets) and time.monotonic() < deadline_s:
                message = consumer.poll(POLL_S)
                if message is None or message.error() is not None:
                    continue
                topic, number = message.topic(), message.partition()
                if topic is None or number is None or (topic, number) in found:
                    continue
                found[topic, number] = (now_ms - message.timestamp()[1]) / 1000
                consumer.pause([TopicPartition(topic, number)])
    finally:
        consumer.close()
    return found
