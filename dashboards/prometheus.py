"""How Prometheus is asked, by the names of docs/metrics.md.

Several Warrens may watch the same clusters, so every value is the highest of all that tell it. Offsets are gauges that
may go back: their speed is `deriv`, since `rate` would take a step back for a restart from 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from grafana_foundation_sdk.builders import prometheus as builders
from grafana_foundation_sdk.builders.dashboard import QueryVariable
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from dashboards.looks import BURROW_CODES
from dashboards.source import Asked, Source, chooser, merged, organized, reference

PLUGIN = "prometheus"
LABELS = {"cluster": "cluster", "group": "consumer_group", "topic": "topic", "instance": "instance"}

OF_GROUP = "cluster, consumer_group"
OF_READER = "cluster, consumer_group, topic"
OF_PARTITION = "cluster, consumer_group, topic, partition"

CLUSTERS = 'cluster=~"$cluster"'
GROUPS = f'{CLUSTERS}, consumer_group=~"$group"'
TOPICS = f'{CLUSTERS}, topic=~"$topic"'
READERS = f'{GROUPS}, topic=~"$topic"'
INSTANCES = 'instance=~"$instance"'
OWN = f"{INSTANCES}, {CLUSTERS}"

GROUP_NAME, READER_NAME = "{{cluster}} {{consumer_group}}", "{{cluster}} {{consumer_group}} {{topic}}"
PARTITION_NAME = "{{consumer_group}} {{topic}} {{partition}}"


# -- expressions -----------------------------------------------------------------------------------------------------


def highest(labels: str, expression: str) -> str:
    return f"max by ({labels}) ({expression})"


def added(labels: str, expression: str) -> str:
    return f"sum by ({labels}) ({expression})"


def speed(metric: str) -> str:
    """Records a second."""
    return f"clamp_min(deriv({metric}[$__rate_interval]), 0)"


def in_trouble(metric: str, labels: str) -> str:
    """Statuses of those that were not OK at some time in the range."""
    worst = highest(labels, f"max_over_time({metric}[$__range] @ end())")
    return f"{highest(labels, metric)} and on ({labels}) {worst} > 1"


def largest(metric: str, labels: str) -> str:
    """Values of as many as were chosen, those that were highest in the range."""
    worst = highest(labels, f"max_over_time({metric}[$__range] @ end())")
    return f"{highest(labels, metric)} and on ({labels}) topk($top, {worst})"


STATUS = f"burrow_kafka_consumer_status{{{GROUPS}}}"
LAG = f"burrow_kafka_consumer_lag_total{{{GROUPS}}}"
LAG_SECONDS = f"warren_group_lag_seconds{{{GROUPS}}}"
PARTITION_STATUS = f"burrow_kafka_topic_partition_status{{{READERS}}}"
PARTITION_LAG = f"burrow_kafka_consumer_partition_lag{{{READERS}}}"
PARTITION_LAG_SECONDS = f"warren_partition_lag_seconds{{{READERS}}}"
PARTITION_OFFSET = f"burrow_kafka_consumer_current_offset{{{READERS}}}"
ENDS = f"warren_topic_end_offsets{{{TOPICS}}}"
PARTITION_ENDS = f"burrow_kafka_topic_partition_offset{{{TOPICS}}}"

TROUBLED = f"{highest(OF_GROUP, STATUS)} > 1"
OK_TIMES = f"timestamp({highest(OF_GROUP, STATUS)} == 1)"
LAST_OK_MS = f"1000 * max_over_time({OK_TIMES}[$__range:])"
ALL_GROUPS = f"warren_groups{{{CLUSTERS}}}"
TROUBLED_COUNT = f"count({TROUBLED}) or vector(0)"
READ_SPEED = added(OF_READER, highest(OF_PARTITION, speed(PARTITION_OFFSET)))
WRITTEN_SPEED = highest("cluster, topic", speed(ENDS))


# -- queries ---------------------------------------------------------------------------------------------------------


def lines(*named: tuple[str, str]) -> Asked:
    """Series over time: expressions and what they are called."""
    return Asked([_query(at, expression, name).range() for at, (expression, name) in enumerate(named)])


def now(expression: str, name: str = "") -> Asked:
    """One value for each series, at the end of the range."""
    return Asked([_query(0, expression, name).instant()])


def table(names: dict[str, str], *expressions: str) -> Asked:
    """A column for each label and each expression."""
    if_only_one_answers = {"Value": names["Value #A"]}
    queries = [_query(at, one, "").instant().format(PromQueryFormat.TABLE) for at, one in enumerate(expressions)]
    return Asked(queries, [merged(), organized(names | if_only_one_answers, dropped=["Time"])])


def _query(at: int, expression: str, name: str) -> builders.Dataquery:
    query = builders.Dataquery().ref_id("ABCDEFGH"[at]).expr(expression).datasource(reference(PLUGIN))
    return query.legend_format(name or "__auto")


def filtered(expression: str) -> str:
    return f"{expression} and on ({OF_GROUP}) ({TROUBLED})"


def read_speeds() -> str:
    """Of the groups that are furthest behind, as in the panel beside."""
    speeds = added(OF_GROUP, highest(OF_PARTITION, speed(PARTITION_OFFSET.replace(', topic=~"$topic"', ""))))
    worst = highest(OF_GROUP, f"max_over_time({LAG}[$__range] @ end())")
    return f"{speeds} and on ({OF_GROUP}) topk($top, {worst})"


OVERVIEW = {
    "groups-by-status": now(added("status", highest("cluster, status", ALL_GROUPS)), "{{status}}"),
    "total-lag": now(f"sum({highest(OF_GROUP, LAG)})", "records"),
    "worst-lag-seconds": now(f"max({LAG_SECONDS})", "age"),
    "groups-in-trouble": now(TROUBLED_COUNT, "groups"),
    "trouble": table(
        {
            "cluster": "cluster",
            "consumer_group": "group",
            "Value #A": "status",
            "Value #B": "lag",
            "Value #C": "seconds",
            "Value #D": "last OK",
        },
        TROUBLED,
        filtered(highest(OF_GROUP, LAG)),
        filtered(highest(OF_GROUP, LAG_SECONDS)),
        filtered(LAST_OK_MS),
    ),
    "top": table(
        {"cluster": "cluster", "consumer_group": "group", "Value #A": "lag", "Value #B": "seconds"},
        f"topk($top, {highest(OF_GROUP, LAG)})",
        f"{highest(OF_GROUP, LAG_SECONDS)} and on ({OF_GROUP}) topk($top, {highest(OF_GROUP, LAG)})",
    ),
    "trouble-over-time": lines((in_trouble(STATUS, OF_GROUP), GROUP_NAME)),
    "statuses-over-time": lines((added("status", highest("cluster, status", ALL_GROUPS)), "{{status}}")),
    "lag": lines((largest(LAG, OF_GROUP), GROUP_NAME)),
    "lag-seconds": lines((largest(LAG_SECONDS, OF_GROUP), GROUP_NAME)),
    "written": lines((added("cluster", WRITTEN_SPEED.replace(', topic=~"$topic"', "")), "{{cluster}}")),
    "committed": lines((read_speeds(), GROUP_NAME)),
}

GROUP = {
    "group-status": now(highest(OF_GROUP, STATUS), GROUP_NAME),
    "group-lag-now": now(highest(OF_GROUP, LAG), GROUP_NAME),
    "group-lag-seconds-now": now(highest(OF_GROUP, LAG_SECONDS), GROUP_NAME),
    "group-partitions": now(f"count by ({OF_GROUP}) ({highest(OF_PARTITION, PARTITION_LAG)})", GROUP_NAME),
    "group-status-over-time": lines((highest(OF_GROUP, STATUS), GROUP_NAME)),
    "group-lag": lines((highest(OF_GROUP, LAG), GROUP_NAME)),
    "group-lag-seconds": lines((highest(OF_GROUP, LAG_SECONDS), GROUP_NAME)),
    "group-topics": lines((added(OF_READER, highest(OF_PARTITION, PARTITION_LAG)), READER_NAME)),
    "group-committed": lines(
        (READ_SPEED, READER_NAME),
        (f"{WRITTEN_SPEED} and on (cluster, topic) {PARTITION_LAG}", "written to {{cluster}} {{topic}}"),
    ),
    "partition-statuses": lines((in_trouble(PARTITION_STATUS, OF_PARTITION), PARTITION_NAME)),
    "partition-heat": lines((highest(OF_PARTITION, PARTITION_LAG), PARTITION_NAME)),
    "partition-table": table(
        {
            "cluster": "cluster",
            "consumer_group": "group",
            "topic": "topic",
            "partition": "partition",
            "Value #A": "status",
            "Value #B": "lag",
            "Value #C": "seconds",
            "Value #D": "offset",
        },
        highest(OF_PARTITION, PARTITION_STATUS),
        highest(OF_PARTITION, PARTITION_LAG),
        highest(OF_PARTITION, PARTITION_LAG_SECONDS),
        highest(OF_PARTITION, PARTITION_OFFSET),
    ),
}

TOPIC = {
    "topic-written-now": now(WRITTEN_SPEED, "{{cluster}} {{topic}}"),
    "topic-partitions": now(
        f"count by (cluster, topic) ({highest('cluster, topic, partition', PARTITION_ENDS)})", "{{cluster}} {{topic}}"
    ),
    "topic-groups": now(f"count by (cluster, topic) ({highest(OF_READER, PARTITION_LAG)})", "{{cluster}} {{topic}}"),
    "topic-readers": table(
        {
            "cluster": "cluster",
            "topic": "topic",
            "consumer_group": "group",
            "Value #A": "status",
            "Value #B": "lag",
            "Value #C": "seconds",
        },
        highest(OF_READER, PARTITION_STATUS),
        added(OF_READER, highest(OF_PARTITION, PARTITION_LAG)),
        highest(OF_READER, PARTITION_LAG_SECONDS),
    ),
    "topic-written": lines((WRITTEN_SPEED, "{{cluster}} {{topic}}")),
    "topic-lag": lines((added(OF_READER, highest(OF_PARTITION, PARTITION_LAG)), READER_NAME)),
    "topic-lag-seconds": lines((highest(OF_READER, PARTITION_LAG_SECONDS), READER_NAME)),
    "topic-written-partitions": lines(
        (highest("cluster, topic, partition", speed(PARTITION_ENDS)), "{{cluster}} {{topic}} {{partition}}")
    ),
    "topic-heat": lines(
        (added("cluster, topic, partition", highest(OF_PARTITION, PARTITION_LAG)), "{{topic}} {{partition}}")
    ),
}

HERE = "{{instance}} {{cluster}}"
SEEN = f"last_over_time(warren_build_info{{{INSTANCES}}}[$__range])"

WARREN = {
    "up": now(f"max by (instance) (up{{{INSTANCES}}}) and on (instance) {SEEN}", "{{instance}}"),
    "leader": now(f"warren_leader{{{INSTANCES}}}", "{{instance}}"),
    "ready": now(f"warren_cluster_ready{{{OWN}}}", HERE),
    "reachable": now(f"warren_cluster_reachable{{{OWN}}}", HERE),
    "incidents-now": now(f"max by (cluster) (warren_incidents_open{{{OWN}}})", "{{cluster}}"),
    "version": now(f"warren_build_info{{{INSTANCES}}}", "{{version}}"),
    "reading-delay": lines((f"warren_offsets_delay_seconds{{{OWN}}}", f"{HERE} {{{{consumer}}}}")),
    "behind": lines((f"warren_offsets_behind_records{{{OWN}}}", HERE)),
    "read-rate": lines(
        (f"rate(warren_offsets_read_records_total{{{OWN}}}[$__rate_interval])", f"{HERE} {{{{consumer}}}}")
    ),
    "batches": lines((f"rate(warren_batches_total{{{OWN}}}[$__rate_interval])", f"{HERE} {{{{consumer}}}}")),
    "batch-age": lines((f"warren_batch_age_seconds{{{OWN}}}", f"{HERE} {{{{consumer}}}}")),
    "stale": lines((f"warren_offsets_stale_partitions{{{OWN}}}", f"{HERE} {{{{reason}}}}")),
    "undecodable": lines((f"increase(warren_undecodable_records_total{{{OWN}}}[5m])", f"{HERE} {{{{kind}}}}")),
    "restarts": lines((f"increase(warren_query_restarts_total{{{INSTANCES}}}[5m])", "{{instance}} {{query}}")),
    "queries": lines((f"warren_query_running{{{INSTANCES}}}", "{{instance}} {{query}}")),
    "incidents": lines((f"max by (cluster) (warren_incidents_open{{{OWN}}})", "{{cluster}}")),
    "waiting": lines((f"warren_notifier_waiting{{{INSTANCES}}}", "{{instance}} {{notifier}}")),
    "messages": lines(
        (f"increase(warren_notifier_messages_total{{{INSTANCES}}}[5m])", "{{instance}} {{notifier}} {{result}}")
    ),
    "sink-up": lines((f"warren_sink_up{{{INSTANCES}}}", "{{instance}} {{sink}}")),
    "sink-points": lines(
        (f"rate(warren_sink_points_total{{{INSTANCES}}}[$__rate_interval])", "{{instance}} {{sink}} {{result}}")
    ),
    "sink-waiting": lines((f"warren_sink_waiting_seconds{{{INSTANCES}}}", "{{instance}} {{sink}}")),
    "sink-waiting-bytes": lines((f"warren_sink_waiting_bytes{{{INSTANCES}}}", "{{instance}} {{sink}}")),
    "memory": lines((f"process_resident_memory_bytes{{{INSTANCES}}}", "{{instance}}")),
    "cpu": lines((f"rate(process_cpu_seconds_total{{{INSTANCES}}}[$__rate_interval])", "{{instance}}")),
    "files": lines((f"process_open_fds{{{INSTANCES}}}", "{{instance}}")),
    "snapshot-age": lines((f"warren_snapshot_age_seconds{{{OWN}}}", HERE)),
    "requests": lines(
        (
            f"sum by (instance, api, code) (rate(warren_http_requests_total{{{INSTANCES}}}[$__rate_interval]))",
            "{{instance}} {{api}} {{code}}",
        )
    ),
    "request-time": lines(
        (
            f"sum by (instance, api) (rate(warren_http_request_seconds_total{{{INSTANCES}}}[$__rate_interval]))"
            f" / sum by (instance, api) (rate(warren_http_requests_total{{{INSTANCES}}}[$__rate_interval]))",
            "{{instance}} {{api}}",
        )
    ),
}


# -- variables -------------------------------------------------------------------------------------------------------


def variable(name: str, before: Sequence[str]) -> QueryVariable:
    """The values of a label, on series that have the labels of the variables before it."""
    matching = ", ".join(f'{LABELS[one]}=~"${one}"' for one in before)
    series = f"{_family(name, before)}{{{matching}}}" if matching else _family(name, before)
    asked = f"label_values({series}, {LABELS[name]})"
    query: dict[str, object] = {"qryType": 1, "query": asked, "refId": f"{name}-values"}
    return chooser(PLUGIN, name, query, ".*")


def _family(name: str, before: Sequence[str]) -> str:
    if name == "instance":
        return "warren_build_info"
    if "instance" in before:
        return "warren_cluster_ready"
    if {name, *before} == {"cluster", "topic"}:
        return "warren_topic_end_offsets"
    return "burrow_kafka_consumer_partition_lag" if "topic" in (name, *before) else "burrow_kafka_consumer_lag_total"


SOURCE = Source(
    name="prometheus",
    plugin=PLUGIN,
    status_codes=BURROW_CODES,
    labels={"cluster": "cluster", "group": "consumer_group"},
    variable=variable,
    extras=(),
    asked={**OVERVIEW, **GROUP, **TOPIC, **WARREN},
)
