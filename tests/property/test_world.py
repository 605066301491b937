"""A whole small cluster: whatever happens in it, in whatever pieces it is read, the store shows what the model does."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import md5
from itertools import chain, product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import model
from tests.support.offset_records import commit_value
from tests.support.scenario import commit_rows
from tests.support.snapshot_files import CONSUMERS, saved_and_restored
from warren.clusters import ledger_file
from warren.clusters.state import ClusterState
from warren.codec.commits import incarnation_of
from warren.codec.groups import GroupMetadata, Member, encode_assignment, encode_group_metadata
from warren.codec.keys import encode_group_key, encode_offset_key
from warren.rules.rule import Settings
from warren.sources.folding import BatchProgress, Folder, FoldSettings
from warren.sources.reading import Records
from warren.windows import columns
from warren.windows.fold import still_seen
from warren.windows.heads import HeadRows
from warren.windows.rows import COMMIT_ROWS, HEAD_ROWS
from warren.windows.store import Assignment, Limits, Owner, Windows
from warren.windows.views import GroupWindows

GROUPS = ("a", "b", "c")
OFFSETS_PARTITION = {"a": 0, "b": 1, "c": 0}
TOPICS = ("x", "y", "z")
FIRST_TOPICS = {"x": [100, 100], "y": [100, 100, 100]}
START_MS = 10_000_000
CLOCK_SET_BACK_MS = -66_777  # like no sum of other times, so that no moment comes twice
NOT_THE_END = {0: 1_000_000}
"""As long as more is there to read, nothing is concluded from how late records are read."""

Place = tuple[str, str, int]


@pytest.fixture(autouse=True, scope="module")
def small_numbers() -> Iterator[None]:
    """A few rows are as many here as thousands elsewhere: rows move together, snapshots have several chunks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "FEW_ROWS", 2)
        patch.setattr(ledger_file, "CHUNK_ROWS", 8)
        yield


# -- what happens ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Commit:
    place: Place
    offset: int | None  # None = tombstone
    after_ms: int = 0  # so much time has passed
    wrong_by_ms: int = 0  # the broker's clock less ours
    late_by: int = 0  # so far before its turn in the log; by an even number it comes again
    made: int | None = None  # which topic of the name it is made to, if that is told

    @property
    def topic_id(self) -> str:
        return "" if self.made is None else topic_id(self.place[1], self.made)


@dataclass(frozen=True)
class Members:
    """Who reads what in a group; nothing = the members are gone."""

    group: str
    owned: tuple[tuple[str, int], ...]
    host: str
    then_unreadable: bool = False  # the next record in the log is about the group, too, but nobody can read it

    @property
    def owners(self) -> dict[tuple[str, int], Owner]:
        return {place: Owner(self.host, f"app-{place[1]}", f"member-{place[1]}") for place in self.owned}


@dataclass(frozen=True)
class Heads:
    """Topics change (no partitions = the topic is gone), ends move (-1 = not to be had), and all of it is observed."""

    changes: dict[str, list[int]]
    produced: int
    after_ms: int
    log_start: int
    remade: dict[str, list[int]]  # topics deleted and made again meanwhile
    ids_told: bool
    leaderless: tuple[tuple[str, int], ...]
    stable_up_to: int


@dataclass(frozen=True)
class Wait:
    ms: int


@dataclass(frozen=True)
class Delete:
    group: str
    topic: str | None


@dataclass(frozen=True)
class Read:
    """So many pieces of the log are read in one go, from so many back in what was read already."""

    back: int
    pieces: int


@dataclass(frozen=True)
class Restart:
    """Warren comes back from its snapshot."""


Step = Commit | Members | Heads | Wait | Delete
Record = Commit | Members


def topic_id(topic: str, made: int) -> str:
    """Kafka's id of a topic, which was made anew so often."""
    return urlsafe_b64encode(md5(f"{topic}-{made}".encode()).digest()).decode().rstrip("=")


