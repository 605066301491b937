"""Burrow's storage and evaluator, as plainly as they can be said: the oracle that the columns are compared with.

Where Warren is right and Burrow is not (docs/compatibility.md), the model says what Warren does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import NamedTuple

NULL = None


@dataclass
class Entry:
    offset: int
    timestamp_ms: int
    order: int
    lag: int | None = None
    lag_at_least: int = 0
    commit_ms: int = 0  # of the newest commit merged into this entry
    pending: bool = True  # waits for a head observed after the commit

    @property
    def remembered_ms(self) -> int:
        """When it was committed; once its lag is known nobody asks, so only the time of the entry is left."""
        return self.commit_ms if self.pending else self.timestamp_ms


@dataclass
class Window:
    """The ring of one group-partition."""

    intervals: int
    min_distance_ms: int
    entries: list[Entry] = field(default_factory=list)
    topic_id: str = ""  # that the newest commits were made to, as far as they told

    def commit(self, offset: int, timestamp_ms: int, order: int, topic_id: str = "") -> None:
        new = Entry(offset, timestamp_ms, order, commit_ms=timestamp_ms)
        of_another = bool(topic_id and self.topic_id and topic_id != self.topic_id)
        if self.entries and order <= self.entries[-1].order:
            return
        if of_another:
            self.entries.clear()
        self.topic_id = topic_id or self.topic_id
        if self.entries and self.intervals > 1 and self._is_near(self.entries[-1], new):
            new.timestamp_ms = self.entries[-1].timestamp_ms
            self.entries[-1] = new
        else:
            self.entries.append(new)
        del self.entries[: -self.intervals]

    def _is_near(self, before: Entry, new: Entry) -> bool:
        return 0 <= new.timestamp_ms - before.timestamp_ms < self.min_distance_ms

    def tombstone(self, order: int) -> None:
        if not self.entries or order > self.entries[-1].order:
            self.entries.clear()

    def forget_until(self, until_ms: int) -> None:
        """What comes before an entry of the old topic is of the old topic, too; the rest is measured anew."""
        old = [number for number, one in enumerate(self.entries, 1) if one.remembered_ms <= until_ms]
        del self.entries[: max(old, default=0)]
        for one in self.entries:
            one.commit_ms, one.lag, one.lag_at_least, one.pending = one.remembered_ms, NULL, 0, True

    def resolve(self, heads: list[tuple[int, int]]) -> None:
        """Measure lags that wait, against `heads`: (observed_ms, end) in the order of observation."""
        for one in self.entries:
            if one.pending:
                one.lag_at_least = lag_at_least(heads, one.offset, one.commit_ms)
                one.lag, one.pending = lag_at(heads, one.offset, one.commit_ms)


def lag_at(heads: list[tuple[int, int]], offset: int, at_ms: int) -> tuple[int | None, bool]:
    """The lag of a commit, and whether it still waits for a head."""
    after = [(ms, end) for ms, end in heads if ms >= at_ms]
    before = [(ms, end) for ms, end in heads if ms <= at_ms]
    if not after:
        return NULL, True
    if not before:
        return NULL, False
    (ms_0, end_0), (ms_1, end_1) = before[-1], after[0]
    end = end_1 if ms_1 == ms_0 else end_0 + (end_1 - end_0) * (at_ms - ms_0) // (ms_1 - ms_0)
    return max(0, end - offset), False


def lag_at_least(heads: list[tuple[int, int]], offset: int, at_ms: int) -> int:
    """What was there a second before the commit, and not read."""
    before = [end for ms, end in heads if ms <= at_ms - 1_000]
    return max(0, before[-1] - offset) if before else 0


def judge(
    entries: list[tuple[int, int, int | None]],
    heads: list[int],
    *,
    now_ms: int,
    intervals: int,
    allowed_lag: int = 0,
    minimum_complete: float = 0.0,
    certain: list[int] | None = None,
) -> str:
    """Burrow's verdict on one partition: `entries` are (offset, timestamp_ms, lag), oldest first.

    With `certain`, what is certain of each lag, it is what Warren makes of Burrow's rules.
    """
    if not entries or len(entries) / intervals < minimum_complete or not heads:
        return "OK"
    offsets = [offset for offset, _, _ in entries]
    lags = [lag for _, _, lag in entries if lag is not None]
    first_ms, last_ms = entries[0][1], entries[-1][1]
    now_ms = now_ms // 1000 * 1000
    if max(0, heads[-1] - offsets[-1]) <= allowed_lag:
        return "OK"
    if now_ms - last_ms > last_ms - first_ms and not any(head <= offsets[-1] for head in heads):
        return "STOP"
    back = next((i for i in range(1, len(offsets)) if offsets[i] < offsets[i - 1]), None)
    if back is not None and not any(offset >= offsets[back - 1] for offset in offsets[back:]):
        return "REWIND"
    if any(lag <= allowed_lag for lag in lags):
        return "OK"
    if certain is not None and max(certain) <= allowed_lag:
        return "OK"
    if all(offset == offsets[0] for offset in offsets):
        return "STALL"
    if certain is not None:
        return "WARN" if _falls_behind(lags, certain, allowed_lag, is_whole=len(entries) == intervals) else "OK"
    return "WARN" if _never_falls(lags) else "OK"


def _falls_behind(lags: list[int], certain: list[int], allowed_lag: int, *, is_whole: bool) -> bool:
    if min(certain) > allowed_lag and _never_falls(certain):
        return True
    always_rises = all(later > earlier for earlier, later in pairwise(lags))
    return is_whole and len(lags) >= 3 and _never_falls(lags) and (max(certain) > lags[0] or always_rises)


def _never_falls(lags: list[int]) -> bool:
    return not any(later < earlier for earlier, later in pairwise(lags))


NOBODY = ("", "", "", "")


class Partition(NamedTuple):
    """What a store shows of one partition of a group; an entry is (offset, timestamp_ms, lag, lag_at_least)."""

    topic: str
    partition: int
    entries: list[tuple[int, int, int | None, int]]
    owner: tuple[str, ...]
    head: int
    lowest_head: int
    log_start: int
    current_lag: int


@dataclass
class Head:
    """What is known of one partition of a topic."""

    ends: list[tuple[int, int]] = field(default_factory=list)  # (observed_ms, end)
    log_start: int = -1
    has_leader: bool = True
    last_stable: int = -1
    held_since_ms: int = 0

    def observe(self, end: int, log_start: int, now_ms: int, intervals: int) -> None:
        if end >= 0:
            # What was observed later than now was observed before the clock was set back.
            before = [] if self.ends and self.ends[-1][0] > now_ms else self.ends
            self.ends = [*before, (now_ms, end)][-intervals:]
        if log_start >= 0:
            self.log_start = log_start

    def observe_stable(self, last_stable: int, now_ms: int) -> None:
        held = bool(self.ends) and 0 <= last_stable < self.ends[-1][1]
        still = held and last_stable == self.last_stable and self.held_since_ms
        self.held_since_ms = (min(self.held_since_ms, now_ms) if still else now_ms) if held else 0
        self.last_stable = last_stable


class Seen(NamedTuple):
    """The id under which a topic was last seen, and when."""

    topic_id: str
    at_ms: int


class Observed(NamedTuple):
    """Where each partition ends, where all begin, and up to where all are stable; -1 where that was not to be had."""

    ends: dict[str, list[int]]
    log_start: int = 0
    stable_up_to: int = -1
    leaderless: tuple[tuple[str, int], ...] = ()
    topic_ids: dict[str, str] = {}  # noqa: RUF012 (nobody changes it)

    def end(self, topic: str, partition: int) -> int:
        return -1 if (topic, partition) in self.leaderless else self.ends[topic][partition]

    def last_stable(self, topic: str, partition: int) -> int:
        end = self.end(topic, partition)
        return min(end, self.stable_up_to) if end >= 0 else -1


@dataclass
class Store:
    """All windows of one cluster. A group is there as long as it has a commit or an owner anywhere."""

    intervals: int
    min_distance_ms: int
    expire_group_ms: int
    heads: dict[str, list[Head]] = field(default_factory=dict)  # by topic, one for each partition
    ids: dict[str, Seen] = field(default_factory=dict)
    windows: dict[tuple[str, str, int], Window] = field(default_factory=dict)  # by group, topic, partition
    owners: dict[tuple[str, str, int], tuple[str, ...]] = field(default_factory=dict)

    def record(
        self, key: tuple[str, str, int], offset: int | None, timestamp_ms: int, order: int, topic_id: str = ""
    ) -> None:
        """A commit, or without an offset a tombstone."""
        window = self.windows.get(key) or Window(self.intervals, self.min_distance_ms)
        if offset is None:
            window.tombstone(order)
        else:
            window.commit(offset, timestamp_ms, order, topic_id)
            window.resolve(self._heads_of(*key[1:]))
        self.windows[key] = window
        if not window.entries:
            del self.windows[key]

    def assign(self, group: str, owners: dict[tuple[str, int], tuple[str, ...]]) -> None:
        self.owners = {key: owner for key, owner in self.owners.items() if key[0] != group}
        self.owners |= {(group, *place): owner for place, owner in owners.items()}

    def observe(self, seen: Observed, now_ms: int) -> None:
        for gone in self.heads.keys() - seen.ends.keys():
            del self.heads[gone]
            self.ids.pop(gone, None)
            self._forget({key for key in self._keys() if key[1] == gone})
        for topic, topic_id in seen.topic_ids.items():
            if topic in self.ids and self.ids[topic].topic_id != topic_id:
                self._forget_incarnation(topic, len(seen.ends[topic]))
            self.ids[topic] = Seen(topic_id, now_ms)
        for topic, ends in seen.ends.items():
            heads = self.heads.setdefault(topic, [])
            # As long as a topic is there its partitions are never fewer.
            heads += [Head() for _ in range(len(ends) - len(heads))]
            for partition, head in enumerate(heads[: len(ends)]):
                head.observe(seen.end(topic, partition), seen.log_start, now_ms, self.intervals)
                head.observe_stable(seen.last_stable(topic, partition), now_ms)
                head.has_leader = (topic, partition) not in seen.leaderless
        for key, window in self.windows.items():
            window.resolve(self._heads_of(*key[1:]))

    def _forget_incarnation(self, topic: str, partitions: int) -> None:
        """The topic was deleted and made again since it was last seen."""
        del self.heads[topic]
        self._forget({key for key in self._keys() if key[1] == topic and key[2] >= partitions})
        for key in [key for key in self.windows if key[1] == topic]:
            self.windows[key].forget_until(self.ids[topic].at_ms)
            if not self.windows[key].entries:
                del self.windows[key]

    def restart(self) -> None:
        """What the next observation tells anyway is not kept."""
        for head in chain(*self.heads.values()):
            head.has_leader, head.last_stable, head.held_since_ms = True, -1, 0

    def expire(self, now_ms: int) -> None:
        newest_ms: dict[str, int] = {}
        for (group, _, _), window in self.windows.items():
            newest_ms[group] = max(newest_ms.get(group, 0), window.entries[-1].timestamp_ms)
        for group, ms in newest_ms.items():
            if ms < now_ms - self.expire_group_ms - self.min_distance_ms:
                self.delete_group(group)
        for key in [key for key in self.windows if self._is_of_a_topic_that_is_gone(key)]:
            del self.windows[key]

    def _is_of_a_topic_that_is_gone(self, key: tuple[str, str, int]) -> bool:
        """Committed to another topic of the name, before the present one was seen."""
        window, seen = self.windows[key], self.ids.get(key[1])
        if seen is None or not window.topic_id or key[2] >= len(self.heads.get(key[1], [])):
            return False
        newest_ms = window.entries[-1].timestamp_ms + self.min_distance_ms
        return window.topic_id != seen.topic_id and newest_ms < seen.at_ms

    def delete_group(self, group: str) -> bool:
        return self._forget({key for key in self._keys() if key[0] == group})

    def delete_group_topic(self, group: str, topic: str) -> bool:
        return self._forget({key for key in self._keys() if key[:2] == (group, topic)})

    def _forget(self, keys: set[tuple[str, str, int]]) -> bool:
        for key in keys:
            self.windows.pop(key, None)
            self.owners.pop(key, None)
        return bool(keys)

    def _keys(self) -> set[tuple[str, str, int]]:
        return self.windows.keys() | self.owners.keys()

    def _heads_of(self, topic: str, partition: int) -> list[tuple[int, int]]:
        partitions = self.heads.get(topic, [])
        return partitions[partition].ends if partition < len(partitions) else []

    def topics(self) -> dict[str, list[int]]:
        """Every topic with its ends."""
        return {
            topic: [head.ends[-1][1] if head.ends else -1 for head in partitions]
            for topic, partitions in self.heads.items()
        }

    def leaders(self) -> dict[str, list[tuple[bool, int, int]]]:
        """Of every partition of every topic whether it has a leader, and up to where it is stable since when."""
        return {
            topic: [(head.has_leader, head.last_stable, head.held_since_ms) for head in partitions]
            for topic, partitions in self.heads.items()
        }

    def groups_of_topic(self, topic: str) -> list[str]:
        return sorted({group for group, of, _ in self._keys() if of == topic and topic in self.heads})

    def groups(self) -> dict[str, list[Partition]]:
        """Every group with all partitions of its topics, also those that it has not committed."""
        shown = sorted({(group, topic) for group, topic, _ in self._keys() if topic in self.heads})
        partitions: dict[str, list[Partition]] = {group: [] for group, _ in shown}
        for group, topic in shown:
            partitions[group] += [self._partition(group, topic, number) for number in range(len(self.heads[topic]))]
        return partitions

    def _partition(self, group: str, topic: str, partition: int) -> Partition:
        key, ends = (group, topic, partition), [end for _, end in self._heads_of(topic, partition)]
        entries = self.windows[key].entries if key in self.windows else []
        return Partition(
            topic,
            partition,
            entries=[(one.offset, one.timestamp_ms, one.lag, one.lag_at_least) for one in entries],
            owner=self.owners.get(key, NOBODY),
            head=ends[-1] if ends else -1,
            lowest_head=min(ends, default=-1),
            log_start=self.heads[topic][partition].log_start,
            current_lag=max(0, ends[-1] - entries[-1].offset) if ends and entries else 0,
        )
