"""The outbox: nothing that was put into it is lost, and nothing is sent out of its order."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.support.receivers.samples import CLOSED, OPENED, OTHER, REMINDER, REPORT, WILD, WORSENED
from warren.errors import SetupError
from warren.notify.database import Database
from warren.notify.events import Event
from warren.notify.outbox import ABANDON_MS, KEEP_MS, Outbox, Results, from_json, to_json

NOW_MS = 1_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "warren.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database(path)
    yield opened
    opened.close()


@pytest.fixture
def outbox(database: Database) -> Outbox:
    return Outbox(database)


def keys(outbox: Outbox, now_ms: int = NOW_MS, notifier: str = "chat") -> list[str]:
    return [row.event.key for row in outbox.due(notifier, now_ms, 100)]


@pytest.mark.parametrize("event", [OPENED, CLOSED, REPORT, WILD, OPENED._replace(cause=None)])
def test_an_event_is_kept_whole(event: Event, outbox: Outbox) -> None:
    outbox.put("chat", event, NOW_MS)
    [row] = outbox.due("chat", NOW_MS, 1)

    assert row.event == event
    assert (type(row.event.now), type(row.event.turn)) == (type(event.now), type(event.turn))
    assert from_json(to_json(event)) == event


def test_the_same_event_again_changes_nothing(outbox: Outbox) -> None:
    assert outbox.put("chat", OPENED, NOW_MS)
    assert not outbox.put("chat", OPENED._replace(group="other"), NOW_MS - 5)

    [row] = outbox.due("chat", NOW_MS, 10)
    assert (row.event.group, row.due_ms) == (OPENED.group, NOW_MS)


def test_an_event_that_was_sent_is_not_sent_again_when_it_is_put_again(outbox: Outbox) -> None:
    outbox.put("chat", OPENED, NOW_MS)
    outbox.sent(outbox.due("chat", NOW_MS, 1), NOW_MS)

    assert not outbox.put("chat", OPENED, NOW_MS)
    assert keys(outbox) == []


def test_notifiers_do_not_see_each_others_events(outbox: Outbox) -> None:
    outbox.put("chat", OPENED, NOW_MS)
    outbox.put("mail", OPENED, NOW_MS)
    outbox.sent(outbox.due("chat", NOW_MS, 1), NOW_MS)

    assert keys(outbox, notifier="mail") == [OPENED.key]


def test_an_event_is_not_due_before_its_time(outbox: Outbox) -> None:
    outbox.put("chat", OPENED, NOW_MS)

    assert keys(outbox, NOW_MS - 1) == []
    assert keys(outbox, NOW_MS) == [OPENED.key]


def test_the_oldest_come_first_and_not_more_than_are_asked_for(outbox: Outbox) -> None:
    for event in (OPENED, OTHER, REPORT):
        outbox.put("chat", event, NOW_MS)

    assert [row.event.key for row in outbox.due("chat", NOW_MS, 2)] == [OPENED.key, OTHER.key]


def test_an_event_that_is_tried_again_later_holds_back_those_of_its_incident(outbox: Outbox) -> None:
    for event in (OPENED, OTHER, CLOSED):
        outbox.put("chat", event, NOW_MS)
    [first, *_] = outbox.due("chat", NOW_MS, 1)
    outbox.retry([first], NOW_MS + 60_000, "busy", NOW_MS)

    assert keys(outbox) == [OTHER.key]
    assert keys(outbox, NOW_MS + 60_000) == [OPENED.key, OTHER.key, CLOSED.key]


def test_an_event_that_failed_for_good_holds_back_nothing(outbox: Outbox) -> None:
    outbox.put("chat", OPENED, NOW_MS)
    outbox.put("chat", CLOSED, NOW_MS)
    outbox.failed(outbox.due("chat", NOW_MS, 1), "refused", NOW_MS)

    assert keys(outbox) == [CLOSED.key]


def test_reports_do_not_hold_back_each_other(outbox: Outbox) -> None:
    outbox.put("chat", REPORT, NOW_MS + 1000)
    outbox.put("chat", REPORT._replace(key="report-9"), NOW_MS)

    assert keys(outbox) == ["report-9"]


def test_what_was_never_tried_can_be_dropped(outbox: Outbox) -> None:
    outbox.put("chat", OPENED, NOW_MS)
    outbox.put("chat", OTHER, NOW_MS)

    assert outbox.drop("chat", OPENED.incident) == 1
    assert keys(outbox) == [OTHER.key]


def test_what_was_tried_may_have_arrived_and_is_not_dropped(outbox: Outbox) -> None:
    outbox.put("chat", OPENED, NOW_MS)
    outbox.take(outbox.due("chat", NOW_MS, 1), "m1")

    assert outbox.drop("chat", OPENED.incident) == 0
    assert keys(outbox) == [OPENED.key]


def test_what_was_dropped_meanwhile_cannot_be_taken(outbox: Outbox) -> None:
    outbox.put("chat", OPENED, NOW_MS)
    rows = outbox.due("chat", NOW_MS, 1)
    outbox.drop("chat", OPENED.incident)

    assert not outbox.take(rows, "m1")


def test_what_was_taken_together_is_found_together(outbox: Outbox) -> None:
    for event in (OPENED, OTHER, REPORT):
        outbox.put("chat", event, NOW_MS)
    outbox.take(outbox.due("chat", NOW_MS, 2), "m1")

    assert [row.event.key for row in outbox.batch("chat", "m1")] == [OPENED.key, OTHER.key]
    assert [row.attempts for row in outbox.due("chat", NOW_MS, 3)] == [1, 1, 0]


def test_results_tell_what_became_of_the_events(outbox: Outbox) -> None:
    for event in (OPENED, OTHER, REPORT, WILD):
        outbox.put("chat", event, NOW_MS)
    first, second, third, _ = outbox.due("chat", NOW_MS, 4)
    outbox.sent([first], NOW_MS + 1)
    outbox.retry([second], NOW_MS + 9, "busy", NOW_MS + 2)
    outbox.failed([third], "refused", NOW_MS + 3)

    assert outbox.results("chat") == Results(2, NOW_MS, 1, 1, 1, NOW_MS + 1, NOW_MS + 3, "refused")


def test_a_notifier_of_which_nothing_is_known_has_no_results(outbox: Outbox) -> None:
    assert outbox.results("chat") == Results()


def test_finished_events_are_forgotten_after_a_week(outbox: Outbox, database: Database) -> None:
    outbox.put("chat", OPENED, NOW_MS)
    outbox.put("chat", OTHER, NOW_MS)
    outbox.sent(outbox.due("chat", NOW_MS, 1), NOW_MS)
    outbox.prune(NOW_MS + KEEP_MS)
    assert database.read("SELECT count(*) FROM outbox") == [(2,)]

    outbox.prune(NOW_MS + KEEP_MS + 1)
    assert keys(outbox) == [OTHER.key]
    assert database.read("SELECT count(*) FROM outbox") == [(1,)]


def test_events_that_no_notifier_takes_are_given_up_after_two_weeks(outbox: Outbox) -> None:
    outbox.put("gone", OPENED, NOW_MS)

    assert outbox.prune(NOW_MS + ABANDON_MS) == 0
    assert outbox.prune(NOW_MS + ABANDON_MS + 1) == 1
    assert keys(outbox, NOW_MS, "gone") == []


def test_everything_is_there_after_a_restart(path: Path) -> None:
    before = Database(path)
    Outbox(before).put("chat", OPENED, NOW_MS)
    before.close()
    after = Database(path)

    assert keys(Outbox(after)) == [OPENED.key]
    after.close()


def test_everything_is_there_after_a_kill(path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path; from tests.support.receivers.samples import OPENED\n"
        "from warren.notify.database import Database; from warren.notify.outbox import Outbox\n"
        f"Outbox(Database(Path(sys.argv[1]))).put('chat', OPENED, {NOW_MS})\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    after = Database(path)

    assert keys(Outbox(after)) == [OPENED.key]
    after.close()


@pytest.mark.parametrize("content", [b"this is no database at all", b"SQLite format 3\0" + b"x" * 8000])
def test_a_damaged_file_is_set_aside_with_a_message_and_a_new_one_begins(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with capture_logs() as logs:
        database = Database(path)
    Outbox(database).put("chat", OPENED, NOW_MS)
    database.close()

    [told] = logs
    assert told["log_level"] == "error"
    assert Path(told["kept_as"]).read_bytes() == content


def test_damage_inside_of_a_file_is_found_when_it_is_opened(path: Path) -> None:
    before = Database(path)
    outbox = Outbox(before)
    for number in range(300):
        outbox.put("chat", OPENED._replace(key=str(number)), NOW_MS)
    before.read("PRAGMA wal_checkpoint(TRUNCATE)")
    before.close()
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 20] = b"\xff" * (4096 * 17)
    path.write_bytes(content)

    Database(path).close()

    assert path.with_name("warren.db.damaged-1").exists()


def test_a_second_damaged_file_does_not_replace_the_first(path: Path) -> None:
    path.parent.mkdir()
    for content in (b"first" * 500, b"second" * 500):
        path.write_bytes(content)
        Database(path).close()

    assert path.with_name("warren.db.damaged-1").read_bytes().startswith(b"first")
    assert path.with_name("warren.db.damaged-2").read_bytes().startswith(b"second")


def test_a_file_of_a_newer_warren_is_left_alone(path: Path) -> None:
    Database(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()

    with pytest.raises(SetupError, match="newer Warren"):
        Database(path)


def test_a_file_that_cannot_be_opened_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "warren.db").mkdir()

    with pytest.raises(SetupError, match="cannot be used"):
        Database(tmp_path / "warren.db")


def test_only_its_owner_can_read_the_file_and_what_belongs_to_it(path: Path, outbox: Outbox) -> None:
    outbox.put("chat", OPENED, NOW_MS)

    assert {one.stat().st_mode & 0o777 for one in path.parent.iterdir()} == {0o600}
    assert len(list(path.parent.iterdir())) == 3


def test_a_directory_that_cannot_be_made_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")

    with pytest.raises(SetupError, match="cannot be made"):
        Database(tmp_path / "home" / "warren.db")


def test_a_full_disk_is_told_and_what_fits_later_is_kept(outbox: Outbox, database: Database) -> None:
    [(pages,)] = database.read("PRAGMA page_count")
    database.read(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        outbox.put("chat", OPENED._replace(group="g" * 100_000), NOW_MS)
    database.read("PRAGMA max_page_count = 1000000")

    assert outbox.put("chat", OTHER, NOW_MS)
    assert keys(outbox) == [OTHER.key]


def test_every_commit_is_forced_to_the_disk(database: Database) -> None:
    assert database.read("PRAGMA synchronous") == [(2,)]
    assert database.read("PRAGMA journal_mode") == [("wal",)]


def test_changes_of_several_modules_are_kept_together_or_not_at_all(database: Database, outbox: Outbox) -> None:
    database.add_tables("CREATE TABLE IF NOT EXISTS incidents (id TEXT)")

    def fails() -> None:
        with database.change() as cursor:
            cursor.execute("INSERT INTO incidents VALUES ('b7c1')")
            outbox.put("chat", OPENED, NOW_MS)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()

    assert database.read("SELECT * FROM incidents") == []
    assert keys(outbox) == []


def test_many_threads_can_use_it_at_once(outbox: Outbox) -> None:
    def work(name: str) -> None:
        for number, event in enumerate((OPENED, WORSENED, REMINDER, CLOSED) * 5):
            outbox.put(name, event._replace(key=f"{number}"), NOW_MS)
        while rows := outbox.due(name, NOW_MS, 7):
            assert outbox.take(rows, f"{name}{rows[0].id}")
            outbox.sent(rows, NOW_MS)

    threads = [threading.Thread(target=work, args=(str(number),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [outbox.results(str(number)).sent for number in range(8)] == [20] * 8
