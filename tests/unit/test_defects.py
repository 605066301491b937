"""Where Burrow is wrong (`D..`: the numbers of its known defects) and no other file shows what Warren does instead."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from tests.support.offset_records import commit_value, group_value
from tests.support.scenario import GROUP, TOPIC, Story, head_rows, head_table
from warren.clusters.state import ClusterState
from warren.codec.commits import OffsetCommit, encode_offset_commit
from warren.codec.groups import decode_group_metadata, encode_group_metadata
from warren.codec.keys import encode_group_key, encode_offset_key
from warren.config.kafka_client import client_settings
from warren.config.load import for_bootstrap, parse
from warren.errors import ConfigError
from warren.model import Status
from warren.rules.rule import Settings
from warren.serve.app import make_app
from warren.sources.folding import BatchProgress, Folder, FoldSettings
from warren.sources.reading import Records
from warren.windows.store import Limits

DAY_MS = 24 * 3_600_000
START_MS = 1_700_000_000_000
COMMITS = encode_offset_key(GROUP, TOPIC, 0)
MEMBERS = encode_group_key(GROUP)
CONSUMER = "c"


def new_state(name: str = "prod", **limits: int) -> ClusterState:
    state = ClusterState(name, Limits(**limits), Settings(), {CONSUMER: "__consumer_offsets"})
    state.apply_head_rows(head_table({TOPIC: [100, 100]}, START_MS), now_ms=START_MS)
    return state


def batch(*records: tuple[bytes, bytes | None], start: int = 0) -> pa.Table:
    """Records of the offsets topic from `start` on, as a worker hands them over."""
    folder, numbers = Folder(FoldSettings(10, 0)), np.arange(start, start + len(records))
    folder.add(Records(np.zeros(len(records), np.int64), numbers, [key for key, _ in records], [v for _, v in records]))
    return pa.Table.from_batches(folder.rows(BatchProgress({0: start + len(records)}, {})))


def offsets(state: ClusterState, now_ms: int = START_MS) -> list[int]:
    verdict = state.judge(GROUP, now_ms=now_ms)
    return [entry.offset for entry in verdict.partitions[0].entries] if verdict else []


def owners(state: ClusterState) -> list[str]:
    verdict = state.judge(GROUP, now_ms=START_MS)
    return [one.owner.host for one in verdict.partitions] if verdict else []


def test_d03_commits_of_version_2_and_members_of_version_4_count_and_other_records_are_counted() -> None:
    """Burrow drops all of them."""
    state = new_state()
    commit = encode_offset_commit(OffsetCommit(42, -1, "", START_MS, -1, None), 2)
    members = encode_group_metadata(decode_group_metadata(group_value((TOPIC, [1]))), 4)
    other = b"\x00\x63" + MEMBERS[2:]
    state.apply_commit_rows(CONSUMER, batch((COMMITS, commit), (MEMBERS, members), (other, b"x")), now_ms=START_MS)

    assert offsets(state) == [42]
    assert owners(state) == ["", "/10.0.0.7"]
    assert state.skipped() == {"record type 99": 1}


def test_d05_an_older_tombstone_or_assignment_that_is_read_late_changes_nothing() -> None:
    """In Burrow what the backfill meets deletes the group, or brings old owners back."""
    old = [(MEMBERS, group_value((TOPIC, [0]))), (MEMBERS, None), (COMMITS, commit_value(1, START_MS)), (COMMITS, None)]
    new = [(COMMITS, commit_value(42, START_MS)), (MEMBERS, group_value((TOPIC, [1])))]
    state = new_state()
    state.apply_commit_rows(CONSUMER, batch(*old, *new), now_ms=START_MS)
    state.apply_commit_rows(CONSUMER, batch(*old), now_ms=START_MS)

    assert offsets(state) == [42]
    assert owners(state) == ["", "/10.0.0.7"]


def test_d05_a_tombstone_from_before_a_commit_does_not_remove_it() -> None:
    story = Story().heads(100, 1).commit(10, 5, 5_000).commit(None, 4, 0)

    assert [offset for offset, _, _ in story.entries()] == [10]


def test_d14_a_batch_that_could_not_be_taken_is_not_taken_for_read() -> None:
    """Burrow drops what its storage has no time for."""
    state, table = new_state(), batch((COMMITS, commit_value(42, START_MS)))
    with pytest.raises(KeyError):
        state.apply_commit_rows(CONSUMER, table.drop_columns(["timestamp_ms"]), now_ms=START_MS)
    assert state.positions(CONSUMER) is None

    state.apply_commit_rows(CONSUMER, table, now_ms=START_MS)

    assert offsets(state) == [42]


def test_d17_a_group_that_comes_back_after_a_week_starts_with_an_empty_window() -> None:
    """In Burrow a group that nobody looks at never expires, and its new commits join the old ones."""
    state, later_ms = new_state(), START_MS + 8 * DAY_MS
    state.apply_commit_rows(CONSUMER, batch((COMMITS, commit_value(10, START_MS))), now_ms=START_MS)
    state.apply_head_rows(head_table({TOPIC: [100, 100]}, later_ms), now_ms=later_ms)
    state.apply_commit_rows(CONSUMER, batch((COMMITS, commit_value(20, later_ms)), start=1), now_ms=later_ms)

    assert offsets(state, later_ms) == [20]


def test_d20_a_topic_that_comes_back_with_fewer_partitions_is_a_new_one() -> None:
    """In Burrow a commit between the two steps of a deletion makes every later look at the group crash."""
    story = Story(partitions=3).heads(100, 1).commit(10, 1, 5_000, partition=2)
    story.windows.apply_heads(head_rows({"other": [5]}, 6_000))
    story.commit(11, 2, 6_500, partition=2)
    story.windows.apply_heads(head_rows({TOPIC: [-1, 7]}, 7_000))

    shown = story.windows.group(GROUP)
    assert shown is not None
    assert shown.window.length.tolist() == [0, 0]
    assert shown.head.tolist() == [-1, 7]


def test_d21_with_one_interval_a_partition_that_has_an_owner_but_no_commit_is_fine() -> None:
    """In Burrow a page breaks off there."""
    state = new_state(intervals=1)
    state.apply_commit_rows(CONSUMER, batch((MEMBERS, group_value((TOPIC, [0])))), now_ms=START_MS)
    verdict = state.judge(GROUP, now_ms=START_MS)

    assert verdict is not None
    assert (verdict.status, verdict.total_lag) == (Status.OK, 0)
    assert [one.entries for one in verdict.partitions] == [[], []]


def test_d21_less_than_one_interval_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"storage\.default\.intervals: "):
        parse({"storage": {"default": {"intervals": 0}}}, "a test")


def test_d34_the_groups_of_a_cluster_with_a_space_in_its_name_are_found() -> None:
    """In Burrow every status there is NOTFOUND."""
    state = new_state("our cluster")
    state.apply_commit_rows(CONSUMER, batch((COMMITS, commit_value(100, START_MS))), now_ms=START_MS)
    app = make_app({state.name: state}, lambda: for_bootstrap("127.0.0.1:9092", "127.0.0.1:8000"), lambda: START_MS)
    with TestClient(app) as client:
        answer = client.get(f"/v3/kafka/our%20cluster/consumer/{GROUP}/status")

    assert answer.json()["status"]["status"] == "OK"


def test_d36_records_that_are_gone_before_they_were_read_are_told() -> None:
    """In Burrow they only make the lag look larger."""
    state = new_state()
    state.apply_commit_rows(CONSUMER, batch((COMMITS, commit_value(10, START_MS))), now_ms=START_MS)
    heads = head_table({TOPIC: [100, 100]}, START_MS + 1)
    log_start = pa.array([30, 0], pa.int64())
    heads = heads.set_column(heads.column_names.index("log_start"), "log_start", log_start)
    state.apply_head_rows(heads, now_ms=START_MS + 1)
    verdict = state.judge(GROUP, now_ms=START_MS + 1)

    assert verdict is not None
    assert verdict.partitions[0].insight.lost_records == 20


def test_d63_a_certificate_of_ours_is_used_without_one_of_an_authority() -> None:
    config = parse(
        {
            "tls": {"corp": {"certfile": "our.pem", "keyfile": "our.key"}},
            "client-profile": {"p": {"tls": "corp"}},
            "cluster": {"prod": {"servers": ["a:9092"], "client-profile": "p"}},
        },
        "a test",
    )
    settings = client_settings(config, ["a:9092"], "p")

    assert settings["ssl.certificate.location"] == "our.pem"
    assert settings["ssl.key.location"] == "our.key"
