"""Text made of columns: Arrow puts pieces together row by row, without a Python object for each. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Pieces = Sequence[pa.Array | str]


def texts(column: pa.Array, write: Callable[[str], str], missing: str = "") -> pa.StringArray:
    """Each different value written once; null is `missing`."""
    coded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    written = pa.array([write(str(value)) for value in coded.dictionary.to_pylist()], pa.string())
    return pc.fill_null(written.take(coded.indices), missing)


def numbers(column: pa.Array, before: str, after: str = "") -> pa.StringArray:
    """Each number between two texts; nothing where it is null."""
    plain = _decimals(column) if pa.types.is_floating(column.type) else column.cast(pa.string())
    return pc.fill_null(joined([before, plain, after]), "")


def joined(pieces: Pieces) -> pa.StringArray:
    """Row by row, one piece after the other."""
    return pc.binary_join_element_wise(*pieces, "")


def _decimals(column: pa.Array) -> pa.StringArray:
    """Always with a point, so that nobody takes the first value of a field for a whole number."""
    plain = column.cast(pa.string())
    is_whole = pc.invert(pc.match_substring_regex(plain, "[.e]"))
    return pc.if_else(is_whole, joined([plain, ".0"]), plain)


def json_text(value: str) -> str:
    """A text as JSON has it."""
    return json.dumps(value, ensure_ascii=False)


def rfc3339(time_ms: int) -> str:
    """A moment as Go writes it: no more digits than it has."""
    moment = datetime.fromtimestamp(time_ms / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}" + f".{time_ms % 1000:03d}".rstrip("0").rstrip(".") + "Z"


def by_moment(column: pa.Array, write: Callable[[int], str]) -> pa.StringArray:
    """Each different moment written once."""
    return texts(column, lambda text: write(int(text)))


class Runs:
    """Texts or bytes, of which any run is to be had at once, without an object for each."""

    def __init__(self, items: pa.StringArray | pa.BinaryArray) -> None:
        self._count = len(items)
        if not self._count:
            self._ends, self._content = np.zeros(1, np.int32), pa.py_buffer(b"")
            return
        _, ends, content = items.buffers()
        self._ends = np.frombuffer(ends, np.int32)[items.offset :]
        self._content = content if content is not None else pa.py_buffer(b"")

    def __len__(self) -> int:
        return self._count

    def between(self, start: int, stop: int) -> bytes:
        """Those from `start` on and before `stop`, one after the other."""
        first, after = int(self._ends[start]), int(self._ends[stop])
        run: bytes = self._content.slice(first, after - first).to_pybytes()
        return run


def lines(texts: pa.StringArray) -> Runs:
    """Each with the end of a line behind it."""
    return Runs(joined([texts, "\n"]))
