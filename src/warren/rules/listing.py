"""Which groups somebody wants to see, in which order, with what is said about each: out of one evaluation of all."""

from __future__ import annotations

import re
from enum import StrEnum
from fnmatch import translate
from typing import NamedTuple, TypeVar

import numpy as np

from warren.groups.groups import GroupBrief, Groups
from warren.groups.views import GroupType
from warren.model import Status
from warren.rules.evaluation import Cause, Evaluation, ages_s, causes, max_of_group
from warren.rules.rule import Settings
from warren.rules.standing import Standings
from warren.windows.columns import UNKNOWN, Bool, Int64
from warren.windows.head_history import Float64
from warren.windows.store import Windows

T = TypeVar("T", int, float)


class SortKey(StrEnum):
    """What groups are sorted by: the worst, highest or newest first, names from A to Z; ties by name."""

    SEVERITY = "severity"
    NAME = "name"
    TOTAL_LAG = "total_lag"
    LAG_SECONDS = "lag_seconds"
    LOST_RECORDS = "lost_records"
    SINCE = "since"
    PARTITION_COUNT = "partition_count"


class Selection(NamedTuple):
    """Patterns are `*` and `?` over the whole name; without either, a part of it. Upper and lower case are the same."""

    statuses: frozenset[Status] = frozenset()
    name: str = ""
    topic: str = ""
    owner: str = ""
    types: frozenset[GroupType] = frozenset()
    sort: SortKey = SortKey.SEVERITY
    reverse: bool = False
    limit: int = 100
    offset: int = 0


class GroupSummary(NamedTuple):
    """One group in a list."""

    group: str
    brief: GroupBrief
    stale_since_ms: int | None
    """Since when nothing new is known of it."""
    status: Status
    since_ms: int | None
    partitions: int
    complete: int
    """How many of the partitions have a full window."""
    total_lag: int
    lag_s: float | None
    lost_records: int
    topics: list[str]
    cause: Cause


class GroupPage(NamedTuple):
    """Part of a list. `matching` counts all groups that were selected; `by_status` and lag are of all there are."""

    now_ms: int
    matching: int
    by_status: dict[Status, int]
    total_lag: int
    lag_s: float
    """The age of the oldest unread record; -1 if none is known."""
    groups: list[GroupSummary]
    unjudged: list[str]
    """Groups of which there are no offsets to judge them by: they come after all others, by name."""


class _Found(NamedTuple):
    code: int
    lag_s: float
    cause: Cause


def list_groups(
    windows: Windows,
    groups: Groups,
    evaluation: Evaluation,
    standings: Standings,
    selection: Selection,
    *,
    settings: Settings,
) -> GroupPage:
    """The store must be as it was evaluated, but for new commits."""
    lag_s = max_of_group(evaluation, ages_s(windows, evaluation))
    wanted = np.flatnonzero(_wanted(windows, groups, evaluation, selection))
    unjudged = _unjudged(windows, groups, selection)
    ordered = _ordered(wanted, evaluation, lag_s, standings, selection)
    codes = ordered[selection.offset : selection.offset + selection.limit].tolist()
    found = zip(codes, lag_s[codes].tolist(), causes(windows, evaluation, codes, settings), strict=True)
    counts = np.bincount(evaluation.group_status, minlength=Status.ERR + 1).tolist()
    is_judged = evaluation.group_status > 0
    return GroupPage(
        now_ms=evaluation.now_ms,
        matching=len(wanted) + len(unjudged),
        by_status={status: counts[status] for status in (Status.OK, Status.WARN, Status.ERR)},
        total_lag=int(np.maximum(evaluation.total_lag[is_judged], 0).sum()),
        lag_s=float(lag_s[is_judged].max(initial=UNKNOWN)),
        groups=[_summary(windows, groups, evaluation, standings, _Found(*one)) for one in found],
        unjudged=unjudged[max(selection.offset - len(wanted), 0) :][: selection.limit - len(codes)],
    )


def groups_without_offsets(windows: Windows, groups: Groups) -> list[str]:
    """Groups that exist, but have nothing in the offsets topic that they could be judged by, by name."""
    return sorted(name for name in groups.briefs() if not windows.topics_of_group(name))


def _unjudged(windows: Windows, groups: Groups, selection: Selection) -> list[str]:
    """Those of them that are wanted: they have no status, no topic and no owner to be found by."""
    if selection.statuses or selection.topic or selection.owner:
        return []
    fits = pattern_of(selection.name).match
    names = [name for name in groups_without_offsets(windows, groups) if fits(name)]
    return [name for name in names if not selection.types or groups.brief(name).type in selection.types]


def pattern_of(text: str) -> re.Pattern[str]:
    """A pattern as people type it."""
    has_wildcard = "*" in text or "?" in text
    return re.compile(translate(text if has_wildcard else f"*{text}*"), re.IGNORECASE)


def _wanted(windows: Windows, groups: Groups, evaluation: Evaluation, selection: Selection) -> Bool:
    wanted = evaluation.group_status > 0
    if selection.statuses:
        wanted &= np.isin(evaluation.group_status, list(selection.statuses))
    if selection.name:
        fits = pattern_of(selection.name).match
        wanted &= np.array([bool(name and fits(name)) for name in evaluation.names], np.bool_)
    if selection.types:
        wanted &= np.array([groups.brief(name or "").type in selection.types for name in evaluation.names], np.bool_)
    if selection.topic:
        fits = pattern_of(selection.topic).match
        named = {group for topic in windows.topics() if fits(topic) for group in windows.groups_of_topic(topic)}
        wanted &= np.array([name in named for name in evaluation.names], np.bool_)
    if selection.owner:
        wanted &= _owned_by(windows, evaluation, selection.owner)
    return wanted


