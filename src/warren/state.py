"""The state of one cluster while Warren runs: its windows, how far its sources are, and the lock around them.

The pipeline writes here, everything that shows or sends reads here.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

import pyarrow as pa

from warren.rules.burrow import Settings
from warren.rules.verdict import GroupVerdict, judge_group
from warren.windows.rows import CommitBatch, commit_batch, head_rows
from warren.windows.store import CommitRows, Limits, Windows, commits_of_one_group

EXPIRY_INTERVAL_MS = 60_000


@dataclass
class Progress:
    """How far one consumer module has read the offsets topic."""

    offsets_topic: str
    positions: dict[int, int] = field(default_factory=dict)
    behind: dict[int, int] = field(default_factory=dict)
    caught_up: bool = False
    """True once everything that was there at the start has been read; it stays so."""
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def behind_records(self) -> int:
        """At most so many records are known to be unread."""
        return sum(end - self.positions.get(partition, 0) for partition, end in self.behind.items())


class ClusterState:
    """One cluster; every method may be called from any thread."""

    def __init__(self, name: str, limits: Limits, settings: Settings, offsets_topics: dict[str, str]) -> None:
        self.name = name
        self.settings = settings
        self._windows = Windows(limits)
        self._progress = {consumer: Progress(topic) for consumer, topic in offsets_topics.items()}
        self._lock = threading.Lock()
        self._expired_ms = 0

    # -- the pipeline writes -------------------------------------------------------------------------------------

    def apply_commit_rows(self, consumer: str, table: pa.Table, *, now_ms: int) -> None:
        """Take one micro-batch of a consumer module; a batch that comes again changes nothing."""
        with self._lock:
            progress = self._progress[consumer]
            batch = commit_batch(table, progress.positions)
            self._windows.apply_commits(batch.commits, now_ms)
            for assignment in batch.assignments:
                self._windows.apply_assignment(assignment)
            self._windows.apply_commits(_self_report(consumer, progress.offsets_topic, batch, now_ms), now_ms)
            progress.positions.update(batch.positions)
            progress.behind = batch.ends
            progress.skipped.update(batch.skipped)
            progress.caught_up = progress.caught_up or not batch.ends

    def apply_head_rows(self, table: pa.Table, *, now_ms: int) -> None:
        """Take one observation of all topics."""
        with self._lock:
            self._windows.apply_heads(head_rows(table))
            if now_ms - self._expired_ms >= EXPIRY_INTERVAL_MS:
                self._windows.expire(now_ms)
                self._expired_ms = now_ms

    def positions(self, consumer: str) -> dict[int, int] | None:
        """Where a consumer module goes on reading; None before its first batch."""
        with self._lock:
            return dict(self._progress[consumer].positions) or None

    # -- the others read -----------------------------------------------------------------------------------------

    @property
    def has_caught_up(self) -> bool:
        """Whether every consumer module has read what was there when it started."""
        with self._lock:
            return all(one.caught_up for one in self._progress.values())

    @property
    def is_ready(self) -> bool:
        """Whether answers are worth reading: caught up, and the ends of topics are known."""
        with self._lock:
            heads_known = bool(self._windows.heads.topics)
        return heads_known and self.has_caught_up

    @property
    def behind_records(self) -> int:
        """How many records of the offsets topic are known to be unread."""
        with self._lock:
            return sum(one.behind_records for one in self._progress.values())

    def skipped(self) -> dict[str, int]:
        """How many records could not be decoded, by kind."""
        with self._lock:
            return dict(sum((one.skipped for one in self._progress.values()), Counter()))

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

    def judge(self, group: str, *, now_ms: int) -> GroupVerdict | None:
        """What is said about a group now; None if it is not known."""
        with self._lock:
            windows = self._windows.group(group)
        return judge_group(group, windows, self.settings, now_ms=now_ms) if windows else None

    @property
    def intervals(self) -> int:
        """How many commits a window holds."""
        return self._windows.limits.intervals

    # -- people change -------------------------------------------------------------------------------------------

    def delete_group(self, group: str) -> bool:
        """Forget a group until it commits again; False if it is not known."""
        with self._lock:
            return self._windows.delete_group(group)

    def delete_group_topic(self, group: str, topic: str) -> bool:
        """Forget one topic of a group; False if it is not known."""
        with self._lock:
            return self._windows.delete_group_topic(group, topic)


def _self_report(consumer: str, topic: str, batch: CommitBatch, now_ms: int) -> CommitRows:
    """What was read as commits of a group of our own, so that its lag tells how far Warren is behind."""
    read = {partition: position for partition, position in batch.positions.items() if position > 0}
    return commits_of_one_group(f"burrow-{consumer}", topic, read, now_ms)
