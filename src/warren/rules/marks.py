"""Which partitions are worth a look: a small lag that stays may be nothing but marks of transactions.

The end of a transaction is written into the log as a record that no reader is given. A consumer that commits the offset
after the last record it was given stays behind by those marks for ever.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warren.windows.columns import UNKNOWN
from warren.windows.store import Windows

MOST_MARKS = 10
"""A lag of more is not taken for marks: to look into it would mean to read records."""

MOST_DOUBTS = 50
"""So many are looked into at a time; the others come next."""


class Doubt(NamedTuple):
    """From `start` to `end` of a partition there may be nothing to read."""

    topic: str
    partition: int
    start: int
    end: int


def doubts(windows: Windows) -> list[Doubt]:
    """Partitions that are idle, with a group that is a little behind, and that were not looked into yet."""
    heads = windows.heads
    at = windows.shown_rows()
    outline = windows.outline(at)
    row, end = outline.head_row, outline.head
    small = (outline.length > 0) & (outline.current_lag > 0) & (outline.current_lag <= MOST_MARKS)
    small &= (heads.last_stable_of(row) == end) & heads.is_idle_of(row) & ~heads.is_looked_into(row)
    found: dict[int, int] = {}
    for place in np.flatnonzero(small).tolist():
        start = int(outline.newest_offset[place])
        found[int(row[place])] = min(start, found.get(int(row[place]), start))
    starts = dict(sorted(found.items())[:MOST_DOUBTS])
    names = {number: name for name, block in heads.topics.items() for number in block.row_numbers() if number in starts}
    first = {name: block.start for name, block in heads.topics.items()}
    ends = heads.current(np.array(list(starts), np.int64)).tolist()
    return [
        Doubt(names[number], number - first[names[number]], start, until)
        for (number, start), until in zip(starts.items(), ends, strict=True)
        if until != UNKNOWN
    ]
