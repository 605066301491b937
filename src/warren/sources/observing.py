"""Asking a cluster about all its partitions: which there are, who leads them, where they begin and end."""

from __future__ import annotations

import time
from typing import NamedTuple, Protocol

import pyarrow as pa

from warren.errors import SourceError
from warren.kafka.clients import (
    EARLIEST,
    LATEST,
    REQUEST_TIMEOUT_S,
    ClientConfig,
    ReasonedConsumer,
    kafka_errors,
    offsets_at,
    process_consumer,
    right,
    topic_ids_of,
)
from warren.windows.rows import HEAD_ROWS

UNKNOWN = -1

Partition = tuple[str, int]


class Listing(NamedTuple):
    """Which partitions there are, in their order, and which of them have a leader."""

    cluster_id: str
    partitions: list[Partition]
    led: set[Partition]
    topic_ids: dict[str, str]


class Offsets(NamedTuple):
    """What the leaders say; a partition that cannot be asked is missing."""

    observed_ms: int
    ends: dict[Partition, int]
    last_stable: dict[Partition, int]
    log_starts: dict[Partition, int]


class Brokers(Protocol):
    """Who is asked. Each answer is there or raises `SourceError`."""

    def list_topics(self) -> Listing:
        """All partitions of the cluster."""

    def offsets(self, partitions: list[Partition]) -> Offsets:
        """Where partitions begin and end now."""


class KafkaBrokers:
    """The brokers of a cluster, asked by the clients of this process."""

    def __init__(self, client: ClientConfig) -> None:
        self._client = client

    @property
    def _consumer(self) -> ReasonedConsumer:
        """Sees high watermarks, by which Burrow and Kafka's own tools measure lag."""
        return process_consumer(self._client, **{"isolation.level": "read_uncommitted"})

    @property
    def _reader_of_committed(self) -> ReasonedConsumer:
        return process_consumer(self._client, **{"isolation.level": "read_committed"})

    def list_topics(self) -> Listing:
        """All partitions of the cluster, with the ids of their topics."""
        with kafka_errors("listing topics", self._consumer):
            # Each client asks the leaders that it was told itself.
            self._reader_of_committed.list_topics(timeout=REQUEST_TIMEOUT_S)
            metadata = self._consumer.list_topics(timeout=REQUEST_TIMEOUT_S)
        topics = sorted(metadata.topics.items())
        if not topics:  # as if all were gone: nothing may be forgotten for that
            needs = right(self._client, ("Describe",), "--topic '*'")
            message = f"The brokers list no topic: there is none yet, or none may be seen. That would need: {needs}"
            raise SourceError(message)
        partitions = [(name, number) for name, topic in topics for number in sorted(topic.partitions)]
        led = {(name, one.id) for name, topic in topics for one in topic.partitions.values() if one.leader >= 0}
        topic_ids = topic_ids_of(self._client, [name for name, _ in topics])
        return Listing(metadata.cluster_id or "", partitions, led, topic_ids)

    def offsets(self, partitions: list[Partition]) -> Offsets:
        """Where partitions begin and end now, in three requests for each broker."""
        observed_ms = int(time.time() * 1000)  # before the question: the ends are those of a moment not earlier
        ends = offsets_at(self._consumer, partitions, LATEST)
        # After the ends: what is written in between must not look like an open transaction.
        last_stable = offsets_at(self._reader_of_committed, partitions, LATEST)
        return Offsets(observed_ms, ends, last_stable, offsets_at(self._consumer, partitions, EARLIEST))


class Observer:
    """Observes one cluster; lives as long as its worker process, so that the list of topics is not asked for anew."""

    def __init__(self, brokers: Brokers, topic_refresh_s: float) -> None:
        self._brokers = brokers
        self._topic_refresh_s = topic_refresh_s
        self._listing: Listing | None = None
        self._listed_at_s = 0.0
        self._ends: dict[Partition, int] = {}

    def observe(self) -> pa.RecordBatch:
        """One observation of all partitions as `HEAD_ROWS`.

        When something does not fit the list of topics, they are listed again, once.
        """
        listing = self._known_listing()
        offsets = self._offsets_that_fit(listing)
        if offsets is None:
            listing = self._list_topics()
            offsets = self._brokers.offsets(_led(listing))
        self._ends = offsets.ends
        # An id says what a topic was when it was asked for; at the next observation it may be another one.
        self._listing = listing._replace(topic_ids={})
        return _head_rows(listing, offsets)

    def _known_listing(self) -> Listing:
        """The list of topics; asked for anew when it is older than topic-refresh, or a leader may be back."""
        if self._listing is None or time.monotonic() - self._listed_at_s >= self._topic_refresh_s:
            return self._list_topics()
        if len(self._listing.led) < len(self._listing.partitions):
            return self._list_topics()
        return self._listing

    def _list_topics(self) -> Listing:
        self._listing = None  # until an observation tells it: if that fails, its ids have to be asked for again
        self._listed_at_s = time.monotonic()
        return self._brokers.list_topics()

    def _offsets_that_fit(self, listing: Listing) -> Offsets | None:
        """The offsets, or None if a leader was lost, or a topic deleted or made again since the list was made."""
        try:
            offsets = self._brokers.offsets(_led(listing))
        except SourceError:  # also if just one leader is not where it was
            return None
        has_all = offsets.ends.keys() >= listing.led
        went_down = any(end < self._ends.get(one, UNKNOWN) for one, end in offsets.ends.items())
        return offsets if has_all and not went_down else None


def _led(listing: Listing) -> list[Partition]:
    """The partitions to ask: one without a leader could make the whole request fail."""
    return [one for one in listing.partitions if one in listing.led]


def _head_rows(listing: Listing, offsets: Offsets) -> pa.RecordBatch:
    partitions = listing.partitions
    columns = {
        "topic": [topic for topic, _ in partitions],
        "partition": [number for _, number in partitions],
        "end": [offsets.ends.get(one, UNKNOWN) for one in partitions],
        "log_start": [offsets.log_starts.get(one, UNKNOWN) for one in partitions],
        "observed_ms": [offsets.observed_ms] * len(partitions),
        "cluster_id": ([listing.cluster_id] + [None] * (len(partitions) - 1))[: len(partitions)],
        # It was asked for a moment after the end, and would be beyond it.
        "last_stable": [
            min(offsets.last_stable.get(one, UNKNOWN), offsets.ends.get(one, UNKNOWN)) for one in partitions
        ],
        "has_leader": [one in listing.led for one in partitions],
        "topic_id": [listing.topic_ids.get(topic) if number == 0 else None for topic, number in partitions],
    }
    return pa.RecordBatch.from_pydict(columns, HEAD_ROWS)
