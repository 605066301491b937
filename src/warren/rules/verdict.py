"""From windows to what is said about a group: each partition's verdict with its reason, and the group's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warren.model import Status
from warren.rules.conditions import Condition, conditions_of
from warren.rules.insight import Insight, LogFacts, Threshold, apply_thresholds, first_unread, insight
from warren.rules.reasons import reason
from warren.rules.rule import Rule, Settings, Verdicts
from warren.rules.rule_sets import RULE_SETS, judge
from warren.windows.columns import Int64
from warren.windows.labels import Owner
from warren.windows.rings import Entry, WholeWindow
from warren.windows.store import Windows
from warren.windows.views import GroupWindows


class GroupFacts(NamedTuple):
    """Everything that a verdict on one group goes by, taken at one moment."""

    windows: GroupWindows
    log: LogFacts
    too_much_since_ms: dict[str, Int64]
    """Since when the lag exceeds what each rule set allows."""
    clock_skew_ms: int = 0
    """The brokers' clock less ours."""


def facts_of(store: Windows, group: str, settings: Settings) -> GroupFacts | None:
    """Take what is known of a group; None if there is nothing to show."""
    windows = store.group(group)
    if windows is None:
        return None
    heads, rows = store.heads, windows.head_row
    window_ms = windows.window.timestamp_ms[0]
    log = LogFacts(
        log_start=windows.log_start,
        unread_since_ms=heads.history.time_of(rows, first_unread(windows, windows.log_start)),
        history_since_ms=heads.history.oldest_ms(rows),
        produced_per_s=heads.history.rate_per_s(rows, window_ms),
        log_start_per_s=heads.log_start_history.rate_per_s(rows, np.zeros(len(rows), np.int64)),
    )
    too_much_since_ms = {
        name: heads.history.passed_since(rows, rule_set.first_too_many(windows, settings))
        for name, rule_set in RULE_SETS.items()
    }
    return GroupFacts(windows, log, too_much_since_ms, store.clock_skew_ms)


class PartitionInsight(NamedTuple):
    """What can be told beside the status; None where it cannot."""

    lag_s: float | None
    lag_s_at_least: float | None
    consumed_per_s: float | None
    produced_per_s: float | None
    catch_up_s: float | None
    commit_age_s: float | None
    lost_records: int | None
    loss_in_s: float | None


class Judged(NamedTuple):
    """All partitions of a group with what was found, as columns."""

    windows: GroupWindows
    verdicts: Verdicts
    found: Insight
    settings: Settings
    judged_ms: int


@dataclass(slots=True)
class PartitionVerdict:
    """What is said about one partition of a group.

    What takes words (the reason, conditions, the whole window) is put together when somebody asks: many want only the
    status of a thousand partitions.
    """

    topic: str
    partition: int
    owner: Owner
    status: Status
    rule: Rule
    current_lag: int
    complete: float
    start: Entry | None
    """The oldest commit of the window."""
    end: Entry | None
    """The newest commit of the window."""
    _of: Judged = field(repr=False)
    _at: int = field(repr=False)

    @property
    def reason(self) -> str:
        """The rule and the numbers that it went by."""
        return reason(self.rule, self.entries, self.current_lag, self._of.settings, self._of.judged_ms)

    @property
    def entries(self) -> list[Entry]:
        """The window, oldest first."""
        return entries_of(self._of.windows.window, self._at)

    @property
    def end_offset(self) -> int | None:
        """Where the partition ends."""
        return _known(int(self._of.windows.head[self._at]))

    @property
    def log_start(self) -> int | None:
        """Where it begins."""
        return _known(int(self._of.windows.log_start[self._at]))

    @property
    def last_stable(self) -> int | None:
        """Where it ends for readers of committed records."""
        return _known(int(self._of.windows.last_stable[self._at]))

    @property
    def insight(self) -> PartitionInsight:
        """What can be told beside the status."""
        told = (column[self._at].item() for column in self._of.found)
        return PartitionInsight(*(None if value < 0 else value for value in told))

    @property
    def since_ms(self) -> int | None:
        """Since when it is in this status; None before the first evaluation of all groups."""
        windows = self._of.windows
        if windows.since_s[self._at] == 0:
            return None
        is_same = windows.last_status[self._at] == self.status
        return int(windows.since_s[self._at]) * 1000 if is_same else self._of.judged_ms

    @property
    def conditions(self) -> list[Condition]:
        """What is special about the partition, whatever its status."""
        return conditions_of(self._of.windows, self._at, self._of.judged_ms)


