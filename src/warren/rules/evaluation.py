"""All groups of a cluster judged at once: what lists, changes of status and notifications go by.

The same questions as for a single group, but asked of all rows of the store in chunks that stay in the processor's
cache, and without a Python object for each partition. Words are made later, for the few that somebody reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warren.model import Status
from warren.rules.insight import NO_LIMIT
from warren.rules.policy import Policy
from warren.rules.reasons import reason
from warren.rules.rule import UNDECIDED, Rule, Settings, rules_without_window, share_complete, status_of
from warren.rules.rule_sets import RULE_SETS
from warren.rules.verdict import entries_of
from warren.windows.columns import UNKNOWN, Bool, Int32, Int64
from warren.windows.head_history import Float64
from warren.windows.store import Windows
from warren.windows.views import Outline, Partitions

CHUNK_ROWS = 32_768

Map = Callable[[Callable[[slice], "_Judged"], Iterable[slice]], Iterable["_Judged"]]


class RowPolicy(NamedTuple):
    """What a policy means for each row of a store; it holds as long as the store's layout."""

    layout: int
    rule_sets: list[str]
    rule_set: NDArray[np.int8]
    """A place in `rule_sets`."""
    most_records: Int64 | None
    most_seconds: Int64 | None


def row_policy(windows: Windows, policy: Policy, rule_set: str = "") -> RowPolicy:
    """Ask the policy about every group and topic once; `rule_set` is for all, whatever the policy says."""
    rule_sets = list(RULE_SETS)
    of_row = np.full(windows.used_rows, rule_sets.index(rule_set or "burrow"), np.int8)
    limits = [np.full(windows.used_rows, NO_LIMIT, np.int64) for _ in range(2)] if policy.thresholds else None
    if (policy.rules and not rule_set) or limits:
        for group, topic, block in windows.blocks():
            if not rule_set:
                of_row[block.rows] = rule_sets.index(policy.rule_set_of(group))
            for threshold in policy.thresholds_of(group, [topic]) if limits else ():
                for column, limit in zip(limits or (), threshold, strict=True):
                    column[block.rows] = NO_LIMIT if limit is None else limit
    return RowPolicy(windows.layout, rule_sets, of_row, *(limits or (None, None)))


class Evaluation(NamedTuple):
    """All partitions that are shown, and their groups by code, at one moment."""

    now_ms: int
    as_of_ms: Int64 | None
    """The moment that each group was judged at, by its code, if that was not now for all."""
    layout: int
    names: list[str | None]
    """Of the groups, by code; None where a code is free."""

    row: Int64
    group: Int32
    rule: NDArray[np.int8]
    status: NDArray[np.int8]
    lag: Int64

    group_status: NDArray[np.int8]
    """0 where a group has nothing to show."""
    worst: Int64
    """The place in `row` of the partition that made the group so."""
    partitions: Int64
    complete: Int64
    """How many of the partitions have a full window."""
    total_lag: Int64
    total_lost: Int64


def evaluate(
    windows: Windows,
    settings: Settings,
    policy: RowPolicy,
    *,
    now_ms: int,
    as_of_ms: Int64 | None = None,
    in_parallel: Map = map,
) -> Evaluation:
    """Judge everything that is shown; `in_parallel` may be the `map` of a pool of threads.

    `as_of_ms` has for each group, by its code, the last moment that its commits are known of, if not now for all.
    """
    rows = windows.shown_rows()
    moment = Moment(now_ms, as_of_ms)
    parts = list(
        in_parallel(lambda part: _judge_chunk(windows, rows[part], settings, policy, moment), _chunks(len(rows)))
    )
    return _by_group(windows, rows, _Judged(*(np.concatenate(column) for column in zip(*parts, strict=True))), moment)


class Moment(NamedTuple):
    """Now, and the last moment that is known of each group by its code, where that is not now."""

    now_ms: int
    as_of_ms: Int64 | None = None

    def of(self, group: Int32) -> int | Int64:
        """The moment at which the commits of rows of these groups are judged."""
        return self.now_ms if self.as_of_ms is None else self.as_of_ms[group]


class _Judged(NamedTuple):
    rule: NDArray[np.int8]
    lag: Int64
    lost_records: Int64
    is_full: Bool


def _chunks(rows: int) -> Iterator[slice]:
    """At least one, so that there is something to put together."""
    return (slice(start, min(start + CHUNK_ROWS, rows)) for start in range(0, max(rows, 1), CHUNK_ROWS))


def _judge_chunk(windows: Windows, at: Int64, settings: Settings, policy: RowPolicy, moment: Moment) -> _Judged:
    outline, intervals = windows.outline(at), windows.limits.intervals
    rule = rules_without_window(outline, settings, intervals)
    rest = np.flatnonzero(rule == UNDECIDED)
    by_rule_set = policy.rule_set[at[rest]]
    for code, rule_set in enumerate(policy.rule_sets):
        chosen = rest[by_rule_set == code]
        if len(chosen):
            of = windows.partitions(at[chosen], outline.take(chosen))
            rule[chosen] = _rules(windows, of, rule_set, settings, moment.of(windows.labels.group[at[chosen]]))
    if policy.most_records is not None and policy.most_seconds is not None:
        fine = status_of(rule) < Status.WARN
        rule[fine & (_ages_s(windows, outline, moment.now_ms) > policy.most_seconds[at])] = Rule.OVER_SECONDS
        rule[fine & (outline.current_lag > policy.most_records[at])] = Rule.OVER_RECORDS
    lost_records = np.where(_is_known(outline), np.maximum(_log_start(windows, outline) - outline.newest_offset, 0), 0)
    return _Judged(rule, outline.current_lag, lost_records, share_complete(outline, intervals) == 1)


