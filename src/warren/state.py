"""The state of one cluster while Warren runs: its windows, how far its sources are, and the lock around them.

The pipeline writes here, everything that shows or sends reads here.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import structlog

from warren.errors import StartOverError
from warren.groups.groups import GroupBrief, Groups, restored_groups
from warren.groups.told import decode_view
from warren.groups.views import GroupType, GroupView
from warren.model import Status
from warren.places.looks import Difference, Mark
from warren.poison import PoisonLog
from warren.progress import STALE_AFTER_MS, Polled, Read, Reading, Staleness, own_group
from warren.rules.clock import ClockSkew
from warren.rules.evaluation import Evaluation, RowPolicy, ages_s, causes, evaluate, max_of_group, row_policy
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
from warren.rules.standing import Change, Standing, Standings, note_statuses, restored_standings, standing_tables
from warren.rules.survey import Survey, shown_by, survey
from warren.rules.verdict import GroupVerdict, facts_of, judge_group
from warren.snapshots import Header, SnapshotError, SnapshotReader, SnapshotWriter
from warren.trails import Look, Trail, Trails
from warren.windows import snapshot
from warren.windows.commit_rows import CommitRows, commits_of_one_group
from warren.windows.labels import Owner
from warren.windows.rings import Rings
from warren.windows.rows import CommitBatch, Poison, commit_batch, head_rows, look_batch
from warren.windows.store import Assignment, Limits, Windows

log = structlog.get_logger()

EXPIRY_INTERVAL_MS = 60_000
CHUNK_ROWS = 65_536
"""Rows copied at once for a snapshot: a few milliseconds, during which the pipeline waits."""
ROUNDS = 100
"""So often are rows copied again that changed meanwhile, before the rest is copied in one go."""

FRESH_MS = 1_000
"""An evaluation of all groups is good for so long: pages and lists that are asked for together share it."""

AGED_ROWS = 200_000
"""How old unread records are takes about a microsecond for each row: of more rows it is noted only now and then."""

_POOL = ThreadPoolExecutor(2, "judge")
"""NumPy lets other threads run while it computes: two judge a large cluster in little more than half the time."""

BEYOND_TOPIC = "partition far beyond those of its topic"
"""What commits are counted under that nothing can be made of."""

NO_POLICY = Policy()

SEEN_SINCE = 4
"""Snapshots of this version have what was seen in places that are looked at."""


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
        self.settings = settings
        self.policy = policy
        self._windows = Windows(limits)
        self._groups = Groups()
        self._poison_log = PoisonLog(name)
        self._reading = Reading(offsets_topics, stale_after_ms, polled)
        self._standings = Standings()
        self._trails = Trails()
        self._clock_skew = ClockSkew()
        self._row_policies: dict[str, RowPolicy] = {}
        self._evaluations: dict[str, Evaluation] = {}
        self._survey: Survey | None = None
        self._lock = threading.Lock()
        self._expired_ms = 0
        self._is_evaluated = False
        self._cluster_id = ""  # Kafka's own; "" until it is known
        self._failures: dict[str, Unreachable] = {}  # by source, until it brings something again
        self.saved_ms = 0
        """When the newest snapshot was written, or the one that this was restored from; 0 if there is none."""

    # -- the pipeline writes -------------------------------------------------------------------------------------

    def apply_commit_rows(self, consumer: str, table: pa.Table, *, now_ms: int) -> None:
        """Take one micro-batch of a consumer module; a batch that comes again changes nothing."""
        with self._lock:
            self.version += 1
            self._failures.pop(consumer, None)
            progress = self._reading.modules[consumer]
            if progress.must_start_over:
                message = f"Everything that {consumer} has read must be read again."
                raise StartOverError(message)
            batch = self._believed(commit_batch(table, progress.positions))
            if progress.caught_up and not batch.ends:  # what is read now was committed just now
                self._clock_skew.observe(batch.commits.timestamp_ms[~batch.commits.tombstone], now_ms)
                self._windows.clock_skew_ms = self._clock_skew.skew_ms
            self._windows.apply_commits(self._admitted(consumer, batch.commits), now_ms)
            self._assign(self._groups.apply(batch.group_records))
            self._windows.apply_commits(_self_report(consumer, progress.offsets_topic, batch, now_ms), now_ms)
            progress.advance(batch)
            if not progress.caught_up and not batch.ends and batch.is_settled:
                progress.caught_up = True
                self._windows.expire(now_ms)  # the backlog has groups that are long gone
            if self._reading.has_caught_up:
                self._reading.restored_ms = None
        self._poison_log.tell(consumer, batch.skipped, batch.poison, now_ms=now_ms)

    def apply_look_rows(self, consumer: str, table: pa.Table, *, now_ms: int) -> None:
        """Take one look of a consumer module at its place; a look that comes again changes nothing."""
        if not table.num_rows:  # Spark's first batch, before the first look is finished
            return
        look = look_batch(table)
        with self._lock:
            self.version += 1
            self._failures.pop(consumer, None)
            found = self._reading.looks[consumer].take(look)
            if found.starts_over:
                log.warning("all that is there is new", cluster=self.name, consumer=consumer, place=look.place_id)
                self._forget_place(consumer)
            found = self._believed_of_look(found)
            self._windows.apply_commits(self._admitted(consumer, found.removed), now_ms)
            self._windows.apply_commits(self._admitted(consumer, self._in_broker_time(consumer, found)), now_ms)
            self._tell_groups(consumer, found)
            self._reading.modules[consumer].advance_to_look(found, look.looked_ms)
            if self._reading.has_caught_up:
                self._reading.restored_ms = None
        self._poison_log.tell(consumer, found.skipped, found.poison, now_ms=now_ms)

    def _believed_of_look(self, found: Difference) -> Difference:
        believed = self._windows.is_believed(found.commits)
        if believed.all():
            return found
        skipped = found.skipped + Counter({BEYOND_TOPIC: int(np.count_nonzero(~believed))})
        return found._replace(commits=found.commits.take(believed), skipped=skipped)

    def _in_broker_time(self, consumer: str, found: Difference) -> CommitRows:
        """Commits that a look itself has given a time have ours; windows hold the brokers'."""
        if self._reading.looks[consumer].mark != Mark.OFFSET:
            return found.commits
        return found.commits._replace(timestamp_ms=found.commits.timestamp_ms + self._windows.clock_skew_ms)

    def _admitted(self, consumer: str, rows: CommitRows) -> CommitRows:
        """Without commits to what another place holds; what this one takes over begins anew."""
        admitted, taken = self._reading.holders.admitted(consumer, rows, self._windows.newest_commit_ms)
        for group, topic in taken:
            self._windows.delete_group_topic(group, topic)
            self._assign({group: self._groups.tell(group, None)})
            for looks in self._reading.looks.values():
                looks.forget_view(group)
        return admitted

    def _tell_groups(self, consumer: str, found: Difference) -> None:
        for group, value in found.views.items():
            if value is None or consumer in self._reading.holders.places_of(group):
                self._assign({group: self._groups.tell(group, None if value is None else decode_view(value))})
            else:  # it may come to be this place's
                self._reading.looks[consumer].forget_view(group)

    def _forget_place(self, consumer: str) -> None:
        """Forget what came from the place that a consumer module looks at."""
        holders, groups = self._reading.holders, {name for name, _, _ in self._windows.blocks()}
        if len(self._reading.modules) == 1:
            for group in groups:
                self._windows.delete_group(group)
        for group, topic in holders.of_place(consumer):
            self._windows.delete_group_topic(group, topic)

    def note_failure(self, source: str, reason: str, *, now_ms: int) -> None:
        """A source has failed; it is tried again."""
        with self._lock:
            self.version += 1
            before = self._failures.get(source)
            self._failures[source] = Unreachable(before.since_ms if before else now_ms, reason)

    def _believed(self, batch: CommitBatch) -> CommitBatch:
        """Without commits to partitions that their topics cannot have; these are counted."""
        believed = self._windows.is_believed(batch.commits)
        if believed.all():
            return batch
        skipped = batch.skipped | {BEYOND_TOPIC: int(np.count_nonzero(~believed))}
        return batch._replace(commits=batch.commits.take(believed), skipped=skipped)

    def _assign(self, changed: dict[str, GroupView]) -> None:
        for group, view in changed.items():
            owners = {
                at: Owner(one.host, one.client_id, one.member_id, one.instance_id or "")
                for at, one in view.owners.items()
            }
            self._windows.apply_assignment(Assignment(group, owners))

    def apply_head_rows(self, table: pa.Table, *, now_ms: int) -> None:
        """Take one observation of all topics."""
        with self._lock:
            self.version += 1
            self._failures.pop(HEADS, None)
            rows = head_rows(table)
            self._check_identity(rows.cluster_id)
            self._windows.apply_heads(rows)
            if rows.topic_ids:
                self._assign(self._groups.name_topics(self._windows.heads.names_by_id()))
            self._reading.confirm(self._windows.heads, rows.observed_ms)
            if now_ms - self._expired_ms >= EXPIRY_INTERVAL_MS:
                self._windows.expire(now_ms)
                self._reading.holders.keep((group, topic) for group, topic, _ in self._windows.blocks())
                self._expired_ms = now_ms

    def _check_identity(self, cluster_id: str) -> None:
        """Another cluster behind the same address has other groups, whatever they are called."""
        if not cluster_id:
            return
        if self._cluster_id not in ("", cluster_id):
            log.warning("this is another cluster than before", cluster=self.name, was=self._cluster_id, now=cluster_id)
            self._forget_groups()
            for looks in self._reading.looks.values():
                looks.forget()
            self._become(Windows(self._windows.limits))
        self._cluster_id = cluster_id

    def _become(self, windows: Windows) -> None:
        """Other windows: what was worked out about the old ones does not hold."""
        self._windows = windows
        self._row_policies, self._evaluations, self._survey = {}, {}, None

    def start_over(self, consumer: str) -> None:
        """Make ready for `consumer` to read everything again, from the first record.

        If it is the one that found out that what was read no longer fits, all groups are forgotten, and the other
        consumer modules are made to start over, too: they would not bring back what they have read before.
        """
        with self._lock:
            self.version += 1
            if not self._reading.modules[consumer].must_start_over:
                self._forget_groups()
            self._reading.modules[consumer].start_over()

    def _forget_groups(self) -> None:
        for group in {name for name, _, _ in self._windows.blocks()}:
            if not self._reading.is_polled(group):  # what is looked at is not read from a topic
                self._windows.delete_group(group)
                self._groups.forget(group)
        for group in [name for name in self._groups.briefs() if not self._reading.is_polled(name)]:
            self._groups.forget(group)
        for name, progress in self._reading.modules.items():
            progress.must_start_over = name not in self._reading.polled

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
            return bool(self._windows.heads.topics) and self._reading.has_caught_up

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
            facts = facts_of(self._windows, group, self.settings)
            stale = self._reading.staleness(self._windows.heads, now_ms)
            known_until_ms = self._reading.known_until_ms(group, stale)
        if facts is None:
            return None
        return judge_group(
            group,
            facts,
            self.settings,
            now_ms=now_ms,
            as_of_ms=known_until_ms,
            rule_set=rule_set or self.policy.rule_set_of(group),
            thresholds=self.policy.thresholds_of(group, facts.windows.topics),
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
            evaluation = self._evaluation(now_ms, rule_set)
            page = list_groups(
                self._windows, self._groups, evaluation, self._standings, selection, settings=self.settings
            )
            if not self._reading.polled:
                return page
            # Groups that are looked at are judged as of the last look, and not stale for that.
            groups = [one._replace(stale_since_ms=self._stale_since_ms(one.group, now_ms)) for one in page.groups]
            return page._replace(groups=groups)

    def survey(self, *, now_ms: int) -> Survey:
        """All groups and topics as columns; the same object as long as it would hardly be another one."""
        with self._lock:
            evaluation, last = self._evaluation(now_ms), self._survey
            is_shown = last is not None and last.shown.is_of(self._windows)
            if last is None or last.evaluation is not evaluation or not is_shown:
                shown = last.shown if last and is_shown else shown_by(self._windows, evaluation)
                self._survey = last = survey(self._windows, evaluation, shown)
            return last

    def readers_of(self, topic: str, *, now_ms: int) -> list[TopicReader]:
        """The groups that use a topic, with what is said about their part of it now."""
        with self._lock:
            return readers_of(self._windows, self._evaluation(now_ms), topic)

    def topic_partitions(self, topic: str, *, now_ms: int) -> list[TopicPartition] | None:
        """The partitions of a topic with what is known of them; None for an unknown topic."""
        with self._lock:
            return partitions_of(self._windows, topic, now_ms)

    def changes(self) -> list[Change]:
        """The newest changes of status, newest first."""
        with self._lock:
            return list(reversed(self._standings.changes))

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
            return {name: one.status for name, one in self._standings.groups.items() if name not in own}

    def standing_of(self, group: str) -> Standing | None:
        """What the last evaluation said of a group, and since when; None before the first one."""
        with self._lock:
            return self._standings.groups.get(group)

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
        return self._cluster_id

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
            self._windows.heads.note_readable_end(doubt.topic, doubt.partition, readable_end, doubt.end)

    def unseen_topics(self) -> list[str]:
        """Topics that groups have committed to and the brokers do not list; they are not shown anywhere else."""
        with self._lock:
            return self._windows.unseen_topics()

    # -- the watch writes ----------------------------------------------------------------------------------------

    def evaluate(self, *, now_ms: int) -> list[Change]:
        """Judge everything and write down what changed since the last time."""
        with self._lock:
            evaluation = self._evaluation(now_ms)
            self._is_evaluated = True
            note_statuses(self._windows, evaluation)
            turns = self._standings.update(evaluation)
            self._trails.add(self._look(evaluation))
            there = [turn.code for turn in turns if turn.code >= 0]
            found = dict(zip(there, causes(self._windows, evaluation, there, self.settings), strict=True))
            changes = [Change(evaluation.now_ms, one.group, one.was, one.now, found.get(one.code)) for one in turns]
            self._standings.changes.extend(changes)
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

    def _evaluation(self, now_ms: int, rule_set: str = "") -> Evaluation:
        """A fresh evaluation of everything; the lock is held."""
        fresh = {
            name: one
            for name, one in self._evaluations.items()
            if one.layout == self._windows.layout and 0 <= now_ms - one.now_ms < FRESH_MS
        }
        self._evaluations = fresh  # the others only take up memory
        if rule_set in fresh:
            return fresh[rule_set]
        policy = self._row_policies.get(rule_set)
        if policy is None or policy.layout != self._windows.layout:
            policy = self._row_policies[rule_set] = row_policy(self._windows, self.policy, rule_set)
        stale = self._reading.staleness(self._windows.heads, now_ms)
        as_of_ms = self._reading.as_of_ms(self._windows.group_names(), stale, now_ms)
        found = self._evaluations[rule_set] = evaluate(
            self._windows, self.settings, policy, now_ms=now_ms, as_of_ms=as_of_ms, in_parallel=_POOL.map
        )
        return found

    # -- people change -------------------------------------------------------------------------------------------

    def judge_by(self, settings: Settings, policy: Policy) -> None:
        """From now on groups are judged by these."""
        with self._lock:
            self.settings, self.policy = settings, policy
            self._row_policies, self._evaluations = {}, {}
            self.version += 1

    def keep_groups(self, is_wanted: Callable[[str], bool]) -> None:
        """Forget the groups that are not wanted any more."""
        with self._lock:
            names = {*self._windows.groups(), *self._groups.briefs()} - self._reading.own_groups
            for group in names:
                if not is_wanted(group):
                    self._windows.delete_group(group)
                    self._groups.forget(group)
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
            return self._windows.delete_group(group)

    def delete_group_topic(self, group: str, topic: str) -> bool:
        """Forget one topic of a group; False if it is not known."""
        with self._lock:
            self.version += 1
            return self._windows.delete_group_topic(group, topic)

    # -- kept over restarts --------------------------------------------------------------------------------------

    @property
    def is_worth_saving(self) -> bool:
        """Whether anything was read, or restored."""
        with self._lock:
            return any(progress.positions for progress in self._reading.modules.values())

    def header(self, now_ms: int) -> Header:
        """What a snapshot of this state is called."""
        return Header(self.name, self.intervals, now_ms, self._cluster_id)

    def save(self, file: SnapshotWriter) -> None:
        """Write everything down, as of the moment when the last rows are copied."""
        final: dict[str, pa.Table] = {}
        file.write(snapshot.ring_schema(self.intervals), self._copies(final))
        for table in final.values():
            file.write(table.schema, iter(table.to_batches()))

    def _copies(self, final: dict[str, pa.Table]) -> Iterator[pa.RecordBatch]:
        """The rings in chunks; with the last chunk `final` gets all the rest, so that both are of one moment."""
        windows, staging = self._windows, snapshot.Staging(self.intervals, CHUNK_ROWS)
        for start in range(0, windows.used_rows, CHUNK_ROWS):
            with self._lock:
                batch = staging.copy(windows, np.arange(start, min(start + CHUNK_ROWS, windows.used_rows)))
            yield batch
        for turn in range(ROUNDS):
            with self._lock:
                changed = np.flatnonzero(windows.rings.touched[: windows.used_rows])
                if len(changed) > CHUNK_ROWS:
                    staging = staging if turn < ROUNDS - 1 else snapshot.Staging(self.intervals, len(changed))
                batch = staging.copy(windows, changed[: staging.rows])
                if len(changed) <= staging.rows:
                    final |= {
                        **snapshot.names_of(self._windows),
                        **standing_tables(self._standings),
                        "group_records": self._groups.table(),
                        "positions": self._reading.table(),
                        "seen": self._reading.seen_table(),
                        "held": self._reading.holders.table(),
                    }
            yield batch
            if final:
                break
        if windows is not self._windows:
            message = "The state was replaced while it was written down."
            raise SnapshotError(message)

    def restore(self, file: SnapshotReader) -> None:
        """Become what was written down; the state must be new."""
        limits = self._windows.limits
        windows, rings = Windows(limits), Rings(file.header.intervals, limits.min_distance_ms)
        for batch in file.batches():
            snapshot.restore_rows(rings, windows.labels, batch)
        windows.rings = snapshot.resized(rings, limits.intervals, limits.min_distance_ms)
        snapshot.restore_names(windows, {name: file.table() for name in snapshot.NAMES})
        standings = restored_standings(file.table(), file.table())
        groups = restored_groups(file.table(), windows.heads.names_by_id())
        with self._lock:
            self.version += 1
            self._become(windows)
            self._standings, self._groups = standings, groups
            self._cluster_id = file.header.cluster_id
            self.saved_ms = file.header.created_ms
            self._reading.restore(file.table(), file.header.created_ms)
            if file.header.version >= SEEN_SINCE:
                self._reading.restore_seen(file.table())
                self._drop_places(file.table())

    def _drop_places(self, held: pa.Table) -> None:
        """Forget what came from places that are no longer configured."""
        pairs = [(group, topic) for group, topic, _ in self._windows.blocks()]
        own = self._reading.own_groups
        for group, topic in self._reading.holders.restore(held, [one for one in pairs if one[0] not in own]):
            self._windows.delete_group_topic(group, topic)


def _self_report(consumer: str, topic: str, batch: CommitBatch, now_ms: int) -> CommitRows:
    """What was read as commits of a group of our own, so that its lag tells how far Warren is behind."""
    read = {partition: position for partition, position in batch.positions.items() if position > 0}
    return commits_of_one_group(own_group(consumer), topic, read, now_ms)
