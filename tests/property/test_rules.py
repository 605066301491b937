"""Rules: for any windows the columns judge as the model does, one partition after the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support import model
from tests.support.rule_windows import group_windows
from warren.model import Status
from warren.rules.rule import Settings
from warren.rules.rule_sets import judge

INTERVALS = 6

entries = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 30).map(lambda s: s * 500), st.one_of(st.none(), st.integers(0, 6))),
    max_size=INTERVALS,
)
heads = st.lists(st.integers(0, 20), max_size=4)
certain = st.lists(st.integers(0, 6), min_size=INTERVALS, max_size=INTERVALS)


@given(
    st.lists(st.tuples(entries, heads), min_size=1, max_size=5),
    st.integers(0, 40_000),
    st.integers(0, 4),
    st.sampled_from([0.0, 0.2, 0.5, 1.0]),
)
def test_columns_judge_as_the_model_does(
    partitions: list[tuple[list[tuple[int, int, int | None]], list[int]]], now_ms: int, allowed: int, minimum: float
) -> None:
    windows = group_windows([entry for entry, _ in partitions], [ends for _, ends in partitions], INTERVALS)
    verdicts = judge("burrow", windows, Settings(allowed, minimum), now_ms=now_ms)

    assert [Status(status).name for status in verdicts.status.tolist()] == [
        model.judge(entry, ends, now_ms=now_ms, intervals=INTERVALS, allowed_lag=allowed, minimum_complete=minimum)
        for entry, ends in partitions
    ]


@given(st.lists(st.tuples(entries, heads, certain), min_size=1, max_size=5), st.integers(0, 40_000), st.integers(0, 4))
def test_columns_judge_lags_that_are_partly_certain_as_the_model_does(
    partitions: list[tuple[list[tuple[int, int, int | None]], list[int], list[int]]], now_ms: int, allowed: int
) -> None:
    sure = [at_least[: len(entry)] for entry, _, at_least in partitions]
    windows = group_windows(
        [entry for entry, _, _ in partitions], [ends for _, ends, _ in partitions], INTERVALS, certain=sure
    )
    verdicts = judge("burrow", windows, Settings(allowed), now_ms=now_ms)

    assert [Status(status).name for status in verdicts.status.tolist()] == [
        model.judge(entry, ends, now_ms=now_ms, intervals=INTERVALS, allowed_lag=allowed, certain=at_least)
        for (entry, ends, _), at_least in zip(partitions, sure, strict=True)
    ]
