"""Windows that rules evaluate, without a store: commits with their lags, and remembered end offsets."""

from __future__ import annotations

import numpy as np

from warren.windows.labels import Owner
from warren.windows.rings import WholeWindow
from warren.windows.views import GroupWindows

Entry = tuple[int, int, int | None]
"""Offset, timestamp in ms, and lag; None is a lag that is not known."""


def parse_window(text: str) -> list[Entry]:
    """Parse a window written as `offset@second/lag ...`, oldest first; a lag of `null` is not known."""
    entries = []
    for word in text.split():
        offset, rest = word.split("@")
        second, lag = rest.split("/")
        entries.append((int(offset), int(second) * 1000, None if lag == "null" else int(lag)))
    return entries


def group_windows(partitions: list[list[Entry]], heads: list[list[int]], intervals: int = 10) -> GroupWindows:
    """Return the windows of a group of one topic.

    `partitions` has the commits of each partition, oldest first; `heads` its remembered end offsets, oldest first,
    where an empty list is an end that is not known.
    """
    columns = [np.zeros((intervals, len(partitions)), np.int64) for _ in range(3)]
    for partition, entries in enumerate(partitions):
        for slot, (offset, timestamp_ms, lag) in enumerate(entries):
            row = (offset, timestamp_ms, -1 if lag is None else lag)
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
            length=length,
            observed_ms=columns[1],
            order=columns[1],
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
        has_leader=np.ones(len(partitions), np.bool_),
        is_of_another=np.zeros(len(partitions), np.bool_),
    )
