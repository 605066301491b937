"""What API v1 takes and answers: the OpenAPI document is made of this.

Answers are typed dictionaries, not classes: a list holds thousands, and to check each would take as long as to make it.
"""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from warren.groups.derived import GroupState
from warren.rules.conditions import ConditionName
from warren.rules.rule import Rule
from warren.serve.v1.words import ChangeStatus, GroupStatus, GroupTypeName, PartitionStatus, RuleSetName


def says(text: str, **more: Any) -> Any:
    """Tell what a field means."""
    return Field(description=text, **more)


Time = Annotated[
    str,
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-03-01T12:00:00.000Z"]}),
]
"""ISO 8601, UTC, with milliseconds."""


RestoredAt = Annotated[
    Time | None,
    says("Not null after a restart: the answer comes from a snapshot of this time, until all since has been read."),
]
NextPage = Annotated[
    str | None,
    says("The next page, relative to the address of this one; null on the last.", examples=["?limit=100&offset=100"]),
]


class Judged(TypedDict):
    """What every answer with verdicts has."""

    evaluated_at: Annotated[Time, says("When this was judged; never more than a second ago.")]
    restored_at: RestoredAt


# -- errors ----------------------------------------------------------------------------------------------------------


class ErrorDetail(TypedDict):
    """What went wrong."""

    code: Annotated[str, says("For programs; it does not change.", examples=["group_not_found"])]
    message: Annotated[str, says("For people: what, and where.")]
    hint: Annotated[str, says("What to do about it.")]


class ErrorAnswer(TypedDict):
    """Every answer that is not a 200."""

    error: ErrorDetail


# -- start and pipeline ----------------------------------------------------------------------------------------------


class AlertLinks(TypedDict, total=False):
    """There only if Warren watches for incidents."""

    incidents: str
    silences: str
    notifiers: str


class Links(AlertLinks):
    """Addresses, relative to this one."""

    clusters: str
    pipeline: str
    openapi: str


class Start(TypedDict):
    """Where to go from here."""

    version: Annotated[str, says("Of Warren.")]
    links: Links


class Query(TypedDict):
    """A query of the pipeline: `heads-CLUSTER` reads the ends of topics, `commits-CONSUMER` the offsets topic."""

    name: str
    state: Annotated[str, says("What it does.", examples=["starting", "running", "retrying", "stopped"])]
    last_error: Annotated[str | None, says("What ended it the last time; null if nothing ever did.")]
    restarts: Annotated[int, says("So often has it been started again.")]


class Pipeline(TypedDict):
    """All queries of this process."""

    queries: Annotated[list[Query], says("Empty until Spark is up.")]


# -- clusters --------------------------------------------------------------------------------------------------------


class StatusCounts(TypedDict):
    """How many groups are in each status."""

    OK: int
    WARN: int
    ERR: int


class PoisonRecord(TypedDict):
    """A record of the offsets topic that could not be decoded."""

    partition: Annotated[int, says("Of the offsets topic.")]
    offset: int
    record_type: Annotated[int | None, says("Null if not even that could be read.")]
    kind: Annotated[str, says("What it is counted under in `undecodable_records`.")]
    reason: str


class StalePartition(TypedDict):
    """A partition of the offsets topic of which nothing new is known: the groups in it are as they were then."""

    partition: int
    since: Time
    reason: Annotated[str, says("Whether an open transaction hides what comes after it, or it could not be read.")]


class Cluster(Judged):
    """A Kafka cluster, and how well Warren knows it."""

    name: Annotated[str, says("As in the configuration.")]
    cluster_id: Annotated[str | None, says("Kafka's own; null until the brokers have answered.")]
    unreachable_since: Annotated[Time | None, says("Since when it cannot be read; null if it can.")]
    last_error: Annotated[str | None, says("Why it cannot be read; null if it can.")]
    ready: Annotated[bool, says("Whether answers are worth reading: caught up, and the ends of topics are known.")]
    caught_up: Annotated[bool, says("Whether all commits that were there at the start have been read.")]
    behind_records: Annotated[int, says("So many records of the offsets topic are known to be unread.")]
    clock_skew_seconds: Annotated[float, says("The brokers' clock less Warren's.")]
    group_count: int
    groups_by_status: StatusCounts
    total_lag: Annotated[int, says("Unread records of all groups, as far as they are known.")]
    lag_seconds: Annotated[float | None, says("The age of the oldest of them; null if none is known.")]
    topic_count: int
    unseen_topics: Annotated[
        list[str], says("Groups have committed to these, but the brokers do not list them: gone, or not to be seen.")
    ]
    undecodable_records: Annotated[
        dict[str, int], says("Records of the offsets topic that could not be decoded, by kind, since the start.")
    ]
    undecodable_examples: Annotated[list[PoisonRecord], says("Some of them, the newest last.")]
    groups_by_type: Annotated[dict[str, int], says("How many groups of each type there are; all that are known.")]
    stale_partitions: Annotated[
        list[StalePartition], says("Partitions of the offsets topic whose groups nothing new is known of.")
    ]
    queries: Annotated[list[Query], says("The queries that read this cluster; empty until Spark is up.")]