def _owned_by(windows: Windows, evaluation: Evaluation, owner: str) -> Bool:
    fits = pattern_of(owner).match
    meant = [i for i, one in enumerate(windows.owners.known) if i and (fits(one.host) or fits(one.client_id))]
    owned = np.zeros(len(evaluation.names), np.bool_)
    owned[evaluation.group[np.isin(windows.labels.owner[evaluation.row], meant)]] = True
    return owned


def _ordered(codes: Int64, evaluation: Evaluation, lag_s: Float64, standings: Standings, selection: Selection) -> Int64:
    """By the key, what needs attention first, then by name."""
    names = [str(evaluation.names[code]) for code in codes.tolist()]  # as an array all would be as long as the longest
    first = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    if selection.sort is not SortKey.NAME:
        for key in reversed(_keys(codes, evaluation, lag_s, standings, selection.sort)):
            first = first[np.argsort(-key[first], kind="stable")]
    ordered = codes[first]
    return ordered[::-1] if selection.reverse else ordered


def _keys(codes: Int64, evaluation: Evaluation, lag_s: Float64, standings: Standings, sort: SortKey) -> list[Int64]:
    """The higher, the earlier; the second decides where the first is the same."""
    total_lag = evaluation.total_lag[codes]
    match sort:
        case SortKey.SEVERITY:
            return [evaluation.status[evaluation.worst[codes]].astype(np.int64), total_lag]
        case SortKey.LAG_SECONDS:
            return [(lag_s[codes] * 1000).astype(np.int64), total_lag]
        case SortKey.LOST_RECORDS:
            return [evaluation.total_lost[codes], total_lag]
        case SortKey.PARTITION_COUNT:
            return [evaluation.partitions[codes]]
        case SortKey.SINCE:
            groups = (standings.groups.get(str(evaluation.names[code])) for code in codes.tolist())
            return [np.array([one.since_ms if one else 0 for one in groups], np.int64)]
        case _:
            return [total_lag]


def _summary(
    windows: Windows, groups: Groups, evaluation: Evaluation, standings: Standings, found: _Found
) -> GroupSummary:
    code, lag_s, cause = found
    name = str(evaluation.names[code])
    standing, status = standings.groups.get(name), Status(int(evaluation.group_status[code]))
    return GroupSummary(
        group=name,
        brief=groups.brief(name),
        stale_since_ms=_stale_since_ms(evaluation, code),
        status=status,
        since_ms=standing.since_ms if standing and standing.status == status else None,
        partitions=int(evaluation.partitions[code]),
        complete=int(evaluation.complete[code]),
        total_lag=int(evaluation.total_lag[code]),
        lag_s=None if lag_s == UNKNOWN else lag_s,
        lost_records=int(evaluation.total_lost[code]),
        topics=windows.topics_of_group(name),
        cause=cause,
    )


def _stale_since_ms(evaluation: Evaluation, code: int) -> int | None:
    """It was judged as of then, if that is not now."""
    as_of_ms = evaluation.now_ms if evaluation.as_of_ms is None else int(evaluation.as_of_ms[code])
    return as_of_ms if as_of_ms < evaluation.now_ms else None


class TopicReader(NamedTuple):
    """A group that reads a topic: what is said about its partitions of it."""

    group: str
    status: Status
    partitions: int
    total_lag: int
    lag_s: float | None


def readers_of(windows: Windows, evaluation: Evaluation, topic: str) -> list[TopicReader]:
    """The groups of a topic, by name."""
    lag_s = ages_s(windows, evaluation)
    return [_reader(windows, evaluation, lag_s, group, topic) for group in windows.groups_of_topic(topic)]


def _reader(windows: Windows, evaluation: Evaluation, lag_s: Float64, group: str, topic: str) -> TopicReader:
    rows = windows.rows_of(group, topic)
    place = np.searchsorted(evaluation.row, rows)  # rows are ascending
    highest_s = float(lag_s[place].max())
    return TopicReader(
        group=group,
        status=Status(int(evaluation.status[place].max())),
        partitions=len(rows),
        total_lag=int(evaluation.lag[place].sum()),
        lag_s=None if highest_s == UNKNOWN else highest_s,
    )


RATE_MS = 300_000
"""How many records a second are written is told over the last five minutes."""


class TopicPartition(NamedTuple):
    """One partition of a topic; None where it is not known."""

    end: int | None
    log_start: int | None
    last_stable: int | None
    has_leader: bool
    held_since_ms: int | None
    produced_per_s: float | None


def partitions_of(windows: Windows, topic: str, now_ms: int) -> list[TopicPartition] | None:
    """The partitions of a topic in their order; None for an unknown topic."""
    block = windows.heads.topics.get(topic)
    if block is None:
        return None
    rows, heads = block.row_numbers(), windows.heads
    rate = heads.history.rate_per_s(rows, np.full(len(rows), now_ms - RATE_MS))
    offsets = (heads.current(rows), heads.log_start_of(rows), heads.last_stable_of(rows))
    columns = (*offsets, heads.has_leader_of(rows), heads.held_since_of(rows), rate)
    return [
        TopicPartition(
            _known(end), _known(log_start), _known(last_stable), has_leader, held_since_ms or None, _known(per_s)
        )
        for end, log_start, last_stable, has_leader, held_since_ms, per_s in zip(
            *(column.tolist() for column in columns), strict=True
        )
    ]


def _known(value: T) -> T | None:
    return None if value == UNKNOWN else value
