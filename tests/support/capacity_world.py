"""A history of days with known rates, made in seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from tests.support.history_world import T0_MS
from warren.history.spool import Spool
from warren.history.tables import TABLES, Kind
from warren.history.writer import HistoryWriter

STEP_S = 30
DAY_S = 86_400
HOUR_S = 3_600
Series = NDArray[np.float64]
Rate = Callable[[Series], Series]
"""Records a second at moments in seconds."""


class CapacityWorld:
    """Topics with rates, and groups that read them; everything happens each half minute, and nobody sees some of it."""

    def __init__(self, days: float, *, unseen_s: tuple[float, float] = (0, 0)) -> None:
        self.at_s: Series = np.arange(0, days * DAY_S + 1, STEP_S, dtype=np.float64)
        self.at_ms = (T0_MS + self.at_s * 1000).astype(np.int64)
        self.is_seen = (self.at_s <= unseen_s[0]) | (self.at_s >= unseen_s[1])
        self.ends: dict[str, list[Series]] = {}
        self.starts: dict[str, list[Series]] = {}
        self._rows: dict[str, list[pa.Table]] = {}
        self._keyframe()

    def topic(self, name: str, *rates: Rate, kept_s: float | None = None) -> None:
        """A topic with a rate for each partition; its log may keep records only so long."""
        self.ends[name] = [np.cumsum(np.append(0.0, rate(self.at_s[:-1]) * STEP_S)) for rate in rates]
        let_go = [np.interp(self.at_s - (kept_s or np.inf), self.at_s, end) for end in self.ends[name]]
        self.starts[name] = let_go if kept_s else [np.zeros_like(end) for end in self.ends[name]]

    def keeps_up(self, group: str, topic: str, *, behind_s: float = STEP_S) -> None:
        """The group has read what was there so long ago."""
        before = self.at_s - behind_s
        self.commits(group, topic, [np.interp(before, self.at_s, end) for end in self.ends[topic]])

    def reads(
        self,
        group: str,
        topic: str,
        at_most: float,
        *,
        not_between_s: tuple[float, float] = (0, 0),
        says_so: bool = True,
    ) -> None:
        """The group reads so many records a second of each partition at most, and nothing for a while.

        Records that the log has let go are jumped over. While it reads nothing it may commit or not.
        """
        found = []
        for end, start in zip(self.ends[topic], self.starts[topic], strict=True):
            position = np.zeros_like(end)
            for i in range(1, len(end)):
                works = not not_between_s[0] <= self.at_s[i] < not_between_s[1]
                begin = max(position[i - 1], start[i]) if works else position[i - 1]
                position[i] = min(begin + (at_most * STEP_S if works else 0), max(end[i], begin))
            found.append(position)
        is_away = (self.at_s >= not_between_s[0]) & (self.at_s < not_between_s[1])
        self.commits(group, topic, found, np.flatnonzero(says_so | ~is_away))

    def commits(
        self, group: str, topic: str, positions: Sequence[Series], steps: NDArray[np.int64] | None = None
    ) -> None:
        """These commits, one each step or at some of them."""
        at = np.arange(len(self.at_ms)) if steps is None else steps
        n, at_ms = len(at), self.at_ms[at]
        for partition, offsets in enumerate(positions):
            columns = {
                "source": ["kafka"] * n, "source_partition": [0] * n, "order": at, "group": [group] * n,
                "topic": [topic] * n, "partition": [partition] * n, "offset": np.round(offsets[at]).astype(np.int64),
                "timestamp_ms": at_ms, "incarnation": [0] * n,
            }  # fmt: skip
            self._add("commits", at_ms, columns)

    def members(self, group: str, members: int, owners: dict[tuple[str, int], str]) -> None:
        """Who is in the group from the beginning on, and who owns what."""
        columns: dict[str, Any] = {
            "group": [group], "members": [members], "topic": [[topic for topic, _ in owners]],
            "partition": [[partition for _, partition in owners]], "owner": [list(owners.values())],
        }  # fmt: skip
        self._add("owners", self.at_ms[:1], columns)

    def sample(self, group: str) -> None:
        """A group of which only its existence is known."""
        self._add("samples", self.at_ms[1:2], {"group": [group], "status": ["OK"], "total_lag": [0], "lag_s": [0.0]})

    def write(self, spark: SparkSession, home: Path) -> str:
        """The history, in a directory; its path."""
        for topic in self.ends:
            self._heads(topic)
        seen_ms = self.at_ms[self.is_seen]
        n = len(seen_ms)
        self._add("events", seen_ms, {"kind": [Kind.OBSERVED.value] * n, "consumer": [None] * n})
        return write_history(spark, home, {name: pa.concat_tables(parts) for name, parts in self._rows.items()})

    def _keyframe(self) -> None:
        self._add("events", self.at_ms[:1], {"kind": [Kind.KEYFRAME.value], "consumer": ["kafka"]})

    def _heads(self, topic: str) -> None:
        """Only where something changed, as Warren writes it."""
        end, start = (np.round(np.stack(of, axis=1)).astype(np.int64) for of in (self.ends[topic], self.starts[topic]))
        both = np.hstack((end, start))
        seen = np.flatnonzero(self.is_seen)
        rows = seen[np.append(True, (np.diff(both[seen], axis=0) != 0).any(axis=1))]
        columns = {
            "topic": [topic] * len(rows), "end": list(end[rows]), "log_start": list(start[rows]),
            "last_stable": list(end[rows]), "leaderless": [[]] * len(rows),
        }  # fmt: skip
        self._add("heads", self.at_ms[rows], columns, seq=rows)

    def _add(self, table: str, at_ms: NDArray[np.int64], columns: dict[str, Any], seq: Any = None) -> None:
        schema, n = TABLES[table], len(at_ms)
        step = {"epoch_ms": [T0_MS] * n, "seq": np.arange(n) if seq is None else seq, "at_ms": at_ms}
        known = step | columns
        arrays = [pa.array(known[f.name], f.type) if f.name in known else pa.nulls(n, f.type) for f in schema]
        self._rows.setdefault(table, []).append(pa.Table.from_arrays(arrays, schema=schema))


def write_history(spark: SparkSession, home: Path, tables: dict[str, pa.Table]) -> str:
    """Put tables into a new history of cluster `c`; its path."""
    spool = Spool(home / "spool", T0_MS, 1 << 30)
    spool.append(tables)
    spool.finish_file()
    path = str(home / "parquet")
    writer = HistoryWriter(spark, path)
    for file in spool.finished_files():
        writer.take_in("c", file, now_ms=T0_MS)
    return path


def always(rate: float) -> Rate:
    """The same all the time."""
    return lambda at_s: np.full_like(at_s, rate)


def daily_peak(base: float, peak: float, *, hours: float = 1, grows_a_day: float = 0.0) -> Rate:
    """A base, and each day from noon on a peak; the peak may be higher each day."""

    def rate(at_s: Series) -> Series:
        is_peak = (at_s % DAY_S >= 12 * HOUR_S) & (at_s % DAY_S < (12 + hours) * HOUR_S)
        return np.where(is_peak, peak + grows_a_day * (at_s // DAY_S), base)

    return rate
