"""Growing NumPy columns with contiguous blocks of rows: the memory that heads and windows share."""

from __future__ import annotations

import mmap
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1
"""In a column: not known, or never observed."""

TILE_ROWS = 4_096
FEW_ROWS = 10_000
"""So many free rows are not worth a thought."""

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
Bool = NDArray[np.bool_]


class Block(NamedTuple):
    """`length` neighbouring rows: the partitions 0 .. length-1 of one topic, or of one topic in one group."""

    start: int
    length: int

    @property
    def rows(self) -> slice:
        """The block as a slice of any column."""
        return slice(self.start, self.start + self.length)

    def row_numbers(self) -> Int64:
        """The block's row numbers."""
        return np.arange(self.start, self.start + self.length, dtype=np.int64)


class BlockAllocator:
    """Hands out blocks of rows and takes them back; freed blocks are reused by blocks of the same length."""

    def __init__(self) -> None:
        self.used_rows = 0
        self.free_rows = 0
        self._free: defaultdict[int, list[int]] = defaultdict(list)

    def allocate(self, length: int) -> Block:
        """A block of `length` rows; the caller grows its columns to `used_rows` and clears the block."""
        if self._free[length]:
            self.free_rows -= length
            return Block(self._free[length].pop(), length)
        block = Block(self.used_rows, length)
        self.used_rows += length
        return block

    def release(self, block: Block) -> None:
        """Take a block back."""
        self.free_rows += block.length
        self._free[block.length].append(block.start)

    def adopt(self, blocks: Iterable[Block]) -> None:
        """Take over blocks that were handed out by another allocator; what lies between them is free."""
        for block in sorted(blocks):
            if block.start > self.used_rows:
                self.release(Block(self.used_rows, block.start - self.used_rows))
            self.used_rows = block.start + block.length

    @property
    def is_mostly_free(self) -> bool:
        """Whether so many rows are free that moving the others together is worth it."""
        return self.free_rows > max(self.used_rows // 2, FEW_ROWS)


def rows_of(blocks: Sequence[Block]) -> tuple[Int64, Int64]:
    """The rows of `blocks` one after the other, and each row's place in its block."""
    starts, lengths = (np.array(column, np.int64) for column in (zip(*blocks, strict=True) if blocks else ((), ())))
    place = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(starts, lengths) + place, place


def packed(blocks: Iterable[Block]) -> tuple[Int64, dict[int, int]]:
    """The rows of `blocks` one after the other, and where each block starts among them by where it started."""
    in_order = sorted(blocks)
    starts, end = {}, 0
    for block in in_order:
        starts[block.start] = end
        end += block.length
    return rows_of(in_order)[0], starts


def grown(column: NDArray[np.generic], rows: int, fill: int) -> NDArray[np.generic]:
    """`column` with room for at least `rows` in its last axis (at least doubled, so that growing stays cheap)."""
    have = column.shape[-1]
    if rows <= have:
        return column
    shape = (*column.shape[:-1], max(rows, 2 * have))
    # zeros are not written: room that is not used yet costs no memory
    larger = np.full(shape, fill, column.dtype) if fill else np.zeros(shape, column.dtype)
    larger[..., :have] = column
    return larger


GROWS_IN_PLACE = sys.platform == "linux"


class Column:
    """Values in memory that grows in place: nothing is copied, so nobody waits for it.

    Fresh memory is all zeros, and what was never written to costs nothing.
    """

    def __init__(self, kind: type[np.generic], length: int = 0) -> None:
        self._kind = np.dtype(kind)
        self._memory = self._fresh(length)
        self.values: NDArray[np.generic] = np.frombuffer(self._memory, self._kind, length)
        """Good until the next `grow`, before which no other reference to it may be left."""

    def grow(self, length: int) -> None:
        """Have room for `length` values, which are at least as many as there are."""
        kept, self.values = self.values, np.zeros(0, self._kind)
        if GROWS_IN_PLACE:
            del kept
            self._memory.resize(self._size(length))
            self.values = np.frombuffer(self._memory, self._kind, length)
        else:
            self._memory = self._fresh(length)
            self.values = np.frombuffer(self._memory, self._kind, length)
            self.values[: len(kept)] = kept

    def _fresh(self, length: int) -> mmap.mmap:
        return mmap.mmap(-1, self._size(length), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

    def _size(self, length: int) -> int:
        return max(length * self._kind.itemsize, mmap.PAGESIZE)


class Table:
    """Columns of the same rows; those in `kinds` are attributes of whoever inherits from this.

    A column has one value for each row, or `depth` of them where `deep` names it. Deep ones are kept in tiles of
    neighbouring rows, in each tile first all first values, then all second ones and so on: an operation over many rows
    runs over contiguous memory, and a table grows at its end.
    """

    def __init__(self, kinds: dict[str, type[np.generic]], depth: int = 1, deep: frozenset[str] = frozenset()) -> None:
        self.depth = depth
        self.capacity = 0
        self._kinds, self._deep = kinds, deep
        self._columns: dict[str, Column] = {}
        self._make_room(0)

    def grow(self, rows: int) -> None:
        """Make room for `rows` rows (for twice as many as there was, at least: that is only an address)."""
        if rows > self.capacity:
            capacity = -(-max(rows, 2 * self.capacity) // TILE_ROWS) * TILE_ROWS
            for name, column in self._columns.items():
                setattr(self, name, None)
                column.grow(capacity * self._depth_of(name))
                setattr(self, name, column.values)
            self.capacity = capacity

    def keep(self, rows: Int64) -> None:
        """Keep these rows only, in this order; the memory of the others is free."""
        old = {name: getattr(self, name) for name in self._kinds}
        old_places = self.all_places(rows)
        self._make_room(len(rows))
        places = self.all_places(np.arange(len(rows)))
        for name in self._kinds:
            if name in self._deep:
                getattr(self, name)[places] = old[name][old_places]
            else:
                getattr(self, name)[: len(rows)] = old[name][rows]

    def copy_rows(self, source: slice, target: slice) -> None:
        """Copy some rows over as many others."""
        numbers = [np.arange(rows.start, rows.stop) for rows in (source, target)]
        from_places, to_places = (self.all_places(rows) for rows in numbers)
        for name in self._kinds:
            column = getattr(self, name)
            column[to_places if name in self._deep else target] = column[from_places if name in self._deep else source]

    def places(self, slot: NDArray[np.integer[Any]] | int, rows: Int64) -> Int64:
        """Where in a deep column the values of `rows` at `slot` are."""
        places: Int64 = rows + (rows // TILE_ROWS) * ((self.depth - 1) * TILE_ROWS) + slot * np.int64(TILE_ROWS)
        return places

    def all_places(self, rows: Int64) -> Int64:
        """Where in a deep column all values of `rows` are: `[depth, rows]`."""
        return self.places(np.arange(self.depth)[:, None], rows)

    def tiles(self, name: str, rows: slice) -> NDArray[np.generic]:
        """The whole tiles of a deep column that `rows` lie in: `[tiles, depth, TILE_ROWS]`."""
        first, after = rows.start // TILE_ROWS, -(-rows.stop // TILE_ROWS)
        shape = (-1, self.depth, TILE_ROWS)
        tiles: NDArray[np.generic] = getattr(self, name).reshape(shape)[first:after]
        return tiles

    def _make_room(self, rows: int) -> None:
        self.capacity = -(-rows // TILE_ROWS) * TILE_ROWS
        self._columns = {name: Column(kind, self.capacity * self._depth_of(name)) for name, kind in self._kinds.items()}
        for name, column in self._columns.items():
            setattr(self, name, column.values)

    def _depth_of(self, name: str) -> int:
        return self.depth if name in self._deep else 1
