"""Observations of heads as they were, though only what changed was written down. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warren.history.tables import IDS_OF_ALL
from warren.windows.columns import Bool, Int64
from warren.windows.heads import HeadRows

OFFSETS = ("end", "log_start", "last_stable")


class HeadPlayer:
    """Tells of each observation all topics."""

    def __init__(self, table: pa.Table) -> None:
        table = table.sort_by([("epoch_ms", "ascending"), ("seq", "ascending")]).combine_chunks()
        self._topic = table["topic"].to_pylist()
        self._topic_id = table["topic_id"].to_pylist()
        self._leaderless = table["leaderless"].to_pylist()
        self._flat = {name: pc.list_flatten(table[name]).to_numpy() for name in OFFSETS}
        lengths = pc.fill_null(pc.list_value_length(table["end"]), 0).to_numpy()
        self._bounds = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        steps = zip(table["epoch_ms"].to_pylist(), table["seq"].to_pylist(), strict=True)
        self._rows: dict[tuple[int, int], list[int]] = {}
        for row, step in enumerate(steps):
            self._rows.setdefault(step, []).append(row)
        self._now: dict[str, int] = {}
        """The row that tells how each topic is."""
        self._ids: dict[str, str] = {}
        """The id that each topic had when it was told last."""
        self._picture = _Picture({}, self._bounds)

    def observation(self, event: dict[str, Any]) -> HeadRows:
        """All topics at one observation."""
        told = self._rows.get((event["epoch_ms"], event["seq"]), [])
        changed, before = told, self._now
        self._now = {name: row for name, row in before.items() if name not in (event["names"] or ())}
        self._now |= {self._topic[row]: row for row in changed}
        if self._has_other_partitions(before):
            self._picture = _Picture(self._now, self._bounds)
            changed = list(self._now.values())
        for row in changed:
            part = slice(int(self._bounds[row]), int(self._bounds[row + 1]))
            columns = {name: self._flat[name][part] for name in OFFSETS}
            self._picture.paint(self._topic[row], columns, self._leaderless[row] or [])
        return self._picture.rows(self._ids_told(event, told), event["at_ms"])

    def _ids_told(self, event: dict[str, Any], told: list[int]) -> dict[str, str]:
        ids = {self._topic[row]: self._topic_id[row] for row in told if self._topic_id[row]}
        self._ids |= ids
        if event["text"] != IDS_OF_ALL:
            return ids
        return {name: self._ids[name] for name in self._now if name in self._ids}

    def _has_other_partitions(self, before: dict[str, int]) -> bool:
        return before.keys() != self._now.keys() or any(
            self._length(before[name]) != self._length(row) for name, row in self._now.items() if before[name] != row
        )

    def _length(self, row: int) -> int:
        return int(self._bounds[row + 1] - self._bounds[row])


class _Picture:
    """All partitions of all topics, one topic after the other."""

    def __init__(self, rows: dict[str, int], bounds: Int64) -> None:
        self._topics = list(rows)
        lengths = np.array([bounds[row + 1] - bounds[row] for row in rows.values()], np.int64)
        self._starts = dict(zip(self._topics, (np.cumsum(lengths) - lengths).tolist(), strict=True))
        self._topic: Int64 = np.repeat(np.arange(len(rows)), lengths)
        self._partition: Int64 = np.arange(len(self._topic)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        self._columns = {name: np.zeros(len(self._topic), np.int64) for name in OFFSETS}
        self._has_leader: Bool = np.ones(len(self._topic), np.bool_)

    def paint(self, topic: str, columns: dict[str, Int64], leaderless: list[int]) -> None:
        start = self._starts[topic]
        for name, values in columns.items():
            self._columns[name][start : start + len(values)] = values
        self._has_leader[start : start + len(columns["end"])] = True
        self._has_leader[np.array(leaderless, np.int64) + start] = False

    def rows(self, topic_ids: dict[str, str], observed_ms: int) -> HeadRows:
        return HeadRows(
            topics=self._topics,
            topic=self._topic,
            partition=self._partition,
            end=self._columns["end"],
            log_start=self._columns["log_start"],
            observed_ms=observed_ms,
            last_stable=self._columns["last_stable"],
            has_leader=self._has_leader,
            topic_ids=topic_ids,
        )
