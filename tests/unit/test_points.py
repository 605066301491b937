"""Points: what is taken of a cluster at one moment, by the names that telegraf has for it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.support.example_cluster import STRANGE, filled_state, ms, new_state
from warren.clusters.state import ClusterState
from warren.model import Status
from warren.sinks.choice import choice
from warren.sinks.points import (
    GROUP_POINTS,
    PARTITION_POINTS,
    POINTS,
    STATUS_CODES,
    TOPIC_POINTS,
    Points,
)

NOW_MS = ms(31)


@pytest.fixture(scope="module")
def state() -> ClusterState:
    return filled_state()


@pytest.fixture(scope="module")
def points(state: ClusterState) -> Points:
    return state.points(now_ms=NOW_MS)


def the(table: pa.Table, **tags: object) -> dict[str, Any]:
    [found] = [row for row in table.to_pylist() if tags.items() <= row.items()]
    return found


def test_a_group_is_what_its_verdict_says(state: ClusterState, points: Points) -> None:
    verdict = state.judge("billing", now_ms=NOW_MS)
    assert verdict is not None

    ends = [one.end for one in verdict.partitions if one.end]
    assert the(points.groups, group="billing") == {
        "measurement": "burrow_group",
        "time_ms": NOW_MS,
        "cluster": "local",
        "group": "billing",
        "status": verdict.status.name,
        "status_code": STATUS_CODES[verdict.status],
        "partition_count": len(verdict.partitions),
        "total_lag": verdict.total_lag,
        "lag": max(one.current_lag for one in verdict.partitions),
        "offset": sum(end.offset for end in ends),
        "timestamp": max(end.timestamp_ms for end in ends),
        "lag_seconds": the(points.groups, group="billing")["lag_seconds"],
        "reason": "stalled",
    }


def test_every_partition_is_what_the_verdict_says_of_it(state: ClusterState, points: Points) -> None:
    for group in state.groups():
        verdict = state.judge(group, now_ms=NOW_MS)
        for one in verdict.partitions if verdict else ():
            row = the(points.partitions, group=group, topic=one.topic, partition=one.partition)
            assert (row["status"], row["status_code"]) == (one.status.name, STATUS_CODES[one.status])
            assert row["lag"] == one.current_lag
            assert row["offset"] == (one.end.offset if one.end else 0)
            assert row["timestamp"] == (one.end.timestamp_ms if one.end else 0)
            assert row["owner"] == one.owner.host
            assert row["reason"] == one.rule.name.lower()


def test_groups_and_partitions_are_those_of_the_answers(state: ClusterState, points: Points) -> None:
    assert set(points.groups.column("group").to_pylist()) == set(state.groups())
    assert STRANGE in points.groups.column("group").to_pylist()


def test_ends_of_topics_that_are_known(state: ClusterState, points: Points) -> None:
    ends = {topic: state.topic_ends(topic) or [] for topic in state.topics()}
    expected = {(topic, i): end for topic, each in ends.items() for i, end in enumerate(each) if end >= 0}

    rows = points.topics.to_pylist()
    assert {(row["topic"], row["partition"]): row["offset"] for row in rows} == expected


def test_the_age_of_a_lag_is_left_out_where_it_is_not_known(points: Points) -> None:
    ages = points.partitions.column("lag_seconds").to_pylist()

    assert all(age is None or age >= 0 for age in ages)


def test_tables_have_their_schemas_also_when_nothing_is_known() -> None:
    for state in (filled_state(), new_state()):
        found = state.points(now_ms=NOW_MS)
        assert [one.schema for one in found] == [GROUP_POINTS, PARTITION_POINTS, TOPIC_POINTS]
        assert found.as_table().schema == POINTS


def test_one_table_has_the_points_of_all_three(points: Points) -> None:
    whole = points.as_table()

    assert whole.num_rows == sum(one.num_rows for one in points)
    for table in points:
        of = whole.filter(pa.compute.equal(whole.column("measurement"), table.column("measurement")[0]))
        assert of.select(table.column_names).to_pylist() == table.to_pylist()


def test_points_are_of_the_moment_that_is_asked_for_whoever_asked_before(state: ClusterState) -> None:
    state.survey(now_ms=NOW_MS - 500)  # an evaluation that is good enough for others

    assert set(state.points(now_ms=NOW_MS).groups.column("time_ms").to_pylist()) == {NOW_MS}


def test_rewind_has_a_number_of_its_own() -> None:
    assert STATUS_CODES[Status.REWIND] == 7
    assert len(set(STATUS_CODES.values())) == len(Status)


def test_a_choice_leaves_out_what_is_not_wanted(points: Points) -> None:
    found = choice("", "^billing$", "^orders$", partitions=True, topics=True).of(points)

    assert found.groups.column("group").to_pylist() == ["billing"]
    assert {(row["group"], row["topic"]) for row in found.partitions.to_pylist()} == {("billing", "orders")}
    assert set(found.topics.column("topic").to_pylist()) == {"orders"}


def test_a_choice_leaves_out_the_many(points: Points) -> None:
    found = choice("", "", "", partitions=False, topics=False).of(points)

    assert (found.partitions.num_rows, found.topics.num_rows) == (0, 0)
    assert found.groups == points.groups


def test_a_choice_is_of_clusters_too() -> None:
    wanted = choice("^prod", "", "", partitions=True, topics=True)

    assert [wanted.wants_cluster(name) for name in ("prod-1", "test")] == [True, False]
