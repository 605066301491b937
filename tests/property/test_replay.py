"""A history that is replayed as it was says what was said then: whatever happened, wherever it is cut in pieces."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.history_world import GROUPS, TOPICS, World
from warren.history.keyframes import WHERE
from warren.replay.kernel import Shard, replay

seconds = st.integers(0, 12)
commit = st.tuples(st.sampled_from(GROUPS), st.sampled_from(TOPICS), st.integers(0, 1), st.integers(0, 120))
actions = st.one_of(
    st.tuples(st.just("commit"), st.lists(commit, min_size=1, max_size=6)),
    st.tuples(st.just("observe"), st.lists(st.integers(0, 40), min_size=4, max_size=4)),
    st.tuples(st.just("evaluate"), st.none()),
    st.tuples(st.just("evaluate"), st.none()),
    st.tuples(st.just("assign"), st.sampled_from(GROUPS)),
    st.tuples(st.just("delete"), st.sampled_from(GROUPS)),
    st.tuples(st.just("keyframe"), st.none()),
    st.tuples(st.just("lose topic"), st.none()),
    st.tuples(st.just("restart"), st.none()),
)
stories = st.lists(st.tuples(seconds, actions), min_size=4, max_size=40)


def told(story: list[tuple[int, tuple[str, Any]]]) -> dict[str, pa.Table]:
    with TemporaryDirectory() as home:
        world = World(Path(home))
        for wait_s, (action, what) in story:
            world.take(wait_s, action, what)
        return world.tables()


def shard_of(tables: dict[str, pa.Table], groups: set[str], from_seq: dict[int, int]) -> Shard:
    """What belongs to some groups, from a keyframe of each run on."""

    def mine(table: pa.Table) -> pa.Table:
        return table.filter(pc.is_in(table["group"], pa.array(sorted(groups), pa.string())))

    events = tables["events"]
    rows = [row for row in events.to_pylist() if row["seq"] >= from_seq[row["epoch_ms"]]]
    windows = tables["windows"] if "windows" in tables else pa.table({name: [] for name in (*WHERE, "epoch_ms", "seq")})
    return Shard(
        pa.Table.from_pylist(rows, events.schema),
        mine(tables["commits"]),
        tables["heads"],
        mine(tables["owners"]),
        mine(windows) if windows.num_rows else windows,
        tables["topics"] if "topics" in tables else pa.table({"topic": [], "partition": [], "epoch_ms": [], "seq": []}),
        groups.__contains__,
    )


def keyframes(tables: dict[str, pa.Table]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row in tables["events"].to_pylist():
        if row["kind"] == "keyframe":
            found.setdefault(row["epoch_ms"], []).append(row["seq"])
    return found


def verdicts(tables: dict[str, pa.Table], groups: set[str], from_seq: dict[int, int]) -> list[tuple[Any, ...]]:
    rows = [row for row in tables["verdicts"].to_pylist() if row["is_group"] and row["group"] in groups]
    return [
        (row["at_ms"], row["group"], row["was"], row["now"], row["topic"], row["partition"], row["rule"], row["reason"])
        for row in rows
        if row["seq"] > from_seq[row["epoch_ms"]]
    ]


def replayed(shard: Shard) -> list[tuple[Any, ...]]:
    found = []
    for moment in replay(shard, {}):
        for one in moment.changes:
            cause = one.cause
            where = (cause.topic, cause.partition, cause.rule.name.lower(), cause.reason) if cause else (None,) * 4
            found.append((one.at_ms, one.group, one.was.name, one.now.name, *where))
    return found


def by_moment(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=lambda row: (row[0], row[1]))


@given(stories, st.sets(st.sampled_from(GROUPS), min_size=1), st.integers(0, 3))
def test_a_replay_as_it_was_says_what_was_said(
    story: list[tuple[int, tuple[str, Any]]], groups: set[str], keyframe: int
) -> None:
    tables = told(story)
    from_seq = {epoch: frames[min(keyframe, len(frames) - 1)] for epoch, frames in keyframes(tables).items()}
    said = verdicts(tables, groups, from_seq)
    assert by_moment(replayed(shard_of(tables, groups, from_seq))) == by_moment(said)


@examples(100)
@given(stories)
def test_every_commit_is_written_down_once(story: list[tuple[int, tuple[str, Any]]]) -> None:
    tables = told(story)
    orders = tables["commits"]["order"].to_pylist()
    committed = sum(len(what) for _, (action, what) in story if action == "commit")
    assert len(orders) == len(set(orders)) == committed


def test_commits_of_a_topic_that_was_made_anew_are_not_mixed_with_those_before() -> None:
    def committed(second: int, offset: int) -> tuple[int, tuple[str, Any]]:
        return second, ("commit", [(group, TOPICS[0], 0, offset) for group in GROUPS])

    with TemporaryDirectory() as home:
        world = World(Path(home))
        for wait_s, (action, what) in [committed(1, 10), (1, ("observe", [40] * 4)), committed(5, 30)]:
            world.take(wait_s, action, what)
        world.state.start_over("kafka")
        world.order = 0
        for wait_s, (action, what) in [committed(5, 90), committed(5, 20), (20, ("evaluate", None))]:
            world.take(wait_s, action, what)
        tables = world.tables()
    from_seq = {epoch: frames[0] for epoch, frames in keyframes(tables).items()}
    said = verdicts(tables, set(GROUPS), from_seq)
    assert by_moment(replayed(shard_of(tables, set(GROUPS), from_seq))) == by_moment(said)
