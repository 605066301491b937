"""The verdicts of a replay, as rows of the history's own table of verdicts; and those of the time itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import functions as F

from warren.history.journal import group_verdict
from warren.history.reader import HistoryReader
from warren.history.tables import VERDICTS
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
    return [*_at_keyframe(reader, request), *_turns(replayed_verdicts(reader, request), request)]


def recorded_turns(reader: HistoryReader, request: Request) -> list[Turn]:
    """What was said."""
    keyframe = reader.keyframe_before(request.span)
    frame = reader.frame("verdicts", request.span.cluster, keyframe.at_ms, request.span.to_ms).where("is_group")
    table = frame.toArrow().sort_by([("at_ms", "ascending"), ("group", "ascending")])
    return [*_at_keyframe(reader, request), *_turns(table, request)]


def _turns(table: pa.Table, request: Request) -> list[Turn]:
    rows = table.select(["at_ms", "group", "now", "topic", "partition", "rule", "reason"]).to_pylist()
    wanted = compile_pattern(request.group_pattern)
    return [
        Turn(one["at_ms"], one["group"], Status[one["now"]], _why(one)) for one in rows if wanted.search(one["group"])
    ]


def _why(row: dict[str, object]) -> str:
    return f"{row['topic']} {row['partition']}: {row['reason']}" if row["topic"] else "the group is gone"


def _at_keyframe(reader: HistoryReader, request: Request) -> list[Turn]:
    """The statuses that the replay begins with."""
    keyframe = reader.keyframe_before(request.span)
    events = reader.frame("events", request.span.cluster, keyframe.at_ms, keyframe.at_ms)
    [row] = events.where((F.col("epoch_ms") == keyframe.epoch_ms) & (F.col("seq") == keyframe.seq)).collect()
    wanted = compile_pattern(request.group_pattern)
    statuses = zip(row["names"] or [], row["start"] or [], strict=True)
    return [Turn(keyframe.at_ms, name, Status(one), "") for name, one in statuses if wanted.search(name)]
