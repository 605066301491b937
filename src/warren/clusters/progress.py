"""How far Warren has read the places where a cluster's groups commit, and since when nothing is known of some."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from warren.codec.keys import offsets_partition
from warren.places.holders import Holders
from warren.places.looks import SEEN, Difference, Looks, Mark
from warren.windows.columns import Int64
from warren.windows.heads import Heads
from warren.windows.rows import CommitBatch, Poison

REMEMBERED_POISON = 100

STALE_AFTER_MS = 30_000

MISSED_LOOKS = 6
"""After so many that did not come what is known of a place is stale: looks may take as long as the time between two."""

POSITIONS = pa.schema(
    [("consumer", pa.string()), ("topic_id", pa.string()), ("partition", pa.int32()), ("position", pa.int64())]
)


class Polled(NamedTuple):
    """A consumer module that looks at a place again and again, since that has no log to read."""

    mark: Mark
    interval_ms: int
    is_of_brokers: bool = False
    """Whether its groups are those that the brokers have."""


@dataclass
class Progress:
    """How far one consumer module has read the offsets topic, or when it looked at its place."""

    offsets_topic: str
    """"" if it is another place that it looks at."""
    topic_id: str = ""
    """Kafka's id of the topic that the positions are of; "" if it is not known."""
    positions: dict[int, int] = field(default_factory=dict)
    behind: dict[int, int] = field(default_factory=dict)
    seen_ms: dict[int, int] = field(default_factory=dict)
    """By partition the moment up to which everything in it has been read."""
    caught_up: bool = False
    """True once everything that was there at the start has been read; it stays so."""
    must_start_over: bool = False
    """What was read before was forgotten; it must be read again."""
    skipped: Counter[str] = field(default_factory=Counter)
    batches: int = 0
    records: int = 0
    """Offsets that were passed; where the very first batch began is not told, so it does not count."""
    planned_ms: int = 0
    """When the last batch was planned."""
    poison: deque[Poison] = field(default_factory=lambda: deque(maxlen=REMEMBERED_POISON))
    """The newest examples of what could not be decoded."""

    def start_over(self) -> None:
        """Nothing is read."""
        self.positions, self.behind, self.seen_ms = {}, {}, {}
        self.caught_up, self.must_start_over, self.topic_id = False, False, ""

    def advance(self, batch: CommitBatch) -> None:
        """A batch was read; one that comes again takes nothing back."""
        self.topic_id = batch.topic_id or self.topic_id
        self._count(batch)
        for partition, position in batch.positions.items():
            self.positions[partition] = max(position, self.positions.get(partition, 0))
        self.behind = batch.ends
        for partition in self.positions.keys() - batch.ends.keys():
            self._saw(partition, batch.planned_ms)
        self.skipped.update(batch.skipped)
        self.poison.extend(batch.poison)

    def advance_to_look(self, found: Difference, looked_ms: int) -> None:
        """A place was looked at, and that is all there is to read."""
        self.batches += 1
        self.records += len(found.commits.offset) + len(found.removed.offset)
        self.planned_ms = looked_ms
        self.positions[0] = max(looked_ms, self.positions.get(0, 0))
        self._saw(0, looked_ms)
        self.skipped.update(found.skipped)
        self.poison.extend(found.poison)
        self.caught_up = True

    def _count(self, batch: CommitBatch) -> None:
        self.batches += 1
        self.planned_ms = batch.planned_ms or self.planned_ms
        known = batch.positions.items() if self.positions else ()
        self.records += sum(max(position - self.positions.get(partition, 0), 0) for partition, position in known)

    def confirm(self, ends: Mapping[int, int], observed_ms: int) -> None:
        """The partitions end there at `observed_ms`: of those that are read up to their end nothing is missing."""
        for partition, end in ends.items():
            if self.positions.get(partition, 0) >= end >= 0:
                self._saw(partition, observed_ms)

    def _saw(self, partition: int, moment_ms: int) -> None:
        self.seen_ms[partition] = max(self.seen_ms.get(partition, 0), moment_ms)

    @property
    def read_until_ms(self) -> int:
        """The moment up to which everything in every partition has been read; 0 if there is none."""
        return min((self.seen_ms.get(partition, 0) for partition in self.positions), default=0)

    @property
    def behind_records(self) -> int:
        """At most so many records are known to be unread."""
        return sum(end - self.positions.get(partition, 0) for partition, end in self.behind.items())


