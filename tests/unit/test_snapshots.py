"""Snapshot files: whole or not used, the one before kept, and nothing that is in them ends the process."""

from __future__ import annotations

from pathlib import Path

import pytest
import structlog

from tests.support.scenario import commit_table, head_table
from warren.clusters.keeper import LONGEST_AGE_MS, Keeper
from warren.clusters.snapshots import VERSION, previous
from warren.clusters.state import ClusterState
from warren.errors import StartOverError
from warren.rules.rule import Settings
from warren.windows.store import Limits

NOW_MS = 1_000_000


def new_state(name: str = "prod") -> ClusterState:
    return ClusterState(name, Limits(intervals=3), Settings(), {"c": "__consumer_offsets"})


def filled_state(offset: int = 10, name: str = "prod") -> ClusterState:
    state = new_state(name)
    state.apply_head_rows(head_table({"__consumer_offsets": [1], "orders": [100, 50]}, 9_000), now_ms=9_000)
    state.apply_commit_rows("c", commit_table(("billing", "orders", 0, offset, 10_000)), now_ms=20_000)
    return state


def keeper(state: ClusterState, directory: Path, now_ms: int = NOW_MS) -> Keeper:
    return Keeper({state.name: state}, directory, 30.0, lambda: now_ms)


def offset_of(state: ClusterState) -> int | None:
    verdict = state.judge("billing", now_ms=NOW_MS)
    return verdict.partitions[0].entries[-1].offset if verdict else None


def restored(directory: Path, now_ms: int = NOW_MS) -> tuple[ClusterState, list[str]]:
    state = new_state()
    with structlog.testing.capture_logs() as logs:
        keeper(state, directory, now_ms).restore()
    return state, [f"{line['event']}: {line.get('error', '')}" for line in logs]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A directory with two snapshots: offset 20 in the last one, 10 in the one before."""
    keeper(filled_state(10), tmp_path).save()
    keeper(filled_state(20), tmp_path).save()
    return tmp_path


def test_what_was_saved_is_there_again_with_its_positions(saved: Path) -> None:
    state, _ = restored(saved)

    assert offset_of(state) == 20
    assert state.positions("c") == {0: 1}
    assert state.restored_ms == NOW_MS
    assert not state.is_ready, "the records since then are not read yet"


def test_a_restored_state_is_current_once_it_has_caught_up(saved: Path) -> None:
    state, _ = restored(saved)
    state.apply_commit_rows("c", commit_table(), now_ms=NOW_MS)

    assert state.restored_ms is None


@pytest.mark.parametrize("place", [0, 5, 16, 40, 300, -300, -25, -10, -1])
def test_a_flipped_bit_anywhere_makes_the_one_before_count(saved: Path, place: int) -> None:
    path = saved / "prod.snapshot"
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)
    state, told = restored(saved)

    assert offset_of(state) == 10
    assert told[0].startswith(f"snapshot not used: Snapshot {path} cannot be read: ")
    assert (saved / "prod.snapshot.set-aside").exists()


@pytest.mark.parametrize("size", [0, 1, 17, 500])
def test_a_torn_file_makes_the_one_before_count(saved: Path, size: int) -> None:
    path = saved / "prod.snapshot"
    path.write_bytes(path.read_bytes()[:size])

    assert offset_of(restored(saved)[0]) == 10


def test_a_crash_between_two_renames_loses_nothing(saved: Path) -> None:
    path = saved / "prod.snapshot"
    path.replace(previous(path))

    assert offset_of(restored(saved)[0]) == 20


def test_a_snapshot_of_another_cluster_is_not_used(tmp_path: Path) -> None:
    keeper(filled_state(10, "elsewhere"), tmp_path).save()
    (tmp_path / "elsewhere.snapshot").replace(tmp_path / "prod.snapshot")
    state, told = restored(tmp_path)

    assert offset_of(state) is None
    assert told == ["snapshot not used: It is of cluster elsewhere, not of prod."]


def test_a_snapshot_of_another_version_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper(filled_state(10), tmp_path).save()
    monkeypatch.setattr("warren.clusters.snapshots.READABLE", (VERSION + 1, VERSION + 2))
    state, told = restored(tmp_path)

    assert offset_of(state) is None
    assert f"is of version {VERSION}, this Warren reads versions {VERSION + 1}, {VERSION + 2}." in told[0]


def test_a_snapshot_older_than_tombstones_live_is_not_used(tmp_path: Path) -> None:
    keeper(filled_state(10), tmp_path).save()
    state, told = restored(tmp_path, NOW_MS + LONGEST_AGE_MS + 1)

    assert offset_of(state) is None
    assert "older than a day" in told[0]


def test_a_full_disk_is_told_and_the_last_snapshot_stays(saved: Path) -> None:
    (saved / "prod.snapshot.unfinished").symlink_to("/dev/full")
    with structlog.testing.capture_logs() as logs:
        keeper(filled_state(30), saved).save()

    assert logs[0]["error"].startswith(f"No space left for the snapshot {saved / 'prod.snapshot'}")
    (saved / "prod.snapshot.unfinished").unlink()
    assert offset_of(restored(saved)[0]) == 20


def test_nothing_is_saved_before_anything_was_read(tmp_path: Path) -> None:
    keeper(new_state(), tmp_path).save()

    assert list(tmp_path.iterdir()) == []


def test_starting_over_forgets_what_was_committed_and_reads_all_again() -> None:
    state = filled_state()
    state.start_over("c")

    assert offset_of(state) is None
    assert state.positions("c") is None
    assert not state.has_caught_up


def test_when_one_consumer_starts_over_the_others_do_too() -> None:
    state = ClusterState("prod", Limits(), Settings(), {"a": "__consumer_offsets", "b": "__consumer_offsets"})
    state.start_over("a")

    with pytest.raises(StartOverError):
        state.apply_commit_rows("b", commit_table(), now_ms=NOW_MS)
    state.start_over("b")
    state.apply_commit_rows("b", commit_table(), now_ms=NOW_MS)
    state.apply_commit_rows("a", commit_table(), now_ms=NOW_MS)


def test_another_cluster_behind_the_same_address_is_noticed() -> None:
    def heads(cluster_id: str) -> object:
        table = head_table({"orders": [100, 50]}, 9_000)
        ids = [cluster_id] + [None] * (table.num_rows - 1)
        return table.set_column(table.column_names.index("cluster_id"), "cluster_id", [ids])

    state = new_state()
    state.apply_head_rows(heads("A"), now_ms=9_000)
    state.apply_commit_rows("c", commit_table(("billing", "orders", 0, 10, 10_000)), now_ms=20_000)
    state.apply_head_rows(heads("A"), now_ms=9_000)
    assert offset_of(state) == 10

    state.apply_head_rows(heads("B"), now_ms=9_000)

    assert offset_of(state) is None
    with pytest.raises(StartOverError):
        state.apply_commit_rows("c", commit_table(), now_ms=NOW_MS)
