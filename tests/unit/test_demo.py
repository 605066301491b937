"""The demo's groups, judged without Kafka: each shows its state at every moment, on an unsteady machine too."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from warren.demo.behaviours import (
    FEW_RECORDS,
    GROUPS,
    INVOICES,
    ORDERS,
    PARTITIONS,
    RECORD_INTERVAL_S,
    SEED_RECORDS,
    WAVE_S,
    Group,
    Rewound,
    is_busy,
)
from warren.demo.screen import LineScreen, as_table
from warren.demo.stage import make_config
from warren.errors import ConfigError
from warren.model import Status
from warren.rules.burrow import is_rewound
from warren.rules.rule import Settings
from warren.rules.verdict import GroupVerdict, facts_of, judge_group
from warren.windows.commit_rows import CommitRows
from warren.windows.heads import HeadRows
from warren.windows.rings import Window
from warren.windows.store import Limits, Windows

INTERVALS = 10
STARTED_MS = 1_700_000_000_000
SETTLED_S = 30
WATCHED_S = 120


def test_the_rewound_group_has_a_partition_in_rewind_in_every_window() -> None:
    steps = 10_000
    ends = SEED_RECORDS + 10 * np.arange(steps)
    rewound = np.zeros(steps - INTERVALS + 1, np.bool_)
    for partition in range(PARTITIONS):
        reader = Rewound(partition)
        offsets = np.array([reader.next_commit(int(end)) for end in ends])
        assert (offsets >= 0).all()
        assert (offsets < ends).all(), "it must never be caught up"
        rewound |= is_rewound(_windows_of(offsets))
    assert rewound.all()


def _windows_of(offsets: np.ndarray) -> Window:
    """Every window over a sequence of commits, one in each column."""
    offset = np.lib.stride_tricks.sliding_window_view(offsets, INTERVALS).T
    nothing = np.zeros_like(offset)
    length = np.full(offset.shape[1], INTERVALS)
    return Window(offset=offset, timestamp_ms=nothing, lag=nothing, lag_at_least=nothing, length=length)


def test_at_every_moment_some_partition_is_busy_and_some_is_calm() -> None:
    for at_s in np.arange(0, 2 * WAVE_S, RECORD_INTERVAL_S).tolist():
        assert {is_busy(partition, at_s) for partition in range(PARTITIONS)} == {True, False}


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
@pytest.mark.parametrize("hiccup_s", [0.1, 0.6], ids=["steady", "unsteady"])
def test_each_group_shows_its_state_at_every_moment(group: Group, hiccup_s: float) -> None:
    shown = {max(one.status for one in verdict.partitions) for verdict in _verdicts(group, hiccup_s)}
    assert shown == {group.shows}


def _verdicts(group: Group, hiccup_s: float) -> Iterator[GroupVerdict]:
    """What is said about a group each second, once it has settled.

    Commits, observations and their answers come late by up to `hiccup_s`, each for itself.
    """
    chance = random.Random(group.name)
    windows = Windows(Limits(INTERVALS))
    readers = [group.reader(partition) for partition in range(PARTITIONS)]
    for second in range(SETTLED_S + WATCHED_S):
        answered_s = second + chance.uniform(0, hiccup_s)
        windows.apply_heads(_heads(group.topic, observed_s=second, answered_s=answered_s))
        committed_s = second + 0.4 + chance.uniform(0, hiccup_s)
        if group.lives_for_commits is None or second < group.lives_for_commits:
            offsets = [
                reader.next_commit(end) for reader, end in zip(readers, _ends(group.topic, committed_s), strict=True)
            ]
            windows.apply_commits(_commits(group, offsets, committed_s, second), _ms(committed_s))
        if second >= SETTLED_S:
            facts = facts_of(windows, group.name, Settings())
            assert facts is not None
            yield judge_group(group.name, facts, Settings(), now_ms=_ms(second + 1))


def _ms(at_s: float) -> int:
    return STARTED_MS + int(at_s * 1000)


_ORDERS_BUSY = np.array(
    [
        [is_busy(p, tick * RECORD_INTERVAL_S) for p in range(PARTITIONS)]
        for tick in range(int(WAVE_S / RECORD_INTERVAL_S))
    ]
)


def _ends(topic: str, at_s: float) -> list[int]:
    """Where the partitions end."""
    if topic == INVOICES:
        return [FEW_RECORDS] * PARTITIONS
    waves, ticks = divmod(int(at_s / RECORD_INTERVAL_S), len(_ORDERS_BUSY))
    written = waves * _ORDERS_BUSY.sum(axis=0) + _ORDERS_BUSY[:ticks].sum(axis=0)
    ends: list[int] = (SEED_RECORDS + written).tolist()
    return ends


def _heads(topic: str, observed_s: float, answered_s: float) -> HeadRows:
    partitions = np.arange(PARTITIONS)
    ends = np.array(_ends(topic, answered_s))
    return HeadRows([topic], np.zeros_like(partitions), partitions, ends, np.zeros_like(ends), _ms(observed_s))


def _commits(group: Group, offsets: list[int | None], at_s: float, number: int) -> CommitRows:
    made = [(partition, offset) for partition, offset in enumerate(offsets) if offset is not None]
    nothing = np.zeros(len(made), np.int64)
    return CommitRows(
        pairs=[(group.name, group.topic)],
        pair=nothing,
        partition=np.array([partition for partition, _ in made], np.int64),
        offset=np.array([offset for _, offset in made], np.int64),
        timestamp_ms=nothing + _ms(at_s),
        order=nothing + number,
        tombstone=nothing.astype(np.bool_),
    )


def test_without_a_terminal_a_group_is_told_once_for_each_status(capsys: pytest.CaptureFixture[str]) -> None:
    verdict = next(_verdicts(GROUPS[2], 0.1))
    screen = LineScreen()
    for _ in range(3):
        screen.show({"orders-slow": verdict, "orders-idle": None})
    assert capsys.readouterr().out.startswith(f"orders-slow: WARN, {ORDERS} 0: lag did not fall in 10 commits")
    screen.show({"orders-slow": verdict._replace(status=Status.OK)})
    assert capsys.readouterr().out.startswith("orders-slow: OK (WARN)")


def test_the_table_has_a_row_for_each_group_seen_or_not() -> None:
    verdict = next(_verdicts(GROUPS[2], 0.1))
    assert as_table({"orders-slow": verdict, "orders-idle": None}).row_count == 2


def test_a_mistyped_address_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must be host:port"):
        make_config("localhost", "127.0.0.1:9092", tmp_path)
