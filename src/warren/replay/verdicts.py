"""The verdicts of a replay, as rows of the history's own table of verdicts; and those of the time itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import functions as F

from warren.history.journal import group_verdict
from warren.history.reader import HistoryReader
from warren.history.tables import VERDICTS, Kind
from warren.model import Status
from warren.patterns import compile_pattern
from warren.replay.compare import Turn
from warren.replay.job import Request, replayed
from warren.replay.kernel import Moment


def replayed_verdicts(reader: HistoryReader, request: Request) -> pa.Table:
    """Every change of every group's status from a keyframe on, in the order of time."""
    found = replayed(reader, request, _changes, VERDICTS).toArrow()
    return found.sort_by([("at_ms", "ascending"), ("group", "ascending")])


def _changes(moments: Iterator[Moment]) -> Iterable[pa.Table]:
    for moment in moments:
        if moment.changes:
            rows = [{"at_ms": one.at_ms, **group_verdict(one)} for one in moment.changes]
            yield pa.Table.from_pylist(rows, VERDICTS)


def replayed_turns(reader: HistoryReader, request: Request) -> list[Turn]:
    """What would have been said, from what was known of each group at the keyframe on."""
    starts = _starts(reader, request)
    # Under other settings what the history remembers of a restart was never said.
    return _in_order(starts[:1] if request.changes else starts, _turns(replayed_verdicts(reader, request), request))


def recorded_turns(reader: HistoryReader, request: Request) -> list[Turn]:
    """What was said."""
    starts = _starts(reader, request)
    frame = reader.frame("verdicts", request.span.cluster, starts[0].at_ms, request.span.to_ms).where("is_group")
    table = frame.toArrow().sort_by([("at_ms", "ascending"), ("group", "ascending")])
    return _in_order(starts, _turns(table, request))


class _Start(NamedTuple):
    """What a run of Warren knew of each group when it began."""

    at_ms: int
    statuses: dict[str, Status]


def _starts(reader: HistoryReader, request: Request) -> list[_Start]:
    """Where the replay begins, and all later starts."""
    first = reader.keyframe_before(request.span)
    frames = [first, *(one for one in reader.keyframes(request.span) if one.is_start and one > first)]
    events = reader.frame("events", request.span.cluster, first.at_ms, request.span.to_ms)
    rows = events.where(F.col("kind") == Kind.KEYFRAME.value).select("epoch_ms", "seq", "names", "start").collect()
    told = {(row["epoch_ms"], row["seq"]): zip(row["names"] or [], row["start"] or [], strict=True) for row in rows}
    wanted = compile_pattern(request.group_pattern)
    return [
        _Start(one.at_ms, {name: Status(status) for name, status in told.get(one[:2], ()) if wanted.search(name)})
        for one in frames
    ]


def _in_order(starts: list[_Start], turns: list[Turn]) -> list[Turn]:
    """Turns in the order of time, with what was known at each start; a group that was not known there is gone."""
    found: list[Turn] = []
    for start, after in zip_longest(starts, starts[1:]):
        gone = {one.group for one in found} - start.statuses.keys()
        found += [Turn(start.at_ms, name, Status.NOTFOUND, "") for name in sorted(gone)]
        found += [Turn(start.at_ms, name, status, "") for name, status in start.statuses.items()]
        found += [one for one in turns if start.at_ms <= one.at_ms and (after is None or one.at_ms < after.at_ms)]
    return found


def _turns(table: pa.Table, request: Request) -> list[Turn]:
    rows = table.select(["at_ms", "group", "now", "topic", "partition", "rule", "reason"]).to_pylist()
    wanted = compile_pattern(request.group_pattern)
    return [
        Turn(one["at_ms"], one["group"], Status[one["now"]], _why(one)) for one in rows if wanted.search(one["group"])
    ]


def _why(row: dict[str, object]) -> str:
    return f"{row['topic']} {row['partition']}: {row['reason']}" if row["topic"] else "the group is gone"
