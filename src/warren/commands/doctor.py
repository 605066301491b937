"""`warren doctor`: can brokers be reached, may Warren read what it needs, and has this machine all that it takes."""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from warren import __version__
from warren.commands import show
from warren.commands.describe import OFFSETS_TOPIC, Properties, client_of
from warren.commands.options import AsJson, UsageError
from warren.errors import WarrenError

if TYPE_CHECKING:
    from warren.kafka.clients import ClientConfig

FREE_BYTES = 1_000_000_000
CLOCK_S = 5.0


class UnwellError(WarrenError):
    """Something is there, but not as it should be."""


class Finding(NamedTuple):
    """What one question brought."""

    where: str
    question: str
    is_well: bool
    says: str


def doctor(
    *,
    bootstrap: Annotated[str, typer.Option(metavar="HOST:PORT", help="A broker to try.")] = "",
    config_dir: Annotated[Path | None, typer.Option(help="Try all clusters of this configuration.")] = None,
    properties: Properties = None,
    as_json: AsJson = False,
) -> None:
    """Find out what keeps Warren from working: brokers, rights, clocks, versions. Exit code 1 if anything does."""
    clients = _clients(bootstrap, config_dir, properties)
    found = [*_of_machine()]
    for name, client in clients.items():
        found += _of_cluster(name, client)
    if as_json:
        show.as_json({"findings": [one._asdict() for one in found]})
    else:
        rows = [[one.where, one.question, "OK" if one.is_well else "ERR", one.says] for one in found]
        show.table(("WHERE", "WHAT", "STATUS", "FOUND"), rows, "")
    if not all(one.is_well for one in found):
        raise typer.Exit(1)


def _clients(bootstrap: str, config_dir: Path | None, properties: list[str] | None) -> dict[str, ClientConfig]:
    if bool(bootstrap) == bool(config_dir):
        message = "Either a broker or a configuration is to be tried."
        raise UsageError(message, hint="Give --bootstrap HOST:PORT or --config-dir DIR.")
    if config_dir is None:
        return {bootstrap: client_of(bootstrap, properties)}
    from warren.config.kafka_client import client_settings
    from warren.config.load import load_directory

    config = load_directory(config_dir, os.environ).config
    return {name: client_settings(config, one.servers, one.client_profile) for name, one in config.cluster.items()}


def _asked(where: str, question: str, ask: Callable[[], str]) -> Finding:
    try:
        return Finding(where, question, True, ask())
    except WarrenError as error:
        return Finding(where, question, False, str(error))


# -- this machine ----------------------------------------------------------------------------------------------------


def _of_machine() -> Iterator[Finding]:
    yield _asked("here", "versions", _versions)
    yield _asked("here", "Java", _java)
    yield _asked("here", "disk", _disk)


def _versions() -> str:
    from importlib.metadata import version

    from confluent_kafka import libversion

    parts = {"Python": platform.python_version(), "librdkafka": libversion()[0], "PySpark": version("pyspark")}
    return f"Warren {__version__}, " + ", ".join(f"{name} {number}" for name, number in parts.items())


def _java() -> str:
    from warren.machine.java import find_java

    found = find_java()
    return f"{found.version} at {found.home}"


def _disk() -> str:
    home = Path(os.environ.get("WARREN_HOME") or ".warren").absolute()
    there = next(one for one in (home, *home.parents) if one.exists())
    free = shutil.disk_usage(there).free
    if free < FREE_BYTES:
        message = f"Only {free / 1e6:,.0f} MB are free at {there}."
        raise UnwellError(message, hint="Snapshots and Spark need about 1 GB.")
    return f"{free / 1e9:,.0f} GB free at {there}"


# -- a cluster -------------------------------------------------------------------------------------------------------


def _of_cluster(name: str, client: ClientConfig) -> Iterator[Finding]:
    reached = _asked(name, "brokers", lambda: _brokers(client))
    yield reached
    if reached.is_well:
        yield _asked(name, "offsets topic", lambda: _offsets_topic(client))
        yield _asked(name, "topics", lambda: _topics(client))
        yield _asked(name, "groups", lambda: _groups(client))
        yield _asked(name, "clocks", lambda: _clocks(client))


def _brokers(client: ClientConfig) -> str:
    from warren.kafka.clients import REQUEST_TIMEOUT_S, kafka_errors, process_consumer

    consumer, started_s = process_consumer(client), time.monotonic()
    with kafka_errors("asking the brokers", consumer):
        metadata = consumer.list_topics(timeout=REQUEST_TIMEOUT_S)
    took_ms = (time.monotonic() - started_s) * 1000
    return f"{len(metadata.brokers)} of cluster {metadata.cluster_id}, in {took_ms:,.0f} ms"


def _newest(client: ClientConfig) -> list[float]:
    """The ages of the newest records of the offsets topic, in seconds by our clock; it must be readable for that."""
    from warren.kafka.clients import LATEST, offsets_at, partitions_of, process_consumer
    from warren.sources.ages import ages_s

    consumer = process_consumer(client, **{"isolation.level": "read_committed"})
    partitions = [(OFFSETS_TOPIC, number) for number in partitions_of(client, consumer, OFFSETS_TOPIC)]
    ends = {at: end - 1 for at, end in offsets_at(consumer, partitions, LATEST).items() if end > 0}
    return list(ages_s(client, ends, int(time.time() * 1000), 5.0).values()) if ends else []


def _offsets_topic(client: ClientConfig) -> str:
    from warren.kafka.clients import EARLIEST, LATEST, offsets_at, partitions_of, process_consumer
    from warren.sources.marks import MarksReader

    consumer = process_consumer(client)
    partitions = partitions_of(client, consumer, OFFSETS_TOPIC)
    if not partitions:
        return "it is not there yet: no group has committed"
    at = OFFSETS_TOPIC, partitions[0]
    start, end = (offsets_at(consumer, [at], where).get(at, 0) for where in (EARLIEST, LATEST))
    reader = MarksReader(client)
    try:
        reader.readable_end(*at, start, max(end, start + 1))
    finally:
        reader.close()
    return f"{len(partitions)} partitions, and it can be read"


def _topics(client: ClientConfig) -> str:
    from warren.sources.observing import KafkaBrokers

    brokers = KafkaBrokers(client)
    listing = brokers.list_topics()
    ends = brokers.offsets(sorted(listing.led)).ends
    topics = {topic for topic, _ in listing.partitions}
    return f"{len(topics)} can be seen, with {len(listing.partitions)} partitions; the ends of {len(ends)} are known"


def _groups(client: ClientConfig) -> str:
    from warren.clusters.reaper import groups_of

    return f"{len(groups_of(client))} can be seen"


def _clocks(client: ClientConfig) -> str:
    ages_s = _newest(client)
    if not ages_s:
        return "nothing to compare with: there is no record in the offsets topic that can be read"
    youngest_s = min(ages_s)
    if youngest_s < -CLOCK_S:
        message = f"The brokers' clock is {-youngest_s:,.0f} s ahead of this machine's."
        raise UnwellError(message, hint="Warren takes it into account; but set the clocks.")
    return f"the newest commit was {show.seconds(youngest_s)} ago"
