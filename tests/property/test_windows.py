"""Windows: for any history, any split into batches and any folding, the columns equal the model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support import model
from tests.support.commit_histories import PARTITIONS, Commit, apply, histories, limits
from tests.support.examples import examples
from tests.support.scenario import GROUP, TOPIC, commit_rows, head_rows
from warren.windows.fold import still_seen
from warren.windows.store import Limits, Windows


@dataclass(frozen=True)
class Heads:
    end: int
    after_ms: int


def model_windows(history: list[Commit], of: Limits) -> list[model.Window]:
    windows = [model.Window(of.intervals, of.min_distance_ms) for _ in range(PARTITIONS)]
    for order, one in enumerate(history):
        if one.offset is None:
            windows[one.partition].tombstone(order)
        else:
            windows[one.partition].commit(one.offset, one.at_ms, order)
    return windows


def entries(windows: Windows, partition: int) -> list[tuple[int, int, int | None, int]]:
    shown = windows.group(GROUP)
    if shown is None:
        return []
    window = shown.window
    return [
        (
            int(window.offset[i, partition]),
            int(window.timestamp_ms[i, partition]),
            None if window.lag[i, partition] < 0 else int(window.lag[i, partition]),
            int(window.lag_at_least[i, partition]),
        )
        for i in range(int(window.length[partition]))
    ]


def expected(window: model.Window) -> list[tuple[int, int, int | None, int]]:
    return [(one.offset, one.timestamp_ms, one.lag, one.lag_at_least) for one in window.entries]


def new_store(of: Limits) -> Windows:
    store = Windows(of)
    store.apply_heads(head_rows({TOPIC: [100] * PARTITIONS}, 1))
    return store


def batches(history: list[Commit], cuts: list[int]) -> list[list[tuple[int, Commit]]]:
    numbered = list(enumerate(history))
    places = sorted({0, len(history), *(cut % (len(history) + 1) for cut in cuts)})
    return [numbered[a:b] for a, b in pairwise(places)]


def folded(batch: list[tuple[int, Commit]], of: Limits) -> list[tuple[int, Commit]]:
    kept = []
    for partition in range(PARTITIONS):
        rows = [row for row in batch if row[1].partition == partition]
        times = np.array([one.at_ms for _, one in rows], np.int64)
        tombstone = np.array([one.offset is None for _, one in rows], np.bool_)
        seen = still_seen(np.zeros(len(rows), np.int64), times, tombstone, of.intervals, of.min_distance_ms)
        kept += [row for row, keep in zip(rows, seen.tolist(), strict=True) if keep]
    return kept


@given(histories, limits, st.lists(st.integers(0, 40), max_size=6))
def test_any_split_into_batches_gives_the_windows_of_the_model(
    history: list[Commit], of: Limits, cuts: list[int]
) -> None:
    store = new_store(of)
    for batch in batches(history, cuts):
        apply(store, batch)

    windows = model_windows(history, of)
    for partition in range(PARTITIONS):
        assert [row[:2] for row in entries(store, partition)] == [row[:2] for row in expected(windows[partition])]


@given(histories, limits, st.lists(st.integers(0, 40), max_size=6))
def test_folding_in_the_worker_never_changes_a_window(history: list[Commit], of: Limits, cuts: list[int]) -> None:
    store = new_store(of)
    for batch in batches(history, cuts):
        apply(store, folded(batch, of))

    windows = model_windows(history, of)
    for partition in range(PARTITIONS):
        assert [row[:2] for row in entries(store, partition)] == [row[:2] for row in expected(windows[partition])]


@given(st.permutations(list(range(12))), limits)
def test_a_commit_that_comes_after_a_newer_one_changes_nothing(orders: list[int], of: Limits) -> None:
    store, window = new_store(of), model.Window(of.intervals, of.min_distance_ms)
    for order in orders:
        store.apply_commits(commit_rows([(order * 5, order, order * 700)]), 100_000)
        window.commit(order * 5, order * 700, order)

    assert [row[:2] for row in entries(store, 0)] == [row[:2] for row in expected(window)]


@given(
    st.lists(
        st.one_of(
            st.builds(Commit, st.just(0), st.integers(0, 500), st.integers(0, 30_000)),
            st.builds(Heads, st.integers(0, 500), st.integers(1, 5_000)),
        ),
        max_size=30,
    ),
    limits,
)
def test_lags_equal_the_model_whenever_heads_come(story: list[Commit | Heads], of: Limits) -> None:
    store = Windows(of)
    window, heads, at_ms = model.Window(of.intervals, of.min_distance_ms), [], 0
    for order, step in enumerate(story):
        if isinstance(step, Commit):
            assert step.offset is not None
            store.apply_commits(commit_rows([(step.offset, order, step.at_ms)]), 100_000)
            window.commit(step.offset, step.at_ms, order)
        else:
            at_ms += step.after_ms
            heads = [*heads, (at_ms, step.end)][-of.intervals :]
            store.apply_heads(head_rows({TOPIC: [step.end] * PARTITIONS}, at_ms))
        if heads:
            window.resolve(heads)

    assert entries(store, 0) == (expected(window) if heads else [])


@examples(50)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["x", "y"]), st.booleans()), max_size=25))
def test_groups_and_topics_come_and_go_without_leaving_rows_behind(steps: list[tuple[str, str, bool]]) -> None:
    store, known = Windows(Limits(2)), {}
    store.apply_heads(head_rows({"x": [10] * 2, "y": [10] * 5}, 1))
    for order, (group, topic, delete) in enumerate(steps):
        if delete:
            store.delete_group_topic(group, topic)
            known.pop((group, topic), None)
        else:
            store.apply_commits(commit_rows([(order, order, 1000)], group=group, topic=topic, partition=1), 1000)
            known[group, topic] = order

    assert store.groups() == sorted({group for group, _ in known})
    for (group, topic), order in known.items():
        shown = store.group(group)
        assert shown is not None
        at = [i for i in range(len(shown.topic)) if shown.topics[shown.topic[i]] == topic and shown.partition[i] == 1]
        newest = int(shown.window.length[at[0]]) - 1
        assert int(shown.window.offset[newest, at[0]]) == order