def _rules(
    windows: Windows, of: Partitions, rule_set: str, settings: Settings, now_ms: int | Int64
) -> NDArray[np.int8]:
    rules, first_too_many = RULE_SETS[rule_set]
    too_many = first_too_many(of, settings)

    def unread_since(at: Int64) -> Int64:
        return windows.heads.history.passed_since(of.head_row[at], too_many[at])

    return rules(of, settings, now_ms=now_ms, unread_since=unread_since, clock_skew_ms=windows.clock_skew_ms)


def ages_s(windows: Windows, evaluation: Evaluation) -> Float64:
    """How old the first unread record of each partition is at the least; 0 when nothing is unread, -1 if not known."""
    rows = evaluation.row
    parts = [_ages_s(windows, windows.outline(rows[part]), evaluation.now_ms) for part in _chunks(len(rows))]
    return np.concatenate(parts)


def max_of_group(evaluation: Evaluation, age_s: Float64) -> Float64:
    """The highest of each group by its code, -1 where none is known."""
    highest_s = np.full(len(evaluation.names), float(UNKNOWN))
    np.maximum.at(highest_s, evaluation.group, age_s)
    return highest_s


def _ages_s(windows: Windows, outline: Outline, now_ms: int) -> Float64:
    first_unread = np.maximum(outline.newest_offset, _log_start(windows, outline))
    known = _is_known(outline)
    behind = np.flatnonzero(known & (outline.head > first_unread))
    since_ms = windows.heads.history.passed_since(outline.head_row[behind], first_unread[behind])
    age_s = np.where(known, 0.0, UNKNOWN)
    age_s[behind] = np.where(since_ms > 0, np.maximum(now_ms - since_ms, 0) / 1000, UNKNOWN)
    return age_s


def _is_known(outline: Outline) -> Bool:
    known: Bool = (outline.length > 0) & (outline.head != UNKNOWN)
    return known


def _log_start(windows: Windows, outline: Outline) -> Int64:
    return windows.heads.log_start_of(outline.head_row)


def _by_group(windows: Windows, rows: Int64, judged: _Judged, moment: Moment) -> Evaluation:
    names = list(windows.group_names())
    group, status = windows.labels.group[rows], status_of(judged.rule)
    # the worst partition of a group is the one with the highest lag among those in the worst status
    badness = (status.astype(np.int64) << 56) | np.minimum(judged.lag, (1 << 56) - 1)
    worst_badness = np.zeros(len(names), np.int64)
    np.maximum.at(worst_badness, group, badness)
    is_worst = np.flatnonzero(badness == worst_badness[group])[::-1]  # the first of several is written last
    worst = np.full(len(names), UNKNOWN, np.int64)
    worst[group[is_worst]] = is_worst
    return Evaluation(
        now_ms=moment.now_ms,
        as_of_ms=moment.as_of_ms,
        layout=windows.layout,
        names=names,
        row=rows,
        group=group,
        rule=judged.rule,
        status=status,
        lag=judged.lag,
        group_status=np.minimum(worst_badness >> 56, Status.ERR).astype(np.int8),
        worst=worst,
        partitions=_sum(np.ones(len(rows)), group, len(names)),
        complete=_sum(judged.is_full, group, len(names)),
        total_lag=_sum(judged.lag, group, len(names)),
        total_lost=_sum(judged.lost_records, group, len(names)),
    )


def _sum(values: NDArray[np.generic], group: Int32, groups: int) -> Int64:
    total: Int64 = np.bincount(group, values, groups).astype(np.int64)
    return total


class Cause(NamedTuple):
    """The partition that made its group what it is, and why."""

    topic: str
    partition: int
    status: Status
    rule: Rule
    reason: str


def _first_of_worst(windows: Windows, evaluation: Evaluation, code: int) -> int:
    """The place of the worst partition of a group; of several that are alike the first by topic and number."""
    worst = int(evaluation.worst[code])
    name = str(evaluation.names[code])
    for topic in windows.topics_of_group(name):
        rows = windows.rows_of(name, topic)
        place = np.searchsorted(evaluation.row, rows)  # rows are ascending
        alike = (evaluation.status[place] == evaluation.status[worst]) & (
            evaluation.lag[place] == evaluation.lag[worst]
        )
        if alike.any():
            return int(place[alike.argmax()])
    return worst


def causes(windows: Windows, evaluation: Evaluation, codes: list[int], settings: Settings) -> list[Cause]:
    """Put into words what was found about some groups; the store must be as it was evaluated, but for new commits."""
    place = np.array([_first_of_worst(windows, evaluation, code) for code in codes], np.int64)
    rows = evaluation.row[place]
    window = windows.rings.whole_windows(rows)
    found = []
    for i, (code, row) in enumerate(zip(codes, rows.tolist(), strict=True)):
        rule, lag = Rule(int(evaluation.rule[place[i]])), int(evaluation.lag[place[i]])
        topic, partition = windows.partition_of(str(evaluation.names[code]), row)
        judged_ms = evaluation.now_ms if evaluation.as_of_ms is None else int(evaluation.as_of_ms[code])
        words = reason(rule, entries_of(window, i), lag, settings, judged_ms)
        found.append(Cause(topic, partition, Status(int(evaluation.status[place[i]])), rule, words))
    return found
