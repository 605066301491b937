"""Windows as Arrow tables, and back: what a snapshot file is made of. Pure; files are `clusters/snapshots.py`'s.

The rings of a large store cannot be copied in one go without stopping everybody for seconds. So their rows are copied
in chunks, and while the file is written `Rings.touched` gathers the rows that changed after they were copied; these
come again at the end, together with everything else, as of one moment. Reading applies them in that order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warren.windows.columns import TILE_ROWS, Block, Int64
from warren.windows.head_history import HeadHistory
from warren.windows.labels import Labels, Owner
from warren.windows.rings import ENTRY_KINDS, Rings
from warren.windows.store import Windows

NAMES = ("blocks", "owners", "topics", "heads", "history", "log_start_history")
"""The tables of `names_of`, in the order in which they are written."""

ROW_KINDS = {
    "row": np.int64,
    "newest": np.int16,
    "count": np.int16,
    "newest_order": np.int64,
    "owner": np.int32,
    "status": np.int8,
    "since_s": np.uint32,
    "incarnation": np.int32,
    "rest_lag": np.int8,
    "rests": np.int8,
}
"""A row's number, the state of its ring, and the labels that cannot be told from anything else."""
RING_STATE = ("newest", "count", "newest_order")
KEPT_LABELS = ("owner", "status", "since_s", "incarnation", "rest_lag", "rests")
NEW_COLUMNS = ("rest_lag", "rests", "lag_at_least")
"""Columns that snapshots before version 5 and their keyframes lack; Warren reads them as 0."""

BLOCKS = pa.schema([("group", pa.string()), ("topic", pa.string()), ("start", pa.int64()), ("length", pa.int64())])
OWNERS = pa.schema([(name, pa.string()) for name in Owner._fields])
TOPICS = pa.schema(
    [
        ("topic", pa.string()),
        ("start", pa.int64()),
        ("length", pa.int64()),
        ("topic_id", pa.string()),  # null if it is not known
        ("id_seen_ms", pa.int64()),
    ]
)


class Staging:
    """A place for one chunk of rings, used again and again: fresh memory would cost more time than the copy."""

    def __init__(self, intervals: int, rows: int) -> None:
        self.rows = rows
        self._row = {name: np.zeros(rows, kind) for name, kind in ROW_KINDS.items()}
        self._entry = {name: np.zeros((intervals, rows), kind) for name, kind in ENTRY_KINDS.items()}

    def copy(self, windows: Windows, rows: Int64) -> pa.RecordBatch:
        """At most `self.rows` rows; valid until the next copy."""
        n, rings = len(rows), windows.rings
        self._row["row"][:n] = rows
        for name in RING_STATE:
            self._row[name][:n] = getattr(rings, name)[rows]
        for name in KEPT_LABELS:
            self._row[name][:n] = getattr(windows.labels, name)[rows]
        places = rings.all_places(rows)
        for name, column in self._entry.items():
            np.take(getattr(rings, name), places, out=column[:, :n])
        arrays = [pa.array(column[:n]) for column in self._row.values()]
        arrays += [pa.array(slot[:n]) for column in self._entry.values() for slot in column]
        return pa.RecordBatch.from_arrays(arrays, schema=ring_schema(rings.intervals))


def ring_schema(intervals: int) -> pa.Schema:
    """What is kept of each row, then each slot of each column of entries on its own."""
    fields = [(name, pa.from_numpy_dtype(kind)) for name, kind in ROW_KINDS.items()]
    for name, kind in ENTRY_KINDS.items():
        fields += [(f"{name}_{slot}", pa.from_numpy_dtype(kind)) for slot in range(intervals)]
    return pa.schema(fields)


def names_of(windows: Windows) -> dict[str, pa.Table]:
    """Everything but the rings: which rows are whose, owners, and the heads."""
    heads = windows.heads
    blocks = [(group, topic, *block) for group, topic, block in windows.blocks()]
    owners = list(windows.owners.known)
    topics = [
        (topic, *block, heads.topic_ids.get(topic), heads.id_seen_ms.get(topic))
        for topic, block in heads.topics.items()
    ]
    used = heads.used_rows
    slots = {f"end_{slot}": heads.end[slot, :used] for slot in range(heads.intervals)}
    slots |= {f"observed_ms_{slot}": heads.observed_ms[slot, :used] for slot in range(heads.intervals)}
    slots |= {"log_start": heads.log_start[:used]}
    return {
        "blocks": _table(blocks, BLOCKS),
        "owners": _table(owners, OWNERS),
        "topics": _table(topics, TOPICS),
        "heads": pa.table({name: pa.array(column.copy()) for name, column in slots.items()}),
        "history": _history_table(heads.history, used),
        "log_start_history": _history_table(heads.log_start_history, used),
    }


