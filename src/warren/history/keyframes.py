"""All windows and heads of a cluster as two tables, and back: where a replay can begin. Pure.

Unlike a snapshot, which is restored as a whole, a keyframe is taken apart by groups: each task of a replay gets the
windows of its own groups, and the heads of their topics.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warren.windows import snapshot
from warren.windows.columns import Block, Int32, Int64, rows_of
from warren.windows.heads import KEPT_HEADS, Heads
from warren.windows.labels import Owner
from warren.windows.rings import Rings
from warren.windows.store import Limits, Windows

WHERE = ("group", "topic", "partition")


def windows_table(windows: Windows, without: Collection[str] = ()) -> pa.Table:
    """A row for each partition of each group but some, with its whole window."""
    blocks = [one for one in windows.blocks() if one[0] not in without]
    at, partition = rows_of([block for _, _, block in blocks])
    copied = snapshot.Staging(windows.limits.intervals, max(len(at), 1)).copy(windows, at)
    lengths = [block.length for _, _, block in blocks]
    columns = {
        "group": _repeated([group for group, _, _ in blocks], lengths),
        "topic": _repeated([topic for _, topic, _ in blocks], lengths),
        "partition": pa.array(partition.astype(np.int32)),
        "owner_name": pa.array(
            [_text(windows.owners.known[code]) for code in windows.labels.owner[at].tolist()], pa.string()
        ),
        **{name: _signed(copied.column(name)) for name in copied.schema.names if name not in ("row", "owner")},
    }
    return pa.table(columns)


def _signed(column: pa.Array) -> pa.Array:
    """Spark knows no unsigned numbers."""
    return column.cast(pa.int64()) if column.type == pa.uint32() else column


def _repeated(names: list[str], lengths: list[int]) -> pa.Array:
    return pa.array(names, pa.string()).take(pa.array(np.repeat(np.arange(len(names)), lengths)))


def _text(owner: Owner) -> str | None:
    return "\0".join(owner) if any(owner) else None


def topics_table(heads: Heads) -> pa.Table:
    """A row for each partition of each topic, with what was observed of it."""
    names = list(heads.topics)
    at, partition = rows_of([heads.topics[name] for name in names])
    lengths = [heads.topics[name].length for name in names]
    columns = {
        "topic": _repeated(names, lengths),
        "topic_id": _repeated([heads.topic_ids.get(name, "") for name in names], lengths),
        "id_seen_ms": pa.array(np.repeat(np.array([heads.id_seen_ms.get(n, 0) for n in names], np.int64), lengths)),
        "partition": pa.array(partition.astype(np.int32)),
        "slot_end": _lists(heads.end[:, at]),
        "slot_ms": _lists(heads.observed_ms[:, at]),
        **{name: pa.array(getattr(heads, name)[at].copy()) for name in KEPT_HEADS},
    }
    for name, history in (("history", heads.history), ("log_start_history", heads.log_start_history)):
        moments = np.broadcast_to(history.observed_ms[:, None], (history.points, len(at)))
        columns |= {f"{name}_end": _lists(history.end[:, at]), f"{name}_ms": _lists(moments)}
    return pa.table(columns)


def _lists(values: Int64) -> pa.Array:
    """`[slots, rows]` as a list for each row."""
    slots, rows = values.shape
    bounds = pa.array(np.arange(rows + 1, dtype=np.int32) * slots)
    return pa.ListArray.from_arrays(bounds, pa.array(np.ascontiguousarray(values.T).ravel()))


def restored(windows: pa.Table, topics: pa.Table, limits: Limits) -> Windows:
    """Windows as they were, under limits that may be others; rows may come in any order."""
    store = Windows(limits)
    _restore_heads(store.heads, topics.sort_by([("topic", "ascending"), ("partition", "ascending")]))
    if windows.num_rows:
        _restore_windows(store, windows.sort_by([(name, "ascending") for name in WHERE]))
    return store


def _restore_heads(heads: Heads, table: pa.Table) -> None:
    if not table.num_rows:
        return
    blocks = _blocks(table, ("topic",))
    heads.adopt({topic: block for (topic,), block in blocks})
    for (topic,), block in blocks:
        if topic_id := table["topic_id"][block.start].as_py():
            heads.see_ids({topic: topic_id}, table["id_seen_ms"][block.start].as_py())
    kept = {name: table[name].to_numpy() for name in KEPT_HEADS}
    heads.restore(_matrix(table, "slot_end"), _matrix(table, "slot_ms"), kept)
    for name, history in (("history", heads.history), ("log_start_history", heads.log_start_history)):
        moments_ms, ends = _matrix(table, f"{name}_ms")[:, 0], _matrix(table, f"{name}_end")
        for point in np.argsort(moments_ms, kind="stable").tolist():
            if moments_ms[point]:
                known = np.flatnonzero(ends[point] >= 0)
                history.observe(known, ends[point][known], int(moments_ms[point]))


def _restore_windows(store: Windows, table: pa.Table) -> None:
    blocks = _blocks(table, ("group", "topic"))
    intervals = sum(name.startswith("offset_") for name in table.column_names)
    rings, codes = Rings(intervals, store.limits.min_distance_ms), _owner_codes(store, table)
    rows = table.drop_columns([*WHERE, "owner_name"]).combine_chunks()
    rows = rows.append_column("row", pa.array(np.arange(table.num_rows))).append_column("owner", pa.array(codes))
    for batch in rows.to_batches():
        snapshot.restore_rows(rings, store.labels, batch)
    store.rings = snapshot.resized(rings, store.limits.intervals, store.limits.min_distance_ms)
    store.adopt((group, topic, block) for (group, topic), block in blocks)


def _owner_codes(store: Windows, table: pa.Table) -> Int32:
    coded = table["owner_name"].combine_chunks().dictionary_encode()
    codes = np.array([store.owners.code_of(Owner(*text.split("\0"))) for text in coded.dictionary.to_pylist()] + [0])
    found: Int32 = codes[pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)].astype(np.int32)
    return found


def _blocks(table: pa.Table, names: tuple[str, ...]) -> list[tuple[tuple[str, ...], Block]]:
    """Where neighbouring rows have the same names; the partitions of each are 0, 1, 2 and so on."""
    partition = table["partition"].to_numpy()
    start = np.flatnonzero(partition == 0)
    lengths = np.diff(np.append(start, len(partition)))
    named = zip(*(table[name].take(pa.array(start)).to_pylist() for name in names), strict=True)
    return [(of, Block(int(s), int(n))) for of, s, n in zip(named, start, lengths, strict=True)]


def _matrix(table: pa.Table, name: str) -> Int64:
    """A list for each row as `[slots, rows]`."""
    values: Int64 = pc.list_flatten(table[name]).to_numpy().reshape(table.num_rows, -1).T
    return np.ascontiguousarray(values)
