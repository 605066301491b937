"""How Elasticsearch is asked: of documents as telegraf's elasticsearch output, or Warren's own sink, makes them.

Aggregations cannot tell the newest value of each series, nor add up what others have found. So tables show the worst
within the time range, and sums over partitions are left out. `top_metrics` could, but only some versions have it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from grafana_foundation_sdk.builders import elasticsearch as builders
from grafana_foundation_sdk.builders.dashboard import QueryVariable, TextBoxVariable
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import VariableOption
from grafana_foundation_sdk.models.elasticsearch import BucketAggregation, MetricAggregation, TermsOrder

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

PLUGIN = "elasticsearch"
TIME = "@timestamp"
SUFFIX = "${suffix}"
"""Nothing, or `.keyword` in an index whose tags are text."""
MANY = "500"

IN_RANGE = "Here it is the worst within the time range."
FURTHEST = "Here it is the lag of the partition that is furthest behind."

Metric = Builder[MetricAggregation]
Bucket = Builder[BucketAggregation]


# -- expressions -----------------------------------------------------------------------------------------------------


def tag(name: str) -> str:
    return f"tag.{name}{SUFFIX}"


def chosen(measurement: str, tags: Sequence[str], and_also: str = "") -> str:
    """A query in Lucene's words."""
    return " AND ".join([f"measurement_name:{measurement}", *(f"{tag(one)}:${one}" for one in tags)]) + and_also


def with_status(code: int) -> str:
    return f" AND {GROUP}.status_code:{code}"


def without_status(measurement: str) -> str:
    return f" AND NOT {measurement}.status_code:{OK_CODE}"


def highest(field: str, at: int = 1) -> builders.Max:
    return builders.Max().id(str(at)).field(field)


def lowest(field: str) -> builders.Min:
    return builders.Min().id("1").field(field)


def different(name: str) -> builders.UniqueCount:
    return builders.UniqueCount().id("1").field(tag(name))


def growth(field: str, time: str = "1s") -> list[Metric]:
    """How much it grows in so much time; the field itself is not shown."""
    settings = builders.ElasticsearchDerivativeSettings().unit(time)
    value = highest(field).hide(True)
    return [value, builders.Derivative().id("2").field("1").pipeline_agg("1").settings(settings)]


def by_tags(names: Sequence[str], size: str = MANY) -> list[Bucket]:
    """A bucket for each value, those with the highest first metric; `size` is that of the last."""
    sizes = [MANY if one != names[-1] else size for one in names]
    return [
        builders.Terms()
        .id(str(at))
        .field(tag(name))
        .settings(
            builders.ElasticsearchTermsSettings().order(TermsOrder.DESC).order_by("1").size(most).min_doc_count("1")
        )
        for at, (name, most) in enumerate(zip(names, sizes, strict=True), 10)
    ]


def by_time(*, counting: bool = False) -> Bucket:
    """A bucket for each step. Where something is counted the first and the last, which are not whole, are left out."""
    settings = builders.ElasticsearchDateHistogramSettings().interval("auto").min_doc_count("0")
    settings.trim_edges("1" if counting else "0")
    return builders.DateHistogram().id("20").field(TIME).settings(settings)


# -- queries ---------------------------------------------------------------------------------------------------------


def ask(
    query: str, metrics: Sequence[Metric], buckets: Sequence[Bucket], name: str = "", at: int = 0
) -> builders.Dataquery:
    made = builders.Dataquery().ref_id("ABCDEFGH"[at]).datasource(reference(PLUGIN)).time_field(TIME).query(query)
    return made.metrics(list(metrics)).bucket_aggs(list(buckets)).alias(name)


def named(names: Sequence[str]) -> str:
    return " ".join(f"{{{{{tag(one)}}}}}" for one in names)


def series(query: str, metrics: Sequence[Metric], names: Sequence[str], *, size: str = MANY, name: str = "") -> Asked:
    """Over time, a series for each value of the tags."""
    return Asked([ask(query, metrics, [*by_tags(names, size), by_time()], name or named(names))])


def counts(query: str, what: str, names: Sequence[str]) -> Asked:
    """How many there are over time, for each value of the tags."""
    return Asked([ask(query, [different(what)], [*by_tags(names), by_time(counting=True)], named(names))])


