"""Reading ranges of the offsets topic with one consumer that lives as long as its worker process.

A range ends at its end offset even where no record lies there (compacted away, aborted, a transaction marker): then the
end-of-partition event, or a record beyond the range, says that it is done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from warren.errors import SourceError
from warren.sources.kafka import ClientConfig, cache_key, kafka_errors, make_consumer
from warren.sources.planning import Range
from warren.windows.columns import Bool, Int64

CHUNK_RECORDS = 10_000
"""So many records are taken from the consumer at once: enough for NumPy, little enough for memory."""

POLL_S = 0.2
SILENCE_LIMIT_S = 30.0
"""A range that brings nothing for so long is given up; the query fails and is restarted."""


NEVER_MS = 1 << 62
"""Nothing is later."""


class Records(NamedTuple):
    """Some records of one or more partitions, in log order for each."""

    partition: Int64
    offset: Int64
    key: list[bytes | None]
    value: list[bytes | None]
    read_ms: int = NEVER_MS
    stamp_ms: Callable[[int], int] = lambda _: 0
    """When the broker wrote one of the records; to be asked for few, since it takes a call each."""


_readers: dict[str, RangeReader] = {}


def worker_reader(client: ClientConfig, topic: str) -> RangeReader:
    """This worker process's reader of a topic; made once, so that its connections outlive a micro-batch."""
    key = cache_key(client, topic)
    if key not in _readers:
        _readers[key] = RangeReader(client, topic)
    return _readers[key]


class RangeReader:
    """Reads ranges of one topic. Where its consumer stands is remembered only to spare seeks."""

    def __init__(self, client: ClientConfig, topic: str) -> None:
        settings = {
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 100,
            "fetch.queue.backoff.ms": 10,  # the default, a second, is what a range that fills the queue would wait
            "queued.min.messages": 100_000,
            "queued.max.messages.kbytes": 16_384,
            "fetch.message.max.bytes": 4_194_304,
        }
        self._consumer: Consumer = make_consumer(client, **settings)
        self._topic = topic
        self._positions: dict[int, int | None] = {}  # of assigned partitions; None = beyond its range

    def read(self, ranges: list[Range]) -> Iterator[Records]:
        """All records of `ranges`, in chunks."""
        with kafka_errors(f"reading {self._topic}"):
            open_ranges = {one.partition: one for one in ranges}
            for one in ranges:
                self._go_to(one)
            try:
                yield from self._read_open(open_ranges)
            finally:
                self._rest([one.partition for one in ranges])

    def _read_open(self, open_ranges: dict[int, Range]) -> Iterator[Records]:
        deadline = time.monotonic() + SILENCE_LIMIT_S
        while open_ranges:
            wanted = sum(one.end - (self._positions[one.partition] or 0) for one in open_ranges.values())
            messages = self._consumer.consume(max(1, min(CHUNK_RECORDS, wanted)), POLL_S)
            if messages:
                deadline = time.monotonic() + SILENCE_LIMIT_S
                records = self._take(messages, open_ranges)
                if records.key:
                    yield records
            elif time.monotonic() > deadline:
                message = f"No records of {self._topic} for {SILENCE_LIMIT_S:.0f} s; waiting for {list(open_ranges)}."
                raise SourceError(message)

    def _take(self, messages: list[Message], open_ranges: dict[int, Range]) -> Records:
        """The records that lie in an open range; closes the ranges that are done."""
        keys = [message.key() for message in messages]
        events: list[Message] = []
        if None in keys:  # what has no key may be an event instead of a record
            events = [message for message in messages if message.error() is not None]
            messages = [message for message in messages if message.error() is None]
            keys = [message.key() for message in messages]
        partition = np.array([message.partition() for message in messages], np.int64)
        offset = np.array([message.offset() for message in messages], np.int64)
        inside = _within(partition, offset, open_ranges)
        for number, position in _positions_after(partition, offset, events).items():
            self._note_position(number, position, open_ranges)
        values = [message.value() for message in messages]
        now_ms = int(time.time() * 1000)
        if inside.all():
            return Records(partition, offset, keys, values, now_ms, lambda i: messages[i].timestamp()[1])
        kept = np.flatnonzero(inside).tolist()
        keys, values = [keys[i] for i in kept], [values[i] for i in kept]
        return Records(
            partition[inside], offset[inside], keys, values, now_ms, lambda i: messages[kept[i]].timestamp()[1]
        )

    def _note_position(self, partition: int, position: int, open_ranges: dict[int, Range]) -> None:
        one = open_ranges.get(partition)
        self._positions[partition] = position
        if one and position >= one.end:
            del open_ranges[partition]
            if position > one.end:
                self._positions[partition] = None  # records beyond the range were read, and dropped

    def _go_to(self, one: Range) -> None:
        at = TopicPartition(self._topic, one.partition, one.start)
        if self._positions.get(one.partition) == one.start:
            return
        if one.partition in self._positions:
            self._consumer.incremental_unassign([at])
        self._consumer.incremental_assign([at])
        self._positions[one.partition] = one.start

    def _rest(self, partitions: list[int]) -> None:
        """Stop fetching what was read beyond a range: it must be read again.

        The others go on, so that what comes next is here when it is asked for. It also keeps the library awake: with
        nothing to fetch its threads sleep, and take up to a second to notice that there is something again.
        """
        surplus = [number for number in partitions if self._positions.get(number) is None]
        assigned = [TopicPartition(self._topic, number) for number in surplus if number in self._positions]
        if assigned:
            self._consumer.incremental_unassign(assigned)
        for number in surplus:
            self._positions.pop(number, None)


def _within(partition: Int64, offset: Int64, open_ranges: dict[int, Range]) -> Bool:
    """Which records lie in their range."""
    ends = np.zeros(int(partition.max(initial=-1)) + 1, np.int64)
    for number, one in open_ranges.items():
        if number < len(ends):
            ends[number] = one.end
    inside: Bool = offset < ends[partition]
    return inside


def _positions_after(partition: Int64, offset: Int64, events: list[Message]) -> dict[int, int]:
    """Where the consumer stands in each partition after these records and events.

    The end of a partition may have been told before records that came to it since: the furthest counts. A position that
    is too low would look like the start of a later range, and what lies between would never be read.
    """
    furthest = np.full(int(partition.max(initial=-1)) + 1, -1, np.int64)
    np.maximum.at(furthest, partition, offset)
    found = {number: int(furthest[number]) + 1 for number in np.flatnonzero(furthest >= 0).tolist()}
    for event in events:
        number, position = _end_of_partition(event)
        found[number] = max(position, found.get(number, position))
    return found


def _end_of_partition(event: Message) -> tuple[int, int]:
    error, partition, position = event.error(), event.partition(), event.offset()
    if error is None or error.code() != KafkaError._PARTITION_EOF or partition is None or position is None:
        raise KafkaException(error)
    return partition, position
