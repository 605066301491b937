"""Reading ranges: whatever the consumer brings, and when, each record of a range is read once."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import pytest
from confluent_kafka import KafkaError, TopicPartition

from warren.sources import reading
from warren.sources.planning import Range
from warren.sources.reading import CHUNK_RECORDS, RangeReader

OTHER, MINE = 0, 1


class Event(NamedTuple):
    """A record, or the end of a partition."""

    at_partition: int
    at_offset: int
    is_end: bool = False

    def partition(self) -> int:
        return self.at_partition

    def offset(self) -> int:
        return self.at_offset

    def key(self) -> bytes | None:
        return None if self.is_end else b"key"

    def value(self) -> bytes | None:
        return None if self.is_end else b"value"

    def error(self) -> KafkaError | None:
        return KafkaError(KafkaError._PARTITION_EOF) if self.is_end else None


class Log:
    """A consumer over partitions that grow: it brings what is there, then that this is the end."""

    def __init__(self) -> None:
        self.ends = {OTHER: 0, MINE: 0}
        self._positions: dict[int, int] = {}
        self._queue: deque[Event] = deque()

    def incremental_assign(self, partitions: list[TopicPartition]) -> None:
        self._positions |= {one.partition: one.offset for one in partitions}

    def close(self) -> None:
        self._positions, self._queue = {}, deque()

    def fetch(self) -> None:
        """What the library does in the background: bring what has come, or tell that nothing has."""
        for partition, position in self._positions.items():
            end = self.ends[partition]
            self._queue += [Event(partition, offset) for offset in range(position, end)]
            if position >= end:
                self._queue.append(Event(partition, end, is_end=True))
            self._positions[partition] = max(position, end)

    def consume(self, number: int, timeout: float) -> list[Event]:
        self.fetch()
        return [self._queue.popleft() for _ in range(min(number, len(self._queue)))]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    log = Log()
    monkeypatch.setattr(reading, "make_consumer", lambda client, **settings: log)
    return log


def read(reader: RangeReader, *ranges: Range) -> list[tuple[int, int]]:
    return [
        (int(partition), int(offset))
        for records in reader.read(list(ranges))
        for partition, offset in zip(records.partition, records.offset, strict=True)
    ]


def test_a_range_ends_where_it_should(log: Log) -> None:
    log.ends[MINE] = 9

    assert read(RangeReader({}, "offsets"), Range(MINE, 2, 5)) == [(MINE, 2), (MINE, 3), (MINE, 4)]


def test_records_that_came_too_early_are_read_when_their_range_comes(log: Log) -> None:
    """They were brought while another partition was read, right behind an end that was told before they came."""
    reader = RangeReader({}, "offsets")
    log.ends |= {OTHER: 1, MINE: 2}
    assert read(reader, Range(MINE, 0, 2)) == [(MINE, 0), (MINE, 1)]
    log.fetch()  # tells the end, at 2
    log.ends |= {OTHER: 20, MINE: 4}
    assert read(reader, Range(OTHER, 0, 20)) == [(OTHER, offset) for offset in range(20)]

    assert read(reader, Range(MINE, 2, 4)) == [(MINE, 2), (MINE, 3)]


def test_a_range_whose_last_offsets_hold_no_records_ends_with_its_partition(log: Log) -> None:
    reader = RangeReader({}, "offsets")
    log.ends[MINE] = 3

    assert read(reader, Range(MINE, 3, 3)) == []
    assert read(reader, Range(MINE, 1, 3)) == [(MINE, 1), (MINE, 2)]


def test_records_of_a_partition_that_nobody_asks_for_are_kept_only_up_to_a_limit(log: Log) -> None:
    reader = RangeReader({}, "offsets")
    log.ends |= {OTHER: 1, MINE: 1}
    assert read(reader, Range(MINE, 0, 1), Range(OTHER, 0, 1)) == [(MINE, 0), (OTHER, 0)]
    log.ends |= {OTHER: 2, MINE: 3 * CHUNK_RECORDS}
    assert read(reader, Range(OTHER, 1, 2)) == [(OTHER, 1)]
    log.ends[OTHER] = 3
    assert read(reader, Range(OTHER, 2, 3)) == [(OTHER, 2)]

    assert len(read(reader, Range(MINE, 1, 3 * CHUNK_RECORDS))) == 3 * CHUNK_RECORDS - 1


def test_a_range_that_was_read_by_somebody_else_meanwhile_is_passed_over(log: Log) -> None:
    reader = RangeReader({}, "offsets")
    log.ends[MINE] = 2
    read(reader, Range(MINE, 0, 2))
    log.ends[MINE] = 9

    assert read(reader, Range(MINE, 6, 9)) == [(MINE, 6), (MINE, 7), (MINE, 8)]


def test_a_range_is_read_again_when_it_is_asked_for_again(log: Log) -> None:
    reader = RangeReader({}, "offsets")
    log.ends[MINE] = 3

    assert read(reader, Range(MINE, 0, 3)) == read(reader, Range(MINE, 0, 3)) == [(MINE, n) for n in range(3)]
