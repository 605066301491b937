"""A ledger in a snapshot file, and back: what is kept over restarts.

The rings of a large cluster are copied in chunks, each with the lock held for a few milliseconds.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from warren.clusters.ledger import Ledger
from warren.clusters.snapshots import SnapshotError, SnapshotReader, SnapshotWriter
from warren.groups.groups import restored_groups
from warren.rules.standing import restored_standings, standing_tables
from warren.windows import snapshot
from warren.windows.rings import Rings
from warren.windows.store import Windows

CHUNK_ROWS = 65_536
"""Rows copied at once for a snapshot: a few milliseconds, during which the pipeline waits."""
ROUNDS = 100
"""So often are rows copied again that changed meanwhile, before the rest is copied in one go."""

SEEN_SINCE = 4
"""Snapshots of this version have what was seen in places that are looked at."""


def save_ledger(ledger: Ledger, file: SnapshotWriter, lock: threading.Lock) -> None:
    """Write everything down, as of the moment when the last rows are copied."""
    final: dict[str, pa.Table] = {}
    file.write(snapshot.ring_schema(ledger.windows.limits.intervals), _copies(ledger, final, lock))
    for table in final.values():
        file.write(table.schema, iter(table.to_batches()))


def _copies(ledger: Ledger, final: dict[str, pa.Table], lock: threading.Lock) -> Iterator[pa.RecordBatch]:
    """The rings in chunks; with the last chunk `final` gets all the rest, so that both are of one moment."""
    windows, intervals = ledger.windows, ledger.windows.limits.intervals
    staging = snapshot.Staging(intervals, CHUNK_ROWS)
    for start in range(0, windows.used_rows, CHUNK_ROWS):
        with lock:
            rows = np.arange(start, min(start + CHUNK_ROWS, windows.used_rows))
            batch = staging.copy(windows, rows)
            windows.rings.touched[rows] = False
        yield batch
    for turn in range(ROUNDS):
        with lock:
            changed = np.flatnonzero(windows.rings.touched[: windows.used_rows])
            if len(changed) > CHUNK_ROWS:
                staging = staging if turn < ROUNDS - 1 else snapshot.Staging(intervals, len(changed))
            batch = staging.copy(windows, changed[: staging.rows])
            windows.rings.touched[changed[: staging.rows]] = False
            if len(changed) <= staging.rows:
                final |= _all_the_rest(ledger)
        yield batch
        if final:
            break
    if windows is not ledger.windows:
        message = "The state was replaced while it was written down."
        raise SnapshotError(message)


def _all_the_rest(ledger: Ledger) -> dict[str, pa.Table]:
    return {
        **snapshot.names_of(ledger.windows),
        **standing_tables(ledger.standings),
        "group_records": ledger.groups.table(),
        "positions": ledger.reading.table(),
        "seen": ledger.reading.seen_table(),
        "held": ledger.reading.holders.table(),
    }


def restore_ledger(ledger: Ledger, file: SnapshotReader) -> None:
    """Become what was written down, in the same order; the ledger must be new.

    `SnapshotError` for a file whose tables are not those of its version.
    """
    try:
        _restore(ledger, file)
    except KeyError as error:
        message = f"Its tables do not fit its version {file.header.version}: there is no column {error}."
        raise SnapshotError(message) from error


def _restore(ledger: Ledger, file: SnapshotReader) -> None:
    limits = ledger.windows.limits
    windows, rings = Windows(limits), Rings(file.header.intervals, limits.min_distance_ms)
    for batch in file.batches():
        snapshot.restore_rows(rings, windows.labels, batch)
    windows.rings = snapshot.resized(rings, limits.intervals, limits.min_distance_ms)
    snapshot.restore_names(windows, {name: file.table() for name in snapshot.NAMES})
    standings = restored_standings(file.table(), file.table())
    groups = restored_groups(file.table(), windows.heads.names_by_id())
    ledger.windows, ledger.standings, ledger.groups = windows, standings, groups
    ledger.cluster_id = file.header.cluster_id
    ledger.reading.restore(file.table(), file.header.created_ms)
    if file.header.version >= SEEN_SINCE:
        ledger.reading.restore_seen(file.table())
        ledger.drop_places(file.table())
