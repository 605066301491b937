"""Hypothesis strategies for histories of commits of one group, and how a store applies them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.support.scenario import commit_rows
from warren.windows.store import Limits, Windows

PARTITIONS = 3


@dataclass(frozen=True)
class Commit:
    """A commit to one partition; without an offset it is a tombstone."""

    partition: int
    offset: int | None
    at_ms: int


commit_times_ms = st.one_of(st.integers(0, 20_000), st.sampled_from([0, 1000, 2999, 3000, 3001, 60_000]))
commits = st.builds(
    Commit,
    st.integers(0, PARTITIONS - 1),
    st.one_of(st.none(), *(st.integers(0, 50 + n) for n in range(4))),  # equal strategies would count once
    commit_times_ms,
)
histories = st.lists(commits, max_size=40)
limits = st.builds(Limits, st.integers(1, 6), st.sampled_from([0, 1, 1000, 3000, 60_000]), st.just(10**9))


def apply(store: Windows, history: list[tuple[int, Commit]]) -> None:
    """Apply one batch of (position in the offsets topic, commit); as from a task, a partition's rows stand together."""
    for partition in range(PARTITIONS):
        rows = [(commit.offset, order, commit.at_ms) for order, commit in history if commit.partition == partition]
        if rows:
            store.apply_commits(commit_rows(rows, partition=partition), 100_000)
