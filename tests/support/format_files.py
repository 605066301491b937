"""Files in the formats that Warren keeps on disk: the example that tests/data/formats holds in every version.

`python -m tests.support.format_files` adds the files of versions that are not there yet. It never rewrites a file:
a stored file is what an earlier Warren wrote.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from tests.support.scenario import classic_group, commit_table
from tests.support.sink_rows import CLUSTER_ROW, PROCESS_ROW, TOPIC_ROW, batch, group_row, health_batch, partition_row
from warren.clusters import snapshots
from warren.clusters.keeper import Keeper
from warren.clusters.progress import Polled
from warren.clusters.state import ClusterState
from warren.codec.keys import encode_group_key
from warren.history import spool as history_spool
from warren.history.journal import Journal
from warren.history.scribe import Scribe
from warren.model import Status
from warren.notify import database
from warren.notify.book import IncidentBook, SilenceBook
from warren.notify.events import Cause, Event, Turn
from warren.notify.incidents import Incident, Step, after
from warren.notify.outbox import Outbox
from warren.notify.silences import Scope, Silence
from warren.places.looks import Mark
from warren.rules.rule import Settings
from warren.sinks import spool as sink_spool
from warren.sources.picture import Commit, Picture, picture_rows
from warren.windows.rows import COMMIT_ROWS, HEAD_ROWS, RowKind
from warren.windows.store import Limits

FORMATS = Path(__file__).parents[1] / "data" / "formats"
SINK_SPOOL_VERSION = 1
"""Files of points carry no version: they are plain Arrow streams."""

T0_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z; all seconds in this module count from here."""
SAVED_S = 40


def ms(second: float) -> int:
    """Return the epoch milliseconds of a second after T0_MS."""
    return T0_MS + int(second * 1000)


# -- cluster state: snapshots and history ----------------------------------------------------------------------------

CLUSTER, CONSUMER, ZOOKEEPER = "prod", "kafka", "zk"
TOPIC_IDS = {"__consumer_offsets": f"{'A' * 21}A", "orders": f"{'A' * 21}Q", "payments": f"{'A' * 21}g"}


def new_state() -> ClusterState:
    """Return the cluster before anything is read: an offsets topic, and consumers in ZooKeeper."""
    polled = {ZOOKEEPER: Polled(Mark.ORDER, 10_000)}
    return ClusterState(CLUSTER, Limits(intervals=3), Settings(), {CONSUMER: "__consumer_offsets"}, polled=polled)


def fill(state: ClusterState) -> None:
    """Let billing keep a lag of 15, audit stall at 100 of 300, and legacy commit once in ZooKeeper.

    second   0   5  10  15  20  25  28  30  31
    heads    x       x       x           x
    commits      x       x       x   x       evaluated
    """
    state.apply_head_rows(_heads(0), now_ms=ms(0))
    for index, second in enumerate((5, 15, 25)):
        rows = [
            ("billing", "orders", 0, (90, 100, 110)[index], ms(second)),
            ("billing", "orders", 1, 50, ms(second)),
            ("audit", "payments", 0, 100, ms(second)),
        ]
        state.apply_commit_rows(CONSUMER, commit_table(*rows, first_order=3 * index), now_ms=ms(second))
        state.apply_head_rows(_heads(second + 5), now_ms=ms(second + 5))
    state.apply_commit_rows(CONSUMER, _members(), now_ms=ms(30))
    look_at_zookeeper(state, second=29)
    state.evaluate(now_ms=ms(31))


def look_at_zookeeper(state: ClusterState, second: int) -> None:
    """Poll ZooKeeper at `second`: its only commit was made at second 28."""
    picture = Picture("5-1a", [Commit("legacy", "payments", 0, 250, ms(28), 1_001)], [], [], {}, [])
    rows = picture_rows(picture, looked_ms=ms(second))
    state.apply_look_rows(ZOOKEEPER, pa.Table.from_batches([rows]), now_ms=ms(second + 1))


def _heads(second: int) -> pa.Table:
    """Return end offsets: orders 0 grows by a record a second, payments has lost its first 20 records."""
    ends = {"__consumer_offsets": [11], "orders": [100 + second, 50], "payments": [300]}
    rows = [
        {
            "topic": topic,
            "partition": partition,
            "end": end,
            "log_start": 20 if topic == "payments" else 0,
            "observed_ms": ms(second),
            "topic_id": TOPIC_IDS[topic] if partition == 0 else None,
        }
        for topic, partitions in ends.items()
        for partition, end in enumerate(partitions)
    ]
    return pa.Table.from_pylist([{**rows[0], "cluster_id": "kafka-1"}, *rows[1:]], HEAD_ROWS)


def _members() -> pa.Table:
    record = {"kind": RowKind.GROUP_RECORD, "source_partition": 0, "order": [9]}
    value = classic_group(("/10.0.0.1", "billing-7", [("orders", [0])]))
    rows = [
        {**record, "key": encode_group_key("billing"), "value": value},
        {"kind": RowKind.POSITION, "partition": [0], "offset": [11]},
    ]
    return pa.Table.from_pylist(rows, COMMIT_ROWS)


