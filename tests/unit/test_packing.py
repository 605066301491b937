"""Memory: rows grow where they are, and what groups leave behind is given back."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.scenario import commit_rows, head_rows
from warren.windows import columns
from warren.windows.columns import TILE_ROWS, Column
from warren.windows.labels import Labels, Owner, Owners
from warren.windows.rings import Commits, Rings
from warren.windows.store import Assignment, Limits, Windows
from warren.windows.views import GroupWindows

GROUPS = 40
PARTITIONS = 300
DAY_MS = 86_400_000


@pytest.mark.parametrize("in_place", [True, False])
def test_a_column_keeps_its_values_when_it_grows(in_place: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "GROWS_IN_PLACE", in_place and columns.GROWS_IN_PLACE)
    column = Column(np.int64)
    column.grow(3)
    column.values[:] = [1, 2, 3]
    column.grow(100_000)

    assert column.values[:4].tolist() == [1, 2, 3, 0]
    assert len(column.values) == 100_000


def test_rings_on_both_sides_of_a_tile_do_not_mix() -> None:
    rings = Rings(3, 0)
    rings.grow(TILE_ROWS + 2)
    rows = np.arange(TILE_ROWS - 2, TILE_ROWS + 2)
    for n in range(4):
        rings.append(rows, Commits(rows * 10 + n, rows + n, rows + n), rows, 1000)

    assert rings.windows(rows).offset.T.tolist() == [[row * 10 + n for n in (1, 2, 3)] for row in rows.tolist()]


def test_a_tables_rows_can_be_kept_in_another_order() -> None:
    rings = Rings(2, 0)
    rings.grow(TILE_ROWS * 2)
    rows = np.array([5, TILE_ROWS + 1])
    rings.append(rows, Commits(rows, rows, rows), rows, 1000)
    rings.keep(rows[::-1])

    assert rings.windows(np.arange(2)).offset[0].tolist() == [TILE_ROWS + 1, 5]
    assert rings.capacity == TILE_ROWS


def full_store() -> Windows:
    """Every group commits to a topic of its own; the even ones do so once more a day later."""
    windows = Windows(Limits(3, 0, DAY_MS))
    windows.apply_heads(head_rows({f"t{n}": [100] * PARTITIONS for n in range(GROUPS)}, 1))
    for n in range(GROUPS):
        for order in range(2 if n % 2 == 0 else 1):
            for partition in (0, PARTITIONS - 1):
                at_ms = 1000 + order * DAY_MS
                rows = commit_rows([(n + order, order, at_ms)], group=f"g{n}", topic=f"t{n}", partition=partition)
                windows.apply_commits(rows, at_ms)
    windows.apply_assignment(Assignment("g2", {("t2", 7): Owner("host", "client")}))
    return windows


def shown(windows: Windows) -> list[object]:
    found = [(name, windows.group(name)) for name in windows.groups()]
    return [(name, *as_lists(group)) for name, group in found if group is not None]


def as_lists(group: GroupWindows) -> list[object]:
    columns = (group.length, group.head, group.current_lag, group.window.offset, group.window.timestamp_ms)
    return [*(column.tolist() for column in columns), group.owners]


def test_when_most_groups_are_gone_the_others_move_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "FEW_ROWS", 100)
    windows = full_store()
    for n in range(0, GROUPS, 4):
        windows.delete_group(f"g{n}")
    remaining = [entry for entry in shown(windows) if int(str(entry[0])[1:]) % 2 == 0]
    windows.expire(DAY_MS + 5_000)

    assert shown(windows) == remaining
    assert windows.used_rows == len(remaining) * PARTITIONS
    assert windows.rings.capacity < GROUPS * PARTITIONS


def test_after_moving_together_commits_and_heads_find_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "FEW_ROWS", 100)
    windows = full_store()
    windows.apply_heads(head_rows({f"t{n}": [100] * PARTITIONS for n in range(0, GROUPS, 4)}, 2_000))
    windows.expire(2_000)
    windows.apply_commits(commit_rows([(77, 9, DAY_MS)], group="g4", topic="t4", partition=3), DAY_MS)
    windows.apply_heads(head_rows({f"t{n}": [n + 100] * PARTITIONS for n in range(0, GROUPS, 4)}, DAY_MS + 1))
    group = windows.group("g4")

    assert windows.used_rows == GROUPS // 4 * PARTITIONS
    assert group is not None
    assert (group.window.offset[0, 3], group.head[3], group.current_lag[3]) == (77, 104, 27)


def test_owners_that_own_nothing_are_forgotten() -> None:
    labels, owners = Labels(), Owners()
    labels.grow(4)
    codes = [owners.code_of(Owner(f"host-{n}", "")) for n in range(9)]
    labels.owner[:2] = [codes[8], codes[3]]

    assert owners.forget_unused(labels)
    assert [owners.known[code].host for code in labels.owner[:3].tolist()] == ["host-8", "host-3", ""]
    assert len(owners.known) == 3
