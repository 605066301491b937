"""How far Warren has read, and since when nothing is known of some groups."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from warren.codec.keys import offsets_partition
from warren.windows.rows import CommitBatch, Poison

REMEMBERED_POISON = 100


@dataclass
class Progress:
    """How far one consumer module has read the offsets topic."""

    offsets_topic: str
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
    poison: deque[Poison] = field(default_factory=lambda: deque(maxlen=REMEMBERED_POISON))
    """The newest examples of what could not be decoded."""

    def start_over(self) -> None:
        """Nothing is read."""
        self.positions, self.behind, self.seen_ms = {}, {}, {}
        self.caught_up, self.must_start_over, self.topic_id = False, False, ""

    def advance(self, batch: CommitBatch) -> None:
        """A batch was read; one that comes again takes nothing back."""
        self.topic_id = batch.topic_id or self.topic_id
        for partition, position in batch.positions.items():
            self.positions[partition] = max(position, self.positions.get(partition, 0))
        self.behind = batch.ends
        for partition in self.positions.keys() - batch.ends.keys():
            self._saw(partition, batch.planned_ms)
        self.skipped.update(batch.skipped)
        self.poison.extend(batch.poison)

    def confirm(self, ends: Mapping[int, int], observed_ms: int) -> None:
        """The partitions end there at `observed_ms`: of those that are read up to their end nothing is missing."""
        for partition, end in ends.items():
            if self.positions.get(partition, 0) >= end >= 0:
                self._saw(partition, observed_ms)

    def _saw(self, partition: int, moment_ms: int) -> None:
        self.seen_ms[partition] = max(self.seen_ms.get(partition, 0), moment_ms)

    @property
    def behind_records(self) -> int:
        """At most so many records are known to be unread."""
        return sum(end - self.positions.get(partition, 0) for partition, end in self.behind.items())


class Staleness(NamedTuple):
    """Since when nothing new can be known of groups, by the partition of the offsets topic that they lie in."""

    partitions: int
    since_ms: dict[int, int]
    held: frozenset[int] = frozenset()
    """Partitions that an open transaction holds back; the others were not read."""

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
