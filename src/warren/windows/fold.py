"""What of a run of commits can still be seen in a window: the rest need not leave the worker that read it.

All commits of one group-partition lie in one partition of the offsets topic, in order. An entry began at most
min-distance before its newest commit. So a commit at least min-distance later than the one before it, or at least as
much earlier, opens a new entry whatever the window held. From such a point on every such commit is an entry of its own,
and a window shows no more than the last `intervals` of them. So a commit may go if enough openings come after it. With
a min-distance that is one more than the window holds: the first commit kept has lost the one before it, so it alone
could merge with what the window held. A tombstone empties the window: nothing before it is ever seen again.
"""

from __future__ import annotations

import numpy as np

from warren.windows.columns import Bool, Int64


def still_seen(key: Int64, timestamp_ms: Int64, tombstone: Bool, intervals: int, min_distance_ms: int) -> Bool:
    """Which rows a window can still show; rows of one `key` are neighbours, in log order."""
    if not len(key):
        return np.zeros(0, np.bool_)
    same_key = np.concatenate(([False], key[1:] == key[:-1]))
    since_ms = np.diff(timestamp_ms, prepend=timestamp_ms[:1])
    after_commit = same_key & ~np.concatenate(([True], tombstone[:-1]))
    opens = after_commit & ~tombstone & (np.abs(since_ms) >= min_distance_ms)
    enough = intervals + (min_distance_ms > 0)
    seen: Bool = (_sum_after(opens, same_key) < enough) & (_sum_after(tombstone & same_key, same_key) == 0)
    return seen


def replaced_before(key: Int64, incarnation: Int64, tombstone: Bool) -> Int64:
    """The rows before the first one to another incarnation of the topic than was told before: the old one ends there.

    `incarnation` is 0 where it is not told; rows of one `key` are neighbours, in log order. After a tombstone nothing
    was told before.
    """
    told = np.flatnonzero((incarnation != 0) | tombstone)
    before, after = told[:-1], told[1:]
    another = (key[after] == key[before]) & ~tombstone[before] & ~tombstone[after]
    ended: Int64 = after[another & (incarnation[after] != incarnation[before])] - 1
    return ended


def _sum_after(flag: Bool, same_key: Bool) -> Int64:
    """For each row, how many later rows of its key carry the flag."""
    running = np.cumsum(flag)
    last_of_run = np.concatenate((np.flatnonzero(~same_key)[1:] - 1, [len(flag) - 1]))
    run = np.cumsum(~same_key) - 1
    after: Int64 = running[last_of_run][run] - running
    return after
