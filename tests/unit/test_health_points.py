"""Points about Warren itself: the figures of `/metrics`, of every cluster and of the process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.support.example_cluster import filled_state, ms, new_state
from tests.support.metrics_page import lines_of, metrics_of, page_of
from tests.support.process_health import ALERTS, NOW_MS, PROCESS_HEALTH, USED, health_table
from warren.clusters.keeper import Keeper
from warren.clusters.state import HEADS, ClusterState
from warren.health import AlertHealth, ProcessHealth, cluster_health, used_by_process
from warren.sinks.families import FAMILIES
from warren.sinks.health_points import CLUSTER, HEALTH_POINTS, health_points
from warren.sinks.points import FIRST, POINTS
from warren.windows.rows import COMMIT_ROWS, RowKind


def rows_of(state: ClusterState, process: ProcessHealth = PROCESS_HEALTH) -> list[dict[str, Any]]:
    """The cluster's and the process', without what they do not have."""
    return [
        {name: value for name, value in row.items() if value is not None}
        for row in health_table(state, process).to_pylist()
    ]


def read_state(tmp_path: Path) -> ClusterState:
    """One of which everything can be told."""
    state = filled_state()
    planned = [{"kind": RowKind.PLANNED, "timestamp_ms": [ms(30.5)]}]
    state.apply_commit_rows("local", pa.Table.from_pylist(planned, COMMIT_ROWS), now_ms=NOW_MS)
    Keeper({"local": state}, tmp_path, 30, lambda: ms(20)).save()
    return state


def test_a_cluster_is_told_with_its_groups_and_how_far_it_is_read(tmp_path: Path) -> None:
    cluster, _ = rows_of(read_state(tmp_path))

    assert cluster == {
        "measurement": "warren_cluster", "time_ms": NOW_MS, "instance": "warren-1:8000", "cluster": "local",
        "ready": 1, "reachable": 1, "groups_ok": 2, "groups_warn": 1, "groups_err": 3, "delay_seconds": 0.5,
        "behind_records": 0, "read_records": 19, "stale_partitions": 0, "undecodable_records": 3,
        "snapshot_age_seconds": 11.0, "open_incidents": 2,
    }  # fmt: skip


def test_the_process_is_told_with_its_queries_and_notifiers_together() -> None:
    _, process = rows_of(filled_state())

    assert process == {
        "measurement": "warren_process", "time_ms": NOW_MS, "instance": "warren-1:8000", "leader": 1,
        "queries_running": 1, "queries_failing": 1, "query_restarts": 2, "notifier_waiting": 3, "notifier_failed": 4,
        "memory_bytes": 100_000_000, "cpu_seconds": 12.5, "open_files": 40,
    }  # fmt: skip


def test_figures_are_those_of_the_page_added_up(tmp_path: Path) -> None:
    state = read_state(tmp_path)
    [cluster, _], page = rows_of(state), page_of(metrics_of(state))

    for field, family in FAMILIES[CLUSTER].items():
        if family not in ("warren_groups", "warren_incidents_open"):  # by status; only with alerts
            lines = lines_of(page, family)
            assert cluster[field] == sum(float(line.split()[-1]) for line in lines), family
            assert lines


def test_a_cluster_that_is_not_ready_is_told_without_its_groups() -> None:
    cluster, _ = rows_of(new_state())

    assert (cluster["ready"], cluster["reachable"]) == (0, 1)
    assert not {"groups_ok", "groups_warn", "groups_err", "delay_seconds", "snapshot_age_seconds"} & cluster.keys()


def test_a_cluster_that_cannot_be_read_is_told() -> None:
    state = filled_state()
    state.note_failure(HEADS, "no broker answers", now_ms=NOW_MS)
    cluster, _ = rows_of(state)

    assert (cluster["ready"], cluster["reachable"]) == (1, 0)


def test_a_cluster_is_as_late_as_its_latest_module() -> None:
    health = cluster_health(filled_state(), None, now_ms=NOW_MS)
    module = health.modules["local"]
    modules = {str(at): module._replace(delay_s=delay_s, records=10) for at, delay_s in enumerate((2.0, None, 7.0))}
    table = health_points({"local": health._replace(modules=modules)}, PROCESS_HEALTH, at_ms=NOW_MS)

    assert table.column("delay_seconds").to_pylist() == [7.0, None]
    assert table.column("read_records").to_pylist() == [30, None]


def test_what_the_database_of_alerts_cannot_tell_is_not_0() -> None:
    unknown = PROCESS_HEALTH._replace(alerts=AlertHealth(is_leader=False, open_incidents=None, notifiers=None))
    cluster, process = rows_of(filled_state(), unknown)

    assert "open_incidents" not in cluster
    assert process["leader"] == 0
    assert not {"notifier_waiting", "notifier_failed"} & process.keys()


def test_a_cluster_without_incidents_has_none_open() -> None:
    calm = PROCESS_HEALTH._replace(alerts=ALERTS._replace(open_incidents={}))

    assert rows_of(filled_state(), calm)[0]["open_incidents"] == 0


def test_this_process_uses_something() -> None:
    assert min(used_by_process()[name] for name in USED) > 0


@pytest.mark.parametrize("table", [health_table(new_state()), filled_state().points(now_ms=NOW_MS).as_table()])
def test_every_point_has_exactly_one_of_the_fields_that_come_first(table: pa.Table) -> None:
    first = table.select([name for name in FIRST if name in table.column_names]).to_pylist()

    assert {sum(value is not None for value in row.values()) for row in first} == {1}
    assert table.schema in (POINTS, HEALTH_POINTS)
