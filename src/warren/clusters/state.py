"""The state of one cluster while Warren runs: its windows, how far its sources are, and the lock around them.

The pipeline writes here, everything that shows or sends reads here.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import structlog

from warren.clusters.judgements import Judgements
from warren.clusters.ledger import Ledger
from warren.clusters.ledger_file import restore_ledger, save_ledger
from warren.clusters.poison import PoisonLog
from warren.clusters.progress import STALE_AFTER_MS, Polled, Read, Reading, Staleness
from warren.clusters.snapshots import Header, SnapshotReader, SnapshotWriter
from warren.groups.groups import GroupBrief, Groups
from warren.groups.views import GroupType, GroupView
from warren.history.journal import Journal, Page
from warren.model import Status
from warren.rules.evaluation import Evaluation, ages_s, max_of_group
from warren.rules.listing import (
    GroupPage,
    Selection,
    TopicPartition,
    TopicReader,
    groups_without_offsets,
    list_groups,
    partitions_of,
    readers_of,
)
from warren.rules.marks import Doubt, doubts
from warren.rules.policy import Policy
from warren.rules.rule import Settings
from warren.rules.standing import (
    Change,
    Standing,
    changes_of,
    note_statuses,
)
from warren.rules.survey import Survey
from warren.rules.trails import Look, Trail, Trails
from warren.rules.verdict import GroupVerdict, facts_of, judge_group
from warren.sinks.points import Points, points_of_survey
from warren.windows.rows import Poison, commit_batch, head_rows, look_batch
from warren.windows.store import Limits, Windows

log = structlog.get_logger()

AGED_ROWS = 200_000
"""How old unread records are takes about a microsecond for each row: of more rows it is noted only now and then."""

NO_POLICY = Policy()

HEADS = "heads"
"""The source of the ends of topics; the others are called like the consumer modules."""


class Unreachable(NamedTuple):
    """A cluster that cannot be read."""

    since_ms: int
    reason: str
    """Of the last attempt."""


class ClusterState:
    """One cluster; every method may be called from any thread."""

    def __init__(
        self,
        name: str,
        limits: Limits,
        settings: Settings,
        offsets_topics: dict[str, str],
        policy: Policy = NO_POLICY,
        *,
        stale_after_ms: int = STALE_AFTER_MS,
        polled: Mapping[str, Polled] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self.version = 0
        """Another one, whenever anything that is shown may have changed; it is read without the lock."""
        self._ledger = Ledger(name, limits, offsets_topics, stale_after_ms, polled)
        self._judgements = Judgements(self._ledger, settings, policy)
        self._poison_log = PoisonLog(name)
        self._trails = Trails()
        self._sampled_ms = 0
        self._sample_interval_ms = 0
        self._lock = threading.Lock()
        self._is_evaluated = False
        self._is_left = False
        self._failures: dict[str, Unreachable] = {}  # by source, until it brings something again
        self.saved_ms = 0
        """When the newest snapshot was written, or the one that this was restored from; 0 if there is none."""

    @property
    def _windows(self) -> Windows:
        return self._ledger.windows

    @property
    def _groups(self) -> Groups:
        return self._ledger.groups

    @property
    def _reading(self) -> Reading:
        return self._ledger.reading

    @property
    def policy(self) -> Policy:
        """By which rules and thresholds each group is judged."""
        return self._judgements.policy

    # -- the pipeline writes -------------------------------------------------------------------------------------

    def apply_commit_rows(self, consumer: str, table: pa.Table, *, now_ms: int) -> None:
        """Take one micro-batch of a consumer module; a batch that comes again changes nothing."""
        with self._lock:
            self.version += 1
            self._failures.pop(consumer, None)
            progress = self._ledger.progress_of(consumer)
            batch = self._ledger.take_batch(consumer, commit_batch(table, progress.positions), now_ms)
        self._poison_log.tell(consumer, batch.skipped, batch.poison, now_ms=now_ms)

    def apply_look_rows(self, consumer: str, table: pa.Table, *, now_ms: int) -> None:
        """Take one look of a consumer module at its place; a look that comes again changes nothing."""
        if not table.num_rows:  # Spark's first batch, before the first look is finished
            return
        look = look_batch(table)
        with self._lock:
            self.version += 1
            self._failures.pop(consumer, None)
            found = self._ledger.take_look(consumer, look, now_ms)
        self._poison_log.tell(consumer, found.skipped, found.poison, now_ms=now_ms)

    def note_failure(self, source: str, reason: str, *, now_ms: int) -> None:
        """A source has failed; it is tried again."""
        with self._lock:
            self.version += 1
            before = self._failures.get(source)
            self._failures[source] = Unreachable(before.since_ms if before else now_ms, reason)

    def apply_head_rows(self, table: pa.Table, *, now_ms: int) -> None:
        """Take one observation of all topics."""
        with self._lock:
            self.version += 1
            self._failures.pop(HEADS, None)
            before = self._windows
            self._ledger.take_heads(head_rows(table), now_ms)
            if self._windows is not before:
                self._judgements.forget()

    def leave(self) -> None:
        """Nothing is read from now on: it answers until another state takes its place, and is judged no more."""
        with self._lock:
            self._is_left = True

    def start_over(self, consumer: str) -> None:
        """Make ready for `consumer` to read everything again, from the first record."""
        with self._lock:
            self.version += 1
            self._ledger.start_over(consumer)

    def positions(self, consumer: str) -> dict[int, int] | None:
        """Where a consumer module goes on reading; None before its first batch."""
        with self._lock:
            return dict(self._reading.modules[consumer].positions) or None

    def topic_id(self, consumer: str) -> str:
        """Kafka's id of the topic that the positions of a consumer module are of; "" if it is not known."""
        with self._lock:
            return self._reading.modules[consumer].topic_id

    # -- the others read -----------------------------------------------------------------------------------------

    @property
    def has_caught_up(self) -> bool:
        """Whether every consumer module has read what was there when it started."""
        with self._lock:
            return self._reading.has_caught_up

    @property
    def is_ready(self) -> bool:
        """Whether answers are worth reading: caught up, and the ends of topics are known."""
        with self._lock:
            return bool(self._windows.heads.topics) and self._reading.has_caught_up and not self._is_left

    @property
    def unreachable(self) -> Unreachable | None:
        """Since when the cluster cannot be read, and why; None if it can."""
        with self._lock:
            return min(self._failures.values(), default=None)

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing to wait for: it is ready, or cannot be read for now."""
        return self.is_ready or self.unreachable is not None

    @property
    def behind_records(self) -> int:
        """How many records of the offsets topic are known to be unread."""
        with self._lock:
            return self._reading.behind_records

    def read(self) -> dict[str, Read]:
        """What each consumer module has read."""
        with self._lock:
            return self._reading.read()

    def skipped(self) -> dict[str, int]:
        """How many records could not be decoded, by kind."""
        with self._lock:
            return self._reading.skipped()

    def poison(self) -> list[Poison]:
        """Some of the records that could not be decoded, the newest last."""
        with self._lock:
            return self._reading.poison()

    def topics(self) -> list[str]:
        """The topics known from the brokers."""
        with self._lock:
            return self._windows.topics()

    def topic_ends(self, topic: str) -> list[int] | None:
        """The end offset of each partition; None for an unknown topic."""
        with self._lock:
            return self._windows.topic_ends(topic)

    def groups(self) -> list[str]:
        """The groups."""
        with self._lock:
            return self._windows.groups()

    def groups_of_topic(self, topic: str) -> list[str]:
        """The groups that use a topic."""
        with self._lock:
            return self._windows.groups_of_topic(topic)

    def judge(self, group: str, *, now_ms: int, rule_set: str = "") -> GroupVerdict | None:
        """What is said about a group now, by its own rule set or another one; None if the group is not known."""
        with self._lock:
            settings, policy = self._judgements.settings, self._judgements.policy
            facts = facts_of(self._windows, group, settings)
            stale = self._reading.staleness(self._windows.heads, now_ms)
            known_until_ms = self._reading.known_until_ms(group, stale)
        if facts is None:
            return None
        return judge_group(
            group,
            facts,
            settings,
            now_ms=now_ms,
            as_of_ms=known_until_ms,
            rule_set=rule_set or policy.rule_set_of(group),
            thresholds=policy.thresholds_of(group, facts.windows.topics),
        )

    def group_view(self, group: str) -> GroupView:
        """Type, state and members of a group; one of which there is no record is a simple one."""
        with self._lock:
            return self._groups.view(group)

    def group_brief(self, group: str) -> GroupBrief:
        """The same in short."""
        with self._lock:
            return self._groups.brief(group)

    def groups_without_offsets(self) -> list[str]:
        """Groups that exist, but have nothing in the offsets topic to be judged by: share groups, and new ones."""
        with self._lock:
            return groups_without_offsets(self._windows, self._groups)

    def groups_by_type(self) -> dict[str, int]:
        """How many groups of each type are known, also those without offsets."""
        with self._lock:
            names = {*self._windows.groups(), *self._groups.briefs()} - self._reading.own_groups
            counts = Counter(self._groups.brief(name).type.value for name in names)
        return {kind.value: counts[kind.value] for kind in GroupType}

    def topic_id_of(self, topic: str) -> str | None:
        """Kafka's own name of a topic; None if it is not known."""
        with self._lock:
            return self._windows.heads.topic_ids.get(topic)

    def staleness(self, *, now_ms: int) -> Staleness:
        """Of which partitions of the offsets topic, and so of which groups, nothing new is known, and since when."""
        with self._lock:
            return self._reading.staleness(self._windows.heads, now_ms)

    def stale_since_ms(self, group: str, *, now_ms: int) -> int | None:
        """Since when nothing new is known of a group; None if all is known of it."""
        with self._lock:
            return self._stale_since_ms(group, now_ms)

    def _stale_since_ms(self, group: str, now_ms: int) -> int | None:
        return self._reading.stale_since_ms(group, self._reading.staleness(self._windows.heads, now_ms))

    @property
    def restored_ms(self) -> int | None:
        """When the snapshot was written that answers come from; None once everything since has been read."""
        return self._reading.restored_ms

    def list_groups(self, selection: Selection, *, now_ms: int, rule_set: str = "") -> GroupPage:
        """Some of the groups, with what is said about each now, by their own rule set or another one."""
        with self._lock:
            page = list_groups(
                self._windows,
                self._groups,
                self._judgements.evaluation(now_ms, rule_set),
                self._ledger.standings,
                selection,
                settings=self._judgements.settings,
            )
            if not self._reading.polled:
                return page
            # Groups that are looked at are judged as of the last look, and not stale for that.
            groups = [one._replace(stale_since_ms=self._stale_since_ms(one.group, now_ms)) for one in page.groups]
            return page._replace(groups=groups)

    def survey(self, *, now_ms: int) -> Survey:
        """All groups and topics as columns; the same object as long as it would hardly be another one."""
        with self._lock:
            return self._judgements.survey(now_ms)

    def points(self, *, now_ms: int) -> Points:
        """All groups and topics as they are at this very moment, to be written elsewhere."""
        with self._lock:
            found = self._judgements.survey(now_ms, fresh_ms=1)
        return points_of_survey(found, self.name)

    def readers_of(self, topic: str, *, now_ms: int) -> list[TopicReader]:
        """The groups that use a topic, with what is said about their part of it now."""
        with self._lock:
            return readers_of(self._windows, self._judgements.evaluation(now_ms), topic)

    def topic_partitions(self, topic: str, *, now_ms: int) -> list[TopicPartition] | None:
        """The partitions of a topic with what is known of them; None for an unknown topic."""
        with self._lock:
            return partitions_of(self._windows, topic, now_ms)

    def changes(self) -> list[Change]:
        """The newest changes of status, newest first."""
        with self._lock:
            return list(reversed(self._ledger.standings.changes))

    def trail_of(self, groups: Sequence[str], most: int) -> Trail:
        """How the lag of these groups has gone since the start, in at most so many moments of the last hour."""
        with self._lock:
            return self._trails.of(groups, most)

    @property
    def is_evaluated(self) -> bool:
        """Whether everything was judged since the start; what is remembered from before may no longer hold."""
        return self._is_evaluated

    def statuses(self) -> dict[str, Status]:
        """What the last evaluation said of each group, without those that tell how far Warren itself is."""
        with self._lock:
            own = self._reading.own_groups
            return {name: one.status for name, one in self._ledger.standings.groups.items() if name not in own}

    def standing_of(self, group: str) -> Standing | None:
        """What the last evaluation said of a group, and since when; None before the first one."""
        with self._lock:
            return self._ledger.standings.groups.get(group)

    @property
    def clock_skew_ms(self) -> int:
        """The brokers' clock less ours."""
        with self._lock:
            return self._windows.clock_skew_ms

    @property
    def intervals(self) -> int:
        """How many commits a window holds."""
        return self._windows.limits.intervals

    @property
    def cluster_id(self) -> str:
        """Kafka's own name of the cluster; "" until it is known."""
        return self._ledger.cluster_id

    @property
    def consumers(self) -> list[str]:
        """The consumer modules that read this cluster's commits."""
        return list(self._reading.modules)

    # -- the look into logs writes -------------------------------------------------------------------------------

    def doubts(self) -> list[Doubt]:
        """Partitions of which it is worth knowing whether what is unread are records at all."""
        with self._lock:
            return doubts(self._windows)

    def note_readable_end(self, doubt: Doubt, readable_end: int) -> None:
        """A partition was looked into: no records lie behind `readable_end`."""
        with self._lock:
            self.version += 1
            self._ledger.note_readable_end(doubt, readable_end)

    def unseen_topics(self) -> list[str]:
        """Topics that groups have committed to and the brokers do not list; they are not shown anywhere else."""
        with self._lock:
            return self._windows.unseen_topics()

    # -- the watch writes ----------------------------------------------------------------------------------------

    def evaluate(self, *, now_ms: int) -> list[Change]:
        """Judge everything and write down what changed since the last time, but of Warren's own groups."""
        with self._lock:
            evaluation = self._judgements.evaluation_of(now_ms)
            self._is_evaluated = True
            changes = changes_of(
                self._windows,
                evaluation,
                self._ledger.standings,
                self._judgements.settings,
                self._reading.own_groups,  # Burrow's rules find trouble in a steady lag of some records
            )
            self._ledger.journal.evaluated(self._windows, evaluation, changes)
            note_statuses(self._windows, evaluation)
            look = self._look(evaluation)
            self._trails.add(look)
            if self._sample_interval_ms and now_ms - self._sampled_ms >= self._sample_interval_ms:
                self._ledger.journal.sampled(look, evaluation)
                self._sampled_ms = now_ms
            return changes

    def _look(self, evaluation: Evaluation) -> Look:
        """How far behind each group is; the lock is held."""
        is_shown = evaluation.group_status > 0
        lag_s = np.full(len(evaluation.names), np.nan)
        if len(evaluation.row) <= AGED_ROWS or self._trails.wants_seconds(evaluation.now_ms):
            lag_s = max_of_group(evaluation, ages_s(self._windows, evaluation))
        return Look(
            at_ms=evaluation.now_ms,
            names=evaluation.names,
            lag=np.where(is_shown, evaluation.total_lag, np.nan).astype(np.float32),
            lag_s=np.where(is_shown & (lag_s >= 0), lag_s, np.nan).astype(np.float32),
        )

    # -- people change -------------------------------------------------------------------------------------------

    def judge_by(self, settings: Settings, policy: Policy, told: str, *, now_ms: int) -> None:
        """From now on groups are judged by these; the history has them as a text."""
        with self._lock:
            self._judgements.judge_by(settings, policy)
            self._ledger.journal.judged_by(told, now_ms)
            self.version += 1

    def keep_groups(self, is_wanted: Callable[[str], bool]) -> None:
        """Forget the groups that are not wanted any more."""
        with self._lock:
            self._ledger.keep_groups(is_wanted)
            self.version += 1

    def is_of_brokers(self, group: str) -> bool:
        """Whether a group is one of the brokers', not one of ZooKeeper, nor one that tells how far Warren itself is."""
        return self._reading.is_of_brokers(group)

    def is_polled(self, group: str) -> bool:
        """Whether a group commits in a place that is looked at every so often."""
        return self._reading.is_polled(group)

    def delete_group(self, group: str) -> bool:
        """Forget a group until it commits again; False if it is not known."""
        with self._lock:
            self.version += 1
            return self._ledger.forget_group(group)

    def delete_group_topic(self, group: str, topic: str) -> bool:
        """Forget one topic of a group; False if it is not known."""
        with self._lock:
            self.version += 1
            return self._ledger.forget_topic_of(group, topic)

    # -- history -----------------------------------------------------------------------------------------------------

    def keep_history(self, journal: Journal, sample_interval_ms: int, *, now_ms: int) -> None:
        """From now on everything is written down, beginning with how it is."""
        with self._lock:
            self._ledger.journal, self._sample_interval_ms = journal, sample_interval_ms
            journal.keyframe(self._windows, self._ledger.standings, now_ms)

    def note_incident(self, at_ms: int, row: dict[str, object]) -> None:
        """Write down that an incident took a turn."""
        with self._lock:
            self._ledger.journal.incident_turned(at_ms, row)

    def write_keyframe(self, *, now_ms: int) -> None:
        """Write down everything as it is."""
        with self._lock:
            self._ledger.journal.keyframe(self._windows, self._ledger.standings, now_ms)

    def begin_history_again(self, *, now_ms: int) -> None:
        """Something is missing from what was written down: what comes now stands for itself."""
        with self._lock:
            self._ledger.begin_history_again(now_ms)

    def take_page(self) -> Page:
        """What was written down since the last time."""
        with self._lock:
            return self._ledger.journal.take_page()

    # -- kept over restarts --------------------------------------------------------------------------------------

    @property
    def is_worth_saving(self) -> bool:
        """Whether anything was read, or restored."""
        with self._lock:
            return any(progress.positions for progress in self._reading.modules.values())

    def header(self, now_ms: int) -> Header:
        """What a snapshot of this state is called."""
        return Header(self.name, self.intervals, now_ms, self._ledger.cluster_id)

    def save(self, file: SnapshotWriter) -> None:
        """Write everything down, as of the moment when the last rows are copied."""
        save_ledger(self._ledger, file, self._lock)

    def restore(self, file: SnapshotReader) -> None:
        """Become what was written down; the state must be new."""
        with self._lock:
            self.version += 1
            restore_ledger(self._ledger, file)
            self._judgements.forget()
            self.saved_ms = file.header.created_ms
