"""Where the topics end: the last observations of every partition's end offset, and what else is known of it now.

The lag of a commit lies between two numbers: the last end observed before it, less the offset, and the first end
observed after it, less the offset. `MeasuredLag` has an estimate between them and the part that is certain. Neither is
enough alone. Against the end before, a consumer that falls behind has lag 0 for as long as it is less than an
observation behind. By the estimate, a consumer that reads records as they come in pulses seems to leave some unread:
interpolation spreads a pulse over the whole time between two observations.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warren.codec.commits import incarnation_of
from warren.windows.columns import UNKNOWN, Block, BlockAllocator, Bool, Int64, grown, packed
from warren.windows.head_history import HeadHistory
from warren.windows.rings import NULL_LAG, PENDING_LAG

LOG_START_POINTS = 12
"""Enough to tell how fast a log loses its beginning."""

IN_FLIGHT_MS = 1_000
"""A record that arrived this shortly before a commit may still be on its way through a consumer that keeps up.

It also covers what an observation takes, and a difference between clocks that is too small to be learnt.
"""


COLUMNS = (
    "end",
    "observed_ms",
    "newest",
    "lowest_end",
    "log_start",
    "last_stable",
    "held_since_ms",
    "has_leader",
    "marks_from",
    "marks_end",
)

KEPT_HEADS = ("log_start", "last_stable", "held_since_ms", "has_leader", "marks_from", "marks_end")
"""What is known of a partition besides its ends, and cannot be told from anything else."""

NOT_TOLD: Int64 = np.array([UNKNOWN], np.int64)
ALL_LED: Bool = np.array([True])
"""One value that stands for all partitions."""


class HeadRows(NamedTuple):
    """One observation of heads as columns; `topic` indexes `topics`. An offset of -1 was not to be had."""

    topics: list[str]
    topic: Int64
    partition: Int64
    end: Int64
    log_start: Int64
    observed_ms: int
    cluster_id: str = ""
    last_stable: Int64 = NOT_TOLD
    has_leader: Bool = ALL_LED
    topic_ids: Mapping[str, str] = MappingProxyType({})
    """Kafka's ids of topics, as far as they were asked for now, and told."""


class MeasuredLag(NamedTuple):
    """The lag of commits against the observations of the end."""

    estimate: Int64
    """PENDING_LAG before the first observation after the commit, NULL_LAG without an observation before it."""
    at_least: Int64
    """Unread records that had arrived IN_FLIGHT_MS before the commit; 0 without an observation that old."""
    at_most: Int64
    """The end at the first observation after the commit, less the offset; 0 before that observation."""


