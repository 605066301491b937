"""`/metrics`: what Prometheus is told."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.support.example_cluster import STRANGE, filled_state, ms, new_state
from tests.support.metrics_page import NOW_MS, lines_of, metrics_of, page_of
from tests.support.scenario import commit_table, head_table
from warren import __version__
from warren.clusters.keeper import Keeper
from warren.config.model import Metrics as Settings
from warren.serve.metrics import Metrics
from warren.serve.metrics.formats import TEXT
from warren.windows.rows import COMMIT_ROWS, RowKind


@pytest.fixture(scope="module")
def page() -> str:
    return page_of(metrics_of(filled_state()))


def test_the_newest_committed_offset_of_each_partition_that_has_one(page: str) -> None:
    assert lines_of(page, "burrow_kafka_consumer_current_offset") == [
        '{cluster="local",consumer_group="billing",partition="0",topic="orders"} 100',
        '{cluster="local",consumer_group="billing",partition="1",topic="orders"} 50',
        '{cluster="local",consumer_group="burrow-local",partition="0",topic="__consumer_offsets"} 24',
        '{cluster="local",consumer_group="newcomer",partition="0",topic="orders"} 90',
        '{cluster="local",consumer_group="reporting",partition="0",topic="orders"} 220',
        '{cluster="local",consumer_group="settling",partition="0",topic="payments"} 200',
        f'{{cluster="local",consumer_group="{STRANGE}",partition="1",topic="orders"}} 50',
    ]


def test_the_total_lag_of_each_group(page: str) -> None:
    assert lines_of(page, "burrow_kafka_consumer_lag_total") == [
        '{cluster="local",consumer_group="billing"} 300',
        '{cluster="local",consumer_group="burrow-local"} 0',
        '{cluster="local",consumer_group="newcomer"} 310',
        '{cluster="local",consumer_group="reporting"} 180',
        '{cluster="local",consumer_group="settling"} 800',
        f'{{cluster="local",consumer_group="{STRANGE}"}} 0',
    ]


def test_the_lag_of_each_partition_committed_to_or_not(page: str) -> None:
    assert lines_of(page, "burrow_kafka_consumer_partition_lag") == [
        '{cluster="local",consumer_group="billing",partition="0",topic="orders"} 300',
        '{cluster="local",consumer_group="billing",partition="1",topic="orders"} 0',
        '{cluster="local",consumer_group="burrow-local",partition="0",topic="__consumer_offsets"} 0',
        '{cluster="local",consumer_group="newcomer",partition="0",topic="orders"} 310',
        '{cluster="local",consumer_group="newcomer",partition="1",topic="orders"} 0',
        '{cluster="local",consumer_group="reporting",partition="0",topic="orders"} 180',
        '{cluster="local",consumer_group="reporting",partition="1",topic="orders"} 0',
        '{cluster="local",consumer_group="settling",partition="0",topic="payments"} 800',
        f'{{cluster="local",consumer_group="{STRANGE}",partition="0",topic="orders"}} 0',
        f'{{cluster="local",consumer_group="{STRANGE}",partition="1",topic="orders"}} 0',
    ]


def test_the_status_of_each_group_is_burrows_number(page: str) -> None:
    assert lines_of(page, "burrow_kafka_consumer_status") == [
        '{cluster="local",consumer_group="billing"} 3',
        '{cluster="local",consumer_group="burrow-local"} 1',
        '{cluster="local",consumer_group="newcomer"} 3',
        '{cluster="local",consumer_group="reporting"} 2',
        '{cluster="local",consumer_group="settling"} 3',
        f'{{cluster="local",consumer_group="{STRANGE}"}} 1',
    ]


def test_the_status_of_each_partition_is_told_also_while_its_window_is_not_full(page: str) -> None:
    assert lines_of(page, "burrow_kafka_topic_partition_status") == [
        '{cluster="local",consumer_group="billing",partition="0",topic="orders"} 5',
        '{cluster="local",consumer_group="billing",partition="1",topic="orders"} 1',
        '{cluster="local",consumer_group="burrow-local",partition="0",topic="__consumer_offsets"} 1',
        '{cluster="local",consumer_group="newcomer",partition="0",topic="orders"} 4',
        '{cluster="local",consumer_group="newcomer",partition="1",topic="orders"} 1',
        '{cluster="local",consumer_group="reporting",partition="0",topic="orders"} 2',
        '{cluster="local",consumer_group="reporting",partition="1",topic="orders"} 1',
        '{cluster="local",consumer_group="settling",partition="0",topic="payments"} 6',
        f'{{cluster="local",consumer_group="{STRANGE}",partition="0",topic="orders"}} 1',
        f'{{cluster="local",consumer_group="{STRANGE}",partition="1",topic="orders"}} 1',
    ]


def test_where_each_partition_of_each_topic_ends(page: str) -> None:
    assert lines_of(page, "burrow_kafka_topic_partition_offset") == [
        '{cluster="local",partition="0",topic="__consumer_offsets"} 24',
        '{cluster="local",partition="0",topic="orders"} 400',
        '{cluster="local",partition="1",topic="orders"} 50',
        '{cluster="local",partition="0",topic="payments"} 1000',
    ]


def test_a_partition_whose_end_is_not_known_has_no_line_and_shifts_no_other() -> None:
    state = new_state()
    state.apply_head_rows(head_table({"orders": [-1, 7]}, ms(0)), now_ms=ms(0))
    page = page_of(metrics_of(state))

    ends = lines_of(page, "burrow_kafka_topic_partition_offset")
    assert ends == ['{cluster="local",partition="1",topic="orders"} 7']
    assert lines_of(page, "warren_topic_end_offsets") == []


def test_the_lag_of_groups_in_seconds(page: str) -> None:
    assert lines_of(page, "warren_group_lag_seconds") == [
        '{cluster="local",consumer_group="billing"} 30.9',
        '{cluster="local",consumer_group="burrow-local"} 0',
        '{cluster="local",consumer_group="newcomer"} 31',
        '{cluster="local",consumer_group="reporting"} 18.9',
        '{cluster="local",consumer_group="settling"} 30.32',
        f'{{cluster="local",consumer_group="{STRANGE}"}} 0',
    ]


def test_the_lag_of_partitions_in_seconds_where_it_is_known(page: str) -> None:
    lines = lines_of(page, "warren_partition_lag_seconds")

    assert lines[0] == '{cluster="local",consumer_group="billing",partition="0",topic="orders"} 30.9'
    assert len(lines) == 7


def test_the_ends_of_a_topic_added_up(page: str) -> None:
    assert '{cluster="local",topic="orders"} 450' in lines_of(page, "warren_topic_end_offsets")


def test_a_family_without_lines_has_no_head_either() -> None:
    page = page_of(metrics_of(new_state()))

    assert "burrow_kafka" not in page
    assert "warren_build_info" in page


def test_each_family_stands_once_with_all_clusters() -> None:
    other = new_state()
    other.name = "other"
    other.apply_head_rows(head_table({"orders": [7]}, ms(0)), now_ms=ms(0))
    page = page_of(metrics_of(filled_state(), other))

    assert page.count("# TYPE burrow_kafka_topic_partition_offset gauge\n") == 1
    ends = lines_of(page, "burrow_kafka_topic_partition_offset")
    assert ends[-1] == '{cluster="other",partition="0",topic="orders"} 7'


# -- what comes and goes ---------------------------------------------------------------------------------------------


def test_a_deleted_group_vanishes_at_once() -> None:
    state = filled_state()
    metrics = metrics_of(state)
    assert 'consumer_group="billing"' in page_of(metrics)

    state.delete_group("billing")

    assert 'consumer_group="billing"' not in page_of(metrics)


def test_a_deleted_topic_vanishes_at_once_also_if_no_group_reads_it() -> None:
    state = new_state()
    metrics = metrics_of(state)
    state.apply_head_rows(head_table({"orders": [7], "old": [3]}, ms(0)), now_ms=ms(0))
    assert 'topic="old"' in page_of(metrics)

    state.apply_head_rows(head_table({"orders": [7]}, ms(1)), now_ms=ms(1))

    assert 'topic="old"' not in page_of(metrics)


def test_a_new_group_is_there_at_once() -> None:
    state = filled_state()
    metrics = metrics_of(state)
    page_of(metrics)

    table = commit_table(("fresh", "orders", 0, 400, ms(31)), source_partition=1)
    state.apply_commit_rows("local", table, now_ms=NOW_MS)

    assert 'consumer_group="fresh"' in page_of(metrics)


def test_a_page_is_made_once_for_those_who_ask_within_a_second() -> None:
    moments = iter([NOW_MS, NOW_MS + 999, NOW_MS + 1_000])
    metrics = metrics_of(filled_state(), now_ms=lambda: next(moments))

    first, second, third = (metrics.body(TEXT, gzip=False) for _ in range(3))

    assert second is first
    assert third is not first


def test_another_cluster_behind_the_same_address_leaves_nothing_of_the_first() -> None:
    state = new_state()
    metrics = metrics_of(state)
    for cluster_id, topic in (("first", "orders"), ("second", "invoices")):
        table = head_table({topic: [7]}, ms(0))
        ids = pa.array([cluster_id], pa.string())
        table = table.set_column(table.column_names.index("cluster_id"), "cluster_id", ids)
        state.apply_head_rows(table, now_ms=ms(0))
        page = page_of(metrics)

    assert 'topic="invoices"' in page
    assert 'topic="orders"' not in page


# -- what is left out on purpose -------------------------------------------------------------------------------------


def test_without_partitions_groups_and_topics_are_told() -> None:
    page = page_of(metrics_of(filled_state(), partitions=False))

    assert "partition=" not in page
    assert len(lines_of(page, "burrow_kafka_consumer_lag_total")) == 6
    assert len(lines_of(page, "burrow_kafka_consumer_status")) == 6
    assert len(lines_of(page, "warren_group_lag_seconds")) == 6
    assert len(lines_of(page, "warren_topic_end_offsets")) == 3


def test_of_many_groups_only_the_worst_have_lines_of_their_own() -> None:
    page = page_of(metrics_of(filled_state(), **{"top-groups": 2}))

    assert lines_of(page, "burrow_kafka_consumer_lag_total") == [
        '{cluster="local",consumer_group="billing"} 300',
        '{cluster="local",consumer_group="settling"} 800',
    ]
    assert len(lines_of(page, "burrow_kafka_consumer_partition_lag")) == 3
    assert len(lines_of(page, "burrow_kafka_topic_partition_offset")) == 4


def test_the_other_groups_are_told_together() -> None:
    page = page_of(metrics_of(filled_state(), **{"top-groups": 2}))

    assert lines_of(page, "warren_other_groups") == [
        '{cluster="local",status="OK"} 2.0',
        '{cluster="local",status="WARN"} 1.0',
        '{cluster="local",status="ERR"} 1.0',
    ]
    assert lines_of(page, "warren_other_groups_lag_records") == ['{cluster="local"} 490.0']
    assert '{cluster="local",status="ERR"} 3.0' in lines_of(page, "warren_groups")


def test_another_setting_counts_from_the_next_page_on() -> None:
    now = [Settings(), Settings(partitions=False), Settings()]
    metrics = Metrics({"local": filled_state()}, lambda: NOW_MS, dict, now.pop)

    assert ["partition=" in page_of(metrics) for _ in range(3)] == [True, False, True]


def test_no_group_is_among_the_others_when_all_have_lines(page: str) -> None:
    assert "warren_other_groups" not in page


# -- how Warren is doing ---------------------------------------------------------------------------------------------


def test_how_well_a_cluster_is_known_is_told(page: str) -> None:
    assert lines_of(page, "warren_cluster_ready") == ['{cluster="local"} 1.0']
    assert lines_of(page, "warren_offsets_behind_records") == ['{cluster="local"} 0.0']
    assert lines_of(page, "warren_offsets_stale_partitions") == [
        '{cluster="local",reason="transaction"} 0.0',
        '{cluster="local",reason="unread"} 0.0',
    ]


def test_groups_are_counted_by_status(page: str) -> None:
    assert lines_of(page, "warren_groups") == [
        '{cluster="local",status="OK"} 2.0',
        '{cluster="local",status="WARN"} 1.0',
        '{cluster="local",status="ERR"} 3.0',
    ]


def test_records_that_could_not_be_decoded_are_counted_by_kind(page: str) -> None:
    assert lines_of(page, "warren_undecodable_records_total") == ['{cluster="local",kind="unknown key type"} 3.0']


def test_batches_and_records_read_are_counted(page: str) -> None:
    assert lines_of(page, "warren_batches_total") == ['{cluster="local",consumer="local"} 4.0']
    assert lines_of(page, "warren_offsets_read_records_total") == ['{cluster="local",consumer="local"} 19.0']


def test_how_late_the_reading_is_is_told_in_seconds() -> None:
    state = filled_state()
    planned = [{"kind": RowKind.PLANNED, "timestamp_ms": [ms(30.5)]}]
    state.apply_commit_rows("local", pa.Table.from_pylist(planned, COMMIT_ROWS), now_ms=NOW_MS)
    page = page_of(metrics_of(state))

    assert lines_of(page, "warren_batch_age_seconds") == ['{cluster="local",consumer="local"} 0.5']
    assert lines_of(page, "warren_offsets_delay_seconds") == ['{cluster="local",consumer="local"} 0.5']


def test_the_age_of_the_snapshot_is_told_once_there_is_one(tmp_path: Path, page: str) -> None:
    state = filled_state()
    Keeper({"local": state}, tmp_path, 30, lambda: ms(20)).save()

    assert lines_of(page_of(metrics_of(state)), "warren_snapshot_age_seconds") == ['{cluster="local"} 11.0']
    assert lines_of(page, "warren_snapshot_age_seconds") == []


def test_a_restored_cluster_tells_the_age_of_its_snapshot(tmp_path: Path) -> None:
    Keeper({"local": filled_state()}, tmp_path, 30, lambda: ms(20)).save()
    state = new_state()
    Keeper({"local": state}, tmp_path, 30, lambda: ms(25)).restore()

    assert lines_of(page_of(metrics_of(state)), "warren_snapshot_age_seconds") == ['{cluster="local"} 11.0']


def test_queries_are_told_with_their_restarts(page: str) -> None:
    assert '{query="commits-local"} 2.0' in lines_of(page, "warren_query_restarts_total")
    assert '{query="commits-local"} 0.0' in lines_of(page, "warren_query_running")
    assert '{query="heads-local"} 1.0' in lines_of(page, "warren_query_running")


def test_http_requests_are_counted_with_their_seconds(page: str) -> None:
    assert lines_of(page, "warren_http_requests_total") == [
        '{api="v1",code="404",method="GET"} 1.0',
        '{api="v3",code="200",method="GET"} 7.0',
    ]
    assert '{api="v3",code="200",method="GET"} 0.25' in lines_of(page, "warren_http_request_seconds_total")


def test_the_version_and_the_process_are_told(page: str) -> None:
    assert lines_of(page, "warren_build_info") == [f'{{version="{__version__}"}} 1.0']
    assert lines_of(page, "process_resident_memory_bytes")
