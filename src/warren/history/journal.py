"""Writes down what enters the windows of one cluster, and every evaluation: the rows of its history. Pure.

The state of a cluster tells it everything while it holds its lock, so here nothing is worked out that can wait: that
is done by `scribe.py`, outside of the lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from warren.history.keyframes import topics_table, windows_table
from warren.history.tables import IDS_OF_ALL, TABLES, TOPICS, WINDOWS, Kind, Recorded
from warren.model import Status
from warren.rules.evaluation import Evaluation
from warren.rules.rule import Rule
from warren.rules.standing import Change, Standings
from warren.rules.trails import Look
from warren.windows.columns import Bool
from warren.windows.commit_rows import CommitRows
from warren.windows.heads import HeadRows
from warren.windows.store import Assignment, Windows

Row = dict[str, Any]


class Step(NamedTuple):
    """Which event something belongs to."""

    epoch_ms: int
    seq: int
    at_ms: int


class Source(NamedTuple):
    """A consumer module, and the offsets topic that it reads."""

    consumer: str
    topic: str
    topic_id: str
    """"" if it is not known."""


class ReadCommits(NamedTuple):
    """Commits that came with one event."""

    step: Step
    source: str
    rows: CommitRows


class Observation(NamedTuple):
    """All topics at one moment."""

    step: Step
    rows: HeadRows | None
    """None: from here on everything is to be told again."""


class Sample(NamedTuple):
    """All groups at one moment."""

    step: Step
    look: Look
    evaluation: Evaluation


class Page(NamedTuple):
    """What was written down since the last page."""

    commits: list[ReadCommits]
    observations: list[Observation]
    samples: list[Sample]
    rows: dict[str, list[Row]]
    """The rows of all other tables."""
    keyframes: list[dict[str, pa.Table]]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing on it."""
        return not (self.commits or self.observations or self.samples or self.keyframes or any(self.rows.values()))


def _blank() -> Page:
    others = [name for name in TABLES if name not in ("commits", "heads", "samples")]
    return Page([], [], [], {name: [] for name in others}, [])