class ClusterList(TypedDict):
    """All clusters, by name."""

    clusters: list[Cluster]


# -- groups ----------------------------------------------------------------------------------------------------------

RuleName = Annotated[
    str, says("The rule that decided; docs/api.md has them all.", examples=[rule.name.lower() for rule in Rule])
]


class Cause(TypedDict):
    """The partition that made its group what it is: of those in the worst status, the one with the highest lag."""

    topic: str
    partition: int
    status: PartitionStatus
    rule: RuleName
    reason: Annotated[str, says("Why, in words and numbers.")]


class GroupSummary(TypedDict):
    """A group in a list."""

    group: str
    type: GroupTypeName
    state: Annotated[str, says("As the broker calls it.", examples=[state.value for state in GroupState])]
    member_count: int
    rule_set: Annotated[RuleSetName, says("Who judged it.")]
    status: Annotated[GroupStatus | None, says("Null if there are no offsets to judge it by; `note` tells why.")]
    stale_since: Annotated[
        Time | None,
        says("Nothing new is known of the group since then, and it is judged as of then; `note` tells why."),
    ]
    note: Annotated[str | None, says("What else is to be known, as a sentence.")]
    since: Annotated[Time | None, says("Since when it is in this status; null if that has not been noted yet.")]
    partition_count: int
    complete: Annotated[float, says("The share of its partitions with a full window, 0 to 1.")]
    total_lag: Annotated[int | None, says("Unread records of all partitions whose lag is known; null if none is.")]
    lag_seconds: Annotated[
        float | None,
        says("How old the oldest unread record is at the least; 0 if nothing is unread, null if it is not known."),
    ]
    lost_records: Annotated[int | None, says("Records that were deleted before they were read, as far as it is known.")]
    topics: list[str]
    cause: Annotated[Cause | None, says("Null if there are no offsets to judge it by.")]


class ListTrails(TypedDict):
    """How the total lag of the groups of a list has gone over the last hour."""

    times: Annotated[list[Time], says("About forty moments, oldest first.")]
    total_lag: Annotated[
        list[list[int | None]],
        says("For each group of the list its total lag at each of these, to seven digits; null if it was not known."),
    ]


class GroupList(Judged):
    """A page of groups."""

    matching: Annotated[int, says("So many groups were selected, on all pages.")]
    by_status: Annotated[StatusCounts, says("Of all groups of the cluster, whatever was selected.")]
    groups: list[GroupSummary]
    trails: NotRequired[Annotated[ListTrails, says("With `trail=true`: how the lag of each has gone.")]]
    next: NextPage


class RuleSetVerdict(TypedDict):
    """What one rule set makes of a group."""

    status: GroupStatus
    reason: Annotated[str, says("Why: the partition, and its reason.")]
    cause: Cause


class MaxLag(TypedDict):
    """The partition with the highest lag."""

    topic: str
    partition: int
    lag: int


class Owner(TypedDict):
    """The member that reads a partition."""

    host: str
    client_id: str
    member_id: str
    instance_id: Annotated[str | None, says("The `group.instance.id` of a static member.")]


class MemberPartitions(TypedDict):
    """Partitions of one topic."""

    topic: Annotated[str | None, says("Null if the brokers have no topic with this id (any more, or yet).")]
    topic_id: Annotated[str | None, says("Where the group names its topics by id.")]
    partitions: list[int]


class Member(TypedDict):
    """A member of a group."""

    member_id: str
    client_id: str
    host: str
    instance_id: Annotated[str | None, says("The `group.instance.id` of a static member.")]
    assigned: Annotated[list[MemberPartitions], says("What it reads.")]


class Condition(TypedDict):
    """Something that is out of the ordinary with a partition; it changes no status."""

    condition: Annotated[str, says("For programs; it does not change.", examples=[one.value for one in ConditionName])]
    reason: str


