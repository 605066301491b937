"""How InfluxDB is asked, in InfluxQL: of what telegraf's burrow plugin or Warren's own sink has written.

The fields `lag_seconds` and `reason` are Warren's, and so is all about Warren itself; with telegraf's points what shows
them is empty.
"""

from __future__ import annotations

from collections.abc import Sequence

from grafana_foundation_sdk.builders.dashboard import QueryVariable
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.dashboard import DataTransformerConfig, MatcherConfig

from dashboards.looks import TELEGRAF_CODES
from dashboards.source import ADDED_UP, Asked, Source, chooser, merged, only_with, organized, reference
from dashboards.telegraf import (
    CLUSTER,
    ERR_CODE,
    GROUP,
    OF_GROUP,
    OF_PARTITION,
    OF_READER,
    OF_READING,
    OF_TOPIC,
    OF_WARREN,
    OK_CODE,
    PARTITION,
    PROCESS,
    TOPIC,
    WARN_CODE,
)

PLUGIN = "influxdb"
STEP = "time($__interval)"


class Influx(Dataquery, Builder[Dataquery]):
    """A query in InfluxQL; the SDK has none of its own."""

    def __init__(self, query: str, *, name: str = "", as_table: bool = False, at: int = 0) -> None:
        self._query, self._name, self._as_table, self._at = query, name, as_table, at

    def build(self) -> Dataquery:
        return self

    def to_json(self) -> dict[str, object]:
        """As Grafana's plugin wants it."""
        return {
            "refId": "ABCDEFGH"[self._at],
            "datasource": reference(PLUGIN),
            "rawQuery": True,
            "query": self._query,
            "resultFormat": "table" if self._as_table else "time_series",
            "alias": self._name,
        }


# -- expressions -----------------------------------------------------------------------------------------------------


def chosen(*tags: str) -> str:
    """That tags have values that were chosen, within the time range."""
    return " AND ".join([*(f'"{one}" =~ /^${one}$/' for one in tags), "$timeFilter"])


def grouped(*by: str) -> str:
    return ", ".join(one if "(" in one else f'"{one}"' for one in by)


def select(what: str, measurement: str, tags: Sequence[str], by: Sequence[str], and_also: str = "") -> str:
    where = f"{chosen(*tags)}{and_also}"
    return f'SELECT {what} FROM "{measurement}" WHERE {where} GROUP BY {grouped(*by)}'


def newest_statuses(*by: str) -> str:
    return select('last("status_code") AS "s"', GROUP, OF_GROUP, (*by, *OF_GROUP))


def counted(condition: str) -> str:
    """How many groups are in a status at the end of the range."""
    return f'SELECT count("s") FROM ({newest_statuses()}) WHERE {condition}'


def counted_over_time(code: int) -> str:
    return f'SELECT count("s") FROM ({newest_statuses(STEP)}) WHERE "s" = {code} AND $timeFilter GROUP BY {STEP}'


def speed_of_topics(*by: str) -> str:
    """Records a second, written to partitions and added up."""
    ends = select('non_negative_derivative(max("offset"), 1s) AS "d"', TOPIC, by[:2], (STEP, *OF_TOPIC, "partition"))
    return f'SELECT sum("d") FROM ({ends}) WHERE $timeFilter GROUP BY {grouped(STEP, *by)} fill(null)'


def added_lag(by: Sequence[str]) -> str:
    lags = select('last("lag") AS "l"', PARTITION, OF_READER, (STEP, *OF_PARTITION))
    return f'SELECT sum("l") FROM ({lags}) WHERE $timeFilter GROUP BY {grouped(STEP, *by)} fill(null)'


def over_time(what: str, measurement: str, tags: Sequence[str], by: Sequence[str], and_also: str = "") -> str:
    return f"{select(what, measurement, tags, (STEP, *by), and_also)} fill(null)"


# -- queries ---------------------------------------------------------------------------------------------------------


def named(by: Sequence[str]) -> str:
    return " ".join(f"$tag_{one}" for one in by)


def series(query: str, by: Sequence[str] = (), name: str = "") -> Asked:
    return Asked([Influx(query, name=name or named(by))])


def by_status(*queries: str) -> Asked:
    statuses = ("OK", "WARN", "ERR")
    return Asked([Influx(one, name=statuses[at], at=at) for at, one in enumerate(queries)])


def table(query: str, *columns: str) -> Asked:
    names = {one: one for one in columns}
    return Asked([Influx(query, as_table=True)], [organized(names, dropped=["Time"])])


def of_answer(at: str, transformation: DataTransformerConfig) -> DataTransformerConfig:
    """Do it with the answer to one of the queries only."""
    transformation.filter_val = MatcherConfig(id_val="byRefId", options=at)
    return transformation


