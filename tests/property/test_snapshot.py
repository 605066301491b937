"""Snapshots: whatever happened before, what is read back is what was written, and goes on the same way."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.commit_histories import PARTITIONS, Commit, apply, histories, limits
from tests.support.examples import examples
from tests.support.scenario import GROUP, TOPIC, commit_table, head_rows, head_table
from tests.support.snapshot_files import CONSUMERS, contents, saved_and_restored
from warren.clusters import ledger_file
from warren.clusters.snapshots import SnapshotReader, SnapshotWriter
from warren.clusters.state import ClusterState
from warren.rules.rule import Settings
from warren.windows.store import Limits


@examples(60)
@given(histories, histories, limits, st.integers(1, 3))
def test_a_restored_store_is_the_same_and_goes_on_the_same(
    before: list[Commit], after: list[Commit], of: Limits, chunk_rows: int
) -> None:
    state = ClusterState("x", of, Settings(), CONSUMERS)
    state._windows.apply_heads(head_rows({TOPIC: [100] * PARTITIONS}, 1))
    apply(state._windows, list(enumerate(before)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger_file, "CHUNK_ROWS", chunk_rows)
        restored = saved_and_restored(state, of)
    assert contents(restored._windows) == contents(state._windows)

    for store in (state._windows, restored._windows):
        apply(store, list(enumerate(after, start=len(before))))
        store.apply_heads(head_rows({TOPIC: [120] * (PARTITIONS + 2), "new": [5]}, 30_000))

    assert contents(restored._windows) == contents(state._windows)


@examples(40)
@given(st.lists(st.integers(0, 50), max_size=12), st.integers(1, 8), st.integers(1, 8))
def test_with_another_number_of_intervals_the_newest_commits_stay(offsets: list[int], old: int, new: int) -> None:
    state = ClusterState("x", Limits(old), Settings(), CONSUMERS)
    state.apply_head_rows(head_table({TOPIC: [100]}, 1), now_ms=1)
    commits = [(GROUP, TOPIC, 0, offset, 1000 * number) for number, offset in enumerate(offsets)]
    state.apply_commit_rows("c", commit_table(*commits), now_ms=20_000)
    restored = saved_and_restored(state, Limits(new))

    verdict = restored.judge(GROUP, now_ms=20_000)
    entries = verdict.partitions[0].entries if verdict else []
    assert [entry.offset for entry in entries] == offsets[-min(old, new) :]


class BusyWriter(SnapshotWriter):
    """A snapshot file during whose writing the state goes on changing."""

    def __init__(self, path: Path, state: ClusterState, steps: list[list[Commit]]) -> None:
        super().__init__(path, state.header(1))
        self._state, self._steps, self._order = state, steps, 1000
        self.expected: dict[str, object] = {}

    def write(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        super().write(schema, self._between(batches))

    def _between(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        while True:
            if self._steps:
                step = self._steps.pop()
                apply(self._state._windows, list(enumerate(step, start=self._order)))
                self._order += len(step)
            as_of_now = contents(self._state._windows)
            batch = next(batches, None)
            if batch is None:
                return
            if "row" in batch.schema.names:
                self.expected = as_of_now
            yield batch


@examples(60)
@given(histories, st.lists(histories, max_size=6), limits)
def test_a_snapshot_written_while_commits_come_in_is_of_one_moment(
    before: list[Commit], meanwhile: list[list[Commit]], of: Limits
) -> None:
    state = ClusterState("x", of, Settings(), CONSUMERS)
    state._windows.apply_heads(head_rows({TOPIC: [100] * PARTITIONS}, 1))
    apply(state._windows, list(enumerate(before)))
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as directory:
        patch.setattr(ledger_file, "CHUNK_ROWS", 1)
        path = Path(directory) / "x.snapshot"
        with BusyWriter(path, state, meanwhile) as file:
            state.save(file)
        restored = ClusterState("x", of, Settings(), CONSUMERS)
        restored.restore(SnapshotReader(path))

    assert contents(restored._windows) == file.expected
