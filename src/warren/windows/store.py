"""The windows of one cluster: what its groups have committed, against where its topics end.

In: commit rows, owner rows, heads, each with `now_ms`. Out: views for the rules and for everything that shows them.
One writer at a time; whoever shares a store between threads holds a lock around each call.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from warren.windows.columns import UNKNOWN, Block, BlockAllocator, Bool, Int64, packed, rows_of
from warren.windows.commit_rows import CommitRows, turns
from warren.windows.group_rows import RowsByGroup
from warren.windows.heads import HeadRows, Heads
from warren.windows.labels import FREE, NO_HEAD, NO_OWNER, Labels, Owner, Owners
from warren.windows.rings import PENDING_LAG, Commits, Rings, Waiting
from warren.windows.views import GroupWindows, Outline, Partitions

GROWN_PARTITIONS = 1_000
"""So many partitions more than the brokers told of a topic are believed: it may have grown since."""

UNOWNED_PARTITIONS = 64
"""Who owns a partition is kept before the brokers told of its topic, if no more than about half of the topic and so
many partitions have no owner: an assignment names each partition that is assigned, in four bytes, but a window takes
memory for all of them up to the highest."""


class Limits(NamedTuple):
    """How much a store remembers (Burrow's `[storage]` keys)."""

    intervals: int = 10
    min_distance_ms: int = 0
    expire_group_ms: int = 604_800_000


class Assignment(NamedTuple):
    """The whole assignment of one group: it replaces what was known before."""

    group: str
    owners: dict[tuple[str, int], Owner]


class Windows:
    """All state of one cluster."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.heads = Heads(limits.intervals)
        self.rings = Rings(limits.intervals, limits.min_distance_ms)
        self.labels = Labels()
        self.owners = Owners()
        self.layout = 0
        """Another number whenever rows come to belong to another partition, or are shown or not shown any more."""
        self.clock_skew_ms = 0
        """The brokers' clock, which stamps commits, less ours, which stamps heads."""
        self._groups = RowsByGroup()
        self._groups_of_topic: dict[str, set[str]] = {}
        self._blocks = BlockAllocator()

    # -- what comes in -------------------------------------------------------------------------------------------

    def apply_commits(self, rows: CommitRows, now_ms: int) -> None:
        """Take commits and tombstones into the windows."""
        if rows.tombstone.any():
            rows = rows.take(~rows.tombstone | self._is_known(rows))
        if not len(rows.offset):
            return
        at = self._rows_of(rows)
        for turn in turns(at):
            self._apply_turn(at[turn], rows.take(turn), now_ms)
        self.labels.waiting[at] = True
        at_ms = rows.timestamp_ms - self.clock_skew_ms
        self._measure_lags(self._distinct(at[self.heads.seen_since(self.labels.heads_of(at), at_ms)]))
        self._drop_empty_groups({rows.pairs[pair][0] for pair in np.unique(rows.pair[rows.tombstone]).tolist()})

    def is_believed(self, rows: CommitRows) -> Bool:
        """Whether the topic of each row can have its partition, by what the brokers told of it."""
        most = [self._most_partitions(topic) for _, topic in rows.pairs]
        believed: Bool = rows.partition < np.array(most, np.int64)[rows.pair]
        return believed

    def _most_partitions(self, topic: str) -> int:
        head = self.heads.topics.get(topic)
        return head.length + GROWN_PARTITIONS if head else sys.maxsize

    def _distinct(self, at: Int64) -> Int64:
        marked = np.zeros(self.used_rows, np.bool_)
        marked[at] = True
        return np.flatnonzero(marked)

    def apply_assignment(self, assignment: Assignment) -> None:
        """Replace who owns the partitions of a group."""
        group = self._groups.get(assignment.group)
        for block in group.topics.values() if group else ():
            self._set_owner(block.rows, NO_OWNER)
        owned = Counter(topic for topic, _ in assignment.owners)
        most = {topic: self._most_owned(assignment.group, topic, count) for topic, count in owned.items()}
        kept = {at: owner for at, owner in assignment.owners.items() if at[1] < most[at[0]]}
        needed: dict[str, int] = {}
        for topic, partition in kept:
            needed[topic] = max(needed.get(topic, 0), partition + 1)
        blocks = {topic: self._ensure_block(assignment.group, topic, count) for topic, count in needed.items()}
        for (topic, partition), owner in kept.items():
            row = blocks[topic].start + partition
            self._set_owner(slice(row, row + 1), self.owners.code_of(owner))
        self._drop_empty_groups([assignment.group])

    def _most_owned(self, name: str, topic: str, owned: int) -> int:
        """Owners of partitions from here on are not kept."""
        if topic in self.heads.topics:
            return self._most_partitions(topic)
        group = self._groups.get(name)
        known = group.topics[topic].length if group and topic in group.topics else 0
        return max(known, 2 * owned + UNOWNED_PARTITIONS)

    def _set_owner(self, rows: slice, code: int) -> None:
        self.labels.owner[rows] = code
        self.rings.touched[rows] = True

    def apply_heads(self, rows: HeadRows) -> None:
        """Take one observation of all topics: ends are kept, topics that are not in it are gone everywhere."""
        for topic in self.heads.topics.keys() - set(rows.topics):
            self._forget_topic(topic)
        counts = np.zeros(len(rows.topics), np.int64)
        np.maximum.at(counts, rows.topic, rows.partition + 1)
        partition_counts = dict(zip(rows.topics, counts.tolist(), strict=True))
        for topic in self.heads.recreated(rows.topic_ids):
            self._forget_incarnation(topic, partition_counts[topic])
        for topic, partitions in partition_counts.items():
            if self.heads.ensure(topic, partitions):
                self._follow_topic(topic, partitions)
        self.heads.observe(rows)
        self._measure_lags(np.flatnonzero(self.labels.waiting))

    def expire(self, now_ms: int) -> None:
        """Forget groups whose newest commit, of any partition, is older than the store remembers.

        An entry has the time of the first commit in it; the last one may be min-distance later. A group that has
        members but no commit is not silent: it has not spoken yet.
        """
        newest_ms, has_owner = self._newest_entry_ms(), self._has_owner()
        oldest_ms = now_ms - self.limits.expire_group_ms - self.limits.min_distance_ms
        expired = (newest_ms < oldest_ms) & ((newest_ms > 0) | ~has_owner)
        for name in [name for name, group in self._groups.items() if expired[group.code]]:
            self.delete_group(name)
        self._forget_other_topics()
        if self.owners.forget_unused(self.labels):
            self.rings.touched[:] = True
        self._pack()

    def _forget_other_topics(self) -> None:
        """Forget windows of commits to another topic of the same name, which was gone when the present one was seen."""
        at = np.flatnonzero((self.labels.incarnation != 0) & (self.labels.head_row != NO_HEAD))
        incarnation, seen_ms = (column[self.labels.head_row[at]] for column in self.heads.incarnations())
        committed_ms = self.rings.timestamp_ms[self.rings.newest_places(at)] + self.limits.min_distance_ms
        gone = at[self._is_of_another(at, incarnation) & (committed_ms - self.clock_skew_ms < seen_ms)]
        self._empty(gone)
        codes = np.unique(self.labels.group[gone]).tolist()
        self._drop_empty_groups([name for code in codes if (name := self._groups.names[code])])

    def _newest_entry_ms(self) -> Int64:
        """The time of the newest entry of each group, 0 without any, by its code."""
        at = np.flatnonzero((self.rings.count > 0) & (self.labels.group != FREE))
        newest_ms = np.zeros(len(self._groups.names), np.int64)
        np.maximum.at(newest_ms, self.labels.group[at], self.rings.timestamp_ms[self.rings.newest_places(at)])
        return newest_ms

    def _has_owner(self) -> Bool:
        has_owner = np.zeros(len(self._groups.names), np.bool_)
        has_owner[self.labels.group[self.labels.owner != NO_OWNER]] = True
        return has_owner

    def _pack(self) -> None:
        """Move the rows together if most of them are free, so that the memory can be given back."""
        if self.heads.pack():
            self._point_all_at_heads()
        if self._blocks.is_mostly_free:
            rows, starts = packed(block for group in self._groups.values() for block in group.topics.values())
            self.rings.keep(rows)
            self.labels.keep(rows)
            for group in self._groups.values():
                group.topics = {topic: Block(starts[one.start], one.length) for topic, one in group.topics.items()}
            self._blocks = BlockAllocator()
            self._blocks.adopt(block for group in self._groups.values() for block in group.topics.values())
            self.layout += 1

    def delete_group(self, name: str) -> bool:
        """Forget a group; False if it is not known."""
        group = self._groups.get(name)
        if group is None:
            return False
        for topic in list(group.topics):
            self._release(name, topic)
        self._groups.remove(name)
        return True

    def delete_group_topic(self, name: str, topic: str) -> bool:
        """Forget one topic of a group, and the group if that was its last; False if it is not known."""
        group = self._groups.get(name)
        if group is None or topic not in group.topics:
            return False
        self._release(name, topic)
        self._drop_empty_groups([name])
        return True

    # -- what goes out -------------------------------------------------------------------------------------------

    def topics(self) -> list[str]:
        """The topics known from the brokers."""
        return sorted(self.heads.topics)

    def unseen_topics(self) -> list[str]:
        """Topics that groups have committed to and the brokers do not list: they are gone, or may not be seen."""
        return sorted(
            topic for topic, groups in self._groups_of_topic.items() if groups and topic not in self.heads.topics
        )

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
        lengths = [self.heads.topics[topic].length for topic in topics]
        starts = [self._groups[name].topics[topic].start for topic in topics]
        partition = np.concatenate([np.arange(length) for length in lengths])
        at = np.repeat(starts, lengths) + partition
        numbers = self.partitions(at, self.outline(at))
        columns = {one.name: getattr(numbers, one.name) for one in fields(Partitions) if one.name != "window"}
        return GroupWindows(
            **columns,
            window=self.rings.whole_windows(at),
            topics=topics,
            topic=np.repeat(np.arange(len(topics)), lengths),
            partition=partition,
            owners=[self.owners.known[code] for code in self.labels.owner[at].tolist()],
            last_status=self.labels.status[at],
            since_s=self.labels.since_s[at].astype(np.int64),
            has_leader=self.heads.has_leader_of(numbers.head_row),
            is_of_another=self._is_of_another(at, np.repeat([self.heads.incarnation(one) for one in topics], lengths)),
        )

    def outline(self, at: Int64) -> Outline:
        """Some rows, of whatever groups, without their windows."""
        length, head_row = self.rings.count[at], self.labels.heads_of(at)
        head, newest = self.heads.current(head_row), self.rings.offset[self.rings.newest_places(at)]
        known = (length > 0) & (head != UNKNOWN)
        return Outline(
            length=length,
            owned=self.labels.owner[at] != NO_OWNER,
            head_row=head_row,
            head=head,
            newest_offset=newest,
            current_lag=np.where(known, np.maximum(head - newest, 0), 0),
        )

    def newest_ms(self, at: Int64) -> Int64:
        """When the newest commit of each row was made, 0 where there is none."""
        return np.where(self.rings.count[at] > 0, self.rings.timestamp_ms[self.rings.newest_places(at)], 0)

    def partitions(self, at: Int64, outline: Outline) -> Partitions:
        """The same rows with their windows."""
        return Partitions(
            **{one.name: getattr(outline, one.name) for one in fields(Outline)},
            window=self.rings.windows(at),
            lowest_head=self.heads.lowest(outline.head_row),
            log_start=self.heads.log_start_of(outline.head_row),
            last_stable=self.heads.last_stable_of(outline.head_row),
            held_since_ms=self.heads.held_since_of(outline.head_row),
            readable_end=self.heads.readable_end_of(outline.head_row),
            usual_lag=self.labels.usual_lag(at),
        )

    def shown_rows(self) -> Int64:
        """The rows of all partitions that there is something to show of."""
        return np.flatnonzero((self.labels.group != FREE) & (self.labels.head_row != NO_HEAD))

    def newest_commit_ms(self, group: str, topic: str) -> int | None:
        """When a group last committed to a topic; None if there is no window with a commit."""
        known = self._groups.get(group)
        if known is None or topic not in known.topics:
            return None
        rows = known.topics[topic].row_numbers()
        rows = rows[self.rings.count[rows] > 0]
        return int(self.rings.timestamp_ms[self.rings.newest_places(rows)].max()) if len(rows) else None

    def topics_of_group(self, group: str) -> list[str]:
        """The topics of a group that are known from the brokers."""
        return self._visible_topics(group)

    def rows_of(self, group: str, topic: str) -> Int64:
        """The rows of a group's partitions of a topic that the brokers have, in their order."""
        start = self._groups[group].topics[topic].start
        return np.arange(start, start + self.heads.topics[topic].length)

    def partition_of(self, group: str, row: int) -> tuple[str, int]:
        """Which partition of a group a row is of."""
        topics = self._groups[group].topics.items()
        return next((topic, row - start) for topic, (start, length) in topics if start <= row < start + length)

    def group_names(self) -> list[str | None]:
        """The names of the groups by the codes that `labels.group` holds; None where a code is free."""
        return self._groups.names

    # -- being written down, and read back ----------------------------------------------------------------------

    @property
    def used_rows(self) -> int:
        """Rows up to here are, or were, in use."""
        return self._blocks.used_rows

    def blocks(self) -> Iterator[tuple[str, str, Block]]:
        """The rows of every group and topic, also what is not shown."""
        for name, group in self._groups.items():
            for topic, block in group.topics.items():
                yield name, topic, block

    def adopt(self, blocks: Iterable[tuple[str, str, Block]]) -> None:
        """Take over rows that were laid out before; `rings`, `labels.owner` and `heads` hold their content already."""
        for name, topic, block in blocks:
            self._groups.ensure(name).topics[topic] = block
            self._groups_of_topic.setdefault(topic, set()).add(name)
        self._blocks.adopt(block for _, _, block in self.blocks())
        self._grow()
        for group in self._groups.values():
            self.labels.group[rows_of(list(group.topics.values()))[0]] = group.code
        self._point_all_at_heads()
        self.labels.waiting[self.rings.waiting_rows(self.used_rows)] = True

    # -- rows ----------------------------------------------------------------------------------------------------

    def _apply_turn(self, at: Int64, rows: CommitRows, now_ms: int) -> None:
        """Apply at most one row for each ring; rows older than the newest commit of their ring change nothing."""
        newer = rows.order > self.rings.last_order(at)
        empties = rows.tombstone
        if rows.incarnation is not None:
            empties = empties | self._is_anew(at, rows.incarnation)
        self._empty(at[newer & empties])
        if rows.incarnation is not None:
            told = newer & (rows.incarnation != 0)
            self.labels.incarnation[at[told]] = rows.incarnation[told]
        fresh = newer & ~rows.tombstone
        at, commits = at[fresh], Commits(rows.offset[fresh], rows.timestamp_ms[fresh], rows.order[fresh])
        committed_ms = commits.timestamp_ms - self.clock_skew_ms
        at_least = self.heads.lag_at_least(self.labels.heads_of(at), commits.offset, committed_ms)
        self.rings.append(at, commits, at_least, now_ms)

    def _empty(self, at: Int64) -> None:
        """Forget the windows of these rows; an empty one is of no topic's incarnation."""
        self.rings.clear(at)
        self.labels.forget_commits(at)

    def _is_of_another(self, at: Int64, incarnation: Int64) -> Bool:
        """Which windows are of commits to another incarnation of their topic than this."""
        known = self.labels.incarnation[at]
        another: Bool = (known != 0) & (incarnation != 0) & (known != incarnation) & (self.rings.count[at] > 0)
        return another

    def _is_anew(self, at: Int64, incarnation: Int64) -> Bool:
        """Which commits are to another incarnation of the topic than those before: not a rewind, a new beginning."""
        known = self.labels.incarnation[at]
        anew: Bool = (known != 0) & (incarnation != 0) & (incarnation != known)
        return anew

    def _measure_lags(self, at: Int64) -> None:
        """Measure the pending lags of rows `at` for which an observation has arrived."""
        at = at[self.labels.head_row[at] != NO_HEAD]
        waiting = self.rings.waiting(at)
        at_ms = waiting.commit_ms - self.clock_skew_ms
        lag = self.heads.lag_of(self.labels.heads_of(waiting.row), waiting.offset, at_ms)
        known = lag.estimate != PENDING_LAG
        self.rings.set_lag_at_least(waiting, lag.at_least)
        self.rings.set_lag(waiting.take(known), lag.estimate[known])
        self._note_rests(waiting.take(known), lag.at_most[known])
        self.labels.waiting[at] = False
        self.labels.waiting[waiting.row[~known]] = True

    def _note_rests(self, measured: Waiting, at_most: Int64) -> None:
        """Update the usual lags from measured commits, oldest first."""
        for age in np.unique(measured.age)[::-1]:
            of_age = measured.is_progress & (measured.age == age)
            self.labels.note_rests(measured.row[of_age], at_most[of_age])

    def _is_known(self, rows: CommitRows) -> Bool:
        """Whether each row's group and topic have windows: a tombstone makes none."""
        # A commit earlier in the same batch may be what its tombstone removes.
        made = {rows.pairs[pair] for pair in np.unique(rows.pair[~rows.tombstone]).tolist()}
        known = [
            (group, topic) in made or (group in self._groups and topic in self._groups[group].topics)
            for group, topic in rows.pairs
        ]
        return np.array(known, np.bool_)[rows.pair]

    def _rows_of(self, rows: CommitRows) -> Int64:
        """Each commit's row; makes room for groups, topics and partitions that are new."""
        needed = np.zeros(len(rows.pairs), np.int64)
        np.maximum.at(needed, rows.pair, rows.partition + 1)
        present = [
            (*pair, partitions) for pair, partitions in zip(rows.pairs, needed.tolist(), strict=True) if partitions
        ]
        for group, topic, partitions in present:
            self._ensure_block(group, topic, partitions)
        starts = np.zeros(len(rows.pairs), np.int64)
        starts[needed > 0] = [self._groups[group].topics[topic].start for group, topic, _ in present]
        return starts[rows.pair] + rows.partition

    def _ensure_block(self, name: str, topic: str, partitions: int) -> Block:
        """Give (group, topic) a row for each partition: as many as are needed, and as the brokers have."""
        group = self._groups.ensure(name)
        head = self.heads.topics.get(topic)
        needed = max(partitions, head.length if head else 0)
        old = group.topics.get(topic)
        if old and old.length >= needed:
            return old
        block = self._blocks.allocate(needed)
        self._grow()
        self.rings.clear(block.row_numbers())
        self.labels.clear(block.rows)
        if old:
            target = slice(block.start, block.start + old.length)
            self.rings.move(old, target)
            self.labels.move(old.rows, target)
            self._blocks.release(old)
        self.labels.group[block.rows] = group.code
        topic = sys.intern(topic)
        group.topics[topic] = block
        self._groups_of_topic.setdefault(topic, set()).add(sys.intern(name))
        self._point_at_heads([(topic, block)])
        return block

    def _grow(self) -> None:
        self.rings.grow(self._blocks.used_rows)
        self.labels.grow(self._blocks.used_rows)

    def _point_at_heads(self, blocks: list[tuple[str, Block]]) -> None:
        """Find the heads of rows, by their topics."""
        nowhere = Block(0, 0)
        heads = [self.heads.topics.get(topic, nowhere) for topic, _ in blocks]
        rows, partition = rows_of([block for _, block in blocks])
        lengths = [block.length for _, block in blocks]
        start, known = (np.repeat(np.array(column, np.int64), lengths) for column in zip(*heads, strict=True))
        self.labels.head_row[rows] = np.where(partition < known, start + partition, NO_HEAD)
        self.layout += 1

    def _point_all_at_heads(self) -> None:
        blocks = [(topic, block) for _, topic, block in self.blocks()]
        if blocks:
            self._point_at_heads(blocks)

    def _follow_topic(self, topic: str, partitions: int) -> None:
        """A topic's heads are new or have moved: point every window of it there."""
        self._forget_beyond(topic, partitions + GROWN_PARTITIONS)
        for name in self._groups_of_topic.get(topic, ()):
            self._point_at_heads([(topic, self._ensure_block(name, topic, partitions))])

    def _forget_beyond(self, topic: str, partitions: int) -> None:
        """Forget windows of partitions that the topic cannot have, as it turns out."""
        names = self._groups_of_topic.get(topic, ())
        too_long = [name for name in names if self._groups[name].topics[topic].length > partitions]
        for name in too_long:
            self._shortened(name, topic, partitions)
        self._drop_empty_groups(too_long)

    def _forget_topic(self, topic: str) -> None:
        self.heads.forget(topic)
        names = list(self._groups_of_topic.get(topic, ()))
        for name in names:
            self.delete_group_topic(name, topic)

    def _forget_incarnation(self, topic: str, partitions: int) -> None:
        """A topic was deleted and made again while nobody looked: forget what was of the old one.

        What was committed after the old one was last seen may be of the new one, and stays.
        """
        until_ms = self.heads.id_seen_ms[topic] + self.clock_skew_ms
        self.heads.forget(topic)
        for name in list(self._groups_of_topic.get(topic, ())):
            block = self._shortened(name, topic, partitions)
            rows = block.row_numbers()
            self.rings.forget_until(rows, until_ms)
            self._empty(rows[self.rings.count[rows] == 0])
            self.labels.waiting[block.rows] = True
            self._drop_empty_groups([name])

    def _shortened(self, name: str, topic: str, partitions: int) -> Block:
        """The rows of a group's topic, of which no more than `partitions` are left."""
        start, length = self._groups[name].topics[topic]
        if length > partitions:
            self._free(Block(start + partitions, length - partitions))
            self._groups[name].topics[topic] = Block(start, partitions)
        return self._groups[name].topics[topic]

    def _release(self, name: str, topic: str) -> None:
        self._free(self._groups[name].topics.pop(topic))
        self._groups_of_topic[topic].discard(name)
        if not self._groups_of_topic[topic]:
            del self._groups_of_topic[topic]

    def _free(self, block: Block) -> None:
        self.rings.clear(block.row_numbers())
        self.labels.clear(block.rows)
        self._blocks.release(block)
        self.layout += 1

    def _drop_empty_groups(self, names: Iterable[str]) -> None:
        """Forget topics of these groups without any commit or owner, and groups without any topic."""
        for name in names:
            group = self._groups.get(name)
            if group is None:
                continue
            for topic, block in list(group.topics.items()):
                if not self.rings.count[block.rows].any() and not self.labels.owner[block.rows].any():
                    self._release(name, topic)
            if not group.topics:
                self._groups.remove(name)

    def _visible_topics(self, name: str) -> list[str]:
        """A topic that the brokers do not have (yet) is kept, but there is no lag to show for it."""
        group = self._groups.get(name)
        return sorted(topic for topic in group.topics if topic in self.heads.topics) if group else []