LAST_SECONDS, LAST_OFFSET, LAST_LAG = 'last("lag_seconds") AS "l"', 'last("offset") AS "o"', 'last("lag") AS "l"'
SPEED = 'non_negative_derivative(max("offset"), 1s)'
NEWEST = 'last("status_code") AS "status", last("{lag}") AS "lag", last("lag_seconds") AS "seconds"'
REASON = 'last("reason") AS "reason"'
NEWEST_OF_GROUPS = select(f"{NEWEST.format(lag='total_lag')}, {REASON}", GROUP, OF_GROUP, OF_GROUP)
NEWEST_LAGS = select('last("total_lag") AS "lag"', GROUP, OF_GROUP, OF_GROUP)
NEWEST_OF_PARTITIONS = select(NEWEST.format(lag="lag"), PARTITION, OF_READER, OF_PARTITION)
NOT_OK = f' AND "status_code" <> {OK_CODE}'

TROUBLE = Asked(
    [
        Influx(
            f'SELECT "status", "lag", "seconds", "reason" FROM ({NEWEST_OF_GROUPS}) WHERE "status" <> {OK_CODE}'
            f" GROUP BY {grouped(*OF_GROUP)}",
            as_table=True,
        ),
        Influx(
            select('last("status_code") AS "code"', GROUP, OF_GROUP, OF_GROUP, f' AND "status_code" = {OK_CODE}'),
            as_table=True,
            at=1,
        ),
    ],
    [
        of_answer("A", organized({}, dropped=["Time"])),
        of_answer("B", organized({"Time": "last OK"}, dropped=["code"])),
        merged(),
        organized({one: one for one in ("cluster", "group", "status", "lag", "seconds", "reason", "last OK")}),
        only_with("status"),  # others were OK, too
    ],
)

ASKED = {
    "groups-by-status": by_status(*(counted(f'"s" = {code}') for code in (OK_CODE, WARN_CODE, ERR_CODE))),
    "total-lag": series(f'SELECT sum("lag") FROM ({NEWEST_LAGS})', name="records"),
    "worst-lag-seconds": series(
        f'SELECT max("l") FROM ({select(LAST_SECONDS, GROUP, OF_GROUP, OF_GROUP)})', name="age"
    ),
    "groups-in-trouble": series(counted(f'"s" <> {OK_CODE}'), name="groups"),
    "trouble": TROUBLE,
    "top": table(f'SELECT top("lag", "cluster", "group", $top) AS "lag" FROM ({NEWEST_LAGS})', *OF_GROUP, "lag"),
    "trouble-over-time": series(over_time('max("status_code")', GROUP, OF_GROUP, OF_GROUP, NOT_OK), OF_GROUP),
    "statuses-over-time": by_status(*(counted_over_time(code) for code in (OK_CODE, WARN_CODE, ERR_CODE))),
    "lag": series(over_time('max("total_lag")', GROUP, OF_GROUP, OF_GROUP), OF_GROUP),
    "lag-seconds": series(over_time('max("lag_seconds")', GROUP, OF_GROUP, OF_GROUP), OF_GROUP),
    "written": series(speed_of_topics("cluster"), ("cluster",)),
    "committed": series(over_time(SPEED, GROUP, OF_GROUP, OF_GROUP), OF_GROUP),
    "group-status": series(select('last("status_code")', GROUP, OF_GROUP, OF_GROUP), OF_GROUP),
    "group-lag-now": series(select('last("total_lag")', GROUP, OF_GROUP, OF_GROUP), OF_GROUP),
    "group-lag-seconds-now": series(select('last("lag_seconds")', GROUP, OF_GROUP, OF_GROUP), OF_GROUP),
    "group-partitions": series(select('last("partition_count")', GROUP, OF_GROUP, OF_GROUP), OF_GROUP),
    "group-status-over-time": series(over_time('max("status_code")', GROUP, OF_GROUP, OF_GROUP), OF_GROUP),
    "group-lag": series(over_time('max("total_lag")', GROUP, OF_GROUP, OF_GROUP), OF_GROUP),
    "group-lag-seconds": series(over_time('max("lag_seconds")', GROUP, OF_GROUP, OF_GROUP), OF_GROUP),
    "group-topics": series(added_lag(OF_READER), OF_READER),
    "group-committed": series(over_time(SPEED, GROUP, OF_GROUP, OF_GROUP), OF_GROUP),
    "partition-statuses": series(
        over_time('max("status_code")', PARTITION, OF_READER, OF_PARTITION, NOT_OK), OF_PARTITION[1:]
    ),
    "partition-heat": series(over_time('max("lag")', PARTITION, OF_READER, OF_PARTITION), OF_PARTITION[1:]),
    "partition-table": table(
        select(f'{NEWEST.format(lag="lag")}, last("offset") AS "offset", {REASON}', PARTITION, OF_READER, OF_PARTITION),
        *(*OF_PARTITION, "status", "lag", "seconds", "offset", "reason"),
    ),
    "topic-written-now": series(speed_of_topics(*OF_TOPIC), OF_TOPIC),
    "topic-partitions": series(
        f'SELECT count("o") FROM ({select(LAST_OFFSET, TOPIC, OF_TOPIC, (*OF_TOPIC, "partition"))})'
        f" GROUP BY {grouped(*OF_TOPIC)}",
        OF_TOPIC,
    ),
    "topic-groups": series(
        f'SELECT count("l") FROM ({select(LAST_LAG, PARTITION, OF_READER, OF_READER)}) GROUP BY {grouped(*OF_TOPIC)}',
        OF_TOPIC,
    ),
    "topic-readers": table(
        'SELECT max("status") AS "status", sum("lag") AS "lag", max("seconds") AS "seconds"'
        f" FROM ({NEWEST_OF_PARTITIONS}) GROUP BY {grouped(*OF_READER)}",
        *(*OF_TOPIC, "group", "status", "lag", "seconds"),
    ),
    "topic-written": series(speed_of_topics(*OF_TOPIC), OF_TOPIC),
    "topic-lag": series(added_lag(OF_READER), OF_READER),
    "topic-lag-seconds": series(over_time('max("lag_seconds")', PARTITION, OF_READER, OF_READER), OF_READER),
    "topic-written-partitions": series(
        over_time(SPEED, TOPIC, OF_TOPIC, (*OF_TOPIC, "partition")), (*OF_TOPIC, "partition")
    ),
    "topic-heat": series(added_lag((*OF_TOPIC, "partition")), ("topic", "partition")),
}