class Read(NamedTuple):
    """What one consumer module has read since the start; moments are 0 where there was none."""

    batches: int
    records: int
    planned_ms: int
    """When the last batch was planned."""
    until_ms: int
    """Everything that was committed up to this moment has been read."""


class Staleness(NamedTuple):
    """Since when nothing new can be known of groups, by the partition of the offsets topic that they lie in."""

    partitions: int
    since_ms: dict[int, int]
    held: frozenset[int] = frozenset()
    """Partitions that an open transaction holds back; the others were not read."""
    places_since_ms: Mapping[str, int] = MappingProxyType({})
    """The same for places that are looked at, by their name."""

    def of(self, group: str) -> int | None:
        """Since when nothing new is known of a group; None if all is known of it."""
        if not self.since_ms:
            return None
        return self.since_ms.get(offsets_partition(group, self.partitions))

    def is_held(self, group: str) -> bool:
        """Whether it is an open transaction that hides the group's commits."""
        return bool(self.held) and offsets_partition(group, self.partitions) in self.held


ALL_FRESH = Staleness(1, {})


def staleness(progress: Progress, held_since_ms: Mapping[int, int], *, now_ms: int, stale_after_ms: int) -> Staleness:
    """Which partitions nothing new is known of: not read for too long, or held back by an open transaction.

    Commits behind an open transaction cannot be read until it ends: until then the groups there are as they were, and
    that they are silent means nothing.
    """
    oldest_ms = now_ms - stale_after_ms
    known_until_ms = {one: held_since_ms.get(one) or seen_ms for one, seen_ms in progress.seen_ms.items()}
    since_ms = {partition: until_ms for partition, until_ms in known_until_ms.items() if 0 < until_ms < oldest_ms}
    held = frozenset(partition for partition in since_ms if held_since_ms.get(partition))
    return Staleness(max(len(progress.positions), 1), since_ms, held)


