"""`warren describe`: one group of a cluster, without a server and without Spark."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warren.commands import show
from warren.commands.options import AsJson, UsageError
from warren.errors import WarrenError

if TYPE_CHECKING:
    from warren.kafka.clients import ClientConfig
    from warren.rules.verdict import GroupVerdict, PartitionVerdict

OFFSETS_TOPIC = "__consumer_offsets"
MOST_RECORDS = 2_000_000
"""So many records of the group's partition of the offsets topic are read, the newest ones."""
INTERVALS = 10
MODULE = "describe"
AGE_LIMIT_S = 10.0

Bootstrap = Annotated[str, typer.Option(metavar="HOST:PORT", help="A broker of the cluster.")]
Properties = Annotated[
    list[str] | None,
    typer.Option(
        "--property", metavar="KEY=VALUE", help="A setting of librdkafka, such as security.protocol=SSL; several times."
    ),
]


class NoGroupError(WarrenError):
    """The group that was asked for has committed nothing."""


def client_of(bootstrap: str, properties: list[str] | None) -> ClientConfig:
    """A Kafka client as the command line says."""
    for one in properties or ():
        if "=" not in one:
            message = f"--property {one.partition('=')[0]!r} has no value."
            raise UsageError(message, hint="It should be like --property security.protocol=SSL.")
    return {"bootstrap.servers": bootstrap, **dict(one.split("=", 1) for one in properties or ())}


def describe(
    *,
    bootstrap: Bootstrap,
    group: Annotated[str, typer.Option(metavar="NAME", help="The group.")],
    properties: Properties = None,
    as_json: AsJson = False,
) -> None:
    """Show how far a group is on each partition, in records and seconds, and how it is doing; no Warren has to run."""
    client = client_of(bootstrap, properties)
    verdict = _judged(client, group)
    ages_s = _ages_of_unread(client, verdict)
    if as_json:
        show.as_json(_as_answer(verdict, ages_s))
        return
    show.heading(show.plain(f"{group} is {verdict.status.name}, {verdict.total_lag:,} records behind"))
    titles = ("TOPIC", "PARTITION", "STATUS", "COMMITTED", "END", "LAG", "BEHIND", "OWNER", "WHY")
    show.table(titles, [_row(one, ages_s) for one in verdict.partitions], "It has no partitions.")


def _judged(client: ClientConfig, group: str) -> GroupVerdict:
    """By the rules of Warren: of a lag that was not watched they say nothing, Burrow's would guess."""
    from warren.clusters.state import ClusterState
    from warren.patterns import compile_pattern
    from warren.rules.policy import Policy, RulesFor
    from warren.rules.rule import Settings
    from warren.sources.observing import KafkaBrokers, Observer
    from warren.windows.store import Limits

    policy = Policy((RulesFor(compile_pattern(""), "warren"),), ())
    state = ClusterState(MODULE, Limits(INTERVALS), Settings(), {MODULE: OFFSETS_TOPIC}, policy)
    table, now_ms = _commits(client, group), int(time.time() * 1000)
    import pyarrow as pa

    state.apply_head_rows(pa.Table.from_batches([Observer(KafkaBrokers(client), 1).observe()]), now_ms=now_ms)
    state.apply_commit_rows(MODULE, table, now_ms=now_ms)
    verdict = state.judge(group, now_ms=now_ms)
    if verdict is None:
        message = f"The group {group!r} has no commit to a topic that can be seen."
        raise NoGroupError(message, hint="`kafka-consumer-groups.sh --list` shows all groups.")
    return verdict


def _commits(client: ClientConfig, group: str) -> Any:
    """What the group has committed, as a table of rows."""
    import pyarrow as pa

    from warren.codec.keys import offsets_partition
    from warren.kafka.clients import EARLIEST, LATEST, offsets_at, partitions_of, process_consumer
    from warren.sources.folding import BatchProgress, Folder, FoldSettings
    from warren.sources.planning import Range
    from warren.sources.reading import RangeReader
    from warren.windows.rows import COMMIT_ROWS

    consumer = process_consumer(client, **{"isolation.level": "read_committed"})
    partitions = partitions_of(client, consumer, OFFSETS_TOPIC)
    if not partitions:
        message = f"There is no topic {OFFSETS_TOPIC}: no group has ever committed here."
        raise NoGroupError(message)
    at = OFFSETS_TOPIC, offsets_partition(group, len(partitions))
    start, end = (offsets_at(consumer, [at], where).get(at, 0) for where in (EARLIEST, LATEST))
    folder = Folder(FoldSettings(INTERVALS, 0, (f"^{re.escape(group)}$",)))
    wanted = Range(at[1], max(start, end - MOST_RECORDS), end)
    if wanted.records > 0:
        reader = RangeReader(client, OFFSETS_TOPIC)
        for records in reader.read([wanted]):
            folder.add(records)
        reader.close()
    return pa.Table.from_batches(folder.rows(BatchProgress({at[1]: end}, {})), COMMIT_ROWS)


def _ages_of_unread(client: ClientConfig, verdict: GroupVerdict) -> dict[tuple[str, int], float]:
    """How old the oldest unread record of each partition is, where it can be read in time."""
    from warren.sources.ages import ages_s

    unread = {
        (one.topic, one.partition): one.end.offset for one in verdict.partitions if one.end and one.current_lag > 0
    }
    return ages_s(client, unread, int(time.time() * 1000), AGE_LIMIT_S) if unread else {}


def _row(one: PartitionVerdict, ages_s: dict[tuple[str, int], float]) -> list[str]:
    committed = one.end.offset if one.end else None
    end = None if committed is None else committed + one.current_lag
    behind = 0.0 if committed is not None and not one.current_lag else ages_s.get((one.topic, one.partition))
    numbers = [show.number(committed), show.number(end), show.number(one.current_lag if one.end else None)]
    where = [one.topic, str(one.partition), one.status.name]
    return [*where, *numbers, show.seconds(behind), one.owner.host or "-", one.reason]


def _as_answer(verdict: GroupVerdict, ages_s: dict[tuple[str, int], float]) -> dict[str, object]:
    return {
        "group": verdict.group,
        "status": verdict.status.name,
        "total_lag": verdict.total_lag,
        "partitions": [
            {
                "topic": one.topic,
                "partition": one.partition,
                "status": one.status.name,
                "rule": one.rule.name.lower(),
                "reason": one.reason,
                "committed_offset": one.end.offset if one.end else None,
                "lag": one.current_lag if one.end else None,
                "lag_seconds": 0.0 if one.end and not one.current_lag else ages_s.get((one.topic, one.partition)),
                "owner": one.owner.host or None,
            }
            for one in verdict.partitions
        ],
    }
