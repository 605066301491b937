"""Commits brought down to what a step needs, however they are cut into batches."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from warren.capacity.condense import Course, Piece, commit_pieces, course_of
from warren.capacity.grid import Grid, Points, positions_at_edges

GRID = Grid(60_000, 60_000, 5)
NO_LOG = np.full(6, np.nan)
NAMES = st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["t", "u"]), st.integers(0, 1))
COMMITS = st.lists(st.tuples(NAMES, st.integers(1, 40_000), st.integers(-1, 50)), min_size=1, max_size=60)
Commit = tuple[tuple[str, str, int], int, int]


def table(commits: list[Commit], first_order: int) -> pa.Table:
    moments = np.cumsum([wait_ms for _, wait_ms, _ in commits])
    return pa.table(
        {
            "group": [name[0] for name, _, _ in commits],
            "topic": [name[1] for name, _, _ in commits],
            "partition": pa.array([name[2] for name, _, _ in commits], pa.int32()),
            "order": pa.array(range(first_order, first_order + len(commits)), pa.int64()),
            "at_ms": moments,
            "timestamp_ms": moments,
            "offset": pa.array([offset for _, _, offset in commits], pa.int64()),
        }
    )


def courses(*batches: pa.Table) -> dict[tuple[str, str, int], Course]:
    found: dict[tuple[str, str, int], list[Piece]] = {}
    for rows in batches:
        for row in commit_pieces(rows, GRID).to_pylist():
            found.setdefault((row["group"], row["topic"], row["partition"]), []).append(Piece(**row["piece"]))
    return {name: course_of(pieces, GRID) for name, pieces in found.items()}


@given(COMMITS)
def test_positions_at_edges_are_those_of_all_commits(commits: list[Commit]) -> None:
    rows = table(commits, 0)
    for name, course in courses(rows).items():
        mine = [i for i, (one, _, _) in enumerate(commits) if one == name]
        points = Points(rows["timestamp_ms"].to_numpy()[mine], rows["offset"].to_numpy()[mine])
        if (points.offset >= 0).all():
            np.testing.assert_allclose(
                positions_at_edges(GRID, course.points, NO_LOG), positions_at_edges(GRID, points, NO_LOG)
            )


@given(COMMITS)
def test_every_commit_that_goes_back_is_counted(commits: list[Commit]) -> None:
    for name, course in courses(table(commits, 0)).items():
        offsets = [offset for one, _, offset in commits if one == name]
        pairs = itertools.pairwise(offsets)
        assert course.rewinds == sum(0 <= after < before for before, after in pairs)


@given(COMMITS, st.integers(0, 60), st.integers(0, 60))
def test_cutting_into_batches_changes_nothing_in_whatever_order_they_are_read(
    commits: list[Commit], cut: int, length: int
) -> None:
    rows = table(commits, 0)
    cuts = (rows[cut : cut + length], pa.concat_tables([rows[cut + length :], rows[:cut]]))
    whole, parts = courses(rows), courses(*(part for part in cuts if part.num_rows))
    assert whole.keys() == parts.keys()
    for name, course in whole.items():
        same = (positions_at_edges(GRID, one.points, NO_LOG) for one in (course, parts[name]))
        np.testing.assert_allclose(*same)


REMOVED = (("a", "t", 0), 60_000, -1)


def without_times(rows: pa.Table) -> pa.Table:
    """Removals as they are written down."""
    own_ms = np.where(rows["offset"].to_numpy() < 0, -1, rows["timestamp_ms"].to_numpy())
    return rows.set_column(rows.column_names.index("timestamp_ms"), "timestamp_ms", pa.array(own_ms))


def test_a_removal_counts_from_when_it_was_seen() -> None:
    rows = without_times(table([(("a", "t", 0), 60_000, 7), (("a", "t", 0), 60_000, 9), REMOVED], 0))
    [course] = courses(rows).values()
    np.testing.assert_array_equal(
        positions_at_edges(GRID, course.points, NO_LOG), [7, 9, np.nan, np.nan, np.nan, np.nan]
    )


def test_a_removal_that_is_seen_late_is_not_after_the_next_commit() -> None:
    rows = without_times(table([(("a", "t", 0), 60_000, 7), REMOVED, (("a", "t", 0), 60_000, 9)], 0))
    late = rows.set_column(rows.column_names.index("at_ms"), "at_ms", pa.array([300_000] * 3, pa.int64()))
    [course] = courses(late).values()
    np.testing.assert_array_equal(positions_at_edges(GRID, course.points, NO_LOG), [7, 8, 9, 9, 9, 9])