class Partition(TypedDict):
    """A partition of a group. Where a number is not known it is null."""

    topic: str
    partition: int
    status: PartitionStatus
    rule: RuleName
    reason: Annotated[str, says("Why, in words and numbers.")]
    since: Annotated[Time | None, says("Since when it is in this status, to the second.")]
    owner: Annotated[Owner | None, says("Null if no member reads it, or if that is not known.")]
    committed_offset: Annotated[int | None, says("Of the newest commit; null if there is none.")]
    committed_at: Annotated[Time | None, says("When that was, by the brokers' clock.")]
    end_offset: Annotated[int | None, says("Where the partition ends.")]
    log_start: Annotated[int | None, says("The oldest offset that is still there.")]
    lag: Annotated[int | None, says("Unread records: the end less the committed offset.")]
    last_stable_offset: Annotated[
        int | None, says("Where it ends for readers of committed records: before the end while a transaction is open.")
    ]
    lag_stable: Annotated[int | None, says("Unread records that readers of committed records can get.")]
    conditions: Annotated[list[Condition], says("What is out of the ordinary; empty as a rule.")]
    lag_seconds: Annotated[float | None, says("How old the oldest unread record is; 0 if nothing is unread.")]
    lag_seconds_at_least: Annotated[
        float | None, says("The same, or what is sure of it if Warren has not watched for long enough.")
    ]
    consumed_per_second: Annotated[float | None, says("Records that the group reads; it falls while no commit comes.")]
    produced_per_second: Annotated[float | None, says("Records that are written.")]
    catch_up_seconds: Annotated[
        float | None, says("Until nothing is unread at these speeds; null also if that will never be.")
    ]
    commit_age_seconds: Annotated[float | None, says("Since the newest commit.")]
    lost_records: Annotated[int | None, says("Records after the committed offset that were deleted unread.")]
    loss_in_seconds: Annotated[
        float | None, says("Until unread records will be deleted, 0 if some have been; null also if none are at risk.")
    ]
    complete: Annotated[float, says("How much of its window is filled, 0 to 1: a verdict on a full one is the surest.")]


class Group(Judged, GroupSummary):
    """A group with its partitions; `rule_set` is its own, and everything but `by_rule_set` goes by it."""

    cluster: str
    epoch: Annotated[int | None, says("Of the group; of a classic one the generation.")]
    members: Annotated[list[Member], says("By client id.")]
    share_topics: Annotated[dict[str, list[int]], says("Of a share group: the partitions that it has state for.")]
    max_lag: MaxLag | None
    by_rule_set: Annotated[dict[str, RuleSetVerdict], says("What each rule set says, side by side.")]
    partitions: Annotated[list[Partition], says("By topic and number; with `only=trouble` those that are not OK.")]


class WindowEntry(TypedDict):
    """One commit of a window."""

    offset: int
    committed_at: Annotated[Time | None, says("By the brokers' clock; null if it is not a date.")]
    observed_at: Annotated[Time, says("When Warren saw it.")]
    lag: Annotated[
        int | None, says("At the moment of the commit, estimated between two observations; null if not known (yet).")
    ]
    lag_at_least: Annotated[int, says("Records that arrived a second or more before the commit and were not read.")]


class PartitionWindow(Judged, Partition):
    """A partition of a group with the commits that it is judged by."""

    cluster: str
    group: str
    rule_set: Annotated[RuleSetName, says("The group's own.")]
    window_size: Annotated[int, says("So many commits are kept.")]
    window: Annotated[list[WindowEntry], says("Oldest first.")]


# -- topics ----------------------------------------------------------------------------------------------------------


class TopicSummary(TypedDict):
    """A topic in a list."""

    topic: str
    partition_count: int
    group_count: Annotated[int, says("So many groups use it.")]


class TopicList(TypedDict):
    """A page of topics, by name."""

    matching: Annotated[int, says("So many topics were selected, on all pages.")]
    topics: list[TopicSummary]
    next: NextPage


class TopicPartition(TypedDict):
    """A partition of a topic."""

    partition: int
    end_offset: Annotated[int | None, says("Where it ends; null if that was never seen.")]
    log_start: Annotated[int | None, says("The oldest offset that is still there.")]
    last_stable_offset: Annotated[int | None, says("Where it ends for readers of committed records.")]
    has_leader: Annotated[bool, says("Without one nobody can read or write it, and the end is the last one seen.")]
    open_transaction_since: Annotated[
        Time | None,
        says("Since when, at the least, a transaction is open that keeps readers of committed records back."),
    ]
    produced_per_second: Annotated[float | None, says("Records that are written, over the last five minutes.")]


class Reader(TypedDict):
    """A group that uses a topic: what is said about its partitions of it."""

    group: str
    status: Annotated[PartitionStatus, says("The worst of its partitions of this topic.")]
    partition_count: int
    total_lag: Annotated[int, says("Unread records of the partitions whose lag is known.")]
    lag_seconds: Annotated[float | None, says("How old the oldest unread record is at the least.")]


class Topic(TypedDict):
    """A topic with its partitions, and the groups that use it."""

    cluster: str
    restored_at: RestoredAt
    topic: str
    topic_id: Annotated[str | None, says("Kafka's own: another one is another topic, whatever its name.")]
    partitions: list[TopicPartition]
    readers: Annotated[list[Reader], says("By name.")]


# -- changes ---------------------------------------------------------------------------------------------------------


class Change(TypedDict):
    """A group's status changed."""

    at: Time
    group: str
    was: ChangeStatus
    now: ChangeStatus
    cause: Annotated[Cause | None, says("Null for a group that is gone.")]


class ChangeList(TypedDict):
    """Changes, newest first; Warren remembers the last thousand."""

    matching: Annotated[int, says("So many changes were selected, also beyond the limit.")]
    changes: list[Change]
