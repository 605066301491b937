"""Every query of the dashboards for InfluxDB, against a real one with the points of Warren and those of telegraf."""

from __future__ import annotations

import re
import time
from base64 import b64encode
from collections.abc import Iterator
from statistics import median
from typing import Any

import pytest

from tests.support.grafana import (
    EVERYTHING,
    Chosen,
    Found,
    Key,
    Target,
    Variable,
    as_regex,
    assert_finds_only_what_was_chosen,
    filled,
    tag_values,
    targets,
    variables,
)
from tests.support.servers import InfluxDB
from tests.support.servers.influxdb import PASSWORD, USER
from tests.support.servers.server import with_query
from tests.support.telegraf_points import CHOSEN, as_line, points, tags_of

WARREN, TELEGRAF = "warren", "telegraf"
TELEGRAF_TARGETS = [target for target in targets("influxdb") if target.dashboard != "warren"]
NOW_MS = time.time_ns() // 1_000_000
BUILT_IN = {
    "top": "20",
    "timeFilter": f"time >= {NOW_MS - 30 * 60 * 1000}ms and time <= {NOW_MS}ms",
    "__interval": "30s",
}


@pytest.fixture(scope="module")
def influxdb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InfluxDB]:
    with InfluxDB(tmp_path_factory.mktemp("influxdb")) as server:
        for database in (WARREN, TELEGRAF):
            server.query(f"CREATE DATABASE {database}")
            lines = (as_line(point) for point in points(by_warren=database == WARREN, until_ms=NOW_MS))
            write(server, database, "\n".join(lines))
        yield server


def write(server: InfluxDB, database: str, lines: str) -> None:
    login = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    path = with_query("/write", db=database, precision="ms")
    answer = server.ask(path, lines.encode(), headers={"Authorization": f"Basic {login}"})
    assert answer.status == 204, answer.body


def query_of(target: Target, chosen: Chosen) -> str:
    return filled(target.target["query"], chosen, BUILT_IN, as_regex, ".*")


def found_by(server: InfluxDB, query: str, database: str = WARREN) -> Found:
    """Return the rows that have a value, by tags; a table has some of its tags in columns."""
    found: dict[Key, list[list[Any]]] = {}
    for series in server.query(query, database):
        for row in series["values"]:
            cells = dict(zip(series["columns"], row, strict=True))
            tags = {name: cells.pop(name) for name in EVERYTHING if name in cells} | series.get("tags", {})
            if any(value is not None for name, value in cells.items() if name != "time"):
                found.setdefault(tuple(sorted(tags.items())), []).append(list(cells.values()))
    return found


@pytest.mark.parametrize("target", targets("influxdb"), ids=str)
def test_a_query_finds_something(influxdb: InfluxDB, target: Target) -> None:
    assert found_by(influxdb, query_of(target, EVERYTHING))


@pytest.mark.parametrize("target", TELEGRAF_TARGETS, ids=str)
def test_a_query_finds_what_telegraf_writes_which_is_no_lag_in_seconds(influxdb: InfluxDB, target: Target) -> None:
    found = found_by(influxdb, query_of(target, EVERYTHING), TELEGRAF)

    needs_seconds = "lag_seconds" in target.target["query"] and "status_code" not in target.target["query"]
    assert bool(found) != needs_seconds


@pytest.mark.parametrize("target", targets("influxdb"), ids=str)
def test_a_query_finds_only_what_was_chosen(influxdb: InfluxDB, target: Target) -> None:
    [measurement] = set(re.findall(r'FROM "(\w+)"', target.target["query"]))

    assert_finds_only_what_was_chosen(
        target, tags_of(measurement), CHOSEN, lambda chosen: found_by(influxdb, query_of(target, chosen))
    )


def test_groups_of_any_name_can_be_chosen(influxdb: InfluxDB) -> None:
    found = found_by(influxdb, query_of(named("group", "Unread records")[0], CHOSEN))

    assert tag_values(found, "group") == set(CHOSEN["group"])


