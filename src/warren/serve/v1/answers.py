"""From what the state knows to what API v1 answers. Pure."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TypedDict

from warren.clusters.progress import Staleness
from warren.clusters.state import ClusterState
from warren.groups.views import GroupType, GroupView, Member
from warren.health import QueryHealth
from warren.model import Status
from warren.rules import evaluation, listing, standing
from warren.rules.verdict import GroupVerdict, PartitionVerdict
from warren.serve.v1 import models
from warren.serve.v1.words import ChangeStatus, GroupStatus, GroupTypeName, PartitionStatus, RuleSetName
from warren.windows.labels import NOBODY, Owner
from warren.windows.rings import Entry
from warren.windows.rows import Poison

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

SHARE_NOTE = (
    "How far a share group has come is not in the offsets topic, and the client library that Warren reads Kafka with "
    "cannot ask for it: its lag is not available here. kafka-share-groups.sh --describe tells it."
)
NO_OFFSETS_NOTE = "The group has no committed offsets and no partitions, so there is nothing to judge it by."
HELD = (
    "An open transaction in the group's partition of the offsets topic hides all commits that came after it began; "
    "they are known once it ends."
)
UNREAD = "The group's partition of the offsets topic has not been read since then."
NOT_LOOKED_AT = "The place where the group commits could not be read since then."
RESTORED = "Warren was started again, and what has come since its last snapshot is not read yet."


# -- clusters and pipeline -------------------------------------------------------------------------------------------


def queries(health: Mapping[str, QueryHealth]) -> list[models.Query]:
    """By name."""
    return [
        models.Query(name=name, state=str(one.state), last_error=one.last_error or None, restarts=one.restarts)
        for name, one in sorted(health.items())
    ]


def cluster(state: ClusterState, health: Mapping[str, QueryHealth], *, now_ms: int) -> models.Cluster:
    """One cluster; `health` is that of all queries."""
    page = state.list_groups(listing.Selection(limit=0), now_ms=now_ms)
    unreachable = state.unreachable
    names = {f"heads-{state.name}", *(f"commits-{consumer}" for consumer in state.consumers)}
    return {
        "name": state.name,
        "cluster_id": state.cluster_id or None,
        "unreachable_since": time(unreachable.since_ms) if unreachable else None,
        "last_error": unreachable.reason if unreachable else None,
        "ready": state.is_ready,
        "caught_up": state.has_caught_up,
        "behind_records": state.behind_records,
        "restored_at": time_or_null(state.restored_ms),
        "clock_skew_seconds": state.clock_skew_ms / 1000,
        "evaluated_at": time(page.now_ms),
        "group_count": sum(page.by_status.values()),
        "groups_by_status": _status_counts(page.by_status),
        "total_lag": page.total_lag,
        "lag_seconds": rounded(page.lag_s) if page.lag_s >= 0 else None,
        "topic_count": len(state.topics()),
        "unseen_topics": state.unseen_topics(),
        "undecodable_records": state.skipped(),
        "undecodable_examples": [_poison(one) for one in state.poison()],
        "groups_by_type": state.groups_by_type(),
        "stale_partitions": _stale_partitions(state.staleness(now_ms=now_ms)),
        "queries": queries({name: one for name, one in health.items() if name in names}),
    }


def _poison(one: Poison) -> models.PoisonRecord:
    return {
        "partition": one.source_partition,
        "offset": one.offset,
        "record_type": None if one.record_type < 0 else one.record_type,
        "kind": one.kind,
        "reason": one.detail,
    }


def _stale_partitions(found: Staleness) -> list[models.StalePartition]:
    return [
        {"partition": partition, "since": time(since_ms), "reason": HELD if partition in found.held else UNREAD}
        for partition, since_ms in sorted(found.since_ms.items())
    ]


def _status_counts(counts: dict[Status, int]) -> models.StatusCounts:
    return {"OK": counts[Status.OK], "WARN": counts[Status.WARN], "ERR": counts[Status.ERR]}


# -- groups ----------------------------------------------------------------------------------------------------------


def group_list(
    state: ClusterState, page: listing.GroupPage, *, rule_set: RuleSetName | None, next_page: str | None
) -> models.GroupList:
    """A page; `rule_set` is given if it judged all groups instead of their own."""
    return {
        "evaluated_at": time(page.now_ms),
        "restored_at": time_or_null(state.restored_ms),
        "matching": page.matching,
        "by_status": _status_counts(page.by_status),
        "groups": [
            *(_summary(state, one, rule_set, now_ms=page.now_ms) for one in page.groups),
            *(_unjudged(state, one, rule_set) for one in page.unjudged),
        ],
        "next": next_page,
    }


def _own_rule_set(state: ClusterState, group: str) -> RuleSetName:
    return RuleSetName(state.policy.rule_set_of(group))


def _summary(
    state: ClusterState, one: listing.GroupSummary, rule_set: RuleSetName | None, *, now_ms: int
) -> models.GroupSummary:
    return {
        "group": one.group,
        "type": GroupTypeName(one.brief.type.value),
        "state": one.brief.state.value,
        "member_count": one.brief.member_count,
        "rule_set": rule_set or _own_rule_set(state, one.group),
        "status": GroupStatus[one.status.name],
        "stale_since": time_or_null(one.stale_since_ms),
        "note": _stale_note(state, one.group, one.stale_since_ms, now_ms),
        "since": time_or_null(one.since_ms),
        "partition_count": one.partitions,
        "complete": round(one.complete / one.partitions, 4),
        "total_lag": one.total_lag,
        "lag_seconds": one.lag_s,
        "lost_records": one.lost_records,
        "topics": one.topics,
        "cause": _cause(one.cause),
    }


def _unjudged(state: ClusterState, group: str, rule_set: RuleSetName | None) -> models.GroupSummary:
    brief = state.group_brief(group)
    return {
        "group": group,
        "type": GroupTypeName(brief.type.value),
        "state": brief.state.value,
        "member_count": brief.member_count,
        "rule_set": rule_set or _own_rule_set(state, group),
        "status": None,
        "stale_since": None,
        "note": SHARE_NOTE if brief.type == GroupType.SHARE else NO_OFFSETS_NOTE,
        "since": None,
        "partition_count": 0,
        "complete": 0.0,
        "total_lag": None,
        "lag_seconds": None,
        "lost_records": None,
        "topics": sorted(state.group_view(group).share_topics),
        "cause": None,
    }


def _stale_note(state: ClusterState, group: str, stale_since_ms: int | None, now_ms: int) -> str | None:
    if stale_since_ms is None:
        return None
    if stale_since_ms == state.restored_ms:
        return RESTORED
    if state.is_polled(group):
        return NOT_LOOKED_AT
    return HELD if state.staleness(now_ms=now_ms).is_held(group) else UNREAD


def _cause(one: evaluation.Cause | PartitionVerdict) -> models.Cause:
    return {
        "topic": one.topic,
        "partition": one.partition,
        "status": PartitionStatus[one.status.name],
        "rule": one.rule.name.lower(),
        "reason": one.reason,
    }


def group(
    state: ClusterState, verdicts: Mapping[RuleSetName, GroupVerdict], *, now_ms: int, only_trouble: bool
) -> models.Group:
    """A group as each rule set judges it."""
    verdict = next(one for one in verdicts.values() if one.rule_set == _own_rule_set(state, one.group))
    shown = [one for one in verdict.partitions if one.status > Status.OK or not only_trouble]
    ages = [one.insight.lag_s_at_least for one in verdict.partitions if one.insight.lag_s_at_least is not None]
    view, stale_since_ms = state.group_view(verdict.group), state.stale_since_ms(verdict.group, now_ms=now_ms)
    return {
        "cluster": state.name,
        "evaluated_at": time(now_ms),
        "restored_at": time_or_null(state.restored_ms),
        "group": verdict.group,
        **_described(view),
        "rule_set": RuleSetName(verdict.rule_set),
        "status": GroupStatus[verdict.status.name],
        "stale_since": time_or_null(stale_since_ms),
        "note": _stale_note(state, verdict.group, stale_since_ms, now_ms),
        "since": time_or_null(_since_ms(state, verdict)),
        "partition_count": len(verdict.partitions),
        "complete": round(verdict.complete, 4),
        "total_lag": verdict.total_lag,
        "max_lag": _max_lag(verdict),
        "lag_seconds": max(ages, default=None),
        "lost_records": sum(one.insight.lost_records or 0 for one in verdict.partitions),
        "topics": list(dict.fromkeys(one.topic for one in verdict.partitions)),
        "cause": _cause_of(verdict),
        "by_rule_set": {name: _rule_set_verdict(one) for name, one in verdicts.items()},
        "partitions": [_partition(one) for one in shown],
    }


def group_without_offsets(state: ClusterState, name: str, *, now_ms: int) -> models.Group:
    """A group that there are no offsets to judge by."""
    return {
        "cluster": state.name,
        "evaluated_at": time(now_ms),
        "restored_at": time_or_null(state.restored_ms),
        **_unjudged(state, name, None),
        **_described(state.group_view(name)),
        "max_lag": None,
        "by_rule_set": {},
        "partitions": [],
    }


class _Described(TypedDict):
    type: GroupTypeName
    state: str
    member_count: int
    epoch: int | None
    members: list[models.Member]
    share_topics: dict[str, list[int]]


def _described(view: GroupView) -> _Described:
    return {
        "type": GroupTypeName(view.type.value),
        "state": view.state.value,
        "member_count": len(view.members),
        "epoch": view.epoch,
        "members": [_member(one) for one in view.members],
        "share_topics": view.share_topics,
    }


def _member(one: Member) -> models.Member:
    by_topic: dict[tuple[str | None, str | None], list[int]] = {}
    for at in one.partitions:
        topic_id = urlsafe_b64encode(at.topic_id).decode().rstrip("=") if at.topic_id else None
        by_topic.setdefault((at.topic, topic_id), []).append(at.partition)
    return {
        "member_id": one.member_id,
        "client_id": one.client_id,
        "host": one.host,
        "instance_id": one.instance_id,
        "assigned": [
            {"topic": topic, "topic_id": topic_id, "partitions": partitions}
            for (topic, topic_id), partitions in by_topic.items()
        ],
    }


def _since_ms(state: ClusterState, verdict: GroupVerdict) -> int | None:
    """As noted, unless that was of another status."""
    noted = state.standing_of(verdict.group)
    return noted.since_ms if noted and noted.status == verdict.status else None


def _max_lag(verdict: GroupVerdict) -> models.MaxLag | None:
    known = [one for one in verdict.partitions if _lag(one) is not None]
    highest = max(known, key=lambda one: one.current_lag, default=None)
    if highest is None:
        return None
    return {"topic": highest.topic, "partition": highest.partition, "lag": highest.current_lag}


def _cause_of(verdict: GroupVerdict) -> models.Cause:
    assert verdict.worst, "a group that is shown has partitions"
    return _cause(verdict.worst)


def _rule_set_verdict(verdict: GroupVerdict) -> models.RuleSetVerdict:
    return {"status": GroupStatus[verdict.status.name], "reason": verdict.reason, "cause": _cause_of(verdict)}


def partition(
    state: ClusterState, verdict: GroupVerdict, one: PartitionVerdict, *, now_ms: int
) -> models.PartitionWindow:
    """One partition of a group, with its window."""
    return {
        "cluster": state.name,
        "group": verdict.group,
        "rule_set": RuleSetName(verdict.rule_set),
        "evaluated_at": time(now_ms),
        "restored_at": time_or_null(state.restored_ms),
        **_partition(one),
        "window_size": state.intervals,
        "window": [entry(each) for each in one.entries],
    }


def _partition(one: PartitionVerdict) -> models.Partition:
    told, newest = one.insight, one.end
    return {
        "topic": one.topic,
        "partition": one.partition,
        "status": PartitionStatus[one.status.name],
        "rule": one.rule.name.lower(),
        "reason": one.reason,
        "since": time_or_null(one.since_ms),
        "owner": _owner(one.owner),
        "committed_offset": newest.offset if newest else None,
        "committed_at": time_or_null(newest.timestamp_ms) if newest else None,
        "end_offset": one.end_offset,
        "log_start": one.log_start,
        "lag": _lag(one),
        "last_stable_offset": one.last_stable,
        "lag_stable": _lag_stable(one),
        "conditions": [{"condition": found.name.value, "reason": found.says} for found in one.conditions],
        "lag_seconds": rounded(told.lag_s),
        "lag_seconds_at_least": rounded(told.lag_s_at_least),
        "consumed_per_second": rounded(told.consumed_per_s),
        "produced_per_second": rounded(told.produced_per_s),
        "catch_up_seconds": rounded(told.catch_up_s),
        "commit_age_seconds": rounded(told.commit_age_s),
        "lost_records": told.lost_records,
        "loss_in_seconds": rounded(told.loss_in_s),
        "complete": round(one.complete, 4),
    }


def _lag(one: PartitionVerdict) -> int | None:
    """Burrow says 0 where it does not know."""
    return one.current_lag if one.entries and one.end_offset is not None else None


def _lag_stable(one: PartitionVerdict) -> int | None:
    return max(one.last_stable - one.end.offset, 0) if one.end and one.last_stable is not None else None


def _owner(owner: Owner) -> models.Owner | None:
    if owner == NOBODY:
        return None
    return {
        "host": owner.host,
        "client_id": owner.client_id,
        "member_id": owner.member_id,
        "instance_id": owner.instance_id or None,
    }


def entry(one: Entry) -> models.WindowEntry:
    """One commit of a window."""
    return {
        "offset": one.offset,
        "committed_at": time_or_null(one.timestamp_ms),
        "observed_at": time(one.observed_ms),
        "lag": one.lag,
        "lag_at_least": one.lag_at_least,
    }


# -- topics and changes ----------------------------------------------------------------------------------------------


def topic(state: ClusterState, name: str, partitions: list[listing.TopicPartition], *, now_ms: int) -> models.Topic:
    """A topic with these partitions."""
    return {
        "cluster": state.name,
        "restored_at": time_or_null(state.restored_ms),
        "topic": name,
        "topic_id": state.topic_id_of(name),
        "partitions": [_topic_partition(number, one) for number, one in enumerate(partitions)],
        "readers": [_reader(one) for one in state.readers_of(name, now_ms=now_ms)],
    }


def _topic_partition(number: int, one: listing.TopicPartition) -> models.TopicPartition:
    return {
        "partition": number,
        "end_offset": one.end,
        "log_start": one.log_start,
        "last_stable_offset": one.last_stable,
        "has_leader": one.has_leader,
        "open_transaction_since": time_or_null(one.held_since_ms),
        "produced_per_second": rounded(one.produced_per_s),
    }


def _reader(one: listing.TopicReader) -> models.Reader:
    return {
        "group": one.group,
        "status": PartitionStatus[one.status.name],
        "partition_count": one.partitions,
        "total_lag": one.total_lag,
        "lag_seconds": one.lag_s,
    }


def change(one: standing.Change) -> models.Change:
    """One change of status."""
    return {
        "at": time(one.at_ms),
        "group": one.group,
        "was": ChangeStatus[one.was.name],
        "now": ChangeStatus[one.now.name],
        "cause": _cause(one.cause) if one.cause else None,
    }


# -- times and numbers -----------------------------------------------------------------------------------------------


def time(ms: int) -> str:
    """ISO 8601, UTC, with milliseconds."""
    return (EPOCH + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def milliseconds(moment: datetime) -> int:
    """Since 1970."""
    return (moment - EPOCH) // timedelta(milliseconds=1)


def time_or_null(ms: int | None) -> str | None:
    """Null also if it is no date: clients may stamp a commit with any number."""
    try:
        return None if ms is None else time(ms)
    except OverflowError:
        return None


def rounded(value: float | None) -> float | None:
    """As many digits as anybody can use."""
    return None if value is None else round(value, 3)
