"""What the dashboards show: rows of panels, each with its title, its words and the name of its query.

How a data source answers a query is its own matter (`prometheus`, `influxdb`, `elasticsearch`). A panel for which a
source has no query is left out of the dashboards for it, and a row without panels, too.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple


class Kind(Enum):
    """How values are drawn."""

    LINES = auto()
    STACKED = auto()
    TIMELINE = auto()
    YES_NO_TIMELINE = auto()
    HEAT_MAP = auto()
    NUMBERS = auto()
    NAMES = auto()
    STATUS_NUMBERS = auto()
    YES_NO_NUMBERS = auto()
    TABLE = auto()


class Plot(NamedTuple):
    """One panel; `unit` is one of Grafana's."""

    query: str
    title: str
    says: str
    kind: Kind
    unit: str = "short"
    width: int = 12
    height: int = 8
    of_groups: bool = False
    """Whether each series is of one group, which a click can open."""


class Row(NamedTuple):
    """Panels under one heading."""

    title: str
    plots: tuple[Plot, ...]


class Layout(NamedTuple):
    """One dashboard; `variables` are those that it is filtered by, in the order of the page."""

    name: str
    title: str
    says: str
    variables: tuple[str, ...]
    rows: tuple[Row, ...]


TROUBLE = (
    "Groups that are not OK, the worst first. WARN: they move on but fall behind; ERR: a partition stopped, stalled or "
    "went back. `last OK` is empty where a group was never OK in the time range. A click on a group opens its dashboard."
)
SECONDS = "How old the oldest record is that has not been read: what a user waits for. 0: everything has been read."

OVERVIEW = Layout(
    "overview",
    "Warren: overview",
    "Which consumer groups are in trouble, since when, and how far behind they are.",
    ("cluster", "group"),
    (
        Row(
            "Now",
            (
                Plot("groups-by-status", "Groups by status", "How many groups are in each status.", Kind.NUMBERS, width=9, height=5),
                Plot("total-lag", "Unread records", "The lag of all chosen groups, added up.", Kind.NUMBERS, width=5, height=5),
                Plot("worst-lag-seconds", "Oldest unread record", SECONDS, Kind.NUMBERS, "s", width=5, height=5),
                Plot("groups-in-trouble", "Groups in trouble", "Groups that are not OK.", Kind.NUMBERS, width=5, height=5),
                Plot("trouble", "Groups in trouble, the worst first", TROUBLE, Kind.TABLE, width=14, height=10),
                Plot("top", "Groups furthest behind", "Those with the most unread records, whatever their status: a lag that falls is OK. As many as chosen above.", Kind.TABLE, width=10, height=10),
            ),
        ),
        Row(
            "Since when",
            (
                Plot("trouble-over-time", "Groups that were in trouble", "The status of each group that was not OK at some time in the range. No bar: OK, or not there.", Kind.TIMELINE, width=24, height=10, of_groups=True),
                Plot("statuses-over-time", "Groups by status", "How many groups were in each status.", Kind.STACKED, width=24, height=6),
            ),
        ),
        Row(
            "How far behind",
            (
                Plot("lag", "Unread records of the groups furthest behind", "Records that a group has not read, over all its partitions.", Kind.LINES, of_groups=True),
                Plot("lag-seconds", "Age of the oldest unread record", SECONDS, Kind.LINES, "s", of_groups=True),
                Plot("written", "Records written", "Records a second that were written to the topics of each cluster.", Kind.LINES, "cps"),
                Plot("committed", "Records read", "Records a second that groups have committed.", Kind.LINES, "cps", of_groups=True),
            ),
        ),
    ),
)  # fmt: skip