class Journal:
    """The history of one run of one cluster, page by page. One writer at a time."""

    def __init__(self, epoch_ms: int, judging: str, own_groups: frozenset[str] = frozenset()) -> None:
        self.epoch_ms = epoch_ms
        self._judging = judging
        self._own_groups = own_groups
        """Groups that tell how far Warren itself is: of no interest later, and their commits are not written down."""
        self._page = _blank()
        self._seq = 0
        self._at_ms = epoch_ms
        self._recorded: dict[str, Recorded] = {}  # by consumer module

    def begin_again(self, at_ms: int) -> None:
        """What comes has nothing to do with what was: another run, which begins with a keyframe."""
        self.epoch_ms, self._seq, self._at_ms = max(at_ms, self.epoch_ms + 1), 0, at_ms

    def take_page(self) -> Page:
        """What was written down; a new page begins."""
        page, self._page = self._page, _blank()
        return page

    def resume(self, recorded: Mapping[str, Recorded]) -> None:
        """What is written down already comes again after a crash."""
        self._recorded |= recorded

    # -- what enters the windows ---------------------------------------------------------------------------------

    def read(
        self, source: Source, rows: CommitRows, ranges: Mapping[int, tuple[int, int]], skew_ms: int, at_ms: int
    ) -> None:
        """Commits were read from partitions of an offsets topic, each from one position to another."""
        moved = {partition: one for partition, one in ranges.items() if one[0] != one[1]}
        recorded = self._recorded_of(source)
        step = self._event(
            Kind.BATCH,
            at_ms,
            consumer=source.consumer,
            topic=source.topic,
            text=source.topic_id or None,
            clock_skew_ms=skew_ms,
            partition=list(moved),
            start=[start for start, _ in moved.values()],
            end=[end for _, end in moved.values()],
        )
        fresh = _is_fresh(rows, recorded.positions)
        if fresh.any():
            self._page.commits.append(ReadCommits(step, source.consumer, rows if fresh.all() else rows.take(fresh)))
        self._recorded[source.consumer] = read_until(recorded, {one: end for one, (_, end) in moved.items()})

    def _recorded_of(self, source: Source) -> Recorded:
        """How far a topic is written down; one that was made anew meanwhile is not, whatever its positions are."""
        recorded = self._recorded.get(source.consumer, Recorded("", {}))
        if recorded.topic_id and source.topic_id and recorded.topic_id != source.topic_id:
            self.started_over(source.consumer)
            recorded = Recorded("", {})
        return recorded._replace(topic_id=source.topic_id or recorded.topic_id)

    def looked(self, consumer: str, rows: CommitRows, skew_ms: int, at_ms: int) -> None:
        """A place was looked at, and these commits or removals came of it."""
        if len(rows.order):
            step = self._event(Kind.LOOK, at_ms, consumer=consumer, clock_skew_ms=skew_ms)
            self._page.commits.append(ReadCommits(step, consumer, rows))

    def observed(self, rows: HeadRows, gone: Sequence[str]) -> None:
        """All topics were observed; some are gone since the last time."""
        told = IDS_OF_ALL if rows.topic_ids and rows.topic_ids.keys() >= set(rows.topics) else None
        step = self._event(Kind.OBSERVED, rows.observed_ms, names=list(gone), text=told)
        self._page.observations.append(Observation(step, rows))

    def assigned(self, assignment: Assignment, members: int) -> None:
        """A group's partitions have other owners."""
        step = self._event(Kind.ASSIGNED, self._at_ms, group=assignment.group)
        where = list(assignment.owners)
        self._row(
            "owners",
            step,
            group=assignment.group,
            members=members,
            topic=[topic for topic, _ in where],
            partition=[partition for _, partition in where],
            owner=["\0".join(owner) for owner in assignment.owners.values()],
        )

    def expired(self, at_ms: int) -> None:
        """Groups that were silent for too long were forgotten."""
        self._event(Kind.EXPIRED, at_ms)

    def forgotten(self, group: str, topic: str | None = None) -> None:
        """A group, or one of its topics, was forgotten."""
        self._event(Kind.FORGOTTEN, self._at_ms, group=group, topic=topic)

    def started_over(self, consumer: str) -> None:
        """A consumer module reads everything again; it is written down again, too: positions mean something else."""
        self._recorded.pop(consumer, None)
        self._event(Kind.STARTED_OVER, self._at_ms, consumer=consumer)

    def found_readable_end(self, topic: str, partition: int, readable_end: int, end: int) -> None:
        """A partition was looked into."""
        self._event(Kind.READABLE, self._at_ms, topic=topic, partition=[partition], start=[readable_end], end=[end])

    # -- what is thought of them ---------------------------------------------------------------------------------

    def judged_by(self, text: str, at_ms: int) -> None:
        """From now on groups are judged like that."""
        self._judging = text
        self._event(Kind.SETTINGS, at_ms, text=text)

    def evaluated(self, windows: Windows, evaluation: Evaluation, changes: Sequence[Change]) -> None:
        """All groups were judged; the windows must not know yet what was said."""
        step = self._event(Kind.EVALUATED, evaluation.now_ms, **_judged_earlier(evaluation))
        for row in _partition_verdicts(windows, evaluation, self._own_groups):
            self._row("verdicts", step, **row)
        for change in changes:
            self._row("verdicts", step, **group_verdict(change))

    def sampled(self, look: Look, evaluation: Evaluation) -> None:
        """How far behind all groups are."""
        self._page.samples.append(Sample(self._step(look.at_ms), look, evaluation))

    def incident_turned(self, at_ms: int, row: Row) -> None:
        """An incident took a turn."""
        self._row("incidents", self._step(at_ms), **row)

    def keyframe(self, windows: Windows, standings: Standings, at_ms: int) -> None:
        """Write down everything as it is, what was said of it last, and how it is judged."""
        said = {group: one for group, one in standings.groups.items() if group not in self._own_groups}
        step = self._event(
            Kind.KEYFRAME,
            at_ms,
            text=self._judging,
            names=list(said),
            start=[int(one.status) for one in said.values()],
            end=[one.since_ms for one in said.values()],
        )
        made = {WINDOWS: windows_table(windows, self._own_groups), TOPICS: topics_table(windows.heads)}
        self._page.keyframes.append({name: _stepped(table, step) for name, table in made.items()})
        self._page.observations.append(Observation(step, None))

    # -- rows ----------------------------------------------------------------------------------------------------

    def _event(self, kind: Kind, at_ms: int, **columns: Any) -> Step:
        self._seq += 1
        self._at_ms = max(at_ms, self._at_ms)
        step = self._step(at_ms)
        self._row("events", step, kind=kind.value, **columns)
        return step

    def _step(self, at_ms: int) -> Step:
        return Step(self.epoch_ms, self._seq, at_ms)

    def _row(self, table: str, step: Step, **columns: Any) -> None:
        self._page.rows[table].append(step._asdict() | columns)