def of_groups(field: str, and_also: str = "", size: str = MANY) -> Asked:
    return series(chosen(GROUP, OF_GROUP, and_also), [highest(f"{GROUP}.{field}")], OF_GROUP, size=size)


def of_readers(field: str, by: Sequence[str], and_also: str = "") -> Asked:
    query = chosen(PARTITION, OF_READER, and_also)
    return series(query, [highest(f"{PARTITION}.{field}")], by)


def by_status() -> Asked:
    """How many groups of each cluster; a name may be in several clusters."""
    statuses = {"OK": OK_CODE, "WARN": WARN_CODE, "ERR": ERR_CODE}
    return Asked(
        [
            ask(
                chosen(GROUP, OF_GROUP, with_status(code)),
                [different("group")],
                [*by_tags(["cluster"]), by_time(counting=True)],
                f"{named(['cluster'])} {status}",
                at,
            )
            for at, (status, code) in enumerate(statuses.items())
        ]
    )


def columns(measurement: str, tags: Sequence[str], fields: dict[str, str]) -> dict[str, str]:
    """What Grafana calls the columns, with either kind of tags, and what we do."""
    of_tags = {f"tag.{one}{suffix}": one for one in tags for suffix in ("", ".keyword")}
    return {**of_tags, **{f"Max {measurement}.{field}": shown for field, shown in fields.items()}}


def table(measurement: str, tags: Sequence[str], by: Sequence[str], fields: dict[str, str], size: str = MANY) -> Asked:
    metrics = [highest(f"{measurement}.{field}", at) for at, field in enumerate(fields, 1)]
    query = ask(chosen(measurement, tags), metrics, by_tags(by, size))
    return Asked([query], [organized(columns(measurement, by, fields))])


TROUBLE_FIELDS = {"status_code": "status", "total_lag": "lag", "lag_seconds": "seconds"}
TROUBLE = Asked(
    [
        ask(
            chosen(GROUP, OF_GROUP, without_status(GROUP)),
            [highest(f"{GROUP}.{field}", at) for at, field in enumerate(TROUBLE_FIELDS, 1)],
            by_tags(OF_GROUP),
        ),
        ask(chosen(GROUP, OF_GROUP, with_status(OK_CODE)), [highest(TIME)], by_tags(OF_GROUP), at=1),
    ],
    [merged(), organized({**columns(GROUP, OF_GROUP, TROUBLE_FIELDS), "Max": "last OK"}), only_with("status")],
)
PARTITION_FIELDS = {"status_code": "status", "lag": "lag", "lag_seconds": "seconds"}

ASKED = {
    "groups-by-status": by_status(),
    "worst-lag-seconds": series(chosen(GROUP, OF_GROUP), [highest(f"{GROUP}.lag_seconds")], (), name="age"),
    "groups-in-trouble": counts(chosen(GROUP, OF_GROUP, without_status(GROUP)), "group", ["cluster"]),
    "trouble": TROUBLE,
    "top": table(GROUP, OF_GROUP, OF_GROUP, {"total_lag": "lag", "lag_seconds": "seconds"}, "$top"),
    "trouble-over-time": of_groups("status_code", without_status(GROUP)),
    "statuses-over-time": by_status(),
    "lag": of_groups("total_lag", size="$top"),
    "lag-seconds": of_groups("lag_seconds", size="$top"),
    "committed": series(chosen(GROUP, OF_GROUP), growth(f"{GROUP}.offset"), OF_GROUP, size="$top"),
    "group-status": of_groups("status_code"),
    "group-lag-now": of_groups("total_lag"),
    "group-lag-seconds-now": of_groups("lag_seconds"),
    "group-partitions": of_groups("partition_count"),
    "group-status-over-time": of_groups("status_code"),
    "group-lag": of_groups("total_lag"),
    "group-lag-seconds": of_groups("lag_seconds"),
    "group-committed": series(chosen(GROUP, OF_GROUP), growth(f"{GROUP}.offset"), OF_GROUP),
    "partition-statuses": of_readers("status_code", OF_PARTITION, without_status(PARTITION)),
    "partition-heat": of_readers("lag", OF_PARTITION),
    "partition-table": table(PARTITION, OF_READER, OF_PARTITION, {**PARTITION_FIELDS, "offset": "offset"}),
    "topic-partitions": counts(chosen(TOPIC, OF_TOPIC), "partition", OF_TOPIC),
    "topic-groups": counts(chosen(PARTITION, OF_READER), "group", OF_TOPIC),
    "topic-readers": table(PARTITION, OF_READER, (*OF_TOPIC, "group"), PARTITION_FIELDS),
    "topic-lag": of_readers("lag", OF_READER),
    "topic-lag-seconds": of_readers("lag_seconds", OF_READER),
    "topic-written-partitions": series(chosen(TOPIC, OF_TOPIC), growth(f"{TOPIC}.offset"), (*OF_TOPIC, "partition")),
    "topic-heat": of_readers("lag", (*OF_TOPIC, "partition")),
}