def _history_table(history: HeadHistory, rows: int) -> pa.Table:
    """One row for each moment, with the end of every partition then."""
    bounds = pa.array(np.arange(history.points + 1, dtype=np.int64) * rows)
    ends = pa.LargeListArray.from_arrays(bounds, pa.array(history.end[:, :rows].ravel()))
    return pa.table({"observed_ms": pa.array(history.observed_ms.copy()), "end": ends})


def _restore_history(history: HeadHistory, table: pa.Table, rows: int) -> None:
    kept = [(ms, end) for ms, end in zip(table["observed_ms"].to_pylist(), table["end"], strict=True) if ms]
    for ms, end in sorted(kept, key=lambda one: one[0])[-history.points :]:
        ends: Int64 = end.values.to_numpy(zero_copy_only=False)[:rows]
        known = np.flatnonzero(ends >= 0)
        history.observe(known, ends[known], ms)


def restore_rows(rings: Rings, labels: Labels, batch: pa.RecordBatch) -> None:
    """Put copied rows back; later batches overwrite earlier ones."""
    rows = batch.column("row").to_numpy()
    if not len(rows):
        return
    rings.grow(int(rows.max()) + 1)
    labels.grow(int(rows.max()) + 1)
    for name in RING_STATE:
        getattr(rings, name)[rows] = batch.column(name).to_numpy()
    for name in KEPT_LABELS:
        getattr(labels, name)[rows] = _column(batch, name)
    whole_tiles = _whole_tiles(rows)
    for slot in range(rings.intervals):
        places = rings.places(slot, rows)
        for name in ENTRY_KINDS:
            values = _column(batch, name, slot)
            if whole_tiles:
                rings.tiles(name, whole_tiles)[:, slot] = values.reshape(-1, TILE_ROWS)
            else:
                getattr(rings, name)[places] = values


def _column(batch: pa.RecordBatch, kind: str, slot: int | None = None) -> NDArray[np.generic]:
    """Return one column; zeros if the snapshot or keyframe is older than the column."""
    name = kind if slot is None else f"{kind}_{slot}"
    if kind in NEW_COLUMNS and name not in batch.schema.names:
        return np.zeros(batch.num_rows, np.int8)
    column = batch.column(name)
    if kind in NEW_COLUMNS and column.null_count:  # some of the files are older than the column
        column = column.fill_null(0)
    values: NDArray[np.generic] = column.to_numpy()
    return values


def _whole_tiles(rows: Int64) -> slice | None:
    """The rows as a slice if they are whole tiles: these are copied much faster than one by one."""
    first, last = int(rows[0]), int(rows[-1])
    neighbours = last - first == len(rows) - 1
    return slice(first, last + 1) if neighbours and first % TILE_ROWS == 0 == len(rows) % TILE_ROWS else None


def resized(rings: Rings, intervals: int, min_distance_ms: int) -> Rings:
    """The same windows with another number of intervals: the newest entries stay."""
    if intervals == rings.intervals:
        rings.min_distance_ms = min_distance_ms
        return rings
    other, rows = Rings(intervals, min_distance_ms), np.arange(rings.capacity)
    other.grow(rings.capacity)
    other.count[rows] = np.minimum(rings.count, intervals)
    other.newest[rows] = np.maximum(other.count[rows] - 1, 0)
    other.newest_order[rows] = rings.newest_order
    for slot in range(min(intervals, rings.intervals)):
        source = rings.places((rings.newest - (other.count[rows] - 1 - slot)) % rings.intervals, rows)
        target = other.places(slot, rows)
        for name in ENTRY_KINDS:
            getattr(other, name)[target] = getattr(rings, name)[source]
    return other


def restore_names(windows: Windows, names: dict[str, pa.Table]) -> None:
    """Say whose the rows are that `windows`, otherwise new, has got back, and where topics end."""
    heads, table = windows.heads, names["heads"]
    topics = names["topics"].to_pylist()
    heads.adopt({row["topic"]: Block(row["start"], row["length"]) for row in topics})
    for row in topics:
        if row["topic_id"] is not None:
            heads.see_ids({row["topic"]: row["topic_id"]}, row["id_seen_ms"])
    used = table.slice(0, heads.used_rows)  # free rows at the end are not taken over
    kept = {"log_start": used["log_start"].to_numpy()}  # leaders and transactions may be others after a restart
    heads.restore(_slots(used, "end"), _slots(used, "observed_ms"), kept)
    _restore_history(heads.history, names["history"], heads.used_rows)
    _restore_history(heads.log_start_history, names["log_start_history"], heads.used_rows)
    for row in names["owners"].to_pylist():
        windows.owners.code_of(Owner(**row))
    columns = (names["blocks"][name].to_pylist() for name in BLOCKS.names)
    windows.adopt((group, topic, Block(start, length)) for group, topic, start, length in zip(*columns, strict=True))


def _slots(table: pa.Table, name: str) -> Int64:
    slots = [column for column in table.column_names if column.startswith(f"{name}_")]
    return np.array([table[column].to_numpy() for column in slots], np.int64)


def _table(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )
