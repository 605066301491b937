"""Takes the steps of a history again, for some groups of a cluster, and judges them at every evaluation. Pure.

The same windows and rules as while Warren ran. Whoever takes the same steps from the same keyframe on comes to the same
verdicts; under other settings it tells what would have been said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warren.history.judging import Judging
from warren.history.keyframes import restored
from warren.history.tables import COMMITS, Kind
from warren.model import Status
from warren.replay.heads import HeadPlayer
from warren.rules.evaluation import Evaluation, RowPolicy, evaluate, row_policy
from warren.rules.standing import Change, Standing, Standings, changes_of, note_statuses
from warren.windows.columns import UNKNOWN, Bool, Int64
from warren.windows.commit_rows import CommitRows
from warren.windows.labels import Owner
from warren.windows.store import Assignment, Windows

EVENTS_AT_ONCE = 1_000
LATEST_SEQ = 1 << 62

Row = dict[str, Any]
Step = tuple[int, int]
"""An epoch and a number in it."""


class Shard(NamedTuple):
    """Everything of some groups: the events of their cluster from a keyframe on, and the rows that belong to them."""

    events: pa.Table
    commits: pa.Table
    heads: pa.Table
    owners: pa.Table
    windows: pa.Table
    topics: pa.Table
    is_mine: Callable[[str], bool]
    """Whether a group is one of them."""


class Moment(NamedTuple):
    """One evaluation; the windows are as they were then until the next one is asked for."""

    at_ms: int
    windows: Windows
    evaluation: Evaluation
    changes: list[Change]
    judging: Judging


def replay(shard: Shard, changes: Mapping[str, Any], every_ms: int = 0) -> Iterator[Moment]:
    """Every evaluation in turn, or one in `every_ms`; `changes` are other values for names of `Judging`."""
    events = shard.events.sort_by([("epoch_ms", "ascending"), ("seq", "ascending")])
    said: Standings | None = None
    for epoch_ms in pc.unique(events["epoch_ms"]).to_pylist():
        of_run = _from_keyframe(events.filter(pc.equal(events["epoch_ms"], epoch_ms)))
        if not of_run.num_rows:
            continue
        run = _Run(shard, of_run, dict(changes), every_ms)
        if said is not None and changes:
            run.standings = said  # what the history remembers of a restart was said by other rules
        yield from run.moments()
        said = run.standings


def _from_keyframe(events: pa.Table) -> pa.Table:
    """The events of a run from its first keyframe on; where files are missing that may be none."""
    keyframes = np.flatnonzero(pc.equal(events["kind"], Kind.KEYFRAME.value).to_numpy())
    return events.slice(int(keyframes[0])) if len(keyframes) else events.slice(0, 0)


class _Run:
    """One run of Warren, from a keyframe on."""

    def __init__(self, shard: Shard, events: pa.Table, changes: dict[str, Any], every_ms: int) -> None:
        [first] = events.slice(0, 1).to_pylist()
        self._events = events.slice(1)
        self._step: Step = (first["epoch_ms"], first["seq"])
        self._changes = changes
        self._judging = self._judged_by(first["text"])
        windows, topics = (_of_step(table, self._step) for table in (shard.windows, shard.topics))
        self._windows = restored(windows, topics, self._judging.limits)
        self.standings = _standings_of(first, shard.is_mine)
        self._policy: RowPolicy | None = None
        self._commits = _CommitQueue(shard.commits, self._events, first["epoch_ms"])
        self._heads = HeadPlayer(shard.heads)
        self._owners = _rows_by_step(shard.owners)
        self._every_ms = every_ms
        self._judged_ms = 0

    def _judged_by(self, text: str) -> Judging:
        return Judging.from_text(text).with_changes(self._changes)

    def moments(self) -> Iterator[Moment]:
        """Take all steps; every evaluation in turn."""
        for event in _rows(self._events):
            kind = Kind(event["kind"])
            if kind in (Kind.BATCH, Kind.LOOK):
                skew_ms = event["clock_skew_ms"] or 0
                if skew_ms != self._windows.clock_skew_ms:
                    self._apply_commits()
                    self._windows.clock_skew_ms = skew_ms
                self._commits.read_until(event["seq"])
                continue
            self._apply_commits()
            if kind == Kind.EVALUATED:
                if event["at_ms"] - self._judged_ms >= self._every_ms:
                    yield self._evaluate(event)
            else:
                self._apply(kind, event)
        self._apply_commits()

    def _apply_commits(self) -> None:
        if rows := self._commits.take():
            self._windows.apply_commits(rows, self._judged_ms)

    def _apply(self, kind: Kind, event: Row) -> None:
        windows = self._windows
        match kind:
            case Kind.OBSERVED:
                windows.apply_heads(self._heads.observation(event))
            case Kind.ASSIGNED:
                for row in self._owners.get((event["epoch_ms"], event["seq"]), ()):
                    windows.apply_assignment(_assignment(row))
            case Kind.EXPIRED:
                windows.expire(event["at_ms"])
            case Kind.FORGOTTEN if event["topic"] is None:
                windows.delete_group(event["group"])
            case Kind.FORGOTTEN:
                windows.delete_group_topic(event["group"], event["topic"])
            case Kind.READABLE:
                [partition], [start], [end] = event["partition"], event["start"], event["end"]
                windows.heads.note_readable_end(event["topic"], partition, start, end)
            case Kind.SETTINGS:
                self._judging, self._policy = self._judged_by(event["text"]), None
            case _:
                pass

    def _evaluate(self, event: Row) -> Moment:
        windows, at_ms = self._windows, event["at_ms"]
        if self._policy is None or self._policy.layout != windows.layout:
            self._policy = row_policy(windows, self._judging.policy)
        as_of_ms = _as_of_ms(windows, event)
        evaluation = evaluate(windows, self._judging.settings, self._policy, now_ms=at_ms, as_of_ms=as_of_ms)
        changes = changes_of(windows, evaluation, self.standings, self._judging.settings)
        note_statuses(windows, evaluation)
        self._judged_ms = at_ms
        return Moment(at_ms, windows, evaluation, changes, self._judging)


def _rows(events: pa.Table) -> Iterator[Row]:
    """Some at a time: as objects of Python those of some days take gigabytes."""
    for some in events.to_batches(max_chunksize=EVENTS_AT_ONCE):
        yield from some.to_pylist()


def _of_step(table: pa.Table, step: Step) -> pa.Table:
    return table.filter(pc.and_(pc.equal(table["epoch_ms"], step[0]), pc.equal(table["seq"], step[1])))


def _rows_by_step(table: pa.Table) -> dict[Step, list[Row]]:
    found: dict[Step, list[Row]] = {}
    for row in table.to_pylist():
        found.setdefault((row["epoch_ms"], row["seq"]), []).append(row)
    return found


def _assignment(row: Row) -> Assignment:
    where = zip(row["topic"], row["partition"], strict=True)
    owners = (Owner(*text.split("\0")) for text in row["owner"])
    return Assignment(row["group"], dict(zip(where, owners, strict=True)))


def _as_of_ms(windows: Windows, event: Row) -> Int64 | None:
    """When each group was judged as of, by its code; None if it was now for all."""
    if not event["names"]:
        return None
    earlier = dict(zip(event["names"], event["start"], strict=True))
    return np.array([earlier.get(name or "", event["at_ms"]) for name in windows.group_names()], np.int64)


def _standings_of(keyframe: Row, is_mine: Callable[[str], bool]) -> Standings:
    """What was said last of each group of a shard; the others would seem to be gone."""
    standings = Standings()
    rows = zip(keyframe["names"], keyframe["start"], keyframe["end"], strict=True)
    standings.groups = {name: Standing(Status(status), since_ms) for name, status, since_ms in rows if is_mine(name)}
    return standings


class _CommitQueue:
    """The commits of a run in the order in which they entered the windows."""

    def __init__(self, table: pa.Table, events: pa.Table, epoch_ms: int) -> None:
        self._epoch_ms = epoch_ms
        self._columns = {
            name: table[name].to_numpy() for name in COMMITS.names if name not in ("source", "group", "topic")
        }
        self._pairs, self._pair = _pairs_of(table)
        seq, at = self._steps(table, events)
        in_turn = np.lexsort((self._columns["order"][at], seq))
        self._seq, self._at = seq[in_turn], at[in_turn]
        self._taken = self._until = 0

    def read_until(self, seq: int) -> None:
        """The commits of this event have come."""
        self._until = int(np.searchsorted(self._seq, seq, "right"))

    def take(self) -> CommitRows | None:
        """What has come since the last time."""
        if self._taken == self._until:
            return None
        at, self._taken = self._at[self._taken : self._until], self._until
        offset = self._columns["offset"][at]
        return CommitRows(
            self._pairs,
            self._pair[at],
            self._columns["partition"][at].astype(np.int64),
            offset,
            self._columns["timestamp_ms"][at],
            self._columns["order"][at],
            offset == UNKNOWN,
            self._columns["incarnation"][at].astype(np.int64),
        )

    def _steps(self, table: pa.Table, events: pa.Table) -> tuple[Int64, Int64]:
        """Which commits came with which event; after a restart some come again."""
        found = [self._looked_at(_of_kind(events, Kind.LOOK)["seq"].to_numpy())]
        sources = table["source"].to_numpy(zero_copy_only=False) if table.num_rows else np.zeros(0, object)
        for lap in _laps(events):
            mine = (sources == lap.consumer) & (self._columns["source_partition"] == lap.partition)
            at = np.flatnonzero(mine & self._is_written_in(lap))
            found.append(_within(lap, at, self._columns["order"][at]))
        seq, at = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return seq, at

    def _looked_at(self, looked: Int64) -> tuple[Int64, Int64]:
        """Commits of places that are looked at carry the number of their event."""
        of_place = self._columns["source_partition"] == UNKNOWN
        of_run = self._columns["epoch_ms"] == self._epoch_ms
        at = np.flatnonzero(of_place & of_run & np.isin(self._columns["seq"], looked))
        return self._columns["seq"][at], at

    def _is_written_in(self, lap: _Lap) -> Bool:
        """Whether commits are of the topic that a lap is of: after it started over it may be another one."""
        epoch_ms, seq = self._columns["epoch_ms"], self._columns["seq"]
        is_after = (epoch_ms > self._epoch_ms) | ((epoch_ms == self._epoch_ms) & (seq >= lap.after_seq))
        is_before = (epoch_ms < self._epoch_ms) | ((epoch_ms == self._epoch_ms) & (seq < lap.before_seq))
        found: Bool = (is_after | (lap.after_seq == 0)) & is_before
        return found


class _Lap(NamedTuple):
    """Ranges of positions in a partition that were read one after the other, and the events they were read in."""

    consumer: str
    partition: int
    after_seq: int
    """When the consumer module started over; 0 if it did not before."""
    before_seq: int
    """When it started over again."""
    start: Int64
    end: Int64
    seq: Int64


def _of_kind(events: pa.Table, kind: Kind) -> pa.Table:
    return events.filter(pc.equal(events["kind"], kind.value))


def _laps(events: pa.Table) -> Iterator[_Lap]:
    """What was read of each partition by each consumer module; another lap begins where it started over."""
    batches, restarts = _of_kind(events, Kind.BATCH), _of_kind(events, Kind.STARTED_OVER)
    lengths = pc.list_value_length(batches["partition"]).to_numpy()
    seq = np.repeat(batches["seq"].to_numpy(), lengths)
    consumers = np.repeat(batches["consumer"].to_numpy(zero_copy_only=False), lengths)
    partition, start, end = (pc.list_flatten(batches[name]).to_numpy() for name in ("partition", "start", "end"))
    for consumer in pc.unique(batches["consumer"]).to_pylist():
        bounds = restarts.filter(pc.equal(restarts["consumer"], consumer))["seq"].to_numpy()
        edges = [0, *bounds.tolist(), LATEST_SEQ]
        mine = np.flatnonzero(consumers == consumer)
        lap = np.searchsorted(bounds, seq[mine], "right")
        in_turn = np.lexsort((seq[mine], lap, partition[mine]))
        mine, lap = mine[in_turn], lap[in_turn]
        borders = np.flatnonzero((np.diff(lap) != 0) | (np.diff(partition[mine]) != 0)) + 1
        for at in np.split(np.arange(len(mine)), borders):
            if len(at):
                number, rows = int(lap[at[0]]), mine[at]
                where = (consumer, int(partition[rows[0]]), edges[number], edges[number + 1])
                yield _Lap(*where, start[rows], end[rows], seq[rows])


def _within(lap: _Lap, at: Int64, order: Int64) -> tuple[Int64, Int64]:
    """The commits that lie in the ranges of a lap, each with its event."""
    place = np.minimum(np.searchsorted(lap.end, order, "right"), len(lap.end) - 1)
    inside = (lap.start[place] <= order) & (order < lap.end[place])
    return lap.seq[place[inside]], at[inside]


def _pairs_of(table: pa.Table) -> tuple[list[tuple[str, str]], Int64]:
    """The distinct groups with their topics, and each row's place among them."""
    if not table.num_rows:
        return [], np.zeros(0, np.int64)
    coded = [table[name].combine_chunks().dictionary_encode() for name in ("group", "topic")]
    coded = [one.chunk(0) if isinstance(one, pa.ChunkedArray) else one for one in coded]
    groups, topics = (one.dictionary.to_pylist() for one in coded)
    group, topic = (one.indices.to_numpy().astype(np.int64) for one in coded)
    distinct, pair = np.unique(group * len(topics) + topic, return_inverse=True)
    return [(groups[one // len(topics)], topics[one % len(topics)]) for one in distinct.tolist()], pair
