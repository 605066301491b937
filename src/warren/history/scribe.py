"""Makes tables of what was written down, page by page. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warren.history.journal import Observation, Page, ReadCommits, Sample
from warren.history.tables import COMMITS, TABLES, TOPICS, WINDOWS
from warren.model import Status


class _Told(NamedTuple):
    """What was written last of a topic."""

    columns: tuple[bytes, ...]
    topic_id: str | None


class Scribe:
    """Makes tables of pages, one after the other: of heads it writes only what has changed."""

    def __init__(self) -> None:
        self._heads: dict[str, _Told] = {}

    def tables(self, page: Page) -> dict[str, pa.Table]:
        """The rows of a page by table; tables without any are left out."""
        made = {
            "commits": [_commit_table(one) for one in page.commits],
            "heads": [self._head_table(one) for one in page.observations],
            "samples": [_sample_table(one) for one in page.samples],
            **{name: [pa.Table.from_pylist(rows, TABLES[name])] for name, rows in page.rows.items() if rows},
            **{name: [one[name] for one in page.keyframes] for name in (WINDOWS, TOPICS)},
        }
        joined = {name: pa.concat_tables(parts) for name, parts in made.items() if parts}
        return {name: table for name, table in joined.items() if table.num_rows}

    def _head_table(self, observation: Observation) -> pa.Table:
        rows = observation.rows
        if rows is None:
            self._heads = {}
            return TABLES["heads"].empty_table()
        by_topic = np.lexsort((rows.partition, rows.topic))
        bounds = np.searchsorted(rows.topic[by_topic], np.arange(len(rows.topics) + 1)).tolist()
        has_leader = np.broadcast_to(rows.has_leader, rows.end.shape)[by_topic]
        last_stable = np.broadcast_to(rows.last_stable, rows.end.shape)[by_topic]
        end, log_start = rows.end[by_topic], rows.log_start[by_topic]
        tells_all_ids = rows.topic_ids.keys() >= set(rows.topics)
        found = []
        for number, topic in enumerate(rows.topics):
            part = slice(bounds[number], bounds[number + 1])
            columns = (end[part], log_start[part], last_stable[part], has_leader[part])
            seen = tuple(column.tobytes() for column in columns)
            before = self._heads.get(topic)
            topic_id = rows.topic_ids.get(topic)  # it is asked for now and then only
            now = _Told(seen, topic_id or (before.topic_id if before else None))
            if now == before and (topic_id is None or tells_all_ids):
                continue
            self._heads[topic] = now
            found.append(
                observation.step._asdict()
                | {
                    "topic": topic,
                    "topic_id": topic_id,
                    "end": columns[0],
                    "log_start": columns[1],
                    "last_stable": columns[2],
                    "leaderless": np.flatnonzero(~columns[3]),
                }
            )
        for topic in self._heads.keys() - set(rows.topics):
            del self._heads[topic]
        return pa.Table.from_pylist(found, TABLES["heads"])


def _commit_table(one: ReadCommits) -> pa.Table:
    rows, n = one.rows, len(one.rows.order)
    sources = rows.source_partitions or [-1] * len(rows.pairs)
    incarnation = np.zeros(n, np.int64) if rows.incarnation is None else rows.incarnation
    columns = {
        **{name: pa.repeat(pa.scalar(value, pa.int64()), n) for name, value in one.step._asdict().items()},
        "source": _coded(np.zeros(n, np.int64), [one.source]),
        "source_partition": pa.array(np.array(sources, np.int32)[rows.pair]),
        "order": pa.array(rows.order),
        "group": _coded(rows.pair, [group for group, _ in rows.pairs]),
        "topic": _coded(rows.pair, [topic for _, topic in rows.pairs]),
        "partition": pa.array(rows.partition.astype(np.int32)),
        "offset": pa.array(np.where(rows.tombstone, -1, rows.offset)),
        "timestamp_ms": pa.array(rows.timestamp_ms),
        "incarnation": pa.array(incarnation.astype(np.int32)),
    }
    return pa.table(columns).cast(COMMITS)


def _coded(codes: NDArray[np.integer[Any]], names: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(names, pa.string()))


def _sample_table(one: Sample) -> pa.Table:
    status, names = one.evaluation.group_status, [status.name for status in Status]
    codes = [code for code in np.flatnonzero(status).tolist() if one.look.names[code]]
    n = len(codes)
    columns = {
        **{name: pa.repeat(pa.scalar(value, pa.int64()), n) for name, value in one.step._asdict().items()},
        "group": pa.array([one.look.names[code] for code in codes], pa.string()),
        "status": _coded(status[codes], names),
        "total_lag": pa.array(one.evaluation.total_lag[codes]),
        "lag_s": pa.array(one.look.lag_s[codes], pa.float32(), from_pandas=True),
    }
    return pa.table(columns).cast(TABLES["samples"])
