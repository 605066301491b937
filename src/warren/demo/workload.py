"""The demo's workload, a process of its own: writes orders and runs every group of `behaviours.GROUPS` for real.

    python -m warren.demo.workload --bootstrap HOST:PORT

It ends at once on SIGTERM, and with whoever started it: it has nothing to save.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
import traceback
from typing import NoReturn

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # its own import hides it

from warren.demo.behaviours import (
    FEW_RECORDS,
    GROUPS,
    INVOICES,
    ORDERS,
    PARTITIONS,
    RECORD_INTERVAL_S,
    SEED_RECORDS,
    Group,
    Reader,
    is_busy,
)
from warren.embedded import lifeline

COMMIT_INTERVAL_S = 1.0
RETRY_S = 1.0
READ_TIMEOUT_S = 0.25
ANSWER_TIMEOUT_S = 30.0
# However long the demo runs, its topics do not fill the disk.
TOPIC_SETTINGS = {"retention.bytes": str(64 << 20), "segment.bytes": str(16 << 20)}


def run(bootstrap: str) -> NoReturn:
    """Make the topics, start the groups, and write orders for ever."""
    create_topics(bootstrap)
    producer = Producer({"bootstrap.servers": bootstrap, "client.id": "shop"})
    write_evenly(producer, INVOICES, FEW_RECORDS)
    write_evenly(producer, ORDERS, SEED_RECORDS)
    for group in GROUPS:
        threading.Thread(target=Member(group, bootstrap).run, name=group.name, daemon=True).start()
    write_orders(producer)


def create_topics(bootstrap: str) -> None:
    """Create the topics that are not there yet."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topics = [NewTopic(topic, PARTITIONS, config=TOPIC_SETTINGS) for topic in (ORDERS, INVOICES)]
    for created in admin.create_topics(topics).values():
        try:
            created.result(ANSWER_TIMEOUT_S)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise


def write_evenly(producer: Producer, topic: str, records: int) -> None:
    """Write so many records to each partition, and wait until they are there."""
    for number in range(records):
        for partition in range(PARTITIONS):
            producer.produce(topic, f"{topic} {number}".encode(), partition=partition)
    producer.flush(ANSWER_TIMEOUT_S)


def write_orders(producer: Producer) -> NoReturn:
    """Write orders in waves."""
    started_s = time.monotonic()
    while True:
        at_s = time.monotonic() - started_s
        for partition in range(PARTITIONS):
            if is_busy(partition, at_s):
                producer.produce(ORDERS, f"order at {at_s:.2f} s".encode(), partition=partition)
        producer.poll(0)
        time.sleep(RECORD_INTERVAL_S)


class Member:
    """The only member of a group: reads what comes, and commits what its readers say, once in a second."""

    def __init__(self, group: Group, bootstrap: str) -> None:
        self._group = group
        self._settings = {
            "bootstrap.servers": bootstrap,
            "group.id": group.name,
            "client.id": f"{group.name}-1",
            "group.protocol": group.protocol,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
        self._readers: dict[int, Reader] = {}
        self._read_to: dict[int, int] = {}
        self._commits = 0

    def run(self) -> None:
        """Take part in the group until it is time to leave, whatever the broker does."""
        while not self._is_done():
            try:
                self._take_part()
            except KafkaException as error:
                self._tell(f"starts again: {error}")
                time.sleep(RETRY_S)

    def _is_done(self) -> bool:
        return self._commits == self._group.lives_for_commits

    def _take_part(self) -> None:
        consumer = Consumer(self._settings)
        try:
            consumer.subscribe([self._group.topic])
            while not self._is_done():
                self._read(consumer, until_s=time.monotonic() + COMMIT_INTERVAL_S)
                self._commit(consumer)
        finally:
            consumer.close()

    def _read(self, consumer: Consumer, until_s: float) -> None:
        while (left_s := until_s - time.monotonic()) > 0:
            for message in consumer.consume(num_messages=1_000, timeout=min(left_s, READ_TIMEOUT_S)):
                self._note(message)

    def _note(self, message: Message) -> None:
        error = message.error()
        if error is None:
            partition, offset = message.partition(), message.offset()
            assert partition is not None
            assert offset is not None
            # After rejoining it reads again from the last commit; what was there before is there still.
            self._read_to[partition] = max(offset + 1, self._read_to.get(partition, 0))
        elif error.fatal():
            raise KafkaException(error)

    def _commit(self, consumer: Consumer) -> None:
        assigned = {one.partition for one in consumer.assignment()}
        offsets = [
            TopicPartition(self._group.topic, partition, offset)
            for partition, read_to in self._read_to.items()
            if partition in assigned and (offset := self._reader(partition).next_commit(read_to)) is not None
        ]
        if not offsets:
            return
        try:
            consumer.commit(offsets=offsets, asynchronous=False)
            self._commits += 1
        except KafkaException as error:  # a rebalance or a broker that is away: the next commit makes up for it
            self._tell(f"could not commit: {error}")

    def _reader(self, partition: int) -> Reader:
        if partition not in self._readers:
            self._readers[partition] = self._group.reader(partition)
        return self._readers[partition]

    def _tell(self, text: str) -> None:
        print(f"{self._group.name} {text}", flush=True)


def _end_all(failure: threading.ExceptHookArgs) -> None:
    """A group that is silently missing would be worse than no demo."""
    traceback.print_exception(failure.exc_type, failure.exc_value, failure.exc_traceback)
    os._exit(1)


def main() -> None:
    """Run against the broker named on the command line."""
    parser = argparse.ArgumentParser(description="The workload of Warren's demo.")
    parser.add_argument("--bootstrap", required=True, metavar="HOST:PORT")
    options = parser.parse_args()
    lifeline.watch_parent()
    threading.excepthook = _end_all
    run(options.bootstrap)


if __name__ == "__main__":
    main()
