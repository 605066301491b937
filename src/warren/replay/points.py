"""The points of a time that is over, for a sink that was not there then, or has lost them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from warren.history.reader import HistoryReader
from warren.replay.job import Request, replayed
from warren.replay.kernel import Moment
from warren.sinks.choice import Choice
from warren.sinks.points import Points, points_of
from warren.sinks.writers import PLAIN_POINTS


def replayed_points(
    reader: HistoryReader, request: Request, choose: Callable[[], Choice], interval_ms: int
) -> DataFrame:
    """The points of every multiple of an interval in the span, as far as they are chosen (asked for in each task).

    A sink takes points at such multiples while Warren runs, so those that it has already are the same points again.
    Each is what the first evaluation after it says.
    """
    span = request.span

    def rows(moments: Iterator[Moment]) -> Iterable[pa.Table]:
        taken_ms, choice = -1, choose()
        for moment in moments:
            at_ms = moment.at_ms // interval_ms * interval_ms
            if at_ms != taken_ms and span.from_ms <= at_ms and moment.at_ms <= span.to_ms:
                taken_ms = at_ms
                yield _stamped(choice.of(points_of(moment.windows, moment.evaluation, span.cluster)), at_ms)

    return replayed(reader, request, rows, PLAIN_POINTS)


def _stamped(points: Points, at_ms: int) -> pa.Table:
    table = points.as_table().cast(PLAIN_POINTS)
    place = table.schema.get_field_index("time_ms")
    return table.set_column(place, "time_ms", pa.array(np.full(table.num_rows, at_ms)))
