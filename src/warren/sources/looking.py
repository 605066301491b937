"""Sources that look at a place again and again, since it has no log: as Spark streams of `COMMIT_ROWS`.

Looks are made by a thread in the process in which Spark plans the query, not in a task: a look may wait for a slow
server, or take its time on purpose, and must not keep a core from the other queries meanwhile. Spark's offset is the
number of the newest look that is finished; the task of a batch only hands over what the look has found. A look cannot
be repeated, and need not be: each one is a picture of everything, and `places/looks.py` finds out what is new in it.
"""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
from pyspark.sql.datasource import DataSource, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from warren.errors import SourceError
from warren.sources.picture import Picture, picture_rows
from warren.sources.stream_reader import StreamReader
from warren.windows.rows import COMMIT_ROWS

SHARE_OF_TIME = 0.5
"""A place is looked at for no more than this share of the time, however short the interval is."""


class Place(Protocol):
    """Where groups commit."""

    def look(self, looked_ms: int) -> Picture:
        """Everything that is there; `SourceError` if that cannot be told."""


class Look(NamedTuple):
    """A look that is finished."""

    number: int
    rows: bytes


class Looker:
    """Looks at a place every `interval_s`, in a thread of its own, until a look fails."""

    def __init__(self, place: Place, interval_s: float) -> None:
        self._place = place
        self._interval_s = interval_s
        self._newest: Look | None = None
        self._failure: Exception | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="looker", daemon=True)
        self._thread.start()

    def newest(self) -> Look | None:
        """The newest look; raises what the last one failed of."""
        if self._failure is not None:
            raise self._failure
        return self._newest

    def stop(self) -> None:
        """Look no more."""
        self._stop.set()

    def _run(self) -> None:
        number = 0
        while not self._stop.is_set():
            started_s = time.monotonic()
            number += 1
            try:
                self._newest = Look(number, _look(self._place))
            except Exception as error:  # the thread that asks raises it
                self._failure = error
                return
            took_s = time.monotonic() - started_s
            self._stop.wait(max(self._interval_s, took_s / SHARE_OF_TIME) - took_s)


def _look(place: Place) -> bytes:
    looked_ms = int(time.time() * 1000)  # before the look: nothing that it does not find was there then
    batch = picture_rows(place.look(looked_ms), looked_ms=looked_ms)
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, COMMIT_ROWS, options=options) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue())


class LookInput(InputPartition):
    """What a task hands over."""

    def __init__(self, rows: bytes) -> None:
        super().__init__(None)
        self.rows = rows


class LooksReader(StreamReader):
    """A batch for each look."""

    def __init__(self, make_place: Callable[[], Place], interval_s: float) -> None:
        self._make_place = make_place
        self._interval_s = interval_s
        self._looker: Looker | None = None
        self._planned: dict[int, Look] = {}

    def initialOffset(self) -> dict[str, Any]:
        return {"look": 0}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        if self._looker is None:
            self._looker = Looker(self._make_place(), self._interval_s)
        look = self._looker.newest()
        if look is None or look.number <= start["look"]:
            return start
        self._planned = {look.number: look}
        return {"look": look.number}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        if start == end:
            return []
        look = self._planned.get(end["look"])
        if look is None:
            message = "What the last look has found is lost; it is looked again."
            raise SourceError(message)
        return [LookInput(look.rows)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, LookInput)
        yield from pa.ipc.open_stream(partition.rows)

    def stop(self) -> None:
        if self._looker is not None:
            self._looker.stop()
        super().stop()

    def __getstate__(self) -> dict[str, Any]:
        """Tasks get a reader that cannot look."""
        return {**self.__dict__, "_looker": None, "_planned": {}, "_make_place": None}


class LooksSource(DataSource):
    """Registered with Spark under its name; `secret_options` is what its place is made of, as JSON."""

    def schema(self) -> StructType:
        return from_arrow_schema(COMMIT_ROWS)

    @abstractmethod
    def streamReader(self, schema: StructType) -> LooksReader: ...