class GroupVerdict(NamedTuple):
    """What is said about a group; `partitions` are all of it, topics sorted and partitions ascending."""

    group: str
    rule_set: str
    status: Status
    complete: float
    partitions: list[PartitionVerdict]
    max_lag: PartitionVerdict | None
    total_lag: int
    worst: PartitionVerdict | None
    """The partition that made the group what it is: of those in the worst status, the one with the highest lag."""

    @property
    def reason(self) -> str:
        """Why the group is what it is."""
        return f"{self.worst.topic} {self.worst.partition}: {self.worst.reason}" if self.worst else "no partitions"


def judge_group(
    name: str,
    facts: GroupFacts,
    settings: Settings,
    *,
    now_ms: int,
    as_of_ms: int | None = None,
    rule_set: str = "burrow",
    thresholds: list[Threshold] | None = None,
) -> GroupVerdict:
    """Judge a group and all its partitions at `now_ms`; `thresholds` has one for each of its topics.

    `as_of_ms` is the last moment that its commits are known of, if that is not now: later silence means nothing.
    """
    windows, skew_ms = facts.windows, facts.clock_skew_ms
    since_ms, judged_ms = facts.too_much_since_ms[rule_set], now_ms if as_of_ms is None else min(as_of_ms, now_ms)
    verdicts = judge(rule_set, windows, settings, now_ms=judged_ms, unread_since_ms=since_ms, clock_skew_ms=skew_ms)
    found = insight(windows, facts.log, now_ms=now_ms, clock_skew_ms=skew_ms)
    if thresholds:
        verdicts = apply_thresholds(verdicts, windows, found, thresholds)
    partitions = _partition_verdicts(Judged(windows, verdicts, found, settings, judged_ms))
    worst = max(partitions, key=lambda one: (one.status, one.current_lag), default=None)
    return GroupVerdict(
        group=name,
        rule_set=rule_set,
        status=worst.status.of_group if worst else Status.OK,
        complete=_share_complete(partitions),
        partitions=partitions,
        max_lag=max(partitions, key=lambda one: one.current_lag, default=None),
        total_lag=sum(one.current_lag for one in partitions),
        worst=worst,
    )


def _partition_verdicts(of: Judged) -> list[PartitionVerdict]:
    windows, verdicts = of.windows, of.verdicts
    columns = zip(
        windows.topic.tolist(),
        windows.partition.tolist(),
        windows.owners,
        map(Status, verdicts.status.tolist()),
        map(Rule, verdicts.rule.tolist()),
        windows.current_lag.tolist(),
        _shortest(verdicts.complete),
        _entries_at(windows.window, np.zeros_like(windows.window.length)),
        _entries_at(windows.window, windows.window.length - 1),
        strict=True,
    )
    return [
        PartitionVerdict(windows.topics[topic], partition, owner, status, rule, lag, complete, start, end, of, at)
        for at, (topic, partition, owner, status, rule, lag, complete, start, end) in enumerate(columns)
    ]


def _entries_at(window: WholeWindow, place: NDArray[np.integer]) -> Iterator[Entry | None]:
    """One entry of each window; None of those that are empty."""
    at = (np.maximum(place, 0), np.arange(len(place)))
    columns = (window.offset, window.timestamp_ms, window.observed_ms, window.lag, window.lag_at_least)
    if not len(window.offset):
        yield from (None for _ in place)
        return
    values = zip(*(column[at].tolist() for column in columns), strict=True)
    for length, (offset, ms, seen_ms, lag, at_least) in zip(window.length.tolist(), values, strict=True):
        yield Entry(offset, ms, seen_ms, None if lag < 0 else lag, at_least) if length else None


def _shortest(values: NDArray[np.float32]) -> list[float]:
    """`shortest_float` of all; there are few different ones."""
    different, which = np.unique(values, return_inverse=True)
    texts = [shortest_float(value) for value in different]
    return [texts[i] for i in which.tolist()]


def _known(offset: int) -> int | None:
    return None if offset < 0 else offset


def entries_of(window: WholeWindow, i: int) -> list[Entry]:
    """One window as entries, oldest first."""
    columns = (window.offset, window.timestamp_ms, window.observed_ms, window.lag, window.lag_at_least)
    values = zip(*(column[: int(window.length[i]), i].tolist() for column in columns), strict=True)
    return [
        Entry(offset, ms, seen_ms, None if lag < 0 else lag, at_least) for offset, ms, seen_ms, lag, at_least in values
    ]


def _share_complete(partitions: list[PartitionVerdict]) -> float:
    full = sum(one.complete == 1.0 for one in partitions)
    return shortest_float(np.float32(full) / np.float32(max(len(partitions), 1)))


def shortest_float(value: np.float32) -> float:
    """The double that prints as the shortest text of a single: 0.33333334, not 0.3333333432674408."""
    return float(str(value))
