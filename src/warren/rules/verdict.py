"""From windows to what is said about a group: each partition's verdict with its reason, and the group's own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from warren.model import Status
from warren.rules import warren
from warren.rules.conditions import Condition, conditions_of
from warren.rules.insight import Insight, LogFacts, Threshold, apply_thresholds, first_unread, insight
from warren.rules.reasons import reason
from warren.rules.rule import Rule, Settings, Verdicts
from warren.rules.rule_sets import judge
from warren.windows.columns import Int64
from warren.windows.labels import Owner
from warren.windows.rings import Entry, WholeWindow
from warren.windows.store import Windows
from warren.windows.views import GroupWindows


class GroupFacts(NamedTuple):
    """Everything that a verdict on one group goes by, taken at one moment."""

    windows: GroupWindows
    log: LogFacts
    too_much_since_ms: Int64
    """Since when more is unread than allowed."""
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
    too_much_since_ms = heads.history.passed_since(rows, warren.first_too_many(windows, settings))
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


class PartitionVerdict(NamedTuple):
    """What is said about one partition of a group. `reason` names the rule and the numbers it went by."""

    topic: str
    partition: int
    owner: Owner
    status: Status
    rule: Rule
    reason: str
    entries: list[Entry]
    current_lag: int
    complete: float
    end_offset: int | None
    log_start: int | None
    insight: PartitionInsight
    since_ms: int | None
    """Since when it is in this status; None before the first evaluation of all groups."""
    last_stable: int | None
    """Where the partition ends for readers of committed records."""
    conditions: list[Condition]

    @property
    def start(self) -> Entry | None:
        """The oldest commit of the window."""
        return self.entries[0] if self.entries else None

    @property
    def end(self) -> Entry | None:
        """The newest commit of the window."""
        return self.entries[-1] if self.entries else None


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
    since_ms, judged_ms = facts.too_much_since_ms, now_ms if as_of_ms is None else min(as_of_ms, now_ms)
    verdicts = judge(rule_set, windows, settings, now_ms=judged_ms, unread_since_ms=since_ms, clock_skew_ms=skew_ms)
    found = insight(windows, facts.log, now_ms=now_ms, clock_skew_ms=skew_ms)
    if thresholds:
        verdicts = apply_thresholds(verdicts, windows, found, thresholds)
    partitions = _partition_verdicts(windows, verdicts, found, settings, judged_ms)
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


def _partition_verdicts(
    windows: GroupWindows, verdicts: Verdicts, found: Insight, settings: Settings, judged_ms: int
) -> list[PartitionVerdict]:
    insights = zip(*(column.tolist() for column in found), strict=True)
    judged = zip(verdicts.status.tolist(), verdicts.rule.tolist(), insights, strict=True)
    partitions = []
    for i, (status, rule, told) in enumerate(judged):
        entries = entries_of(windows.window, i)
        lag = int(windows.current_lag[i])
        partitions.append(
            PartitionVerdict(
                topic=windows.topics[windows.topic[i]],
                partition=int(windows.partition[i]),
                owner=windows.owners[i],
                status=Status(status),
                rule=Rule(rule),
                reason=reason(Rule(rule), entries, lag, settings, judged_ms),
                entries=entries,
                current_lag=lag,
                complete=shortest_float(verdicts.complete[i]),
                end_offset=_known(int(windows.head[i])),
                log_start=_known(int(windows.log_start[i])),
                insight=PartitionInsight(*(None if value < 0 else value for value in told)),
                since_ms=_since_ms(windows, i, status, judged_ms),
                last_stable=_known(int(windows.last_stable[i])),
                conditions=conditions_of(windows, i, judged_ms),
            )
        )
    return partitions


def _since_ms(windows: GroupWindows, i: int, status: int, now_ms: int) -> int | None:
    """Since the last evaluation of all, if it said the same; else since now."""
    if windows.since_s[i] == 0:
        return None
    return int(windows.since_s[i]) * 1000 if windows.last_status[i] == status else now_ms


def _known(offset: int) -> int | None:
    return None if offset < 0 else offset


def entries_of(window: WholeWindow, i: int) -> list[Entry]:
    """One window as entries, oldest first."""
    columns = (window.offset, window.timestamp_ms, window.observed_ms, window.order, window.lag)
    values = zip(*(column[: int(window.length[i]), i].tolist() for column in columns), strict=True)
    return [Entry(offset, ms, seen_ms, order, None if lag < 0 else lag) for offset, ms, seen_ms, order, lag in values]


def _share_complete(partitions: list[PartitionVerdict]) -> float:
    full = sum(one.complete == 1.0 for one in partitions)
    return shortest_float(np.float32(full) / np.float32(max(len(partitions), 1)))


def shortest_float(value: np.float32) -> float:
    """The double that prints as the shortest text of a single: 0.33333334, not 0.3333333432674408."""
    return float(str(value))
