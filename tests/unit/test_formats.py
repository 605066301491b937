"""Files that earlier versions of Warren wrote: today's code reads them, or says why not and keeps them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import structlog

from tests.support import format_files
from tests.support.format_files import CLUSTER, CONSUMER, FORMATS, NOTIFIER, T0_MS, TOPIC_IDS, WRITERS, ms
from warren.clusters import snapshots
from warren.clusters.keeper import Keeper
from warren.clusters.snapshots import FOOTER, READABLE, VERSION, SnapshotReader
from warren.clusters.state import ClusterState
from warren.errors import SetupError, WarrenError
from warren.history.service import History, Plan
from warren.history.spool import tables_of
from warren.history.tables import TABLES
from warren.model import Status
from warren.notify.book import IncidentBook, SilenceBook, Wanted
from warren.notify.database import SCHEMA_VERSION, Database
from warren.notify.outbox import Outbox
from warren.rules.rule import Rule, Settings
from warren.sinks.spool import Spool, read
from warren.windows.store import Limits


def test_every_current_format_has_a_stored_file() -> None:
    assert [name for name in WRITERS if not (FORMATS / name).exists()] == []


def test_every_stored_file_is_described() -> None:
    described = (FORMATS / "README.md").read_text("utf-8")

    assert [path.name for path in FORMATS.iterdir() if f"`{path.name}" not in described and path.suffix != ".md"] == []


# -- snapshots -------------------------------------------------------------------------------------------------------

UNREADABLE = [version for version in range(1, VERSION) if version not in READABLE]


def snapshot_file(version: int) -> Path:
    return FORMATS / f"snapshot-v{version}.snapshot"


class Restored:
    """What a Warren that starts makes of a snapshot file in its directory."""

    def __init__(self, version: int, directory: Path) -> None:
        self.path = directory / f"{CLUSTER}.snapshot"
        shutil.copy(snapshot_file(version), self.path)
        self.state = format_files.new_state() if version >= 4 else without_zookeeper()
        with structlog.testing.capture_logs() as self.logs:
            Keeper({CLUSTER: self.state}, directory, 30.0, lambda: ms(60)).restore()


def without_zookeeper() -> ClusterState:
    return ClusterState(CLUSTER, Limits(intervals=3), Settings(), {CONSUMER: "__consumer_offsets"})


@pytest.fixture(params=READABLE, ids=lambda version: f"v{version}")
def restored(request: pytest.FixtureRequest, tmp_path: Path) -> Restored:
    return Restored(request.param, tmp_path)


def windows(state: ClusterState, group: str) -> dict[tuple[str, int], list[tuple[int, float, int | None]]]:
    """Return the commits of each partition: offset, second, lag."""
    verdict = state.judge(group, now_ms=ms(31))
    assert verdict is not None
    return {
        (one.topic, one.partition): [(e.offset, (e.timestamp_ms - T0_MS) / 1000, e.lag) for e in one.entries]
        for one in verdict.partitions
    }


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_a_snapshot_has_the_version_of_its_name(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "READABLE", range(1, VERSION + 1))

    assert SnapshotReader(snapshot_file(version)).header.version == version


def test_a_readable_snapshot_gives_exactly_its_windows(restored: Restored) -> None:
    assert windows(restored.state, "billing") == {
        ("orders", 0): [(90, 5, 15), (100, 15, 15), (110, 25, 15)],
        ("orders", 1): [(50, 5, 0), (50, 15, 0), (50, 25, 0)],
    }
    assert windows(restored.state, "audit") == {("payments", 0): [(100, 5, 200), (100, 15, 200), (100, 25, 200)]}


def test_a_readable_snapshot_gives_exactly_its_groups_and_topics(restored: Restored) -> None:
    state, is_v4 = restored.state, "legacy" in restored.state.groups()

    assert state.groups() == ["audit", "billing", f"burrow-{CONSUMER}", *(["legacy"] if is_v4 else [])]
    assert {topic: state.topic_ends(topic) for topic in state.topics()} == {
        "__consumer_offsets": [11],
        "orders": [130, 50],
        "payments": [300],
    }
    assert state._windows.heads.topic_ids == TOPIC_IDS
    assert state.cluster_id == "kafka-1"
    assert restored.logs[0]["event"] == "restored"


def test_a_readable_snapshot_gives_members_and_positions(restored: Restored) -> None:
    verdict = restored.state.judge("billing", now_ms=ms(31))

    assert verdict is not None
    assert [(one.owner.host, one.owner.client_id) for one in verdict.partitions] == [
        ("/10.0.0.1", "billing-7"),
        ("", ""),
    ]
    assert restored.state.positions(CONSUMER) == {0: 11}
    assert restored.state.restored_ms == ms(40)


def test_a_readable_snapshot_gives_statuses_with_their_time_and_reason(restored: Restored) -> None:
    state = restored.state
    changes = {one.group: one for one in state.changes()}

    assert state.standing_of("audit") == (Status.ERR, ms(31))
    assert state.standing_of("billing") == (Status.WARN, ms(31))
    assert (changes["audit"].at_ms, changes["audit"].was, changes["audit"].now) == (ms(31), Status.NOTFOUND, Status.ERR)
    assert changes["audit"].cause is not None
    assert (changes["audit"].cause.status, changes["audit"].cause.rule) == (Status.STALL, Rule.STALLED)


def test_a_snapshot_of_version_4_goes_on_from_what_was_seen_in_zookeeper(tmp_path: Path) -> None:
    state = Restored(4, tmp_path).state
    assert windows(state, "legacy") == {("payments", 0): [(250, 28, 50)]}

    format_files.look_at_zookeeper(state, second=45)  # nothing was committed since

    assert windows(state, "legacy") == {("payments", 0): [(250, 28, 50)]}


@pytest.mark.parametrize("version", UNREADABLE)
def test_a_snapshot_that_is_no_longer_read_is_kept_and_says_why(version: int, tmp_path: Path) -> None:
    restored = Restored(version, tmp_path)
    aside = tmp_path / f"{CLUSTER}.snapshot.set-aside"

    assert restored.state.groups() == []
    assert [(line["event"], line["error"], line["kept_as"]) for line in restored.logs] == [
        (
            "snapshot not used",
            f"Snapshot {restored.path} is of version {version}, this Warren reads versions 3, 4, 5.",
            str(aside),
        )
    ]
    assert aside.read_bytes() == snapshot_file(version).read_bytes()


def test_a_snapshot_whose_tables_do_not_fit_its_version_is_kept_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "READABLE", (2, 3, 4, 5))  # though columns of version 3 are missing in it
    restored = Restored(2, tmp_path)

    assert restored.logs[0]["event"] == "snapshot not used"
    assert (tmp_path / f"{CLUSTER}.snapshot.set-aside").exists()


def streams(path: Path) -> list[pa.Schema]:
    """Return the schema of each Arrow stream in a snapshot."""
    reader, end = SnapshotReader(path), path.stat().st_size - FOOTER.size
    schemas = []
    while reader._source.tell() < end:
        schemas.append(reader.table().schema)
    return schemas


def test_a_snapshot_is_still_written_as_the_stored_one_of_its_version(tmp_path: Path) -> None:
    format_files.write_snapshot(tmp_path / "now")

    assert streams(tmp_path / "now") == streams(snapshot_file(VERSION)), "another format needs another VERSION"


# -- alerts ----------------------------------------------------------------------------------------------------------

ALERTS = FORMATS / f"alerts-v{SCHEMA_VERSION}.db"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    shutil.copy(ALERTS, tmp_path / "alerts.db")
    opened = Database(tmp_path / "alerts.db")
    yield opened
    opened.close()


def test_the_stored_outbox_gives_exactly_the_messages_that_wait(database: Database) -> None:
    rows = Outbox(database).due(NOTIFIER, ms(90), 10)

    assert [(row.event, row.attempts, row.batch, row.first_due_ms, row.due_ms) for row in rows] == [
        (format_files.event(1), 1, "batch-2", ms(11), ms(90)),
        (format_files.event(3), 0, "", ms(13), ms(13)),
    ]


def test_a_message_that_waits_for_its_next_attempt_still_waits(database: Database) -> None:
    assert [row.event.key for row in Outbox(database).due(NOTIFIER, ms(89), 10)] == ["event-3"]


def test_the_stored_outbox_gives_its_counts(database: Database) -> None:
    results = Outbox(database).results(NOTIFIER)

    assert (results.waiting, results.sent, results.retried, results.failed) == (2, 1, 1, 1)
    assert (results.last_sent_ms, results.last_failed_ms, results.last_error) == (ms(20), ms(22), "no answer")


def test_a_stored_message_that_was_sent_is_not_queued_again(database: Database) -> None:
    assert not Outbox(database).put(NOTIFIER, format_files.event(0), ms(100))


def test_stored_incidents_are_read_with_all_their_steps(database: Database) -> None:
    book = IncidentBook(database)

    assert book.open_incidents(CLUSTER) == {"group-0": format_files.opened_incident()}
    assert book.find(Wanted(is_open=False)) == [format_files.closed_incident()]
    told = book.told(NOTIFIER, "incident-0")
    assert told is not None
    assert told.at_ms == ms(10)


def test_stored_silences_are_read(database: Database) -> None:
    assert SilenceBook(database).all() == [format_files.SILENCE]


def test_a_database_of_a_newer_version_is_refused_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "alerts.db"
    shutil.copy(ALERTS, path)
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    rows = dump(path)

    with pytest.raises(SetupError, match=f"newer Warren \\(version {SCHEMA_VERSION + 1} of its tables"):
        Database(path)
    assert dump(path) == rows


def dump(path: Path) -> list[str]:
    """Return everything in a database as SQL."""
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def test_alerts_are_still_written_as_the_stored_ones_of_their_version(tmp_path: Path) -> None:
    format_files.write_alerts(tmp_path / "now.db")

    assert dump(tmp_path / "now.db") == dump(ALERTS), "another format needs another SCHEMA_VERSION"


# -- sinks -----------------------------------------------------------------------------------------------------------


def test_stored_points_are_read_in_their_order(tmp_path: Path) -> None:
    shutil.copytree(FORMATS / "sink-spool-v1", tmp_path / "spool")
    first, second = Spool(tmp_path / "spool", 1_000_000).waiting()

    assert (first.at_ms, first.points, second.at_ms, second.points) == (ms(30), 3, ms(40), 2)
    assert read(first).to_pylist() == format_files.POINTS.to_pylist()
    assert read(second).to_pylist() == format_files.HEALTH_POINTS.to_pylist()


def test_points_still_have_the_columns_of_the_stored_ones(tmp_path: Path) -> None:
    shutil.copytree(FORMATS / f"sink-spool-v{format_files.SINK_SPOOL_VERSION}", tmp_path / "spool")
    schemas = [read(one).schema for one in Spool(tmp_path / "spool", 1_000_000).waiting()]

    assert schemas == [format_files.POINTS.schema, format_files.HEALTH_POINTS.schema], (
        "other columns need another SINK_SPOOL_VERSION"
    )


# -- history ---------------------------------------------------------------------------------------------------------

HISTORY = FORMATS / "history-spool-v3.spool"
READABLE_HISTORIES = [FORMATS / "history-spool-v2.spool", HISTORY]


@pytest.mark.parametrize("stored", READABLE_HISTORIES, ids=lambda path: path.stem)
def test_a_stored_history_spool_gives_exactly_its_commits(stored: Path) -> None:
    commits = tables_of(stored)["commits"].to_pylist()

    assert [
        (one["group"], one["topic"], one["partition"], one["offset"], (one["timestamp_ms"] - T0_MS) / 1000)
        for one in commits
    ] == [
        *(
            row
            for second, offset in ((5, 90), (15, 100), (25, 110))
            for row in (
                ("billing", "orders", 0, offset, second),
                ("billing", "orders", 1, 50, second),
                ("audit", "payments", 0, 100, second),
            )
        ),
        ("legacy", "payments", 0, 250, 28),
    ]


@pytest.mark.parametrize("stored", READABLE_HISTORIES, ids=lambda path: path.stem)
def test_a_stored_history_spool_gives_everything_else(stored: Path) -> None:
    tables = tables_of(stored)

    assert {name: table.num_rows for name, table in tables.items()} == {
        "events": 15, "commits": 10, "heads": 6, "samples": 4, "owners": 1, "verdicts": 6, "windows": 4, "topics": 4,
    }  # fmt: skip
    assert {(one["group"], one["status"]) for one in tables["samples"].to_pylist()} == {
        ("audit", "ERR"),
        ("billing", "WARN"),
        (f"burrow-{CONSUMER}", "OK"),
        ("legacy", "ERR"),
    }
    assert [(one["topic"], one["end"]) for one in tables["heads"].to_pylist()][-1] == ("orders", [130, 50])


def test_a_history_spool_that_is_no_longer_read_says_so() -> None:
    """The history removes a file once it has taken in what `tables_of` returns, so nothing must not mean unreadable."""
    with pytest.raises(WarrenError, match="history-spool-v1"):
        tables_of(FORMATS / "history-spool-v1.spool")


def test_a_history_spool_that_is_no_longer_read_is_kept_under_another_name(tmp_path: Path) -> None:
    stored, path = FORMATS / "history-spool-v1.spool", tmp_path / CLUSTER / f"{ms(0)}-0.spool"
    path.parent.mkdir()
    shutil.copy(stored, path)
    with structlog.testing.capture_logs() as logs:
        History(Plan(""), tmp_path, lambda: ms(60))._take_in(ReadingWriter(), CLUSTER, path)  # type: ignore[arg-type]

    [kept] = path.parent.iterdir()
    assert (kept.name, kept.read_bytes()) == (f"{ms(0)}-0.unreadable", stored.read_bytes())
    assert [(line["event"], line["path"]) for line in logs] == [("history spool set aside", str(kept))]


class ReadingWriter:
    """A writer of the history that reads spool files and writes nothing."""

    file_count = 0

    def take_in(self, cluster: str, spool: Path, *, now_ms: int) -> int:
        return tables_of(spool)["commits"].num_rows


def test_a_history_spool_is_still_written_as_the_stored_one_of_its_version(tmp_path: Path) -> None:
    format_files.write_history_spool(tmp_path / "now")
    now, stored = tables_of(tmp_path / "now"), tables_of(HISTORY)

    assert {name: table.schema for name, table in now.items()} == {name: table.schema for name, table in stored.items()}
    assert {name: table.to_pylist() for name, table in now.items()} == {
        name: table.to_pylist() for name, table in stored.items()
    }, "another format needs another MAGIC"


def test_stored_tables_have_the_columns_of_the_history() -> None:
    stored = {name: table.schema for name, table in tables_of(HISTORY).items() if name in TABLES}

    assert stored == {name: TABLES[name] for name in stored}
