"""Short words for tests that put commits and heads into windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from warren.codec.groups import GroupMetadata, Member, encode_assignment, encode_group_metadata
from warren.windows.commit_rows import CommitRows
from warren.windows.heads import HeadRows
from warren.windows.rows import COMMIT_ROWS, HEAD_ROWS, RowKind
from warren.windows.store import Limits, Windows

GROUP, TOPIC = "billing", "orders"


def commit_rows(commits: list[tuple[int, int, int]], **where: object) -> CommitRows:
    """Commits of one group-partition: (offset, order, timestamp_ms); an offset of None is a tombstone."""
    group, topic = str(where.get("group", GROUP)), str(where.get("topic", TOPIC))
    partition = where.get("partition", 0)
    zeros = np.zeros(len(commits), np.int64)
    return CommitRows(
        pairs=[(group, topic)],
        pair=zeros,
        partition=zeros + partition,
        offset=np.array([-1 if offset is None else offset for offset, _, _ in commits], np.int64),
        timestamp_ms=np.array([ms for _, _, ms in commits], np.int64),
        order=np.array([order for _, order, _ in commits], np.int64),
        tombstone=np.array([offset is None for offset, _, _ in commits], np.bool_),
    )


def head_rows(ends: dict[str, list[int]], observed_ms: int, **told: Any) -> HeadRows:
    """One observation: the end of each partition of each topic."""
    rows = [(i, p, end) for i, topic in enumerate(ends) for p, end in enumerate(ends[topic])]
    topic, partition, end = (np.array(column, np.int64) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    return HeadRows(list(ends), topic, partition, end, np.zeros(len(rows), np.int64), observed_ms, **told)


def head_table(ends: dict[str, list[int]], observed_ms: int, **topic_ids: str) -> pa.Table:
    """One observation as it comes from the pipeline."""
    rows = [
        {
            "topic": topic,
            "partition": i,
            "end": end,
            "log_start": 0,
            "observed_ms": observed_ms,
            "topic_id": topic_ids.get(topic) if i == 0 else None,
        }
        for topic, partitions in ends.items()
        for i, end in enumerate(partitions)
    ]
    return pa.Table.from_pylist(rows, HEAD_ROWS)


def commit_table(*commits: tuple[str, str, int, int, int], source_partition: int = 0, first_order: int = 0) -> pa.Table:
    """Commits (group, topic, partition, offset, timestamp_ms), and that the offsets topic is read to its end."""
    rows = [
        {
            "kind": RowKind.COMMIT, "source_partition": source_partition, "order": [order], "group": group,
            "topic": topic, "partition": [partition], "offset": [offset], "timestamp_ms": [ms],
        }
        for order, (group, topic, partition, offset, ms) in enumerate(commits, first_order)
    ]  # fmt: skip
    rows.append({"kind": RowKind.POSITION, "partition": [source_partition], "offset": [first_order + len(commits)]})
    return pa.Table.from_pylist(rows, COMMIT_ROWS)


def classic_group(*members: tuple[str, str, list[tuple[str, list[int]]]]) -> bytes:
    """The record of a classic group with these members: host, client id, what is assigned."""
    made = [
        Member(f"{client_id}-member", None, client_id, host, 1, 1, b"", encode_assignment(assigned))
        for host, client_id, assigned in members
    ]
    leader = made[0].member_id if made else None
    return encode_group_metadata(GroupMetadata("consumer", 7, "range" if made else None, leader, 1, made), 3)


class Story:
    """A store with one topic, told in commits and observations."""

    def __init__(self, limits: Limits | None = None, partitions: int = 1) -> None:
        self.windows = Windows(limits or Limits())
        self._partitions = partitions

    def heads(self, end: int, at_ms: int, topic: str = TOPIC) -> Story:
        self.windows.apply_heads(head_rows({topic: [end] * self._partitions}, at_ms))
        return self

    def commit(self, offset: int | None, order: int, at_ms: int, **where: object) -> Story:
        now_ms = int(where.pop("now_ms", at_ms))
        self.windows.apply_commits(commit_rows([(offset, order, at_ms)], **where), now_ms)
        return self

    def entries(self, partition: int = 0, group: str = GROUP) -> list[tuple[int, int, int | None]]:
        """The window as (offset, timestamp_ms, lag)."""
        shown = self.windows.group(group)
        assert shown is not None
        column = shown.window
        rows = range(int(column.length[partition]))
        lags = [int(column.lag[i, partition]) for i in rows]
        return [
            (int(column.offset[i, partition]), int(column.timestamp_ms[i, partition]), None if lag < 0 else lag)
            for i, lag in zip(rows, lags, strict=True)
        ]
