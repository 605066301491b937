"""Windows that rules evaluate, without a store: commits with their lags, and remembered end offsets."""

from __future__ import annotations

import numpy as np

from warren.windows.labels import Owner
from warren.windows.rings import WholeWindow
from warren.windows.views import GroupWindows

Entry = tuple[int, int, int | None]
"""Offset, timestamp in ms, and lag; None is a lag that is not known."""

ANY_LAG = (1 << 32) - 1


def parse_window(text: str) -> list[Entry]:
    """Parse a window written as `offset@second/lag ...`, oldest first; a lag of `null` is not known."""
    entries = []
    for word in text.split():
        offset, rest = word.split("@")
        second, lag = rest.split("/")
        entries.append((int(offset), int(second) * 1000, None if lag == "null" else int(lag)))
    return entries


def certain_lags(entries: list[Entry]) -> list[int]:
    """Return how much of each lag is certain if, as in Burrow, there is nothing but a measured lag or none.

    A lag that is not known is no evidence of any kind there, so it takes that of its neighbour.
    """
    lags = [lag for _, _, lag in entries]
    known = next((lag for lag in lags if lag is not None), ANY_LAG)
    return [known := known if lag is None else lag for lag in lags]


def group_windows(
    partitions: list[list[Entry]],
    heads: list[list[int]],
    intervals: int = 10,
    *,
    certain: list[list[int]] | None = None,
    usual_lag: int = 0,
) -> GroupWindows:
    """Return the windows of a group of one topic.

    `partitions` has the commits of each partition, oldest first; `heads` its remembered end offsets, oldest first,
    where an empty list is an end that is not known; `certain` what is certain of each lag, all of it by default.
    """
    columns = [np.zeros((intervals, len(partitions)), np.int64) for _ in range(4)]
    for partition, entries in enumerate(partitions):
        at_least = certain[partition] if certain else certain_lags(entries)
        for slot, (offset, timestamp_ms, lag) in enumerate(entries):
            row = (offset, timestamp_ms, -1 if lag is None else lag, at_least[slot])
            for column, value in zip(columns, row, strict=True):
                column[slot, partition] = value
    length = np.array([len(entries) for entries in partitions], np.int16)
    current = np.array([ends[-1] if ends else -1 for ends in heads])
    newest = np.array([entries[-1][0] if entries else 0 for entries in partitions])
    return GroupWindows(
        topics=["orders"],
        topic=np.zeros(len(partitions), np.int64),
        partition=np.arange(len(partitions)),
        length=length,
        window=WholeWindow(
            offset=columns[0],
            timestamp_ms=columns[1],
            lag=columns[2],
            lag_at_least=columns[3],
            length=length,
            observed_ms=columns[1],
        ),
        owned=np.zeros(len(partitions), np.bool_),
        head_row=np.full(len(partitions), -1),
        head=current,
        newest_offset=newest,
        log_start=np.full(len(partitions), -1),
        lowest_head=np.array([min(ends) if ends else -1 for ends in heads]),
        current_lag=np.where((length > 0) & (current >= 0), np.maximum(current - newest, 0), 0),
        owners=[Owner()] * len(partitions),
        last_status=np.zeros(len(partitions), np.int8),
        since_s=np.zeros(len(partitions), np.int64),
        last_stable=current,
        held_since_ms=np.zeros(len(partitions), np.int64),
        readable_end=current,
        usual_lag=np.full(len(partitions), usual_lag),
        has_leader=np.ones(len(partitions), np.bool_),
        is_of_another=np.zeros(len(partitions), np.bool_),
    )