GROUP = Layout(
    "group",
    "Warren: group",
    "One consumer group, or a few: status, lag in records and seconds, and each of its partitions.",
    ("cluster", "group", "topic"),
    (
        Row(
            "Now",
            (
                Plot("group-status", "Status", "OK, WARN (falls behind) or ERR (a partition stopped, stalled or went back).", Kind.STATUS_NUMBERS, width=6, height=5, of_groups=True),
                Plot("group-lag-now", "Unread records", "The lag of the group over all its partitions.", Kind.NUMBERS, width=6, height=5),
                Plot("group-lag-seconds-now", "Oldest unread record", SECONDS, Kind.NUMBERS, "s", width=6, height=5),
                Plot("group-partitions", "Partitions", "How many partitions the group has.", Kind.NUMBERS, width=6, height=5),
            ),
        ),
        Row(
            "Over time",
            (
                Plot("group-status-over-time", "Status", "The status of the group over time.", Kind.TIMELINE, width=24, height=5, of_groups=True),
                Plot("group-lag", "Unread records", "The lag of the group over all its partitions.", Kind.LINES, of_groups=True),
                Plot("group-lag-seconds", "Age of the oldest unread record", SECONDS, Kind.LINES, "s", of_groups=True),
                Plot("group-topics", "Unread records by topic", "The lag of the group in each of its topics.", Kind.LINES),
                Plot("group-committed", "Records read", "Records a second that the group has committed. Compare with what is written to its topics.", Kind.LINES, "cps"),
            ),
        ),
        Row(
            "Partitions",
            (
                Plot("partition-statuses", "Partitions that were in trouble", "WARN: falls behind. STOP: no commits any more. STALL: commits the same offset again and again. REWIND: went back. No bar: OK.", Kind.TIMELINE, width=24, height=9),
                Plot("partition-heat", "Lag of each partition", "A row for each partition; the more it stands out, the more unread records there are. One such row: one member or one key is slow. All of them: the whole group is.", Kind.HEAT_MAP, width=24, height=10),
                Plot("partition-table", "Partitions, the furthest behind first", "Status, lag and offset of each partition.", Kind.TABLE, width=24, height=10),
            ),
        ),
    ),
)  # fmt: skip

TOPIC = Layout(
    "topic",
    "Warren: topic",
    "One topic, or a few: how fast it grows, and how far behind its readers are.",
    ("cluster", "topic", "group"),
    (
        Row(
            "Now",
            (
                Plot("topic-written-now", "Records written", "Records a second that were written to the topic.", Kind.NUMBERS, "cps", width=8, height=5),
                Plot("topic-partitions", "Partitions", "How many partitions of the topic are known.", Kind.NUMBERS, width=8, height=5),
                Plot("topic-groups", "Groups that read it", "How many of the chosen groups commit to the topic.", Kind.NUMBERS, width=8, height=5),
                Plot("topic-readers", "Readers, the furthest behind first", "How the groups that read the topic are doing in it.", Kind.TABLE, width=24, height=8),
            ),
        ),
        Row(
            "Over time",
            (
                Plot("topic-written", "Records written", "Records a second that were written to each topic.", Kind.LINES, "cps"),
                Plot("topic-lag", "Unread records by group", "The lag of each group in the topic.", Kind.LINES, of_groups=True),
                Plot("topic-lag-seconds", "Age of the oldest unread record by group", SECONDS, Kind.LINES, "s", of_groups=True),
                Plot("topic-written-partitions", "Records written by partition", "Records a second for each partition. One high line: keys are not spread evenly.", Kind.LINES, "cps"),
            ),
        ),
        Row(
            "Partitions",
            (
                Plot("topic-heat", "Lag of each partition", "A row for each partition; the more it stands out, the more unread records the chosen groups have.", Kind.HEAT_MAP, width=24, height=10),
            ),
        ),
    ),
)  # fmt: skip

