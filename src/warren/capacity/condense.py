"""Brings commits and ends down to what a step needs, batch by batch, where they are read. Pure.

Between the edges of a step only the first and the last of what was seen matter. Rows that belong together become one
row with everything in it: a row costs Spark more than all the numbers in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warren.capacity.grid import Bool, Grid, Int, Points

KEY = ("group", "topic", "partition")
COMMITS = (*KEY, "order", "at_ms", "timestamp_ms", "offset")
"""What is needed of commits."""
PIECES = pa.schema(
    [
        ("group", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("piece", pa.struct([("from_ms", pa.int64()), ("rewinds", pa.int64()), ("points", pa.binary())])),
    ]
)
"""A piece of the commits of one partition of a group."""


def commit_pieces(rows: pa.Table, grid: Grid) -> pa.Table:
    """The commits of a batch, a row of `PIECES` for each partition of a group."""
    rows = rows.sort_by([(name, "ascending") for name in (*KEY, "order")])
    is_new = _is_new([rows[name].to_numpy() for name in KEY])
    at_ms, offset = _commit_ms(rows, is_new), rows["offset"].to_numpy()
    starts = np.flatnonzero(is_new)
    is_next = is_new | _is_new([grid.step_of(at_ms)])
    went_back = _went_back(offset) & ~is_next
    kept = _at_ends(is_next)
    bounds = np.cumsum(kept)[starts[1:] - 1]
    points = np.split(np.column_stack((at_ms, offset))[kept].astype("<i8"), bounds)
    pieces = [
        {"from_ms": int(part[:, 0].min()), "rewinds": int(back), "points": part.tobytes()}
        for part, back in zip(points, np.add.reduceat(went_back.astype(np.int64), starts), strict=True)
    ]
    of = rows.select(KEY).take(pa.array(starts))
    return of.append_column("piece", pa.array(pieces, PIECES.field("piece").type)).cast(PIECES)


def _commit_ms(rows: pa.Table, is_new: Bool) -> Int:
    """When commits were made. A removal has no time of its own: it was when it was seen, or before what came next."""
    own_ms, seen_ms = (rows[name].to_numpy() for name in ("timestamp_ms", "at_ms"))
    is_last, next_ms = np.append(is_new[1:], True), np.append(own_ms[1:], -1)
    latest_ms = np.where(is_last | (next_ms < 0), seen_ms, np.minimum(next_ms, seen_ms))
    found: Int = np.where(own_ms < 0, latest_ms, own_ms)
    return found


def head_rows(rows: pa.Table, grid: Grid) -> pa.Table:
    """The first and the last row of each topic and step in a batch."""
    rows = rows.sort_by([("topic", "ascending"), ("epoch_ms", "ascending"), ("seq", "ascending")])
    is_next = _is_new([rows["topic"].to_numpy(), grid.step_of(rows["at_ms"].to_numpy())])
    return rows.filter(pa.array(_at_ends(is_next)))


class Course(NamedTuple):
    """All commits of one partition of a group that matter, and how often it went back."""

    points: Points
    rewinds: int


class Piece(NamedTuple):
    """A piece of the commits of one partition, as a task gets it."""

    from_ms: int
    rewinds: int
    points: bytes


def course_of(pieces: Sequence[Piece], grid: Grid) -> Course:
    """The pieces of one partition put together."""
    ordered = sorted(pieces)
    parts = [np.frombuffer(one.points, "<i8").reshape(-1, 2) for one in ordered]
    whole, piece = np.concatenate(parts).astype(np.int64), np.repeat(np.arange(len(parts)), [len(one) for one in parts])
    in_time = np.argsort(whole[:, 0], kind="stable")
    at_ms, offset = whole[in_time, 0], whole[in_time, 1]
    # within a step of a piece it was counted where all commits were seen
    is_next = _is_new([piece[in_time], grid.step_of(at_ms)])
    between = int((_went_back(offset) & is_next).sum())
    return Course(Points(at_ms, offset), sum(one.rewinds for one in ordered) + between)


def _went_back(offset: Int) -> Bool:
    """Whether an offset is lower than the one before; that it was removed is something else."""
    found = np.zeros(len(offset), np.bool_)
    found[1:] = (offset[1:] < offset[:-1]) & (offset[1:] >= 0)
    return found


def _is_new(keys: Sequence[NDArray[Any]]) -> Bool:
    """Whether a row differs from the one before in any key; the first one does."""
    differs = np.zeros(len(keys[0]), np.bool_)
    for key in keys:
        differs[1:] |= key[1:] != key[:-1]
    differs[:1] = True
    return differs


def _at_ends(is_first: Bool) -> Bool:
    """Rows that are the first or the last of those that belong together."""
    is_last: Bool = np.append(is_first[1:], True)
    return np.logical_or(is_first, is_last)