def write_snapshot(path: Path) -> None:
    """Write the snapshot of the example cluster, as of second 40."""
    state = new_state()
    fill(state)
    with tempfile.TemporaryDirectory() as directory:
        Keeper({CLUSTER: state}, Path(directory), 30.0, lambda: ms(SAVED_S)).save()
        path.write_bytes((Path(directory) / f"{CLUSTER}.snapshot").read_bytes())


def write_history_spool(path: Path) -> None:
    """Write a spool file of the history: a keyframe of the empty cluster, then everything that happens in it."""
    state, scribe = new_state(), Scribe()
    state.keep_history(Journal(ms(0), "{}", frozenset({f"burrow-{CONSUMER}"})), 5_000, now_ms=ms(0))
    first = scribe.tables(state.take_page())
    fill(state)
    with tempfile.TemporaryDirectory() as directory:
        spool = history_spool.Spool(Path(directory), ms(0), 1 << 30)
        for page in (first, scribe.tables(state.take_page())):
            if page:
                spool.append(page)
        spool.finish_file()
        [written] = history_spool.spool_files(Path(directory))
        path.write_bytes(written.read_bytes())


# -- alerts: outbox, incidents and silences --------------------------------------------------------------------------

CAUSE = Cause("orders", 0, "stopped", "no commit for 6 s", ms(9), 310, 12.5)
NOTIFIER = "chat"


def event(number: int) -> Event:
    """Return the event that opens the incident of a group."""
    return Event(
        key=f"event-{number}", turn=Turn.OPENED, at_ms=ms(10), cluster=CLUSTER, group=f"group-{number}",
        incident=f"incident-{number}", opened_ms=ms(10), was=Status.OK, now=Status.ERR, cause=CAUSE,
        owners=["/10.0.0.1"], topics=["orders"], total_lag=310, status_body={"status": "ERR", "complete": 1},
        link="https://warren.example/groups/prod/group",
    )  # fmt: skip


def opened_incident() -> Incident:
    """Return an incident that has become worse and is still open."""
    opened = Step(ms(10), Turn.OPENED, Status.WARN, CAUSE, 310)
    incident = Incident("incident-0", CLUSTER, "group-0", ms(10), Status.WARN, (opened,))
    return after(incident, Step(ms(20), Turn.WORSENED, Status.ERR, CAUSE, 320))


def closed_incident() -> Incident:
    """Return an incident of a group that is gone."""
    opened = Step(ms(5), Turn.OPENED, Status.ERR, CAUSE, 7)
    incident = Incident("incident-9", CLUSTER, "group \udcff", ms(5), Status.ERR, (opened,))
    return after(incident, Step(ms(15), Turn.CLOSED, Status.NOTFOUND, None, 0))


SILENCE = Silence("silence-1", Scope("prod", "^group", "orders"), ms(0), ms(3_600), "ann", "disk ü")


def write_alerts(path: Path) -> None:
    """Write the database of alerts: four events (sent, to be retried, failed, waiting), two incidents, a silence."""
    opened = database.Database(path)
    book, silences, outbox = IncidentBook(opened), SilenceBook(opened), Outbox(opened)
    for number in range(4):
        outbox.put(NOTIFIER, event(number), ms(10 + number))
    sent, retried, failed, _ = outbox.due(NOTIFIER, ms(60), 10)
    for row in (sent, retried):
        outbox.take([row], f"batch-{row.id}")
    outbox.sent([sent], ms(20))
    outbox.failed([failed], "refused", ms(21))
    outbox.retry([retried], ms(90), "no answer", ms(22))
    for incident in (opened_incident(), closed_incident()):
        for count in range(1, len(incident.steps) + 1):
            book.write(incident._replace(steps=incident.steps[:count]))
    book.tell(NOTIFIER, "incident-0", ms(10))
    silences.add(SILENCE)
    opened.close()


# -- sinks: points that wait -----------------------------------------------------------------------------------------

POINTS = pa.Table.from_batches([batch(group_row(), partition_row(), TOPIC_ROW)])
HEALTH_POINTS = pa.Table.from_batches([health_batch(CLUSTER_ROW, PROCESS_ROW)])


def write_sink_spool(directory: Path) -> None:
    """Write the queue of a sink: points about groups and topics, then points about Warren itself."""
    spool = sink_spool.Spool(directory, 1_000_000)
    spool.add(POINTS, ms(30))
    spool.add(HEALTH_POINTS, ms(40))


WRITERS: dict[str, Callable[[Path], None]] = {
    f"snapshot-v{snapshots.VERSION}.snapshot": write_snapshot,
    f"history-spool-v{history_spool.MAGIC[-1:].decode()}.spool": write_history_spool,
    f"alerts-v{database.SCHEMA_VERSION}.db": write_alerts,
    f"sink-spool-v{SINK_SPOOL_VERSION}": write_sink_spool,
}
"""The files of the current versions, by name."""


if __name__ == "__main__":
    FORMATS.mkdir(exist_ok=True)
    for name, write in WRITERS.items():
        if not (FORMATS / name).exists():
            write(FORMATS / name)
            print(f"{name} was written; describe it in {FORMATS / 'README.md'}")
