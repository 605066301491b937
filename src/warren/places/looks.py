"""What changed between two looks at a place that has no log: ZooKeeper, or the brokers' Admin API.

A look is a picture of everything that is there. What was seen before is kept here, apart from the windows, since a
group that was deleted or has expired there must not come back before it commits again. A picture that comes twice
changes nothing, so a look may be delivered any number of times. Pure.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from warren.windows.columns import Int64
from warren.windows.commit_rows import CommitRows
from warren.windows.rows import LookBatch, Poison, Unreadable

LAST_ORDER = sys.maxsize
"""Of a removal: it comes after whatever the window holds."""

SEEN = pa.schema(
    [
        ("consumer", pa.string()),
        ("place_id", pa.string()),
        ("order", pa.int64()),
        ("group", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.list_(pa.int32())),
        ("mark", pa.list_(pa.int64())),
    ]
)

Pair = tuple[str, str]
"""A group and a topic."""


class Mark(Enum):
    """By what a commit is told from the one before it in the same place."""

    ORDER = "order"  # by its order, which grows with every commit, also of the same offset: ZooKeeper's zxid
    OFFSET = "offset"  # only by its offset: whether the same one was committed again cannot be told


class Difference(NamedTuple):
    """What follows from a look."""

    commits: CommitRows
    removed: CommitRows
    """Tombstones of what is no longer there."""
    views: dict[str, bytes | None]
    """Groups whose members changed; None of a group that is gone."""
    skipped: Counter[str]
    poison: list[Poison]
    """Only what was not there at the look before."""
    starts_over: bool
    """The place is another one than before: what came from it is to be forgotten first."""


class Looks:
    """What was seen at the last look of one consumer module."""

    def __init__(self, mark: Mark) -> None:
        self.mark = mark
        self.place_id = ""
        self.order = 0
        """The highest one that was given to a commit by a look itself."""
        self.seen: dict[Pair, dict[int, int]] = {}
        self.unread_since_ms: dict[str, int] = {}
        """Groups that could not be read, and the last look at which they could."""
        self._looked_ms = 0
        self._views: dict[str, bytes] = {}
        self._poison: dict[str, int] = {}

    def take(self, look: LookBatch) -> Difference:
        """Compare a look with the one before it, and remember it."""
        starts_over = bool(self.place_id) and bool(look.place_id) and look.place_id != self.place_id
        if starts_over:
            self.seen, self._views, self._poison = {}, {}, {}
        self.place_id = look.place_id or self.place_id
        commits, removed = self._commits(look), self._removed(look)
        self._remember(look, removed)
        self.unread_since_ms = {one: self.unread_since_ms.get(one, self._looked_ms) for one in look.unread}
        self._looked_ms = look.looked_ms
        views, poison = self._changed_views(look), self._new_poison(look)
        skipped = Counter(one.kind for one in poison)
        return Difference(self._stamped(commits, look), removed, views, skipped, poison, starts_over)

    def forget(self) -> None:
        """As if nothing had been seen."""
        self.seen, self._views, self._poison = {}, {}, {}

    def forget_view(self, group: str) -> None:
        """Tell who a group's members are at the next look again."""
        self._views.pop(group, None)

    # -- commits -------------------------------------------------------------------------------------------------

    def _commits(self, look: LookBatch) -> CommitRows:
        rows = look.commits
        fresh = [i for pair, start, marks in _pairs(rows, self._marks(rows)) for i in self._fresh(pair, start, marks)]
        return rows.take(np.array(fresh, np.int64))

    def _fresh(self, pair: Pair, start: int, marks: dict[int, int]) -> Iterator[int]:
        known = self.seen.get(pair, {})
        if marks == known:
            return
        for i, (partition, mark) in enumerate(marks.items(), start):
            before = known.get(partition)
            # A smaller zxid is an older state of the same node, from a server that is behind.
            if before is None or (mark > before if self.mark == Mark.ORDER else mark != before):
                yield i

    def _marks(self, rows: CommitRows) -> list[int]:
        marks: list[int] = (rows.order if self.mark == Mark.ORDER else rows.offset).tolist()
        return marks

    def _stamped(self, commits: CommitRows, look: LookBatch) -> CommitRows:
        """Where commits have no order of their own, the look gives them one, which never goes down."""
        if self.mark == Mark.ORDER:
            return commits
        if len(commits.offset):
            self.order = max(look.looked_ms, self.order + 1)
        return commits._replace(order=np.full(len(commits.offset), self.order, np.int64))

    def _removed(self, look: LookBatch) -> CommitRows:
        present = {pair: marks for pair, _, marks in _pairs(look.commits, self._marks(look.commits))}
        gone = [
            (pair, partition)
            for pair, known in self.seen.items()
            for partition in known.keys() - present.get(pair, {}).keys()
            if not _is_unreadable(look.unreadable, pair, partition)
        ]
        return _tombstones(gone)

    def _remember(self, look: LookBatch, removed: CommitRows) -> None:
        for pair, _, marks in _pairs(look.commits, self._marks(look.commits)):
            known = self.seen.get(pair, {})
            newer = {p: max(mark, known.get(p, mark)) for p, mark in marks.items()}
            self.seen[pair] = known | (newer if self.mark == Mark.ORDER else marks)
        for number, partition in zip(removed.pair.tolist(), removed.partition.tolist(), strict=True):
            pair = removed.pairs[number]
            del self.seen[pair][partition]
            if not self.seen[pair]:
                del self.seen[pair]

    # -- groups, and what cannot be read -------------------------------------------------------------------------

    def _changed_views(self, look: LookBatch) -> dict[str, bytes | None]:
        there = {group for group, _ in self.seen}
        changed: dict[str, bytes | None] = {
            group: view for group, view in look.views.items() if self._views.get(group) != view
        }
        gone = [group for group in self._views.keys() - look.views.keys() if group not in there]
        self._views |= look.views
        for group in gone:
            del self._views[group]
        return changed | dict.fromkeys(gone)

    def _new_poison(self, look: LookBatch) -> list[Poison]:
        new = [one for path, one in look.poison if self._poison.get(path) != one.offset]
        self._poison = {path: one.offset for path, one in look.poison}
        return new

    # -- kept over restarts --------------------------------------------------------------------------------------

    def rows(self, consumer: str) -> list[dict[str, object]]:
        """What is kept, as rows of `SEEN`; one without a group tells of the place itself."""
        mine: dict[str, object] = {"consumer": consumer, "place_id": self.place_id, "order": self.order}
        pairs = [
            {**mine, "group": group, "topic": topic, "partition": list(marks), "mark": list(marks.values())}
            for (group, topic), marks in self.seen.items()
        ]
        return [mine, *pairs]

    def restore(self, row: dict[str, object]) -> None:
        """Take one row that was kept."""
        self.place_id, self.order = str(row["place_id"]), int(str(row["order"]))
        if row["group"] is not None:
            numbers, marks = row["partition"], row["mark"]
            assert isinstance(numbers, list)
            assert isinstance(marks, list)
            self.seen[str(row["group"]), str(row["topic"])] = dict(zip(numbers, marks, strict=True))