NEWEST_INCIDENTS = select('last("open_incidents") AS "i"', CLUSTER, OF_READING, OF_READING)


def of_reading(what: str) -> Asked:
    """Over time, of each cluster by each Warren."""
    return series(over_time(what, CLUSTER, OF_READING, OF_READING), OF_READING)


def of_warren(what: str) -> Asked:
    """Over time, of each Warren."""
    return series(over_time(what, PROCESS, OF_WARREN, OF_WARREN), OF_WARREN)


def growth(counter: str, time: str) -> str:
    """Of a counter that begins again with each start, in so much time."""
    return f'non_negative_derivative(max("{counter}"), {time})'


WARREN = {
    "leader": series(select('last("leader")', PROCESS, OF_WARREN, OF_WARREN), OF_WARREN),
    "ready": series(select('last("ready")', CLUSTER, OF_READING, OF_READING), OF_READING),
    "reachable": series(select('last("reachable")', CLUSTER, OF_READING, OF_READING), OF_READING),
    "incidents-now": series(f'SELECT max("i") FROM ({NEWEST_INCIDENTS}) GROUP BY {grouped("cluster")}', ("cluster",)),
    "reading-delay": of_reading('max("delay_seconds")'),
    "behind": of_reading('max("behind_records")'),
    "read-rate": of_reading(growth("read_records", "1s")),
    "stale": of_reading('max("stale_partitions")'),
    "undecodable": of_reading(growth("undecodable_records", "5m")),
    "restarts": of_warren(growth("query_restarts", "5m")),
    "failing": of_warren('max("queries_failing")'),
    "incidents": series(over_time('max("open_incidents")', CLUSTER, OF_READING, ("cluster",)), ("cluster",)),
    "waiting": of_warren('max("notifier_waiting")'),
    "messages": of_warren(growth("notifier_failed", "5m")),
    "memory": of_warren('max("memory_bytes")'),
    "cpu": of_warren(growth("cpu_seconds", "1s")),
    "files": of_warren('max("open_files")'),
    "snapshot-age": of_reading('max("snapshot_age_seconds")'),
}


# -- variables -------------------------------------------------------------------------------------------------------


def variable(name: str, before: Sequence[str]) -> QueryVariable:
    """The values of a tag, on points that have those that were chosen before it."""
    wanted = {name, *before}
    if "instance" in wanted:
        measurement = CLUSTER
    else:
        measurement = TOPIC if wanted == {"cluster", "topic"} else PARTITION if "topic" in wanted else GROUP
    matching = " AND ".join(f'"{one}" =~ /^${one}$/' for one in before)
    where = f" WHERE {matching}" if matching else ""
    return chooser(PLUGIN, name, f'SHOW TAG VALUES FROM "{measurement}" WITH KEY = "{name}"{where}', ".*")


SOURCE = Source(
    name="influxdb",
    plugin=PLUGIN,
    status_codes=TELEGRAF_CODES,
    labels={"cluster": "cluster", "group": "group"},
    variable=variable,
    extras=(),
    asked={**ASKED, **WARREN},
    notes=ADDED_UP,
    interval="10s",
    steps="1m",
)