def mixed(**shares: tuple[int, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """So many of each kind; `one_of` counts a strategy that it is given twice as one."""
    return st.sampled_from([kind for share, kind in shares.values() for _ in range(share)]).flatmap(lambda kind: kind)


# Few choices for each step: Hypothesis takes a step out of a failing history only if it was made of few choices.
# Most of it happens to few partitions, so that their windows fill up.
groups = st.sampled_from(("a", "a", "b", "c"))
anywhere = [(group, topic, number) for group in GROUPS for topic in TOPICS for number in (0, 1, 4)]
places = st.sampled_from([("a", "x", 0)] * 50 + [("a", "x", 1), ("b", "x", 0)] * 8 + anywhere)
offsets = st.sampled_from([*range(0, 200, 5), *[None] * 3])
passing_ms = (1000, 1000, 0, 1, 2999, 3000, 3001, 10_000)
right_and_wrong_clocks_ms = ((0,) * 8, (-1, -1000, -3000, -5000, 1000, 5000, -3_600_000, 3_600_000))
timing = st.sampled_from([*product(passing_ms, chain(*right_and_wrong_clocks_ms), (0,))])
late_timing = st.sampled_from([*product(passing_ms, (-1000, 0, -1, -2999, -3000, -60_000), (1, 3, 5, 2, 4, 20))])
made = st.sampled_from((*[None] * 6, 0, 0, 1))
commits, late_commits = (
    st.tuples(places, offsets, kind, made).map(lambda of: Commit(*of[:2], *of[2], made=of[3]))
    for kind in (timing, late_timing)
)
owned = st.sampled_from(
    (
        (),
        (("x", 0),),
        (("x", 0), ("x", 1)),
        (("x", 1), ("y", 0)),
        (("x", 4), ("y", 1), ("z", 0)),
        (("y", 2), ("z", 3)),
    )
)
hosts = st.sampled_from(("/10.0.0.7", "/10.0.0.8"))
members = st.builds(Members, groups, owned, hosts)
changes = [
    *[{}] * 30,
    {"x": []},
    {"y": []},
    {"z": []},
    {"x": [100]},
    {"x": [100] * 3},
    {"x": [-1] * 5},
    {"x": [40, -1, 7]},
    {"y": [-1, 100]},
    {"y": [100] * 4},
    {"z": [10]},
    {"z": [5, -1, 200, 0]},
    {"x": [], "y": [], "z": []},
]
movements = st.sampled_from([*product((30, 0, 1, -30, 100), (1000, 1, 10_000), (0, 0, -1, 5, 60))])
remakes = ({}, {}, {}, {}, {"x": [0]}, {"x": [3, 3]}, {"x": [5, -1, 0, 0, 0]}, {"y": [0], "z": [1]})
no_leaders = ((), (), (), (("x", 0),), (("x", 0), ("x", 1), ("y", 2)), (("x", 4), ("z", 0)))
identities = st.sampled_from([*product(remakes, (True, True, False), no_leaders, (-1, 10**9, 100, 50))])
heads = st.tuples(st.sampled_from(changes), movements, identities).map(lambda of: Heads(of[0], *of[1], *of[2]))
waits = st.builds(Wait, st.sampled_from((1000, 1, 5000, 60_000, 600_000, CLOCK_SET_BACK_MS)))
deletes = st.builds(Delete, groups, st.sampled_from((None, *TOPICS)))
steps = mixed(
    commits=(12, commits),
    late=(4, late_commits),
    heads=(5, heads),
    members=(3, members),
    waits=(2, waits),
    deletes=(2, deletes),
)
three_chapters, five_chapters = (st.tuples(*[st.lists(steps, max_size=40 // n)] * n) for n in (3, 5))

log_members = mixed(right=(3, members), wrong=(1, st.builds(Members, groups, owned, hosts, st.just(True))))
log_pieces = st.tuples(*[st.lists(mixed(commits=(12, commits), members=(5, log_members)), max_size=6)] * 4)
reads = st.builds(Read, st.integers(0, 3), st.integers(1, 3))
deliveries = st.lists(mixed(reads=(9, reads), restarts=(1, st.just(Restart()))), max_size=5)

intervals = st.sampled_from((1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 10, 100))
min_distances_ms = st.sampled_from((0, 1, 1000, 3000, 60_000))
limits = st.builds(Limits, intervals, min_distances_ms, st.sampled_from((10**9, 600_000, 60_000, 5_000)))
limits_without_expiry = st.builds(Limits, intervals, min_distances_ms, st.just(10**9))


# -- to whom it happens ----------------------------------------------------------------------------------------------


class World:
    """A store and the model of it, which are told the same."""

    def __init__(self, of: Limits, windows: Windows) -> None:
        self.windows, self.model = windows, model.Store(*of)
        self.now_ms, self.order = START_MS, 100
        self.brokers = FIRST_TOPICS
        self.remade = dict.fromkeys(TOPICS, 0)  # how often

    def tell(self, step: Step) -> None:
        match step:
            case Commit():
                self._commit(step)
            case Members(group):
                self.windows.apply_assignment(Assignment(group, step.owners))
                self.model.assign(group, step.owners)
            case Heads():
                self._observe(step)
            case Wait(ms):
                self.now_ms += ms
                self.windows.expire(self.now_ms)
                self.model.expire(self.now_ms)
            case Delete(group, None):
                assert self.windows.delete_group(group) == self.model.delete_group(group)
            case Delete(group, topic):
                assert self.windows.delete_group_topic(group, topic) == self.model.delete_group_topic(group, topic)

    def _commit(self, step: Commit) -> None:
        self.now_ms += step.after_ms
        self.order += 0 if step.late_by else 2
        order, at_ms = self.order - step.late_by, self.now_ms + step.wrong_by_ms
        group, topic, partition = step.place
        rows = commit_rows([(step.offset, order, at_ms)], group=group, topic=topic, partition=partition)
        told = "" if step.offset is None else step.topic_id
        rows = rows._replace(incarnation=np.array([incarnation_of(urlsafe_b64decode(f"{told}==") if told else None)]))
        self.windows.apply_commits(rows, self.now_ms)
        self.model.record(step.place, step.offset, at_ms, order, told)

    def _observe(self, step: Heads) -> None:
        self.now_ms += step.after_ms
        topics = {**self.brokers, **step.changes}
        self.brokers = {topic: [moved(end, step.produced) for end in ends] for topic, ends in topics.items() if ends}
        self.brokers |= step.remade
        for topic in step.remade:
            self.remade[topic] += 1
        ids = {topic: topic_id(topic, self.remade[topic]) for topic in self.brokers} if step.ids_told else {}
        seen = model.Observed(self.brokers, step.log_start, step.stable_up_to, step.leaderless, ids)
        self.windows.apply_heads(observation(seen, self.now_ms))
        self.model.observe(seen, self.now_ms)


def moved(end: int, produced: int) -> int:
    return max(end + produced, 0) if end >= 0 else -1


def observation(seen: model.Observed, at_ms: int) -> HeadRows:
    topics = list(seen.ends)
    places = [(topic, number) for topic, ends in seen.ends.items() for number in range(len(ends))]
    return HeadRows(
        topics=topics,
        topic=np.array([topics.index(topic) for topic, _ in places], np.int64),
        partition=np.array([number for _, number in places], np.int64),
        end=np.array([seen.end(*place) for place in places], np.int64),
        log_start=np.full(len(places), seen.log_start),
        observed_ms=at_ms,
        last_stable=np.array([seen.last_stable(*place) for place in places], np.int64),
        has_leader=np.array([place not in seen.leaderless for place in places], np.bool_),
        topic_ids=seen.topic_ids,
    )


# -- what is to be seen of it ----------------------------------------------------------------------------------------


def shown(windows: Windows) -> tuple[object, ...]:
    seen = {name: windows.group(name) for name in GROUPS}
    return (
        {topic: windows.topic_ends(topic) for topic in windows.topics()},
        {topic: leaders(windows, topic) for topic in windows.topics()},
        {topic: windows.groups_of_topic(topic) for topic in TOPICS},
        windows.groups(),
        {name: partitions(group) for name, group in seen.items() if group is not None},
    )


def leaders(windows: Windows, topic: str) -> list[tuple[bool, int, int]]:
    heads, rows = windows.heads, windows.heads.topics[topic].row_numbers()
    columns = (heads.has_leader_of(rows), heads.last_stable_of(rows), heads.held_since_of(rows))
    return list(zip(*(column.tolist() for column in columns), strict=True))


def expected(of: model.Store) -> tuple[object, ...]:
    groups = of.groups()
    return of.topics(), of.leaders(), {topic: of.groups_of_topic(topic) for topic in TOPICS}, list(groups), groups


def partitions(group: GroupWindows) -> list[model.Partition]:
    window = group.window
    columns = (window.offset, window.timestamp_ms, window.lag, window.lag_at_least)
    places = zip(*(column.T.tolist() for column in columns), window.length.tolist(), strict=True)
    numbers = (group.head, group.lowest_head, group.log_start, group.current_lag)
    return [
        model.Partition(group.topics[topic], number, entries(*place), owner, *rest)
        for topic, number, place, owner, *rest in zip(
            group.topic.tolist(),
            group.partition.tolist(),
            places,
            group.owners,
            *(column.tolist() for column in numbers),
            strict=True,
        )
    ]


def entries(
    offset: list[int], ms: list[int], lag: list[int], at_least: list[int], length: int
) -> list[tuple[int, int, int | None, int]]:
    return [(offset[i], ms[i], None if lag[i] < 0 else lag[i], at_least[i]) for i in range(length)]


@settings(deadline=None)
@given(five_chapters, limits)
def test_whatever_happens_in_a_cluster_the_store_shows_what_the_model_does(
    history: tuple[list[Step], ...], of: Limits
) -> None:
    world = World(of, Windows(of))
    for chapter in history:
        for step in chapter:
            world.tell(step)

        assert shown(world.windows) == expected(world.model)


@settings(deadline=None)
@given(three_chapters, limits, st.integers(0, 2))
def test_a_restart_from_a_snapshot_at_any_moment_changes_nothing_of_what_follows(
    history: tuple[list[Step], ...], of: Limits, restart_after: int
) -> None:
    state = ClusterState("x", of, Settings(), CONSUMERS)
    world = World(of, state._windows)
    for number, chapter in enumerate(history):
        for step in chapter:
            world.tell(step)
        if number == restart_after:
            world.windows = saved_and_restored(state, of)._windows
            world.model.restart()

        assert shown(world.windows) == expected(world.model)


# -- the same through the offsets topic ------------------------------------------------------------------------------


class Log:
    """The offsets topic: two partitions with records (key, value), and what the model says of them."""

    def __init__(self, of: Limits, pieces: tuple[list[Record], ...]) -> None:
        self.limits, self.model = of, model.Store(*of)
        self.partitions: tuple[list[tuple[bytes, bytes | None]], ...] = ([], [])
        self.cuts = [(0, 0)]  # how far the partitions go after each piece
        self.now_ms = START_MS + sum(one.after_ms for one in chain(*pieces) if isinstance(one, Commit))
        self.model.observe(model.Observed(FIRST_TOPICS), START_MS)
        at_ms = START_MS
        for piece in pieces:
            for record in piece:
                at_ms += record.after_ms if isinstance(record, Commit) else 0
                self._write(record, at_ms)
            self.cuts.append((len(self.partitions[0]), len(self.partitions[1])))
        self.model.observe(model.Observed(FIRST_TOPICS), self.now_ms + 1)

    def _write(self, record: Record, now_ms: int) -> None:
        match record:
            case Commit((group, topic, partition) as place, offset):
                at_ms, log = now_ms + record.wrong_by_ms, self.partitions[OFFSETS_PARTITION[group]]
                self.model.record(place, offset, at_ms, len(log), record.topic_id)
                made_to = urlsafe_b64decode(f"{record.topic_id}==") if record.topic_id else None
                value = None if offset is None else commit_value(offset, at_ms, made_to)
                log.append((encode_offset_key(group, topic, partition), value))
            case Members(group):
                self.model.assign(group, record.owners)
                values = [members_value(record), *[b"\x00\x63"] * record.then_unreadable]
                self.partitions[OFFSETS_PARTITION[group]].extend((encode_group_key(group), value) for value in values)

    def batch(self, first: int, last: int) -> pa.Table:
        """The pieces from `first` up to `last` as one micro-batch, folded as in a worker."""
        folder, positions = Folder(FoldSettings(self.limits.intervals, self.limits.min_distance_ms)), {}
        for number, log in enumerate(self.partitions):
            start, end = self.cuts[first][number], self.cuts[last][number]
            if end > start:
                keys, values = zip(*log[start:end], strict=True)
                folder.add(Records(np.full(end - start, number), np.arange(start, end), list(keys), list(values)))
                positions[number] = end
        return pa.Table.from_batches(folder.rows(BatchProgress(positions, NOT_THE_END)), COMMIT_ROWS)


def members_value(record: Members) -> bytes | None:
    if not record.owned:
        return None
    members = [
        Member(owner.member_id, None, owner.client_id, owner.host, 1, 1, b"", encode_assignment([(topic, [number])]))
        for (topic, number), owner in record.owners.items()
    ]
    return encode_group_metadata(GroupMetadata("consumer", 1, "range", "m", 1, members), 3)


def head_table(at_ms: int) -> pa.Table:
    ends = [(topic, number, end) for topic, ends in FIRST_TOPICS.items() for number, end in enumerate(ends)]
    return pa.Table.from_pylist(
        [{"topic": t, "partition": p, "end": e, "log_start": 0, "observed_ms": at_ms} for t, p, e in ends], HEAD_ROWS
    )


@settings(deadline=None)
@given(log_pieces, deliveries, limits_without_expiry)
def test_in_whatever_pieces_and_however_often_the_log_is_read_the_store_shows_what_the_model_does(
    pieces: tuple[list[Record], ...], plan: list[Read | Restart], of: Limits
) -> None:
    log, state, done = Log(of, pieces), ClusterState("x", of, Settings(), CONSUMERS), 0
    state.apply_head_rows(head_table(START_MS), now_ms=log.now_ms)
    for step in [*plan, Read(0, len(pieces))]:
        match step:
            case Read(back, length):
                first = max(done - back, 0)
                last = min(first + length, len(pieces))
                state.apply_commit_rows("c", log.batch(first, last), now_ms=log.now_ms)
                done = max(done, last)
            case Restart():
                state = saved_and_restored(state, of)
    state.apply_head_rows(head_table(log.now_ms + 1), now_ms=log.now_ms)

    assert shown(state._windows) == expected(log.model)
    assert state.positions("c") == ({i: end for i, end in enumerate(log.cuts[-1]) if end} or None)


# -- what never leaves a worker --------------------------------------------------------------------------------------

moments_ms = st.sampled_from([*range(20), *[None] * 2])  # None = tombstone
runs = st.lists(moments_ms, max_size=20)


@settings(deadline=None)
@given(runs, runs, st.integers(1, 4), st.integers(0, 8))
def test_a_window_does_not_miss_what_folding_leaves_out(
    before: list[int | None], run: list[int | None], intervals: int, min_distance_ms: int
) -> None:
    timestamp_ms = np.array([-1 if ms is None else ms for ms in run], np.int64)
    tombstone = np.array([ms is None for ms in run], np.bool_)
    seen = still_seen(np.zeros(len(run), np.int64), timestamp_ms, tombstone, intervals, min_distance_ms).tolist()
    whole, folded = (model.Window(intervals, min_distance_ms) for _ in range(2))
    for order, ms in enumerate(before + run):
        told = [whole, folded] if order < len(before) or seen[order - len(before)] else [whole]
        for window in told:
            window.tombstone(order) if ms is None else window.commit(order, ms, order)

    assert folded.entries == whole.entries