def of_reading(metrics: Sequence[Metric], by: Sequence[str] = OF_READING) -> Asked:
    """Over time, of each cluster by each Warren."""
    return series(chosen(CLUSTER, OF_READING), metrics, by)


def of_warren(metrics: Sequence[Metric]) -> Asked:
    """Over time, of each Warren."""
    return series(chosen(PROCESS, OF_WARREN), metrics, OF_WARREN)


WARREN = {
    "leader": of_warren([lowest(f"{PROCESS}.leader")]),
    "ready": of_reading([lowest(f"{CLUSTER}.ready")]),
    "reachable": of_reading([lowest(f"{CLUSTER}.reachable")]),
    "incidents-now": of_reading([highest(f"{CLUSTER}.open_incidents")], ["cluster"]),
    "reading-delay": of_reading([highest(f"{CLUSTER}.delay_seconds")]),
    "behind": of_reading([highest(f"{CLUSTER}.behind_records")]),
    "read-rate": of_reading(growth(f"{CLUSTER}.read_records")),
    "stale": of_reading([highest(f"{CLUSTER}.stale_partitions")]),
    "undecodable": of_reading(growth(f"{CLUSTER}.undecodable_records", "5m")),
    "restarts": of_warren(growth(f"{PROCESS}.query_restarts", "5m")),
    "failing": of_warren([highest(f"{PROCESS}.queries_failing")]),
    "incidents": of_reading([highest(f"{CLUSTER}.open_incidents")], ["cluster"]),
    "waiting": of_warren([highest(f"{PROCESS}.notifier_waiting")]),
    "messages": of_warren(growth(f"{PROCESS}.notifier_failed", "5m")),
    "memory": of_warren([highest(f"{PROCESS}.memory_bytes")]),
    "cpu": of_warren(growth(f"{PROCESS}.cpu_seconds")),
    "files": of_warren([highest(f"{PROCESS}.open_files")]),
    "snapshot-age": of_reading([highest(f"{CLUSTER}.snapshot_age_seconds")]),
}
NOTES = {
    **ADDED_UP,
    "trouble": IN_RANGE,
    "top": f"{IN_RANGE} As many of each cluster.",
    "partition-table": IN_RANGE,
    "topic-readers": f"{IN_RANGE} {FURTHEST}",
    "topic-lag": FURTHEST,
    "topic-heat": "Here of the group that is furthest behind.",
}


# -- variables -------------------------------------------------------------------------------------------------------


def variable(name: str, before: Sequence[str]) -> QueryVariable:
    """The values of a tag, in documents that have those that were chosen before it."""
    wanted = {name, *before}
    if "instance" in wanted:
        measurement = CLUSTER
    else:
        measurement = TOPIC if wanted == {"cluster", "topic"} else PARTITION if "topic" in wanted else GROUP
    query = {"find": "terms", "field": tag(name), "query": chosen(measurement, before), "size": 1000}
    return chooser(PLUGIN, name, json.dumps(query), "*")


def suffix() -> TextBoxVariable:
    says = "Empty, or .keyword if the index was made without the template of telegraf or Warren."
    made = TextBoxVariable("suffix").label("Suffix of tags").description(says)
    return made.default_value("").current(VariableOption(text="", value=""))


SOURCE = Source(
    name="elasticsearch",
    plugin=PLUGIN,
    status_codes=TELEGRAF_CODES,
    labels={},
    variable=variable,
    extras=(suffix(),),
    asked={**ASKED, **WARREN},
    notes=NOTES,
    interval="10s",
    steps="1m",
)