def read_until(recorded: Recorded, ends: Mapping[int, int]) -> Recorded:
    """What is written down after some more was read."""
    positions = recorded.positions
    return recorded._replace(
        positions={**positions, **{one: max(end, positions.get(one, 0)) for one, end in ends.items()}}
    )


def _is_fresh(rows: CommitRows, recorded: Mapping[int, int]) -> Bool:
    until = np.array([recorded.get(one, 0) for one in rows.source_partitions], np.int64)
    fresh: Bool = rows.order >= until[rows.pair] if len(until) else np.ones(len(rows.order), np.bool_)
    return fresh


def _stepped(table: pa.Table, step: Step) -> pa.Table:
    for name, value in step._asdict().items():
        table = table.append_column(name, pa.repeat(pa.scalar(value, pa.int64()), table.num_rows))
    return table


def _judged_earlier(evaluation: Evaluation) -> Row:
    """The groups that were judged as of an earlier moment."""
    if evaluation.as_of_ms is None:
        return {}
    earlier = [code for code in np.flatnonzero(evaluation.as_of_ms < evaluation.now_ms) if evaluation.names[code]]
    return {"names": [evaluation.names[code] for code in earlier], "start": evaluation.as_of_ms[earlier].tolist()}


def _partition_verdicts(windows: Windows, evaluation: Evaluation, own_groups: frozenset[str]) -> list[Row]:
    """Partitions of which something else is said than before; that a new one is fine goes without saying."""
    before = windows.labels.status[evaluation.row]
    changed = np.flatnonzero((evaluation.status != before) & ((before > 0) | (evaluation.status > Status.OK)))
    found = []
    for at in changed.tolist():
        group = str(evaluation.names[evaluation.group[at]])
        if group in own_groups:
            continue
        topic, partition = windows.partition_of(group, int(evaluation.row[at]))
        found.append(
            {
                "group": group,
                "topic": topic,
                "partition": partition,
                "is_group": False,
                "was": Status(int(before[at])).name,
                "now": Status(int(evaluation.status[at])).name,
                "rule": Rule(int(evaluation.rule[at])).name.lower(),
                "lag": int(evaluation.lag[at]),
            }
        )
    return found


def group_verdict(change: Change) -> Row:
    """A change of a group as a row of the table of verdicts."""
    row: Row = {"group": change.group, "is_group": True, "was": change.was.name, "now": change.now.name}
    if change.cause is None:
        return row
    cause = change.cause
    return row | {
        "topic": cause.topic,
        "partition": cause.partition,
        "rule": cause.rule.name.lower(),
        "reason": cause.reason,
    }


class NoJournal(Journal):
    """Writes nothing down: for a Warren without history."""

    def __init__(self) -> None:
        super().__init__(0, "")

    def _event(self, kind: Kind, at_ms: int, **columns: Any) -> Step:
        return Step(0, 0, at_ms)

    def _row(self, table: str, step: Step, **columns: Any) -> None:
        pass

    def read(self, *_: Any, **__: Any) -> None:
        pass

    def looked(self, *_: Any, **__: Any) -> None:
        pass

    def observed(self, *_: Any, **__: Any) -> None:
        pass

    def evaluated(self, *_: Any, **__: Any) -> None:
        pass

    def sampled(self, *_: Any, **__: Any) -> None:
        pass

    def keyframe(self, *_: Any, **__: Any) -> None:
        pass