class Reading:
    """What all consumer modules of one cluster have read."""

    def __init__(
        self,
        offsets_topics: Mapping[str, str],
        stale_after_ms: int = STALE_AFTER_MS,
        polled: Mapping[str, Polled] = MappingProxyType({}),
    ) -> None:
        topics = {**offsets_topics, **dict.fromkeys(polled, "")}
        self.modules = {module: Progress(topic) for module, topic in topics.items()}
        self.own_groups = {own_group(module) for module in offsets_topics}
        self.polled = polled
        self.looks = {module: Looks(one.mark) for module, one in polled.items()}
        places = {module: f"topic {topic}" for module, topic in offsets_topics.items()}
        self.holders = Holders({**places, **{module: module for module in polled}})
        self.restored_ms: int | None = None
        """When the snapshot was written that all is known from; None once everything since has been read."""
        self._stale_after_ms = stale_after_ms

    @property
    def has_caught_up(self) -> bool:
        """Whether every module has read what was there when it started."""
        return all(one.caught_up for one in self.modules.values())

    def note_caught_up(self) -> None:
        """Once everything was read, what is known is no longer what a snapshot held."""
        if self.has_caught_up:
            self.restored_ms = None

    @property
    def behind_records(self) -> int:
        """At most so many records are known to be unread."""
        return sum(one.behind_records for one in self.modules.values())

    def read(self) -> dict[str, Read]:
        """What each module has read."""
        return {
            name: Read(one.batches, one.records, one.planned_ms, one.read_until_ms)
            for name, one in self.modules.items()
        }

    def skipped(self) -> dict[str, int]:
        """How many records could not be decoded, by kind."""
        return dict(sum((one.skipped for one in self.modules.values()), Counter()))

    def poison(self) -> list[Poison]:
        """Some of them, the newest last."""
        return [one for progress in self.modules.values() for one in progress.poison]

    def confirm(self, heads: Heads, observed_ms: int) -> None:
        """All topics were observed, the offsets topic among them."""
        for progress in self.modules.values():
            if block := heads.topics.get(progress.offsets_topic):
                progress.confirm(dict(enumerate(heads.current(block.row_numbers()).tolist())), observed_ms)

    def staleness(self, heads: Heads, now_ms: int) -> Staleness:
        """What several modules read is stale where all of them are behind."""
        found = [
            staleness(one, _held_since_ms(heads, one.offsets_topic), now_ms=now_ms, stale_after_ms=self._stale_after_ms)
            for one in self.modules.values()
            if one.caught_up and one.offsets_topic in heads.topics
        ]
        least = min(found, key=lambda one: len(one.since_ms), default=ALL_FRESH)
        return least._replace(places_since_ms=self._stale_places(now_ms)) if self.polled else least

    def _stale_places(self, now_ms: int) -> dict[str, int]:
        seen_ms = {name: self.modules[name].seen_ms.get(0, 0) for name in self.polled}
        oldest_ms = {
            name: now_ms - max(self._stale_after_ms, MISSED_LOOKS * one.interval_ms)
            for name, one in self.polled.items()
        }
        return {name: one for name, one in seen_ms.items() if 0 < one < oldest_ms[name]}

    def is_polled(self, group: str) -> bool:
        """Whether a group is in a place that is looked at."""
        return bool(self.polled) and not self.polled.keys().isdisjoint(self.holders.places_of(group))

    def is_of_brokers(self, group: str) -> bool:
        """Whether a group is one that the brokers have, not one of our own or of ZooKeeper."""
        elsewhere = {name for name, one in self.polled.items() if not one.is_of_brokers}
        return group not in self.own_groups and elsewhere.isdisjoint(self.holders.places_of(group))

    def stale_since_ms(self, group: str, found: Staleness) -> int | None:
        """Since when nothing new is known of a group; None if all is known of it.

        Until everything since a restart has been read, what is known is what the snapshot holds.
        """
        if group in self.own_groups:
            return None
        places = self.holders.places_of(group) if self.polled else set()
        since_ms = [found.places_since_ms[one] for one in places if one in found.places_since_ms]
        since_ms += [one for place in places if (one := self._unread_since_ms(place, group))]
        if not places or places - self.polled.keys():
            since_ms += [one for one in [found.of(group)] if one]
        return min(since_ms) if since_ms else self.restored_ms

    def _unread_since_ms(self, place: str, group: str) -> int | None:
        """Since when a single group of a place could not be read."""
        return self.looks[place].unread_since_ms.get(group) if place in self.looks else None

    def known_until_ms(self, group: str, found: Staleness) -> int | None:
        """The moment that a group is judged at; None if it is now.

        Of a place that is looked at nothing is known after the last look: silence since then means nothing.
        """
        stale_ms = self.stale_since_ms(group, found)
        if stale_ms is not None or not self.polled or group in self.own_groups:
            return stale_ms
        looked_ms = [self.modules[one].seen_ms.get(0, 0) for one in self.holders.places_of(group) & self.polled.keys()]
        return min(looked_ms, default=0) or None

    def as_of_ms(self, groups: Sequence[str | None], found: Staleness, now_ms: int) -> Int64 | None:
        """The moment that each of these groups is judged at; None if it is now for all."""
        if not found.since_ms and self.restored_ms is None and not self.polled:
            return None
        since = (self.known_until_ms(name, found) if name else None for name in groups)
        return np.array([now_ms if one is None else min(one, now_ms) for one in since], np.int64)

    def table(self) -> pa.Table:
        """What is kept of it over restarts."""
        rows = [
            {"consumer": name, "topic_id": progress.topic_id, "partition": partition, "position": position}
            for name, progress in self.modules.items()
            for partition, position in progress.positions.items()
        ]
        return pa.Table.from_pylist(rows, POSITIONS)

    def seen_table(self) -> pa.Table:
        """What is kept over restarts of the places that are looked at."""
        rows = [row for module, looks in self.looks.items() for row in looks.rows(module)]
        return pa.Table.from_pylist(rows, SEEN)

    def restore_seen(self, table: pa.Table) -> None:
        """Go on from what was seen."""
        for row in table.to_pylist():
            if looks := self.looks.get(row["consumer"]):
                looks.restore(row)

    def restore(self, table: pa.Table, created_ms: int) -> None:
        """Go on from what was kept at `created_ms`."""
        self.restored_ms = created_ms
        for row in table.to_pylist():
            if progress := self.modules.get(row["consumer"]):
                progress.positions[row["partition"]] = row["position"]
                progress.topic_id = row["topic_id"]


def own_group(module: str) -> str:
    """The group, as in Burrow, whose lag tells how far a consumer module itself is behind."""
    return f"burrow-{module}"


def _held_since_ms(heads: Heads, topic: str) -> dict[int, int]:
    return dict(enumerate(heads.held_since_of(heads.topics[topic].row_numbers()).tolist()))
