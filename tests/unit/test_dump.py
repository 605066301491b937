"""Records of real brokers, with what Kafka said they mean: Warren says the same, without a broker."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.support import dump
from tests.support.dump import Dump, DumpedRecord
from warren.clusters.state import ClusterState
from warren.rules.rule import Settings
from warren.sources.folding import BatchProgress, Folder, FoldSettings
from warren.sources.reading import Records
from warren.windows.rows import HEAD_ROWS
from warren.windows.store import Limits

NOW_MS = 1_900_000_000_000
VERSIONS = ("4.3.1", "3.9.2")


def heads(of: Dump) -> pa.Table:
    rows = [
        {
            "topic": name, "partition": number, "end": 1000, "log_start": 0, "last_stable": 1000, "has_leader": True,
            "observed_ms": NOW_MS, "topic_id": topic["topic_id"] if number == 0 else None,
        }
        for name, topic in of.topics.items()
        for number in range(topic["partitions"])
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, HEAD_ROWS)


def batch(records: list[DumpedRecord]) -> pa.Table:
    folder = Folder(FoldSettings(10, 0))
    partition, offset = (np.array([one[column] for one in records], np.int64) for column in range(2))
    folder.add(Records(partition, offset, [one.key for one in records], [one.value for one in records]))
    ends = {one.partition: one.offset + 1 for one in records}
    return pa.Table.from_batches(folder.rows(BatchProgress(ends, {}, planned_ms=NOW_MS)))


def told_of(state: ClusterState, group: str) -> dict[str, Any]:
    """What Warren says, in the words of the dump."""
    view = state.group_view(group)
    verdict = state.judge(group, now_ms=NOW_MS)
    return {
        "type": view.type.value,
        "state": view.state.value,
        "members": [
            [one.member_id, one.client_id, one.host, one.instance_id, sorted([at.topic, at.partition] for at in one[4])]
            for one in sorted(view.members)
        ],
        "offsets": [
            [one.topic, one.partition, one.end.offset] for one in (verdict.partitions if verdict else []) if one.end
        ],
    }


@pytest.mark.parametrize("at_once", [1_000_000, 1, 7], ids=["in one go", "one by one", "by sevens"])
@pytest.mark.parametrize("version", VERSIONS)
def test_records_of_a_real_broker_mean_what_kafka_says(version: str, at_once: int) -> None:
    of = dump.load(version)
    state = ClusterState("dump", Limits(expire_group_ms=NOW_MS), Settings(), {"dump": dump.OFFSETS_TOPIC})
    state.apply_head_rows(heads(of), now_ms=NOW_MS)
    for start in range(0, len(of.records), at_once):
        state.apply_commit_rows("dump", batch(of.records[start : start + at_once]), now_ms=NOW_MS)

    known = {*state.groups(), *state.groups_without_offsets()} - {"burrow-dump"}
    assert {group: told_of(state, group) for group in known} == of.groups
    assert state.skipped() == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_after_compaction_the_records_mean_the_same(version: str) -> None:
    """Of each key only the last record is left, and no tombstones."""
    of = dump.load(version)
    newest = {one.key: one for one in of.records}
    kept = [one for one in of.records if newest[one.key] is one and one.value is not None]
    state = ClusterState("dump", Limits(expire_group_ms=NOW_MS), Settings(), {"dump": dump.OFFSETS_TOPIC})
    state.apply_commit_rows("dump", batch(kept), now_ms=NOW_MS)
    state.apply_head_rows(heads(of), now_ms=NOW_MS)

    known = {*state.groups(), *state.groups_without_offsets()} - {"burrow-dump"}
    assert {group: told_of(state, group) for group in known} == of.groups


def test_the_dumps_have_every_type_of_record_that_these_brokers_write() -> None:
    types = {int.from_bytes(one.key[:2], "big") for version in VERSIONS for one in dump.load(version).records}

    assert types >= {1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 17, 19, 20, 21, 22, 23}
