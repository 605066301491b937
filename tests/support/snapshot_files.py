"""Cluster states that go through a snapshot file, and what their windows hold."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from warren.clusters.snapshots import SnapshotReader, SnapshotWriter
from warren.clusters.state import ClusterState
from warren.rules.rule import Settings
from warren.windows.store import Limits, Windows
from warren.windows.views import GroupWindows

CONSUMERS = {"c": "__consumer_offsets"}
COLUMNS = ("offset", "timestamp_ms", "lag", "observed_ms", "lag_at_least")


def saved_and_restored(state: ClusterState, limits: Limits) -> ClusterState:
    """Write a snapshot of `state` and return a new state that was restored from it."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "x.snapshot"
        with SnapshotWriter(path, state.header(1)) as file:
            state.save(file)
        restored = ClusterState(state.name, limits, Settings(), CONSUMERS)
        restored.restore(SnapshotReader(path))
        return restored


def contents(windows: Windows) -> dict[str, object]:
    """Return everything that a store holds of each group, for comparison."""
    return {name: _group_contents(windows.group(name)) for name in windows.groups()}


def _group_contents(group: GroupWindows | None) -> object:
    assert group is not None
    window = group.window
    filled = np.arange(len(window.offset))[:, None] < window.length
    columns = [np.where(filled, column, 0).tolist() for column in (getattr(window, name) for name in COLUMNS)]
    return columns, window.length.tolist(), group.head.tolist(), group.lowest_head.tolist(), group.owners
