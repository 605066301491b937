"""Windows as Arrow tables, and back: what a snapshot file is made of. Pure: the file itself is `snapshots.py`'s.

The rings of a large store cannot be copied in one go without stopping everybody for seconds. So their rows are copied
in chunks, and while the file is written `Rings.touched` gathers the rows that changed after they were copied; these
come again at the end, together with everything else, as of one moment. Reading applies them in that order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from warren.windows.columns import Block, Int64
from warren.windows.head_history import HeadHistory
from warren.windows.rings import Rings
from warren.windows.store import Owner, Windows

NAMES = ("blocks", "owners", "topics", "heads", "history", "log_start_history")
"""The tables of `names_of`, in the order in which they are written."""

RING_COLUMNS = ("offset", "timestamp_ms", "order", "lag", "observed_s")

BLOCKS = pa.schema([("group", pa.string()), ("topic", pa.string()), ("start", pa.int64()), ("length", pa.int64())])
OWNERS = pa.schema(
    [
        ("group", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("host", pa.string()),
        ("client_id", pa.string()),
    ]
)
TOPICS = pa.schema([("topic", pa.string()), ("start", pa.int64()), ("length", pa.int64())])


class Staging:
    """A place for one chunk of rings, used again and again: fresh memory would cost more time than the copy."""

    def __init__(self, intervals: int, rows: int) -> None:
        self.rows = rows
        self._row = np.zeros(rows, np.int64)
        self._newest, self._count = np.zeros(rows, np.int32), np.zeros(rows, np.int32)
        kinds = [np.uint32 if name == "observed_s" else np.int64 for name in RING_COLUMNS]
        self._columns = [np.zeros((intervals, rows), kind) for kind in kinds]

    def copy(self, rings: Rings, rows: Int64) -> pa.RecordBatch:
        """The rings of at most `self.rows` rows; valid until the next copy."""
        n = len(rows)
        at = slice(int(rows[0]), int(rows[0]) + n) if n and rows[-1] - rows[0] == n - 1 else rows
        self._row[:n] = rows
        self._newest[:n], self._count[:n] = rings.newest[at], rings.count[at]
        for name, column in zip(RING_COLUMNS, self._columns, strict=True):
            np.copyto(column[:, :n], getattr(rings, name)[:, at])
        rings.touched[at] = False
        arrays = [pa.array(self._row[:n]), pa.array(self._newest[:n]), pa.array(self._count[:n])]
        arrays += [pa.array(slot[:n]) for column in self._columns for slot in column]
        return pa.RecordBatch.from_arrays(arrays, schema=ring_schema(rings.intervals))


def ring_schema(intervals: int) -> pa.Schema:
    """A row number, its ring's state, and each slot of each column on its own."""
    fields = [("row", pa.int64()), ("newest", pa.int32()), ("count", pa.int32())]
    for name in RING_COLUMNS:
        kind = pa.uint32() if name == "observed_s" else pa.int64()
        fields += [(f"{name}_{slot}", kind) for slot in range(intervals)]
    return pa.schema(fields)


def names_of(windows: Windows) -> dict[str, pa.Table]:
    """Everything but the rings: which rows are whose, owners, and the heads."""
    heads = windows.heads
    groups = list(windows.groups_with_blocks())
    blocks = [(group, topic, *block) for group, topics, _ in groups for topic, block in topics.items()]
    owners = [(group, *at, *owner) for group, _, owned in groups for at, owner in owned.items()]
    topics = [(topic, *block) for topic, block in heads.topics.items()]
    used = heads.used_rows
    slots = {f"end_{slot}": heads.end[slot, :used] for slot in range(heads.intervals)}
    slots |= {f"observed_ms_{slot}": heads.observed_ms[slot, :used] for slot in range(heads.intervals)}
    slots |= {"newest": heads.newest[:used], "log_start": heads.log_start[:used]}
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
    ends = [pa.array(end[:rows].copy()) for end in history.end]
    moments = pa.array(history.observed_ms.copy())
    return pa.table({"observed_ms": moments, "end": pa.array(ends, pa.list_(pa.int64()))})


def _restore_history(history: HeadHistory, table: pa.Table) -> None:
    kept = [(ms, end) for ms, end in zip(table["observed_ms"].to_pylist(), table["end"], strict=True) if ms]
    for ms, end in sorted(kept, key=lambda one: one[0])[-history.points :]:
        ends: Int64 = end.values.to_numpy(zero_copy_only=False)
        known = np.flatnonzero(ends >= 0)
        history.observe(known, ends[known], ms)


def restore_rings(rings: Rings, batch: pa.RecordBatch) -> None:
    """Put copied rows back; later batches overwrite earlier ones."""
    rows = batch.column("row").to_numpy()
    if not len(rows):
        return
    at = slice(int(rows[0]), int(rows[0]) + len(rows)) if rows[-1] - rows[0] == len(rows) - 1 else rows
    rings.grow(int(rows.max()) + 1)
    rings.newest[at], rings.count[at] = batch.column("newest").to_numpy(), batch.column("count").to_numpy()
    for name in RING_COLUMNS:
        column = getattr(rings, name)
        for slot in range(rings.intervals):
            column[slot, at] = batch.column(f"{name}_{slot}").to_numpy()


def resized(rings: Rings, intervals: int, min_distance_ms: int) -> Rings:
    """The same windows with another number of intervals: the newest entries stay."""
    if intervals == rings.intervals:
        rings.min_distance_ms = min_distance_ms
        return rings
    other = Rings(intervals, min_distance_ms)
    other.grow(len(rings.count))
    rows = np.arange(len(rings.count))
    other.count = np.minimum(rings.count, intervals).astype(np.int32)
    other.newest = np.maximum(other.count - 1, 0).astype(np.int32)
    for slot in range(min(intervals, rings.intervals)):
        source = (rings.newest - (other.count - 1 - slot)) % rings.intervals
        for name in RING_COLUMNS:
            getattr(other, name)[slot] = getattr(rings, name)[source, rows]
    return other


def restore_names(windows: Windows, rings: Rings, names: dict[str, pa.Table]) -> None:
    """Make `windows`, which must be new, what was written down."""
    windows.rings = rings
    heads, table = windows.heads, names["heads"]
    heads.adopt({row["topic"]: Block(row["start"], row["length"]) for row in names["topics"].to_pylist()})
    stored = sum(name.startswith("end_") for name in table.column_names)
    for slot in range(min(stored, heads.intervals)):  # fewer slots now: an older end more or less decides nothing
        heads.end[slot, : table.num_rows] = table[f"end_{slot}"].to_numpy()
        heads.observed_ms[slot, : table.num_rows] = table[f"observed_ms_{slot}"].to_numpy()
    heads.newest[: table.num_rows] = _newest_slots(heads.observed_ms[:, : table.num_rows])
    heads.log_start[: table.num_rows] = table["log_start"].to_numpy()
    _restore_history(heads.history, names["history"])
    _restore_history(heads.log_start_history, names["log_start_history"])
    owners: dict[str, dict[tuple[str, int], Owner]] = {}
    for row in names["owners"].to_pylist():
        owners.setdefault(row["group"], {})[row["topic"], row["partition"]] = Owner(row["host"], row["client_id"])
    blocks = names["blocks"].to_pylist()
    windows.adopt([(row["group"], row["topic"], Block(row["start"], row["length"])) for row in blocks], owners)


def _newest_slots(observed_ms: Int64) -> Int64:
    newest: Int64 = observed_ms.argmax(axis=0) if observed_ms.size else np.zeros(observed_ms.shape[1], np.int64)
    return newest


def _table(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )
