"""A Warren without its edges, and the history that it writes down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.support.scenario import classic_group, commit_table, head_table
from warren.clusters.keeper import Keeper
from warren.clusters.state import ClusterState
from warren.codec.keys import encode_group_key
from warren.history.journal import Journal
from warren.history.judging import Judging, RulesOf, ThresholdOf
from warren.history.scribe import Scribe
from warren.history.tables import TABLES, Recorded
from warren.windows.rows import COMMIT_ROWS, RowKind

T0_MS = 1_767_225_600_000
GROUPS = ("billing", "audit", "mail")
TOPICS = ("orders", "payments")
JUDGING = Judging(
    intervals=3,
    min_distance_ms=2_000,
    expire_group_ms=60_000,
    rules=(RulesOf("audit", "warren"),),
    thresholds=(ThresholdOf("mail", "", 50, None),),
)


OBSERVING_MS = 700
"""So long it takes until an observation is taken in: it is of a moment before."""


class World:
    """A Warren without its edges, and all that it writes down."""

    def __init__(self, home: Path) -> None:
        self.now_ms = T0_MS
        self.ends = {topic: [100, 100] for topic in TOPICS}
        self.order = 0
        self.observations = 0
        self.pages: list[dict[str, pa.Table]] = []
        self.home = home
        self.recorded: dict[str, Recorded] = {}
        self.state = self.start()

    def start(self) -> ClusterState:
        state = ClusterState("c", JUDGING.limits, JUDGING.settings, {"kafka": "__consumer_offsets"}, JUDGING.policy)
        Keeper({"c": state}, self.home, 30, lambda: self.now_ms).restore()
        journal = Journal(self.now_ms, JUDGING.to_text(), frozenset({"burrow-kafka"}))
        journal.resume(self.recorded)
        state.keep_history(journal, 5_000, now_ms=self.now_ms)
        self.scribe = Scribe()
        return state

    def take(self, wait_s: int, action: str, what: Any) -> None:
        self.now_ms += wait_s * 1000
        match action:
            case "commit":
                rows = [
                    (group, topic, partition, offset, self.now_ms - 500) for group, topic, partition, offset in what
                ]
                self.state.apply_commit_rows("kafka", commit_table(*rows, first_order=self.order), now_ms=self.now_ms)
                self.order += len(rows)
            case "observe":
                for i, grown_by in enumerate(what):
                    topic = TOPICS[i // 2]
                    if topic in self.ends:
                        self.ends[topic][i % 2] += grown_by
                seen = head_table(self.ends, self.now_ms - OBSERVING_MS, **self.topic_ids())
                self.state.apply_head_rows(seen, now_ms=self.now_ms)
            case "evaluate":
                self.state.evaluate(now_ms=self.now_ms)
            case "assign":
                self.assign(what)
            case "delete":
                self.state.delete_group(what)
            case "keyframe":
                self.state.write_keyframe(now_ms=self.now_ms)
            case "lose topic":
                self.ends.pop("payments", None)
            case "restart":
                self.restart()

    def topic_ids(self) -> dict[str, str]:
        """They are asked for now and then."""
        self.observations += 1
        return dict.fromkeys(self.ends, "A" * 22) if self.observations % 3 == 0 else {}

    def assign(self, group: str) -> None:
        value = classic_group(("h", "c", [(topic, [0]) for topic in TOPICS]))
        record = {"kind": RowKind.GROUP_RECORD, "source_partition": 0, "order": [self.order]}
        rows = [
            {**record, "key": encode_group_key(group), "value": value},
            {"kind": RowKind.POSITION, "partition": [0], "offset": [self.order + 1]},
        ]
        self.state.apply_commit_rows("kafka", pa.Table.from_pylist(rows, COMMIT_ROWS), now_ms=self.now_ms)
        self.order += 1

    def restart(self) -> None:
        Keeper({"c": self.state}, self.home, 30, lambda: self.now_ms).save()
        self.write()
        self.recorded = {"kafka": Recorded("", {0: self.order})}
        self.now_ms += 1_000
        self.state = self.start()

    def write(self) -> None:
        self.pages.append(self.scribe.tables(self.state.take_page()))

    def tables(self) -> dict[str, pa.Table]:
        self.write()
        names = {name for page in self.pages for name in page}
        joined = {name: pa.concat_tables([page[name] for page in self.pages if name in page]) for name in names}
        return {name: schema.empty_table() for name, schema in TABLES.items()} | joined
