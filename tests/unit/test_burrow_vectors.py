"""Rule set `burrow` against Burrow itself: 3,000 windows with the status that Burrow 1.9.5's evaluator gave them.

The worked windows of test_rules.py and the model of the property tests interpret Burrow's code. Here the code itself
gave the answers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import model
from tests.support.rule_windows import Entry, group_windows
from warren.model import Status
from warren.rules.rule import Settings
from warren.rules.rule_sets import judge

VECTORS = Path(__file__).parents[1] / "data" / "burrow-rules-vectors.jsonl"


class Vector(NamedTuple):
    """One partition: its commits and remembered end offsets, oldest first, and Burrow's status."""

    entries: list[Entry]
    heads: list[int]
    now_ms: int
    allowed: int
    minimum: float
    intervals: int
    status: str


@pytest.fixture(scope="module")
def vectors() -> list[Vector]:
    rows = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]
    return [Vector(**row | {"entries": [tuple(entry) for entry in row["entries"]]}) for row in rows]


def by_warren(vector: Vector) -> str:
    windows = group_windows([vector.entries], [vector.heads], vector.intervals)
    verdicts = judge("burrow", windows, Settings(vector.allowed, vector.minimum), now_ms=vector.now_ms)
    return Status(int(verdicts.status[0])).name


def by_model(vector: Vector) -> str:
    return model.judge(
        vector.entries,
        vector.heads,
        now_ms=vector.now_ms,
        intervals=vector.intervals,
        allowed_lag=vector.allowed,
        minimum_complete=vector.minimum,
    )


def test_the_vectors_have_every_status(vectors: list[Vector]) -> None:
    counts = Counter(vector.status for vector in vectors)

    assert counts == {"OK": 1_891, "STOP": 535, "REWIND": 438, "STALL": 108, "WARN": 28}


@pytest.mark.parametrize("evaluate", [by_warren, by_model], ids=["warren", "model"])
def test_every_window_gets_the_status_that_burrow_gave_it(
    vectors: list[Vector], evaluate: Callable[[Vector], str]
) -> None:
    evaluated = [(number, vector, evaluate(vector)) for number, vector in enumerate(vectors, 1)]

    assert [(number, vector, status) for number, vector, status in evaluated if status != vector.status] == []


def test_windows_evaluated_together_get_the_same_status(vectors: list[Vector]) -> None:
    """A group has many partitions; none may change the status of another."""
    groups: dict[tuple[int, float, int], list[Vector]] = {}
    for vector in vectors:
        groups.setdefault((vector.allowed, vector.minimum, vector.intervals), []).append(vector)

    for (allowed, minimum, intervals), group in groups.items():
        now_ms = max(vector.now_ms for vector in group)
        windows = group_windows([one.entries for one in group], [one.heads for one in group], intervals)
        together = judge("burrow", windows, Settings(allowed, minimum), now_ms=now_ms).status.tolist()
        assert [Status(code).name for code in together] == [by_warren(one._replace(now_ms=now_ms)) for one in group]
