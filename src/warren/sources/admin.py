"""The `kafka_admin` source: committed offsets as the brokers tell them, for services that hide the offsets topic.

Groups are listed, those that are wanted are asked for, some at a time and so many in a second, and what they have
committed is a picture like that of ZooKeeper. The brokers tell offsets, but not when they were committed. So a commit
is an offset that is another one than at the last look, and its time is that of the look.

Only groups that the brokers have just listed are asked for their offsets: on a cluster without an offsets topic, where
no group is listed, librdkafka 2.16.1 ends the whole process when it is asked for any.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import NamedTuple, Protocol

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException
from confluent_kafka.admin._group import ConsumerGroupDescription, ConsumerGroupListing, MemberAssignment
from pyspark.sql.types import StructType

from warren.errors import SourceError
from warren.groups.derived import GroupState
from warren.groups.views import GroupType, GroupView, Member, Partition
from warren.kafka.clients import REQUEST_TIMEOUT_S, ClientConfig, kafka_errors, process_admin, right
from warren.patterns import GroupFilter
from warren.sources.looking import LooksReader, LooksSource
from warren.sources.picture import NOT_READABLE, BadNode, Commit, Picture
from warren.windows.rows import Unreadable

DESCRIBED_AT_ONCE = 100
"""Groups in one request for descriptions."""

MOST_FAILURES = 100
"""When so many groups could not be asked for, the look has failed: each has waited for its timeout."""

WITHOUT_OFFSETS = frozenset({"SHARE"})
"""Types of groups that commit nothing."""

_STATES = {
    "STABLE": GroupState.STABLE,
    "EMPTY": GroupState.EMPTY,
    "DEAD": GroupState.EMPTY,
    "PREPARING_REBALANCING": GroupState.ASSIGNING,
    "COMPLETING_REBALANCING": GroupState.RECONCILING,
    "ASSIGNING": GroupState.ASSIGNING,
    "RECONCILING": GroupState.RECONCILING,
    "NOT_READY": GroupState.NOT_READY,
}


class AdminOptions(NamedTuple):
    """Everything the source is told; travels to it as one JSON text."""

    client: ClientConfig
    interval_s: float
    groups_per_second: int = 500
    in_flight: int = 20
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def to_json(self) -> str:
        """As text."""
        return json.dumps(self._asdict())

    @classmethod
    def from_json(cls, text: str) -> AdminOptions:
        """From text."""
        return cls(**json.loads(text))


class AdminSource(LooksSource):
    """Committed offsets by the Admin API; `secret_options` is an `AdminOptions` as JSON."""

    @classmethod
    def name(cls) -> str:
        return "warren-admin"

    def streamReader(self, schema: StructType) -> LooksReader:
        options = AdminOptions.from_json(self.options["secret_options"])
        return LooksReader(lambda: AdminPlace(options, KafkaAdmin(options.client)), options.interval_s)


class Listed(NamedTuple):
    """A group that the brokers have."""

    name: str
    type: str
    is_simple: bool


class CommittedOffset(NamedTuple):
    """An offset that a group has committed; -1 if it could not be told."""

    topic: str
    partition: int
    offset: int


class Admin(Protocol):
    """Who is asked."""

    def groups(self) -> list[Listed]:
        """All groups; `SourceError` if one of the brokers did not tell its own."""

    def offsets(self, group: str) -> Callable[[], list[CommittedOffset]]:
        """Ask what a group has committed; the answer, when it is waited for, or `SourceError`."""

    def views(self, groups: Sequence[Listed]) -> dict[str, GroupView]:
        """Who the members of groups are, of those of which it can be told."""


class AdminPlace:
    """The groups of a cluster, as its brokers tell of them."""

    def __init__(self, options: AdminOptions, admin: Admin, sleep: Callable[[float], None] = time.sleep) -> None:
        self._options = options
        self._admin = admin
        self._sleep = sleep
        self._is_wanted = GroupFilter(tuple(options.allow), tuple(options.deny)).wants

    def look(self, looked_ms: int) -> Picture:
        """Everything that is there."""
        listed = [one for one in self._admin.groups() if self._is_wanted(one.name) and one.type not in WITHOUT_OFFSETS]
        picture = Picture("", [], [], [], {}, [])
        for name, found in self._answers([one.name for one in listed]):
            if isinstance(found, SourceError):
                picture.bad.append(BadNode(name, 0, NOT_READABLE, str(found)))
                picture.unreadable.append(Unreadable(name))
                picture.unread.append(name)
            else:
                _put(picture, name, found, looked_ms)
            if len(picture.unread) >= MOST_FAILURES:
                message = f"{MOST_FAILURES} groups could not be asked for; the last of them: {picture.bad[-1].why}"
                raise SourceError(message)
        picture.views.update(self._views(listed))
        return picture

    def _answers(self, names: list[str]) -> Iterator[tuple[str, list[CommittedOffset] | SourceError]]:
        """What each group has committed: so many questions are under way, and so many are asked in a second."""
        waiting: deque[tuple[str, Callable[[], list[CommittedOffset]]]] = deque()
        for number, name in enumerate(names):
            if number and number % self._options.in_flight == 0:
                self._sleep(self._options.in_flight / self._options.groups_per_second)
            waiting.append((name, self._admin.offsets(name)))
            if len(waiting) >= self._options.in_flight:
                yield _answered(*waiting.popleft())
        while waiting:
            yield _answered(*waiting.popleft())

    def _views(self, listed: list[Listed]) -> dict[str, GroupView]:
        views: dict[str, GroupView] = {}
        for start in range(0, len(listed), DESCRIBED_AT_ONCE):
            if start:
                self._sleep(DESCRIBED_AT_ONCE / self._options.groups_per_second)
            views |= self._admin.views(listed[start : start + DESCRIBED_AT_ONCE])
        return views


def _answered(name: str, wait: Callable[[], list[CommittedOffset]]) -> tuple[str, list[CommittedOffset] | SourceError]:
    try:
        return name, wait()
    except SourceError as error:
        return name, error


def _put(picture: Picture, group: str, offsets: list[CommittedOffset], looked_ms: int) -> None:
    for topic, partition, offset in offsets:
        if offset < 0:
            picture.unreadable.append(Unreadable(group, topic, partition))
        else:
            picture.commits.append(Commit(group, topic, partition, offset, looked_ms, looked_ms))


class KafkaAdmin:
    """The brokers of a cluster, asked by the client of this process."""

    def __init__(self, client: ClientConfig) -> None:
        self._client = process_admin(client)
        self._needs = right(client, ("Describe",), "--group '*'")

    def groups(self) -> list[Listed]:
        """All groups; what one broker does not tell would look as if it were gone."""
        with kafka_errors("listing groups", self._client, self._needs):
            answer = self._client.list_consumer_groups(request_timeout=REQUEST_TIMEOUT_S).result()
            for error in answer.errors:
                raise error if isinstance(error, KafkaException) else KafkaException(error)
        return [_listed(one) for one in answer.valid]

    def offsets(self, group: str) -> Callable[[], list[CommittedOffset]]:
        """Ask what a group has committed."""
        with kafka_errors(f"asking for the offsets of {group}"):
            asked = [ConsumerGroupTopicPartitions(group)]
            [answer] = self._client.list_consumer_group_offsets(asked, request_timeout=REQUEST_TIMEOUT_S).values()
        return lambda: _committed(group, answer)

    def views(self, groups: Sequence[Listed]) -> dict[str, GroupView]:
        """Who the members are; a group that cannot be described is left out, for its offsets are what counts."""
        if not groups:
            return {}
        names = [one.name for one in groups]
        with kafka_errors("describing groups", self._client, self._needs):
            answers = self._client.describe_consumer_groups(names, request_timeout=REQUEST_TIMEOUT_S)
        found = {one.name: view for one in groups if (view := _view(one, answers[one.name]))}
        return found


def _listed(one: ConsumerGroupListing) -> Listed:
    return Listed(one.group_id, one.type.name if one.type else "UNKNOWN", bool(one.is_simple_consumer_group))


def _committed(group: str, answer: Future[ConsumerGroupTopicPartitions]) -> list[CommittedOffset]:
    with kafka_errors(f"asking for the offsets of {group}"):
        told = answer.result().topic_partitions or []
    # One without an error and without an offset was never committed to.
    return [
        CommittedOffset(one.topic, one.partition, -1 if one.error else one.offset)
        for one in told
        if one.error or one.offset >= 0
    ]


def _view(listed: Listed, answer: Future[ConsumerGroupDescription]) -> GroupView | None:
    try:
        told = answer.result()
    except KafkaException:
        return None
    members = [
        Member(one.member_id, one.client_id, one.host, one.group_instance_id, _assigned(one.assignment))
        for one in told.members
    ]
    state = _STATES.get(told.state.name, GroupState.STABLE if members else GroupState.EMPTY)
    return GroupView(_type(listed, bool(members)), state, None, members, {})


def _type(listed: Listed, has_members: bool) -> GroupType:
    if listed.type == "CONSUMER":
        return GroupType.CONSUMER
    return GroupType.SIMPLE if listed.is_simple and not has_members else GroupType.CLASSIC


def _assigned(assignment: MemberAssignment | None) -> list[Partition]:
    partitions = assignment.topic_partitions if assignment else []
    return sorted(Partition(one.topic, None, one.partition) for one in partitions)