WARREN = Layout(
    "warren",
    "Warren: itself",
    "Whether Warren reads, judges and tells as it should.",
    ("instance", "cluster"),
    (
        Row(
            "Now",
            (
                Plot("up", "Answers", "Whether Prometheus can read the page of each Warren.", Kind.YES_NO_NUMBERS, width=4, height=5),
                Plot("leader", "Sends alerts", "Of several Warrens one sends; if none does, nobody is told.", Kind.YES_NO_NUMBERS, width=4, height=5),
                Plot("ready", "Has caught up", "Whether the backlog of a cluster is read and the ends of its topics are known.", Kind.YES_NO_NUMBERS, width=4, height=5),
                Plot("reachable", "Cluster can be read", "Whether the last attempt to read the cluster went well.", Kind.YES_NO_NUMBERS, width=4, height=5),
                Plot("incidents-now", "Open incidents", "Groups with an incident that is not over.", Kind.NUMBERS, width=4, height=5),
                Plot("version", "Version", "Which Warren this is.", Kind.NAMES, width=4, height=5),
            ),
        ),
        Row(
            "Pipeline",
            (
                Plot("reading-delay", "Lag of reading", "Time since the moment up to which all of the offsets topic is known to be read. It should stay below a few seconds; groups are judged as of then.", Kind.LINES, "s"),
                Plot("behind", "Records not read yet", "Records of the offsets topic that are known to be unread.", Kind.LINES),
                Plot("read-rate", "Records read", "Records of the offsets topic a second.", Kind.LINES, "cps"),
                Plot("batches", "Batches", "Batches of the offsets topic a second.", Kind.LINES, "ops"),
                Plot("batch-age", "Age of the newest batch", "It grows where nobody commits.", Kind.LINES, "s"),
                Plot("stale", "Partitions of the offsets topic without news", "`unread`: not read for half a minute. `transaction`: held back by an open transaction. Groups there are judged as of the last moment that is known.", Kind.LINES),
                Plot("undecodable", "Records that could not be decoded", "In five minutes, by kind. The log and `/api/v1` tell where they are.", Kind.LINES),
                Plot("restarts", "Queries started again", "In five minutes. A query that fails is started again with growing pauses.", Kind.LINES),
                Plot("queries", "Queries that run", "Each place that is read has a query.", Kind.YES_NO_TIMELINE, width=24, height=7),
                Plot("failing", "Queries that fail", "Those that wait to be started again.", Kind.LINES),
            ),
        ),
        Row(
            "Alerts",
            (
                Plot("incidents", "Open incidents", "Groups with an incident that is not over.", Kind.LINES),
                Plot("waiting", "Events that wait", "Not delivered yet, by notifier.", Kind.LINES),
                Plot("messages", "Events by result", "In five minutes. `retried`: not delivered, and tried again. `failed`: refused for good, or given up.", Kind.LINES, width=24),
            ),
        ),
        Row(
            "Sinks",
            (
                Plot("sink-up", "Sinks that take points", "Whether the last attempt to write to each sink was a good one.", Kind.YES_NO_TIMELINE, width=24, height=5),
                Plot("sink-points", "Points by result", "Points a second. `refused`: the receiver does not want them. `dropped`: too many waited.", Kind.LINES, "cps", width=8),
                Plot("sink-waiting", "Age of the oldest point that waits", "While a receiver is away points are kept on disk, and sent in their order when it is back.", Kind.LINES, "s", width=8),
                Plot("sink-waiting-bytes", "Points that wait", "What they take on disk.", Kind.LINES, "bytes", width=8),
            ),
        ),
        Row(
            "Process",
            (
                Plot("memory", "Memory", "Of the driver process; Spark's Java and its workers are others.", Kind.LINES, "bytes"),
                Plot("cpu", "CPU", "Cores that the driver process keeps busy.", Kind.LINES),
                Plot("files", "Open files", "Of the driver process.", Kind.LINES),
                Plot("snapshot-age", "Age of the newest snapshot", "What a crash would lose, and has to be read again.", Kind.LINES, "s"),
                Plot("requests", "Requests", "HTTP requests a second, by API and code.", Kind.LINES, "reqps"),
                Plot("request-time", "Time of a request", "On average.", Kind.LINES, "s"),
            ),
        ),
    ),
)  # fmt: skip

LAYOUTS = (OVERVIEW, GROUP, TOPIC, WARREN)
