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
from warren.kafka.clients import GROUP_REFUSED, ClientConfig, Kept, kafka_errors, make_consumer, right
from warren.sources.planning import Range
from warren.windows.columns import Int64

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


def worker_reader(client: ClientConfig, topic: str) -> RangeReader:
    """This worker process's reader of a topic."""
    return _readers.get(client, topic, lambda: RangeReader(client, topic))


class RangeReader:
    """Reads ranges of one topic, each record of them once.

    The consumer goes on fetching between batches, so that what comes next is here when it is asked for. What comes
    before it is asked for is kept. Nothing is unassigned and assigned again: the end of a partition, told before, could
    still be on its way, and would end a range that has not been read.
    """

    def __init__(self, client: ClientConfig, topic: str) -> None:
        self._settings = {
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 100,
            "fetch.queue.backoff.ms": 10,  # the default, a second, is what a range that fills the queue would wait
            "queued.min.messages": 100_000,
            "queued.max.messages.kbytes": 16_384,
            "fetch.message.max.bytes": 4_194_304,
        }
        self._client = client
        self._topic = topic
        self._begin()

    def _begin(self) -> None:
        """With a consumer that has nothing on its way."""
        self._consumer: Consumer = make_consumer(self._client, **self._settings)
        self._positions: dict[int, int] = {}  # of assigned partitions: what the consumer brings next
        self._read_to: dict[int, int] = {}  # of the same: whatever came from here on is kept
        self._early: dict[int, list[Message]] = {}
        self._is_sound = True

    def read(self, ranges: list[Range]) -> Iterator[Records]:
        """All records of `ranges`, in chunks."""
        with kafka_errors(f"reading {self._topic}", needs=right(self._client, ("Read",), f"--topic {self._topic}")):
            if not (self._is_sound and all(map(self._can_go_on_with, ranges))):
                self._consumer.close()
                self._begin()
            self._is_sound = False  # until all has been read
            self._assign([one for one in ranges if one.partition not in self._positions])
            yield from self._read(ranges)
            self._read_to |= {one.partition: one.end for one in ranges}
            self._is_sound = sum(map(len, self._early.values())) <= CHUNK_RECORDS

    def close(self) -> None:
        """Disconnect."""
        self._consumer.close()

    def _can_go_on_with(self, one: Range) -> bool:
        """Whether a range can be read without going back, and without passing much that nobody wants."""
        if one.partition not in self._positions:
            return True
        return self._read_to[one.partition] <= one.start <= self._positions[one.partition] + CHUNK_RECORDS

    def _assign(self, ranges: list[Range]) -> None:
        starts = {one.partition: one.start for one in ranges}
        if starts:
            at = [TopicPartition(self._topic, number, start) for number, start in starts.items()]
            self._consumer.incremental_assign(at)
        self._positions |= starts
        self._read_to |= starts

    def _read(self, ranges: list[Range]) -> Iterator[Records]:
        asked = {one.partition: one for one in ranges}
        open_ranges = dict(asked)
        early = [message for number in asked for message in self._early.pop(number, [])]
        for number in asked:
            self._note_position(number, self._positions[number], open_ranges)
        yield from self._sorted_out(early, asked)
        deadline = time.monotonic() + SILENCE_LIMIT_S
        while open_ranges:
            wanted = sum(one.end - self._positions[one.partition] for one in open_ranges.values())
            messages = self._consumer.consume(max(1, min(CHUNK_RECORDS, wanted)), POLL_S)
            if messages:
                deadline = time.monotonic() + SILENCE_LIMIT_S
                yield from self._sorted_out(self._take(messages, open_ranges), asked)
            elif time.monotonic() > deadline:
                message = f"No records of {self._topic} for {SILENCE_LIMIT_S:.0f} s; waiting for {list(open_ranges)}."
                raise SourceError(message)

    def _take(self, messages: list[Message], open_ranges: dict[int, Range]) -> list[Message]:
        """The records among what came; closes the ranges that are done."""
        events: list[Message] = []
        if any(message.key() is None for message in messages):  # what has no key may be an event instead of a record
            events = [message for message in messages if _is_told(message)]
            messages = [message for message in messages if message.error() is None]
        partition, offset = _places(messages)
        for number, position in _positions_after(partition, offset, events).items():
            self._note_position(number, position, open_ranges)
        return messages

    def _sorted_out(self, messages: list[Message], asked: dict[int, Range]) -> Iterator[Records]:
        """The records that are asked for; those that come too early are kept, those before a range are passed over."""
        if not messages:
            return
        partition, offset = _places(messages)
        starts, ends = np.zeros((2, int(partition.max()) + 1), np.int64)
        for number, one in asked.items():
            if number < len(ends):
                starts[number], ends[number] = one.start, one.end
        for i in np.flatnonzero(offset >= ends[partition]).tolist():
            self._early.setdefault(int(partition[i]), []).append(messages[i])
        inside = (offset >= starts[partition]) & (offset < ends[partition])
        kept = messages if inside.all() else [messages[i] for i in np.flatnonzero(inside).tolist()]
        if kept:
            yield _records(kept, partition[inside], offset[inside])

    def _note_position(self, partition: int, position: int, open_ranges: dict[int, Range]) -> None:
        self._positions[partition] = position
        one = open_ranges.get(partition)
        if one and position >= one.end:
            del open_ranges[partition]


_readers: Kept[RangeReader] = Kept(RangeReader.close)


def _places(messages: list[Message]) -> tuple[Int64, Int64]:
    """Partition and offset of each record."""
    partition = np.array([message.partition() for message in messages], np.int64)
    offset = np.array([message.offset() for message in messages], np.int64)
    return partition, offset


def _records(messages: list[Message], partition: Int64, offset: Int64) -> Records:
    keys, values = [message.key() for message in messages], [message.value() for message in messages]
    now_ms = int(time.time() * 1000)
    return Records(partition, offset, keys, values, now_ms, lambda i: messages[i].timestamp()[1])


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


def _is_told(message: Message) -> bool:
    """Whether it is an event that matters."""
    error = message.error()
    return error is not None and error.code() != GROUP_REFUSED


def _end_of_partition(event: Message) -> tuple[int, int]:
    error, partition, position = event.error(), event.partition(), event.offset()
    if error is None or error.code() != KafkaError._PARTITION_EOF or partition is None or position is None:
        raise KafkaException(error)
    return partition, position
