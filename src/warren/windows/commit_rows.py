"""Commits on their way into the windows, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from warren.windows.columns import Bool, Int64


class CommitRows(NamedTuple):
    """Commits and offset tombstones as columns, those of one group-partition in log order.

    `pair` indexes `pairs`, (group, topic) each; `order` is the record's offset in the offsets topic. Where `tombstone`
    is set the committed offset was removed. `incarnation` stands for the id of the topic that a commit was made to, 0
    where it is not told; None if it never is.
    """

    pairs: list[tuple[str, str]]
    pair: Int64
    partition: Int64
    offset: Int64
    timestamp_ms: Int64
    order: Int64
    tombstone: Bool
    incarnation: Int64 | None = None
    source_partitions: Sequence[int] = ()
    """Of each of `pairs` the partition of the offsets topic that its commits lie in; empty if they lie in none."""

    def take(self, keep: Bool | Int64) -> CommitRows:
        """Only some of the rows."""
        return CommitRows(
            self.pairs,
            self.pair[keep],
            self.partition[keep],
            self.offset[keep],
            self.timestamp_ms[keep],
            self.order[keep],
            self.tombstone[keep],
            None if self.incarnation is None else self.incarnation[keep],
            self.source_partitions,
        )


def commits_of_one_group(group: str, topic: str, offsets: dict[int, int], timestamp_ms: int) -> CommitRows:
    """Commits of one group to one topic, by partition; each is ordered by its offset."""
    partition, offset = np.array(list(offsets), np.int64), np.array(list(offsets.values()), np.int64)
    zeros = np.zeros(len(offsets), np.int64)
    return CommitRows(
        [(group, topic)], zeros, partition, offset, zeros + timestamp_ms, offset - 1, zeros.astype(np.bool_)
    )


def turns(at: Int64) -> list[Int64]:
    """Split row numbers into turns, no row twice in one, each row's commits in their order over the turns."""
    by_row = np.argsort(at, kind="stable")
    sorted_rows = at[by_row]
    first = np.flatnonzero(np.concatenate(([True], sorted_rows[1:] != sorted_rows[:-1])))
    lengths = np.diff(np.append(first, len(at)))
    rank = np.arange(len(at)) - np.repeat(first, lengths)
    by_rank = np.argsort(rank, kind="stable")
    return np.split(by_row[by_rank], np.cumsum(np.bincount(rank))[:-1])
