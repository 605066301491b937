"""Commits on their way into the windows, as columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warren.windows.columns import Bool, Int64


class CommitRows(NamedTuple):
    """Commits and offset tombstones as columns, those of one group-partition in log order.

    `pair` indexes `pairs`, (group, topic) each; `order` is the record's offset in the offsets topic. Where `tombstone`
    is set the committed offset was removed.
    """

    pairs: list[tuple[str, str]]
    pair: Int64
    partition: Int64
    offset: Int64
    timestamp_ms: Int64
    order: Int64
    tombstone: Bool

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
        )


def commits_of_one_group(group: str, topic: str, offsets: dict[int, int], timestamp_ms: int) -> CommitRows:
    """Commits of one group to one topic, by partition; each is ordered by its offset."""
    partition, offset = np.array(list(offsets), np.int64), np.array(list(offsets.values()), np.int64)
    zeros = np.zeros(len(offsets), np.int64)
    return CommitRows(
        [(group, topic)], zeros, partition, offset, zeros + timestamp_ms, offset - 1, zeros.astype(np.bool_)
    )
