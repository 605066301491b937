"""Growing NumPy columns with contiguous blocks of rows: the memory that heads and windows share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1
"""In a column: not known, or never observed."""

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
        self._free: defaultdict[int, list[int]] = defaultdict(list)

    def allocate(self, length: int) -> Block:
        """A block of `length` rows; the caller grows its columns to `used_rows` and clears the block."""
        if self._free[length]:
            return Block(self._free[length].pop(), length)
        block = Block(self.used_rows, length)
        self.used_rows += length
        return block

    def release(self, block: Block) -> None:
        """Take a block back."""
        self._free[block.length].append(block.start)

    def adopt(self, blocks: Iterable[Block]) -> None:
        """Take over blocks that were handed out by another allocator; what lies between them is free."""
        for block in sorted(blocks):
            if block.start > self.used_rows:
                self.release(Block(self.used_rows, block.start - self.used_rows))
            self.used_rows = block.start + block.length


def grown(column: NDArray[np.generic], rows: int, fill: int) -> NDArray[np.generic]:
    """`column` with room for at least `rows` in its last axis (at least doubled, so that growing stays cheap)."""
    have = column.shape[-1]
    if rows <= have:
        return column
    larger = np.full((*column.shape[:-1], max(rows, 2 * have)), fill, dtype=column.dtype)
    larger[..., :have] = column
    return larger