def _pairs(rows: CommitRows, marks: list[int]) -> Iterator[tuple[Pair, int, dict[int, int]]]:
    """Each pair with the place of its first row and the mark of each partition, in the order of the rows."""
    ends = np.searchsorted(rows.pair, np.arange(len(rows.pairs)), side="right").tolist()
    partition, start = rows.partition.tolist(), 0
    for pair, end in zip(rows.pairs, ends, strict=True):
        yield pair, start, dict(zip(partition[start:end], marks[start:end], strict=True))
        start = end


def _is_unreadable(unreadable: frozenset[Unreadable], pair: Pair, partition: int) -> bool:
    group, topic = pair
    names = (Unreadable(group), Unreadable(group, topic), Unreadable(group, topic, partition))
    return bool(unreadable) and any(one in unreadable for one in names)


def _tombstones(gone: list[tuple[Pair, int]]) -> CommitRows:
    pairs = list(dict.fromkeys(pair for pair, _ in gone))
    number = {pair: i for i, pair in enumerate(pairs)}
    nothing: Int64 = np.full(len(gone), -1, np.int64)
    return CommitRows(
        pairs=pairs,
        pair=np.array([number[pair] for pair, _ in gone], np.int64),
        partition=np.array([partition for _, partition in gone], np.int64),
        offset=nothing,
        timestamp_ms=nothing,
        order=np.full(len(gone), LAST_ORDER, np.int64),
        tombstone=np.ones(len(gone), np.bool_),
    )
