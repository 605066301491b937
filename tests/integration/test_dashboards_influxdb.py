"""Every query of the dashboards for InfluxDB, asked of a real one with the points of Warren and those of telegraf."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from statistics import median
from typing import Any

import pytest

from tests.support.grafana import ALL, Chosen, Target, Variable, as_regex, filled, targets, variables
from tests.support.servers import InfluxDB
from tests.support.servers.influxdb import PASSWORD, USER
from tests.support.servers.server import with_query
from tests.support.telegraf_points import INSTANCES, ODD, as_line, points

WARREN, TELEGRAF = "warren", "telegraf"
ALL_OF_IT: Chosen = {"cluster": ALL, "group": ALL, "topic": ALL, "instance": ALL}
SOME: Chosen = {"cluster": ["prod"], "group": ["gone", ODD], "topic": ["orders"], "instance": [INSTANCES[0]]}
OF_TELEGRAF = [one for one in targets("influxdb") if one.dashboard != "warren"]
BUILT_IN = {"top": "10", "timeFilter": "time >= now() - 30m", "__interval": "30s"}


@pytest.fixture(scope="module")
def influxdb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InfluxDB]:
    with InfluxDB(tmp_path_factory.mktemp("influxdb")) as server:
        for database in (WARREN, TELEGRAF):
            server.query(f"CREATE DATABASE {database}")
            write(server, database, "\n".join(as_line(one) for one in points(by_warren=database == WARREN)))
        yield server


def write(server: InfluxDB, database: str, lines: str) -> None:
    login = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    path = with_query("/write", db=database, precision="ms")
    answer = server.ask(path, lines.encode(), headers={"Authorization": f"Basic {login}"})
    assert answer.status == 204, answer.body


def asked(one: Target, chosen: Chosen) -> str:
    return filled(one.target["query"], chosen, BUILT_IN, as_regex, ".*")


def has_values(series: list[dict[str, Any]]) -> bool:
    """Something beside the time."""
    return any(value is not None for one in series for row in one["values"] for value in row[1:])


@pytest.mark.parametrize("one", targets("influxdb"), ids=str)
def test_a_query_finds_something(influxdb: InfluxDB, one: Target) -> None:
    assert has_values(influxdb.query(asked(one, ALL_OF_IT), WARREN))


@pytest.mark.parametrize("one", OF_TELEGRAF, ids=str)
def test_a_query_finds_something_that_telegraf_has_written_but_for_seconds(influxdb: InfluxDB, one: Target) -> None:
    found = influxdb.query(asked(one, ALL_OF_IT), TELEGRAF)

    of_seconds_alone = "lag_seconds" in one.target["query"] and "status_code" not in one.target["query"]
    assert has_values(found) != of_seconds_alone


@pytest.mark.parametrize("one", targets("influxdb"), ids=str)
def test_a_query_finds_only_what_was_chosen(influxdb: InfluxDB, one: Target) -> None:
    found = influxdb.query(asked(one, SOME), WARREN)

    tags = [series.get("tags", {}) for series in found]
    assert {one.get("cluster", "prod") for one in tags} <= {"prod"}
    assert {one.get("group", ODD) for one in tags} <= {"gone", ODD}
    assert {one.get("instance", INSTANCES[0]) for one in tags} <= {INSTANCES[0]}


def test_groups_of_any_name_can_be_chosen(influxdb: InfluxDB) -> None:
    lag = next(one for one in targets("influxdb") if (one.dashboard, one.panel) == ("group", "Unread records"))
    found = influxdb.query(asked(lag, SOME), WARREN)

    assert {one["tags"]["group"] for one in found} == {"gone", ODD}


@pytest.mark.parametrize("one", variables("influxdb"), ids=str)
def test_a_variable_has_values(influxdb: InfluxDB, one: Variable) -> None:
    for database in (WARREN, TELEGRAF) if one.dashboard != "warren" else (WARREN,):
        assert has_values(influxdb.query(filled(one.query, ALL_OF_IT, BUILT_IN, as_regex, ".*"), database))


def test_groups_are_counted_by_their_newest_status(influxdb: InfluxDB) -> None:
    counts = [one for one in targets("influxdb") if (one.dashboard, one.panel) == ("overview", "Groups by status")][:3]

    found = {one.target["alias"]: influxdb.query(asked(one, ALL_OF_IT), WARREN)[0]["values"][0][1] for one in counts}
    assert found == {"OK": 4, "WARN": 2, "ERR": 2}


def test_a_group_in_trouble_tells_its_status_and_when_it_was_ok(influxdb: InfluxDB) -> None:
    trouble, last_ok = (one for one in targets("influxdb") if one.panel == "Groups in trouble, the worst first")

    now = {one["tags"]["group"]: one["values"][0][1] for one in influxdb.query(asked(trouble, ALL_OF_IT), WARREN)}
    assert now == {"slow": 3, "gone": 4}
    ends = {one["tags"]["group"]: one["values"][0][0] for one in influxdb.query(asked(last_ok, ALL_OF_IT), WARREN)}
    assert ends["billing"] - ends["gone"] == 290_000


def test_the_groups_furthest_behind_come_out_with_their_names(influxdb: InfluxDB) -> None:
    top = next(one for one in targets("influxdb") if one.panel == "Groups furthest behind")
    [found] = influxdb.query(asked(top, ALL_OF_IT), WARREN)

    assert found["columns"] == ["time", "lag", "cluster", "group"]
    assert {tuple(row[1:]) for row in found["values"]} >= {(1160, "prod", "gone"), (580, "prod", "slow")}


def known(influxdb: InfluxDB, panel: str) -> dict[tuple[str, ...], list[float]]:
    """The values of each series of a panel about Warren itself, by its tags."""
    one = next(one for one in targets("influxdb") if (one.dashboard, one.panel) == ("warren", panel))
    return {
        tuple(series["tags"].values()): [row[1] for row in series["values"] if row[1] is not None]
        for series in influxdb.query(asked(one, ALL_OF_IT), WARREN)
    }


def newest(influxdb: InfluxDB, panel: str) -> dict[tuple[str, ...], float]:
    return {tags: values[-1] for tags, values in known(influxdb, panel).items()}


def test_each_warren_tells_which_clusters_it_can_read(influxdb: InfluxDB) -> None:
    found = newest(influxdb, "Cluster can be read")

    assert {tags for tags, value in found.items() if not value} == {("test", "warren-2:8000")}
    assert len(found) == 4


def test_of_several_warrens_one_sends(influxdb: InfluxDB) -> None:
    assert newest(influxdb, "Sends alerts") == {("warren-1:8000",): 1, ("warren-2:8000",): 0}


def test_incidents_are_not_counted_twice(influxdb: InfluxDB) -> None:
    """They are told by every Warren that watches the cluster."""
    assert newest(influxdb, "Open incidents") == {("prod",): 2, ("test",): 2}


def test_records_are_read_in_so_many_a_second_and_the_process_keeps_so_many_cores_busy(influxdb: InfluxDB) -> None:
    """Most of the time: the last step may not be whole."""
    assert median(known(influxdb, "Records read")["prod", "warren-1:8000"]) == pytest.approx(3)
    assert median(known(influxdb, "CPU")[("warren-1:8000",)]) == pytest.approx(0.5)
