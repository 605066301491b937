"""What is known of one cluster: its windows, its groups, and how far everything is read; what comes in is taken here.

No lock and no clock: `state.py` holds a lock around every call, and `now_ms` is an argument.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import structlog

from warren.clusters.progress import Polled, Progress, Reading, own_group
from warren.errors import StartOverError
from warren.groups.groups import Groups
from warren.groups.told import decode_view
from warren.groups.views import GroupView
from warren.history.journal import Journal, NoJournal, Source
from warren.places.looks import Difference, Mark
from warren.rules.clock import ClockSkew
from warren.rules.marks import Doubt
from warren.rules.standing import Standings
from warren.windows.commit_rows import CommitRows, commits_of_one_group
from warren.windows.heads import HeadRows
from warren.windows.labels import Owner
from warren.windows.rows import CommitBatch, LookBatch
from warren.windows.store import Assignment, Limits, Windows

log = structlog.get_logger()

EXPIRY_INTERVAL_MS = 60_000

BEYOND_TOPIC = "partition far beyond those of its topic"
"""What commits are counted under that nothing can be made of."""


class Ledger:
    """One cluster; one writer at a time."""

    def __init__(
        self,
        name: str,
        limits: Limits,
        offsets_topics: Mapping[str, str],
        stale_after_ms: int,
        polled: Mapping[str, Polled],
    ) -> None:
        self.windows = Windows(limits)
        self.groups = Groups()
        self.standings = Standings()
        """What was said of them last."""
        self.reading = Reading(offsets_topics, stale_after_ms, polled)
        self.journal: Journal = NoJournal()
        self.cluster_id = ""
        """Kafka's own; "" until it is known."""
        self._name = name
        self._clock_skew = ClockSkew()
        self._expired_ms = 0
        self._has_caught_up = False

    # -- the offsets topic ---------------------------------------------------------------------------------------

    def progress_of(self, consumer: str) -> Progress:
        """How far a consumer module is; `StartOverError` if what it reads now would not fit what was read before."""
        progress = self.reading.modules[consumer]
        if progress.must_start_over:
            message = f"Everything that {consumer} has read must be read again."
            raise StartOverError(message)
        return progress

    def take_batch(self, consumer: str, read: CommitBatch, now_ms: int) -> CommitBatch:
        """Take one micro-batch of a consumer module; what of it was believed."""
        progress, batch = self.reading.modules[consumer], self._believed(read)
        if progress.caught_up and not batch.ends:  # what is read now was committed just now
            self._clock_skew.observe(batch.commits.timestamp_ms[~batch.commits.tombstone], now_ms)
            self.windows.clock_skew_ms = self._clock_skew.skew_ms
        self._take_commits(consumer, batch, now_ms)
        self._assign(self.groups.apply(batch.group_records))
        self.windows.apply_commits(_self_report(consumer, progress.offsets_topic, batch, now_ms), now_ms)
        progress.advance(batch)
        if not progress.caught_up and not batch.ends and batch.is_settled:
            progress.caught_up = True
            self._expire(now_ms)  # the backlog has groups that are long gone
        self._note_caught_up(now_ms)
        return batch

    def _take_commits(self, consumer: str, batch: CommitBatch, now_ms: int) -> None:
        progress, admitted = self.reading.modules[consumer], self._admitted(consumer, batch.commits)
        self.windows.apply_commits(admitted, now_ms)
        ranges = {one: (progress.positions.get(one, 0), end) for one, end in batch.positions.items()}
        source = Source(consumer, progress.offsets_topic, batch.topic_id or progress.topic_id)
        self.journal.read(source, admitted, ranges, self.windows.clock_skew_ms, now_ms)

    def _believed(self, batch: CommitBatch) -> CommitBatch:
        """Without commits to partitions that their topics cannot have; these are counted."""
        believed = self.windows.is_believed(batch.commits)
        if believed.all():
            return batch
        skipped = batch.skipped | {BEYOND_TOPIC: int(np.count_nonzero(~believed))}
        return batch._replace(commits=batch.commits.take(believed), skipped=skipped)

    def start_over(self, consumer: str) -> None:
        """Make ready for `consumer` to read everything again, from the first record.

        If it is the one that found out that what was read no longer fits, all groups are forgotten, and the other
        consumer modules are made to start over, too: they would not bring back what they have read before.
        """
        if not self.reading.modules[consumer].must_start_over:
            self._forget_groups()
        self.reading.modules[consumer].start_over()
        self.journal.started_over(consumer)

    def _forget_groups(self) -> None:
        for group in {name for name, _, _ in self.windows.blocks()}:
            if not self.reading.is_polled(group):  # what is looked at is not read from a topic
                self.forget_group(group)
                self.groups.forget(group)
        for group in [name for name in self.groups.briefs() if not self.reading.is_polled(name)]:
            self.groups.forget(group)
        for name, progress in self.reading.modules.items():
            progress.must_start_over = name not in self.reading.polled

    # -- places that are looked at -------------------------------------------------------------------------------

    def take_look(self, consumer: str, look: LookBatch, now_ms: int) -> Difference:
        """Take one look of a consumer module at its place; what of it was new, and believed."""
        found = self.reading.looks[consumer].take(look)
        if found.starts_over:
            log.warning("all that is there is new", cluster=self._name, consumer=consumer, place=look.place_id)
            self._forget_place(consumer)
        found = self._believed_of_look(found)
        for rows in (found.removed, self._in_broker_time(consumer, found)):
            admitted = self._admitted(consumer, rows)
            self.windows.apply_commits(admitted, now_ms)
            self.journal.looked(consumer, admitted, self.windows.clock_skew_ms, now_ms)
        self._tell_groups(consumer, found)
        self.reading.modules[consumer].advance_to_look(found, look.looked_ms)
        self._note_caught_up(now_ms)
        return found

    def _note_caught_up(self, now_ms: int) -> None:
        """Once everything was read for the first time, what is known counts.

        If it was read from nothing on, the history begins anew here: much of it may have been written down long ago.
        """
        if self._has_caught_up or not self.reading.has_caught_up:
            return
        self._has_caught_up = True
        if self.reading.restored_ms is None:
            self.begin_history_again(now_ms)
        self.reading.note_caught_up()

    def begin_history_again(self, now_ms: int) -> None:
        """What is written down from now on stands for itself."""
        self.journal.begin_again(now_ms)
        self.journal.keyframe(self.windows, self.standings, now_ms)

    def _believed_of_look(self, found: Difference) -> Difference:
        believed = self.windows.is_believed(found.commits)
        if believed.all():
            return found
        skipped = found.skipped + Counter({BEYOND_TOPIC: int(np.count_nonzero(~believed))})
        return found._replace(commits=found.commits.take(believed), skipped=skipped)

    def _in_broker_time(self, consumer: str, found: Difference) -> CommitRows:
        """Commits that a look itself has given a time have ours; windows hold the brokers'."""
        if self.reading.looks[consumer].mark != Mark.OFFSET:
            return found.commits
        return found.commits._replace(timestamp_ms=found.commits.timestamp_ms + self.windows.clock_skew_ms)

    def _admitted(self, consumer: str, rows: CommitRows) -> CommitRows:
        """Without commits to what another place holds; what this one takes over begins anew."""
        admitted, taken = self.reading.holders.admitted(consumer, rows, self.windows.newest_commit_ms)
        for group, topic in taken:
            self.forget_topic_of(group, topic)
            self._assign({group: self.groups.tell(group, None)})
            for looks in self.reading.looks.values():
                looks.forget_view(group)
        return admitted

    def _tell_groups(self, consumer: str, found: Difference) -> None:
        for group, value in found.views.items():
            if value is None or consumer in self.reading.holders.places_of(group):
                self._assign({group: self.groups.tell(group, None if value is None else decode_view(value))})
            else:  # it may come to be this place's
                self.reading.looks[consumer].forget_view(group)

    def _forget_place(self, consumer: str) -> None:
        """Forget what came from the place that a consumer module looks at."""
        holders, groups = self.reading.holders, {name for name, _, _ in self.windows.blocks()}
        if len(self.reading.modules) == 1:
            for group in groups:
                self.forget_group(group)
        for group, topic in holders.of_place(consumer):
            self.forget_topic_of(group, topic)

    def drop_places(self, held: pa.Table) -> None:
        """Forget what came from places that are no longer configured."""
        pairs = [(group, topic) for group, topic, _ in self.windows.blocks()]
        own = self.reading.own_groups
        for group, topic in self.reading.holders.restore(held, [one for one in pairs if one[0] not in own]):
            self.windows.delete_group_topic(group, topic)

    # -- the brokers ---------------------------------------------------------------------------------------------

    def take_heads(self, rows: HeadRows, now_ms: int) -> None:
        """Take one observation of all topics."""
        self._check_identity(rows.cluster_id, now_ms)
        self.journal.observed(rows, sorted(self.windows.heads.topics.keys() - set(rows.topics)))
        self.windows.apply_heads(rows)
        if rows.topic_ids:
            self._assign(self.groups.name_topics(self.windows.heads.names_by_id()))
        self.reading.confirm(self.windows.heads, rows.observed_ms)
        if now_ms - self._expired_ms >= EXPIRY_INTERVAL_MS:
            self._expire(now_ms)
            self.reading.holders.keep((group, topic) for group, topic, _ in self.windows.blocks())
            self._expired_ms = now_ms

    def _check_identity(self, cluster_id: str, now_ms: int) -> None:
        """Another cluster behind the same address has other groups, whatever they are called."""
        if not cluster_id:
            return
        if self.cluster_id not in ("", cluster_id):
            log.warning("this is another cluster than before", cluster=self._name, was=self.cluster_id, now=cluster_id)
            self._forget_groups()
            for looks in self.reading.looks.values():
                looks.forget()
            self.windows = Windows(self.windows.limits)
            self.begin_history_again(now_ms)
        self.cluster_id = cluster_id

    def note_readable_end(self, doubt: Doubt, readable_end: int) -> None:
        """A partition was looked into: no records lie behind `readable_end`."""
        self.windows.heads.note_readable_end(doubt.topic, doubt.partition, readable_end, doubt.end)
        self.journal.found_readable_end(doubt.topic, doubt.partition, readable_end, doubt.end)

    # -- groups --------------------------------------------------------------------------------------------------

    def _assign(self, changed: dict[str, GroupView]) -> None:
        for group, view in changed.items():
            owners = {
                at: Owner(one.host, one.client_id, one.member_id, one.instance_id or "")
                for at, one in view.owners.items()
            }
            assignment = Assignment(group, owners)
            self.windows.apply_assignment(assignment)
            self.journal.assigned(assignment, len(view.members))

    def keep_groups(self, is_wanted: Callable[[str], bool]) -> None:
        """Forget the groups that are not wanted any more."""
        names = {*self.windows.groups(), *self.groups.briefs()} - self.reading.own_groups
        for group in names:
            if not is_wanted(group):
                self.forget_group(group)
                self.groups.forget(group)

    def forget_group(self, group: str) -> bool:
        self.journal.forgotten(group)
        return self.windows.delete_group(group)

    def forget_topic_of(self, group: str, topic: str) -> bool:
        self.journal.forgotten(group, topic)
        return self.windows.delete_group_topic(group, topic)

    def _expire(self, now_ms: int) -> None:
        self.journal.expired(now_ms)
        self.windows.expire(now_ms)


def _self_report(consumer: str, topic: str, batch: CommitBatch, now_ms: int) -> CommitRows:
    """What was read as commits of a group of our own, so that its lag tells how far Warren is behind."""
    read = {partition: position for partition, position in batch.positions.items() if position > 0}
    return commits_of_one_group(own_group(consumer), topic, read, now_ms)