class Heads:
    """The last `intervals` end offsets of every topic-partition of a cluster."""

    def __init__(self, intervals: int) -> None:
        self.intervals = intervals
        self.topics: dict[str, Block] = {}
        self._blocks = BlockAllocator()
        self.end: Int64 = np.zeros((intervals, 0), np.int64)
        self.observed_ms: Int64 = np.zeros((intervals, 0), np.int64)  # 0 = slot not filled yet
        self.newest: Int64 = np.zeros(0, np.int64)
        self.lowest_end: Int64 = np.zeros(0, np.int64)  # of the remembered ones
        self.log_start: Int64 = np.zeros(0, np.int64)
        self.last_stable: Int64 = np.zeros(0, np.int64)
        self.held_since_ms: Int64 = np.zeros(0, np.int64)
        self.has_leader: Bool = np.zeros(0, np.bool_)
        self.marks_from: Int64 = np.zeros(0, np.int64)
        self.marks_end: Int64 = np.zeros(0, np.int64)  # from the one to the other there are no records
        self.topic_ids: dict[str, str] = {}
        """Kafka's id of each topic whose id was ever told: another id is another topic of the same name."""
        self.id_seen_ms: dict[str, int] = {}
        """When the topic was seen last under this id."""
        self.history = HeadHistory()
        self.log_start_history = HeadHistory(LOG_START_POINTS)

    def ensure(self, topic: str, partitions: int) -> bool:
        """Know `topic` with at least `partitions` partitions; True if its rows are new or have moved."""
        old = self.topics.get(topic)
        if old and old.length >= partitions:
            return False
        block = self._blocks.allocate(partitions)
        self._grow()
        self._clear(block.rows)
        if old:
            self._move(old, block)
        self.topics[topic] = block
        return True

    def _grow(self) -> None:
        rows = self._blocks.used_rows
        for name in COLUMNS:
            setattr(self, name, grown(getattr(self, name), rows, 0))
        for history in (self.history, self.log_start_history):
            history.grow(rows)

    def _clear(self, rows: slice) -> None:
        self.end[:, rows] = UNKNOWN
        self.observed_ms[:, rows] = 0
        self.newest[rows] = 0
        self.lowest_end[rows] = UNKNOWN
        self.log_start[rows] = UNKNOWN
        self.last_stable[rows] = UNKNOWN
        self.held_since_ms[rows] = 0
        self.has_leader[rows] = True
        self.marks_from[rows] = self.marks_end[rows] = UNKNOWN
        for history in (self.history, self.log_start_history):
            history.clear(rows)

    def _move(self, old: Block, new: Block) -> None:
        target = slice(new.start, new.start + old.length)
        for name in COLUMNS:
            column = getattr(self, name)
            column[..., target] = column[..., old.rows]
        for history in (self.history, self.log_start_history):
            history.move(old.rows, target)
        self._blocks.release(old)

    @property
    def used_rows(self) -> int:
        """Rows up to here are, or were, in use."""
        return self._blocks.used_rows

    def adopt(self, topics: dict[str, Block]) -> None:
        """Take over rows that were laid out before; their content comes after."""
        self._blocks.adopt(topics.values())
        self.topics = dict(topics)
        self._grow()
        self._clear(slice(0, self._blocks.used_rows))

    def forget(self, topic: str) -> None:
        """The topic is gone."""
        self._blocks.release(self.topics.pop(topic))
        self.topic_ids.pop(topic, None)
        self.id_seen_ms.pop(topic, None)

    def recreated(self, topic_ids: Mapping[str, str]) -> list[str]:
        """The topics that were known under other ids than these."""
        return [topic for topic, topic_id in topic_ids.items() if self.topic_ids.get(topic, topic_id) != topic_id]

    def see_ids(self, topic_ids: Mapping[str, str], at_ms: int) -> None:
        """These topics have these ids now."""
        self.topic_ids.update(topic_ids)
        self.id_seen_ms.update(dict.fromkeys(topic_ids, at_ms))

    def restore(self, end: Int64, observed_ms: Int64, kept: Mapping[str, NDArray[np.generic]]) -> None:
        """Take back what was written down of the adopted rows: `[slots, rows]`, in any order of slots; and what of
        `KEPT_HEADS` there is."""
        rows = np.arange(end.shape[1])
        newest_last = np.argsort(observed_ms, axis=0, kind="stable")[-self.intervals :]
        slots = len(newest_last)
        self.end[:slots, : len(rows)] = np.take_along_axis(end, newest_last, axis=0)
        self.observed_ms[:slots, : len(rows)] = np.take_along_axis(observed_ms, newest_last, axis=0)
        self.newest[: len(rows)] = max(slots - 1, 0)
        for name, column in kept.items():
            getattr(self, name)[: len(rows)] = column
        self.lowest_end[: len(rows)] = self._lowest(rows)

    def pack(self) -> bool:
        """Move the rows together if most of them are free; True if they have moved."""
        if not self._blocks.is_mostly_free:
            return False
        rows, starts = packed(self.topics.values())
        for name in COLUMNS:
            setattr(self, name, getattr(self, name)[..., rows])
        for history in (self.history, self.log_start_history):
            history.keep(rows)
        self.topics = {topic: Block(starts[block.start], block.length) for topic, block in self.topics.items()}
        self._blocks = BlockAllocator()
        self._blocks.adopt(self.topics.values())
        return True

    def observe(self, rows: HeadRows) -> None:
        """Add one observation; every topic in it must have been given room by `ensure`.

        A partition that has no leader ends and begins where it did: nobody can write to it.
        """
        starts = np.array([self.topics[name].start for name in rows.topics], np.int64)
        at = starts[rows.topic] + rows.partition
        seen, start_seen = rows.end >= 0, rows.log_start >= 0
        self.log_start[at[start_seen]] = rows.log_start[start_seen]
        self._advance(at[seen], rows.end[seen], rows.observed_ms)
        self.history.observe(at[seen], rows.end[seen], rows.observed_ms)
        self.log_start_history.observe(at[start_seen], rows.log_start[start_seen], rows.observed_ms)
        self.has_leader[at] = rows.has_leader
        self._hold(at, np.where(rows.has_leader, rows.last_stable, UNKNOWN), rows.observed_ms)
        self.see_ids(rows.topic_ids, rows.observed_ms)

    def _hold(self, at: Int64, last_stable: Int64, observed_ms: int) -> None:
        """An open transaction holds the last stable offset where it began, while the end may go on."""
        held = (last_stable != UNKNOWN) & (last_stable < self.current(at))
        since_ms = self.held_since_ms[at]
        still = held & (since_ms > 0) & (last_stable == self.last_stable[at])
        # Not later than now, though the clock may have been set back.
        since_ms = np.where(still, np.minimum(since_ms, observed_ms), observed_ms)
        self.held_since_ms[at] = np.where(held, since_ms, 0)
        self.last_stable[at] = last_stable

    def _advance(self, at: Int64, end: Int64, observed_ms: int) -> None:
        newest_ms = self._newest_ms(at)
        # The clock was set back: what it said before cannot be put in order with what it says now.
        self.observed_ms[:, at[newest_ms > observed_ms]] = 0
        slot = np.where(newest_ms == 0, self.newest[at], (self.newest[at] + 1) % self.intervals)
        self.end[slot, at] = end
        self.observed_ms[slot, at] = observed_ms
        self.newest[at] = slot
        self.lowest_end[at] = self._lowest(at)

    def _newest_ms(self, at: Int64) -> Int64:
        """When each row was observed last, 0 if never."""
        return self.observed_ms[self.newest[at], at]

    def _lowest(self, at: Int64) -> Int64:
        highest = np.iinfo(np.int64).max
        lowest: Int64 = np.where(self.observed_ms[:, at] > 0, self.end[:, at], highest).min(axis=0)
        return np.where(lowest == highest, UNKNOWN, lowest)

    def current(self, at: Int64) -> Int64:
        """The newest end offset of each row in `at`, UNKNOWN where there is none (also where `at` is -1)."""
        return self._known(at, lambda known: self.end[self.newest[known], known])

    def log_start_of(self, at: Int64) -> Int64:
        """The log start of each row in `at`, UNKNOWN where it was never observed."""
        return self._known(at, lambda known: self.log_start[known])

    def last_stable_of(self, at: Int64) -> Int64:
        """Where readers of committed records come to in each row in `at`, UNKNOWN where it was not to be had."""
        return self._known(at, lambda known: self.last_stable[known])

    def held_since_of(self, at: Int64) -> Int64:
        """Since when (ms), at the least, the last stable offset of each row in `at` stays before the end.

        0 where it does not, and where that is not known.
        """
        return np.maximum(self._known(at, lambda known: self.held_since_ms[known]), 0)

    def has_leader_of(self, at: Int64) -> Bool:
        """Whether each row in `at` has a leader; what is not known has one."""
        led: Bool = self._known(at, lambda known: self.has_leader[known].astype(np.int64)) != 0
        return led

    def readable_end_of(self, at: Int64) -> Int64:
        """Behind which offset of each row in `at` there are no records, only marks of transactions; else its end."""
        end = self.current(at)
        known = self._known(at, lambda known: self.marks_end[known])
        return np.where((known == end) & (end >= 0), self._known(at, lambda known: self.marks_from[known]), end)

    def is_looked_into(self, at: Int64) -> Bool:
        """Whether it is known of each row in `at` where its last record lies."""
        looked: Bool = self._known(at, lambda known: self.marks_end[known]) == self.current(at)
        return looked

    def note_readable_end(self, topic: str, partition: int, readable_end: int, end: int) -> None:
        """A partition that ends at `end` was looked into: no records lie behind `readable_end`."""
        block = self.topics.get(topic)
        if block and partition < block.length:
            row = block.start + partition
            self.marks_from[row], self.marks_end[row] = readable_end, end

    def incarnation(self, topic: str) -> int:
        """A number for the id of a topic, 0 if it is not known."""
        text = self.topic_ids.get(topic)
        return incarnation_of(urlsafe_b64decode(f"{text}==")) if text else 0

    def incarnations(self) -> tuple[Int64, Int64]:
        """Of each row the number for the id of its topic, 0 if it is not known, and when it was seen last."""
        incarnation, seen_ms = np.zeros(self.used_rows, np.int64), np.zeros(self.used_rows, np.int64)
        for topic in self.topic_ids.keys() & self.topics.keys():
            rows = self.topics[topic].rows
            incarnation[rows], seen_ms[rows] = self.incarnation(topic), self.id_seen_ms[topic]
        return incarnation, seen_ms

    def is_idle_of(self, at: Int64) -> Bool:
        """Whether the last two observations of each row in `at` have found the same end."""
        before = self._known(at, lambda known: self.end[self.newest[known] - 1, known])
        seen = self._known(at, lambda known: self.observed_ms[self.newest[known] - 1, known]) > 0
        idle: Bool = seen & (before == self.current(at))
        return idle

    def names_by_id(self) -> dict[bytes, str]:
        """The names of topics by their ids as records hold them."""
        return {urlsafe_b64decode(f"{text}=="): topic for topic, text in self.topic_ids.items()}

    def lowest(self, at: Int64) -> Int64:
        """The lowest end offset still remembered of each row in `at`, UNKNOWN where there is none."""
        return self._known(at, lambda known: self.lowest_end[known])

    def _known(self, at: Int64, read: Callable[[Int64], Int64]) -> Int64:
        values = np.full(len(at), UNKNOWN, np.int64)
        known = at >= 0
        values[known] = read(at[known])
        return values

    def seen_since(self, at: Int64, at_ms: Int64) -> Bool:
        """Whether each row in `at` was observed at a moment or after it: if not, a lag of that moment has to wait."""
        newest_ms = self._known(at, self._newest_ms)
        seen: Bool = (newest_ms > 0) & (newest_ms >= at_ms)
        return seen

    def lag_of(self, at: Int64, offset: Int64, at_ms: Int64) -> MeasuredLag:
        """The lag of commits of `offset` made at `at_ms`."""
        estimate, at_most = np.full(len(at), PENDING_LAG, np.int64), np.zeros(len(at), np.int64)
        seen = np.flatnonzero(self.seen_since(at, at_ms))
        estimate[seen], at_most[seen] = self._seen_lag_of(at[seen], offset[seen], at_ms[seen])
        return MeasuredLag(estimate, self.lag_at_least(at, offset, at_ms), at_most)

    def _seen_lag_of(self, at: Int64, offset: Int64, at_ms: Int64) -> tuple[Int64, Int64]:
        """The estimate, and the lag against the first observation after the commit."""
        earlier = self._earlier(at, at_ms)
        before, after = self._slot(at, np.maximum(earlier - 1, 0)), self._slot(at, earlier)
        before_ms = np.where(earlier > 0, self.observed_ms[before, at], 0)
        after = np.where(before_ms == at_ms, before, after)
        after_ms, after_end, before_end = self.observed_ms[after, at], self.end[after, at], self.end[before, at]
        grown_by = after_end - before_end
        # float64 would lose records on long logs: the share of the interval is exact in integers
        end = before_end + grown_by * (at_ms - before_ms) // np.maximum(after_ms - before_ms, 1)
        estimate = np.where(before_ms == 0, NULL_LAG, np.maximum(end - offset, 0))
        return estimate, np.maximum(after_end - offset, 0)

    def lag_at_least(self, at: Int64, offset: Int64, at_ms: Int64) -> Int64:
        """Return the certain part of the lag of commits of `offset` made at `at_ms`; 0 where `at` is -1."""
        at_least = np.zeros(len(at), np.int64)
        rest = np.flatnonzero(at >= 0)
        for age in range(self.intervals):  # nearly always the newest observation or the one before it fits
            row = at[rest]
            slot = self.newest[row] - age
            observed_ms = self.observed_ms[slot, row]
            is_before = observed_ms <= at_ms[rest] - IN_FLIGHT_MS
            found = rest[is_before & (observed_ms > 0)]
            at_least[found] = np.maximum(self.end[self.newest[at[found]] - age, at[found]] - offset[found], 0)
            rest = rest[~is_before]
            if not len(rest):
                break
        return at_least

    def _slot(self, at: Int64, age: Int64) -> Int64:
        """The slot of each row that is so many observations younger than the oldest (or than a slot not filled yet)."""
        slot = self.newest[at] + 1 + age
        return slot % self.intervals

    def _earlier(self, at: Int64, at_ms: Int64) -> Int64:
        """How many slots of each row are of a moment not after `at_ms`, or not filled yet; found by halving."""
        low, high = np.zeros(len(at), np.int64), np.full(len(at), self.intervals, np.int64)
        for _ in range(self.intervals.bit_length()):
            middle = (low + high) // 2
            slot = self._slot(at, np.minimum(middle, self.intervals - 1))
            is_open, earlier = low < high, self.observed_ms[slot, at] <= at_ms
            low = np.where(is_open & earlier, middle + 1, low)
            high = np.where(is_open & ~earlier, middle, high)
        return low