@pytest.mark.parametrize("variable", variables("influxdb"), ids=str)
def test_a_variable_has_values(influxdb: InfluxDB, variable: Variable) -> None:
    for database in (WARREN, TELEGRAF) if variable.dashboard != "warren" else (WARREN,):
        assert found_by(influxdb, filled(variable.query, EVERYTHING, BUILT_IN, as_regex, ".*"), database)


def named(dashboard: str, panel: str) -> list[Target]:
    return [one for one in targets("influxdb") if (one.dashboard, one.panel) == (dashboard, panel)]


def test_groups_are_counted_by_their_newest_status(influxdb: InfluxDB) -> None:
    counts = {
        target.target["alias"]: influxdb.query(query_of(target, EVERYTHING), WARREN)[0]["values"][0][1]
        for target in named("overview", "Groups by status")[:3]
    }

    assert counts == {"OK": 4, "WARN": 4, "ERR": 4}


def test_a_group_in_trouble_has_its_status_and_the_time_when_it_was_last_ok(influxdb: InfluxDB) -> None:
    trouble, last_ok = named("overview", "Groups in trouble, the worst first")

    series = influxdb.query(query_of(trouble, EVERYTHING), WARREN)
    assert {one["tags"]["group"]: one["values"][0][1] for one in series} == {
        "slow": 3,
        "gone": 4,
        "reports": 3,
        "stuck": 4,
    }
    series = influxdb.query(query_of(last_ok, EVERYTHING), WARREN)
    times_ms = {one["tags"]["group"]: one["values"][0][0] for one in series}
    assert times_ms["billing"] - times_ms["gone"] == 290_000


def test_the_groups_furthest_behind_have_their_names_in_columns(influxdb: InfluxDB) -> None:
    [top] = named("overview", "Groups furthest behind")
    [table] = influxdb.query(query_of(top, EVERYTHING), WARREN)

    assert table["columns"] == ["time", "lag", "cluster", "group"]
    rows = {tuple(row[1:]) for row in table["values"]}
    assert rows >= {(2900, "test", "stuck"), (1740, "prod", "stuck"), (1160, "prod", "gone"), (580, "prod", "slow")}


def health(influxdb: InfluxDB, panel: str) -> dict[tuple[str, ...], list[float]]:
    """Return the values of each series of a panel about Warren itself, by the values of its tags."""
    series = influxdb.query(query_of(named("warren", panel)[0], EVERYTHING), WARREN)
    return {tuple(one["tags"].values()): [row[1] for row in one["values"] if row[1] is not None] for one in series}


def newest_health(influxdb: InfluxDB, panel: str) -> dict[tuple[str, ...], float]:
    return {tags: values[-1] for tags, values in health(influxdb, panel).items()}


def test_each_warren_reports_which_clusters_it_can_read(influxdb: InfluxDB) -> None:
    found = newest_health(influxdb, "Cluster can be read")

    assert {tags for tags, value in found.items() if not value} == {("test", "warren-2:8000")}
    assert len(found) == 4


def test_one_of_several_warrens_sends_alerts(influxdb: InfluxDB) -> None:
    assert newest_health(influxdb, "Sends alerts") == {("warren-1:8000",): 1, ("warren-2:8000",): 0}


def test_incidents_that_two_warrens_report_are_not_added_up(influxdb: InfluxDB) -> None:
    assert newest_health(influxdb, "Open incidents") == {("prod",): 3, ("test",): 3}


def test_records_read_and_cpu_time_are_rates_per_second(influxdb: InfluxDB) -> None:
    """The median: the last step may not be complete."""
    assert median(health(influxdb, "Records read")["prod", "warren-1:8000"]) == pytest.approx(3)
    assert median(health(influxdb, "CPU")[("warren-1:8000",)]) == pytest.approx(0.5)
