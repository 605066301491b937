"""Tables as bytes, and back: how many rows travel through Spark, or to a file, as one. Pure.

A row costs Spark's Java some microseconds and some hundred bytes whatever is in it; packed ones are few.
"""

from __future__ import annotations

import pyarrow as pa
from pyarrow import ipc


def packed(table: pa.Table) -> bytes:
    """A table as one piece of bytes."""
    content = pa.BufferOutputStream()
    with ipc.new_stream(content, table.schema, options=ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_table(table.combine_chunks())
    made: bytes = content.getvalue().to_pybytes()
    return made


def unpacked(piece: bytes | pa.Buffer) -> pa.Table:
    """The table again."""
    with ipc.open_stream(piece) as stream:
        return stream.read_all()
