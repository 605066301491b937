"""The windows of one cluster: what its groups have committed, against where its topics end.

In: commit rows, owner rows, heads, each with `now_ms`. Out: views for the rules and for everything that shows them.
One writer at a time; whoever shares a store between threads holds a lock around each call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from warren.windows.columns import UNKNOWN, Block, BlockAllocator, Bool, Int64, grown
from warren.windows.commit_rows import CommitRows, pairs_of
from warren.windows.heads import HeadRows, Heads
from warren.windows.rings import PENDING_LAG, Commits, Ordered, Rings


class Limits(NamedTuple):
    """How much a store remembers (Burrow's `[storage]` keys)."""

    intervals: int = 10
    min_distance_ms: int = 0
    expire_group_ms: int = 604_800_000


class Owner(NamedTuple):
    """Who reads a partition."""

    host: str = ""
    client_id: str = ""


NOBODY = Owner()


class Assignment(NamedTuple):
    """The whole assignment of one group: it replaces what was known before."""

    group: str
    owners: dict[tuple[str, int], Owner]


class GroupWindows(NamedTuple):
    """All partitions of one group as columns: what the rules judge. Topics sorted, partitions ascending."""

    topics: list[str]
    topic: Int64
    partition: Int64
    window: Ordered
    owned: Bool
    head_row: Int64
    head: Int64
    lowest_head: Int64
    log_start: Int64
    current_lag: Int64
    owners: list[Owner]


@dataclass
class _Group:
    topics: dict[str, Block] = field(default_factory=dict)
    owners: dict[tuple[str, int], Owner] = field(default_factory=dict)


class Windows:
    """All state of one cluster."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.heads = Heads(limits.intervals)
        self.rings = Rings(limits.intervals, limits.min_distance_ms)
        self._groups: dict[str, _Group] = {}
        self._groups_of_topic: dict[str, set[str]] = {}
        self._blocks = BlockAllocator()
        self._head_row: Int64 = np.zeros(0, np.int64)  # each row's place in the heads; -1 = topic not known there
        self._pending: Bool = np.zeros(0, np.bool_)  # rows with a lag that waits for a head

    # -- what comes in -------------------------------------------------------------------------------------------

    def apply_commits(self, rows: CommitRows, now_ms: int) -> None:
        """Take commits and tombstones into the windows."""
        alive = rows.tombstone | (rows.timestamp_ms >= now_ms - self.limits.expire_group_ms)
        rows = rows.take(alive & (~rows.tombstone | self._is_known(rows)))
        if not len(rows.offset):
            return
        at = self._rows_of(rows)
        for turn in _turns(at):
            self._apply_turn(at[turn], rows.take(turn), now_ms)
        touched = np.unique(at)
        self._pending[touched] = True
        self._resolve_lags(touched)
        self._drop_empty_groups({rows.groups[code] for code in np.unique(rows.group[rows.tombstone]).tolist()})

    def apply_assignment(self, assignment: Assignment) -> None:
        """Replace who owns the partitions of a group."""
        group = self._groups.get(assignment.group)
        if group is None and not assignment.owners:
            return
        group = self._groups.setdefault(assignment.group, _Group())
        group.owners = dict(assignment.owners)
        for topic, partition in assignment.owners:
            self._ensure_block(assignment.group, topic, partition + 1)
        self._drop_empty_groups([assignment.group])

    def apply_heads(self, rows: HeadRows) -> None:
        """Take one observation of all topics: ends are kept, topics that are not in it are gone everywhere."""
        for topic in self.heads.topics.keys() - set(rows.topics):
            self._forget_topic(topic)
        counts = np.zeros(len(rows.topics), np.int64)
        np.maximum.at(counts, rows.topic, rows.partition + 1)
        for topic, partitions in zip(rows.topics, counts.tolist(), strict=True):
            if self.heads.ensure(topic, partitions):
                self._follow_topic(topic, partitions)
        self.heads.observe(rows)
        self._resolve_lags(np.flatnonzero(self._pending))

    def expire(self, now_ms: int) -> None:
        """Forget groups whose newest commit, of any partition, is older than the store remembers.

        A group that has members but no commit is not silent: it has not spoken yet.
        """
        oldest_ms = now_ms - self.limits.expire_group_ms
        for name, group in list(self._groups.items()):
            newest_ms = max((self._newest_commit_ms(block) for block in group.topics.values()), default=0)
            if newest_ms < oldest_ms and (newest_ms or not group.owners):
                self.delete_group(name)

    def _newest_commit_ms(self, block: Block) -> int:
        at = block.row_numbers()
        newest_ms = self.rings.timestamp_ms[self.rings.newest[at], at]
        return int(newest_ms[self.rings.count[at] > 0].max(initial=0))

    def delete_group(self, name: str) -> bool:
        """Forget a group; False if it is not known."""
        group = self._groups.get(name)
        if group is None:
            return False
        for topic in list(group.topics):
            self._release(name, topic)
        del self._groups[name]
        return True

    def delete_group_topic(self, name: str, topic: str) -> bool:
        """Forget one topic of a group, and the group if that was its last; False if it is not known."""
        group = self._groups.get(name)
        if group is None or topic not in group.topics:
            return False
        self._release(name, topic)
        group.owners = {key: owner for key, owner in group.owners.items() if key[0] != topic}
        self._drop_empty_groups([name])
        return True

    # -- what goes out -------------------------------------------------------------------------------------------

    def topics(self) -> list[str]:
        """The topics known from the brokers."""
        return sorted(self.heads.topics)

    def topic_ends(self, topic: str) -> list[int] | None:
        """The end offset of each partition (-1 where it was never observed); None for an unknown topic."""
        block = self.heads.topics.get(topic)
        return None if block is None else self.heads.current(block.row_numbers()).tolist()

    def groups(self) -> list[str]:
        """The groups with anything to show."""
        return sorted(name for name in self._groups if self._visible_topics(name))

    def groups_of_topic(self, topic: str) -> list[str]:
        """The groups that have committed to, or own partitions of, a topic known from the brokers."""
        return sorted(self._groups_of_topic.get(topic, ())) if topic in self.heads.topics else []

    def group(self, name: str) -> GroupWindows | None:
        """One group's windows; None if there is nothing to show."""
        topics = self._visible_topics(name)
        if not topics:
            return None
        group = self._groups[name]
        lengths = [self.heads.topics[topic].length for topic in topics]
        starts = [group.topics[topic].start for topic in topics]
        partition = np.concatenate([np.arange(length) for length in lengths])
        at = np.repeat(starts, lengths) + partition
        owners = [
            group.owners.get((topic, number), NOBODY)
            for topic, length in zip(topics, lengths, strict=True)
            for number in range(length)
        ]
        window = self.rings.ordered(at)
        head = self.heads.current(self._head_row[at])
        newest = self.rings.offset[self.rings.newest[at], at]
        known = (window.length > 0) & (head != UNKNOWN)
        return GroupWindows(
            topics=topics,
            topic=np.repeat(np.arange(len(topics)), lengths),
            partition=partition,
            window=window,
            owned=np.array([owner is not NOBODY for owner in owners], np.bool_),
            head_row=self._head_row[at],
            head=head,
            lowest_head=self.heads.lowest(self._head_row[at]),
            log_start=self.heads.log_start_of(self._head_row[at]),
            current_lag=np.where(known, np.maximum(head - newest, 0), 0),
            owners=owners,
        )

    # -- being written down, and read back ----------------------------------------------------------------------

    @property
    def used_rows(self) -> int:
        """Rows up to here are, or were, in use."""
        return self._blocks.used_rows

    def groups_with_blocks(self) -> Iterator[tuple[str, dict[str, Block], dict[tuple[str, int], Owner]]]:
        """Every group with its rows and owners, also what is not shown."""
        for name, group in self._groups.items():
            yield name, group.topics, group.owners

    def adopt(self, blocks: Iterable[tuple[str, str, Block]], owners: dict[str, dict[tuple[str, int], Owner]]) -> None:
        """Take over rows that were laid out before; `rings` and `heads` hold their content already."""
        for name, topic, block in blocks:
            self._groups.setdefault(name, _Group()).topics[topic] = block
            self._groups_of_topic.setdefault(topic, set()).add(name)
        for name, owned in owners.items():
            self._groups[name].owners = owned
        self._blocks.adopt(block for group in self._groups.values() for block in group.topics.values())
        self._grow()
        for group in self._groups.values():
            for topic, block in group.topics.items():
                self._point_at_heads(topic, block)
        self._pending[self.rings.waiting_rows()] = True

    # -- rows ----------------------------------------------------------------------------------------------------

    def _apply_turn(self, at: Int64, rows: CommitRows, now_ms: int) -> None:
        """Apply at most one row for each ring."""
        newer = rows.order > self.rings.newest_order(at)
        self.rings.clear(at[newer & rows.tombstone])
        fresh = newer & ~rows.tombstone
        commits = Commits(rows.offset[fresh], rows.timestamp_ms[fresh], rows.order[fresh])
        self.rings.append(at[fresh], commits, now_ms)
        for i in np.flatnonzero(~newer & ~rows.tombstone).tolist():
            place, offset = int(at[i]), int(rows.offset[i])
            self.rings.insert(place, offset, int(rows.timestamp_ms[i]), int(rows.order[i]), now_ms)

    def _resolve_lags(self, at: Int64) -> None:
        """Work out the lags that wait in rows `at`, as far as heads are there for it."""
        at = at[self._head_row[at] >= 0]
        slot, column = np.nonzero(self.rings.lag[:, at] <= PENDING_LAG)
        row = at[column]
        commit_ms = self.rings.timestamp_ms[slot, row] + (PENDING_LAG - self.rings.lag[slot, row])
        lag = self.heads.lag_of(self._head_row[row], self.rings.offset[slot, row], commit_ms)
        known = lag != PENDING_LAG
        self.rings.set_lag(slot[known], row[known], lag[known])
        self._pending[at] = False
        self._pending[row[~known]] = True

    def _is_known(self, rows: CommitRows) -> Bool:
        """Whether each row's group and topic have windows: a tombstone makes none."""
        pairs, inverse = pairs_of(rows)
        known = [group in self._groups and topic in self._groups[group].topics for group, topic in pairs]
        # A commit earlier in the same batch may be what its tombstone removes.
        made = np.zeros(len(pairs), np.bool_)
        made[inverse[~rows.tombstone]] = True
        return (np.array(known, np.bool_) | made)[inverse]

    def _rows_of(self, rows: CommitRows) -> Int64:
        """Each commit's row; makes room for groups, topics and partitions that are new."""
        pairs, inverse = pairs_of(rows)
        needed = np.zeros(len(pairs), np.int64)
        np.maximum.at(needed, inverse, rows.partition + 1)
        for (group, topic), partitions in zip(pairs, needed.tolist(), strict=True):
            self._ensure_block(group, topic, partitions)
        starts = np.array([self._groups[group].topics[topic].start for group, topic in pairs], np.int64)
        return starts[inverse] + rows.partition

    def _ensure_block(self, name: str, topic: str, partitions: int) -> None:
        """Give (group, topic) a row for each partition: as many as are needed, and as the brokers have."""
        group = self._groups.setdefault(name, _Group())
        head = self.heads.topics.get(topic)
        needed = max(partitions, head.length if head else 0)
        old = group.topics.get(topic)
        if old and old.length >= needed:
            return
        block = self._blocks.allocate(needed)
        self._grow()
        self.rings.clear(block.rows)
        self._pending[block.rows] = False
        if old:
            target = slice(block.start, block.start + old.length)
            self.rings.move(old.rows, target)
            self._pending[target] = self._pending[old.rows]
            self._pending[old.rows] = False
            self._blocks.release(old)
        group.topics[topic] = block
        self._groups_of_topic.setdefault(topic, set()).add(name)
        self._point_at_heads(topic, block)

    def _grow(self) -> None:
        rows = self._blocks.used_rows
        self.rings.grow(rows)
        self._head_row = grown(self._head_row, rows, -1)  # type: ignore[assignment]  # same dtype in, same dtype out
        self._pending = grown(self._pending, rows, 0)  # type: ignore[assignment]

    def _point_at_heads(self, topic: str, block: Block) -> None:
        head = self.heads.topics.get(topic)
        covered = min(block.length, head.length) if head else 0
        self._head_row[block.rows] = -1
        if head:
            self._head_row[block.start : block.start + covered] = np.arange(head.start, head.start + covered)

    def _follow_topic(self, topic: str, partitions: int) -> None:
        """A topic's heads are new or have moved: point every window of it there."""
        for name in self._groups_of_topic.get(topic, ()):
            self._ensure_block(name, topic, partitions)
            self._point_at_heads(topic, self._groups[name].topics[topic])

    def _forget_topic(self, topic: str) -> None:
        self.heads.forget(topic)
        names = list(self._groups_of_topic.get(topic, ()))
        for name in names:
            self.delete_group_topic(name, topic)

    def _release(self, name: str, topic: str) -> None:
        block = self._groups[name].topics.pop(topic)
        self.rings.clear(block.rows)
        self._pending[block.rows] = False
        self._blocks.release(block)
        self._groups_of_topic[topic].discard(name)
        if not self._groups_of_topic[topic]:
            del self._groups_of_topic[topic]

    def _drop_empty_groups(self, names: Iterable[str]) -> None:
        """Forget topics of these groups without any commit or owner, and groups without any topic."""
        for name in names:
            group = self._groups.get(name)
            if group is None:
                continue
            owned = {topic for topic, _ in group.owners}
            for topic, block in list(group.topics.items()):
                if topic not in owned and not self.rings.count[block.rows].any():
                    self._release(name, topic)
            if not group.topics:
                del self._groups[name]

    def _visible_topics(self, name: str) -> list[str]:
        """A topic that the brokers do not have (yet) is kept, but there is no lag to show for it."""
        group = self._groups.get(name)
        return sorted(topic for topic in group.topics if topic in self.heads.topics) if group else []


def _turns(at: Int64) -> list[Int64]:
    """Split row numbers into turns, no row twice in one, each row's commits in their order over the turns."""
    by_row = np.argsort(at, kind="stable")
    sorted_rows = at[by_row]
    first = np.flatnonzero(np.concatenate(([True], sorted_rows[1:] != sorted_rows[:-1])))
    lengths = np.diff(np.append(first, len(at)))
    rank = np.arange(len(at)) - np.repeat(first, lengths)
    by_rank = np.argsort(rank, kind="stable")
    return np.split(by_row[by_rank], np.cumsum(np.bincount(rank))[:-1])
