"""Events on their way to receivers, kept until each one is delivered, refused for good, or given up.

An event is written down for a notifier before anything is sent, and again before each attempt. So after a crash it is
sent again, as part of the same message with the same key; and what was never tried can be told from what may have
arrived.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple, cast

from warren.model import Status
from warren.notify.database import Database
from warren.notify.events import Cause, Event, Turn

KEEP_MS = 7 * 86_400_000
"""How long finished events are remembered; an event that comes again meanwhile changes nothing."""
ABANDON_MS = 14 * 86_400_000
"""Events of a notifier that is no longer configured wait so long, in case it comes back."""

TABLES = """
CREATE TABLE IF NOT EXISTS outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    notifier TEXT NOT NULL,
    key TEXT NOT NULL,
    incident TEXT NOT NULL,
    event TEXT NOT NULL,
    first_due_ms INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    batch TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'waiting',
    finished_ms INTEGER,
    error TEXT NOT NULL DEFAULT '',
    UNIQUE (notifier, key)
);
CREATE INDEX IF NOT EXISTS outbox_waiting ON outbox (notifier, id) WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS outbox_order ON outbox (notifier, incident, id) WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS outbox_batch ON outbox (notifier, batch) WHERE state = 'waiting' AND batch != '';
CREATE INDEX IF NOT EXISTS outbox_finished ON outbox (finished_ms) WHERE state != 'waiting';
CREATE TABLE IF NOT EXISTS outbox_results (
    notifier TEXT PRIMARY KEY,
    sent INTEGER NOT NULL DEFAULT 0,
    retried INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    last_sent_ms INTEGER,
    last_failed_ms INTEGER,
    last_error TEXT NOT NULL DEFAULT ''
);
"""

_ROW = "id, event, first_due_ms, due_ms, attempts, batch"

# Events of one incident stay in their order: one that waits for its next attempt holds back those after it. A message
# that an incident is over must never be overtaken by the one that it began.
_DUE = f"""
SELECT {_ROW} FROM outbox AS one
WHERE notifier = :notifier AND state = 'waiting' AND due_ms <= :now_ms AND (incident = '' OR NOT EXISTS (
    SELECT 1 FROM outbox AS earlier
    WHERE earlier.notifier = one.notifier AND earlier.state = 'waiting' AND earlier.incident = one.incident
        AND earlier.id < one.id AND earlier.due_ms > :now_ms))
ORDER BY id LIMIT :limit
"""


class Row(NamedTuple):
    """An event that waits for one notifier."""

    id: int
    event: Event
    first_due_ms: int
    due_ms: int
    attempts: int
    batch: str
    """The key of the message in which it was tried before; "" if it never was."""


class Results(NamedTuple):
    """How a notifier has been doing; times are None as long as it never happened."""

    waiting: int = 0
    oldest_waiting_ms: int | None = None
    sent: int = 0
    retried: int = 0
    failed: int = 0
    last_sent_ms: int | None = None
    last_failed_ms: int | None = None
    last_error: str = ""


class Outbox:
    """What waits for which notifier, and what became of it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        database.add_tables(TABLES)

    def put(self, notifier: str, event: Event, due_ms: int) -> bool:
        """Write an event down for a notifier; False, and nothing changes, if that was done before."""
        values = (notifier, _column(event.key), _column(event.incident), to_json(event), due_ms, due_ms)
        with self._database.change() as cursor:
            cursor.execute(
                "INSERT OR IGNORE INTO outbox (notifier, key, incident, event, first_due_ms, due_ms)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                values,
            )
            return cursor.rowcount == 1

    def due(self, notifier: str, now_ms: int, limit: int) -> list[Row]:
        """What may be sent now, oldest first."""
        found = self._database.read(_DUE, {"notifier": notifier, "now_ms": now_ms, "limit": limit})
        return [_row(values) for values in found]

    def batch(self, notifier: str, batch: str) -> list[Row]:
        """All that was tried in one message and still waits."""
        query = f"SELECT {_ROW} FROM outbox WHERE notifier = ? AND batch = ? AND state = 'waiting' AND batch != ''"
        return [_row(values) for values in self._database.read(f"{query} ORDER BY id", (notifier, batch))]

    def take(self, rows: Sequence[Row], batch: str) -> bool:
        """Write down that they are about to be sent as one message; False if any of them was dropped meanwhile."""
        with self._database.change() as cursor:
            marks = ", ".join("?" * len(rows))
            waiting = f"SELECT count(*) FROM outbox WHERE state = 'waiting' AND id IN ({marks})"
            [(count,)] = cursor.execute(waiting, [row.id for row in rows]).fetchall()
            if count < len(rows):
                return False
            taken = [(batch, row.id) for row in rows]
            cursor.executemany("UPDATE outbox SET attempts = attempts + 1, batch = ? WHERE id = ?", taken)
        return True

    def sent(self, rows: Sequence[Row], now_ms: int) -> None:
        """The receiver took them."""
        with self._database.change() as cursor:
            finished = [(now_ms, row.id) for row in rows]
            cursor.executemany("UPDATE outbox SET state = 'sent', finished_ms = ?, error = '' WHERE id = ?", finished)
            self._count(rows, "sent = sent + ?, last_sent_ms = ?", (len(rows), now_ms))

    def retry(self, rows: Sequence[Row], due_ms: int, error: str, now_ms: int) -> None:
        """They did not arrive, and are tried again at `due_ms`."""
        with self._database.change() as cursor:
            waiting = [(due_ms, error, row.id) for row in rows]
            cursor.executemany("UPDATE outbox SET due_ms = ?, error = ? WHERE id = ?", waiting)
            assignments = "retried = retried + ?, last_failed_ms = ?, last_error = ?"
            self._count(rows, assignments, (len(rows), now_ms, error))

    def failed(self, rows: Sequence[Row], error: str, now_ms: int) -> None:
        """They never arrive: refused for good, or given up."""
        with self._database.change() as cursor:
            finished = [(now_ms, error, row.id) for row in rows]
            cursor.executemany(
                "UPDATE outbox SET state = 'failed', finished_ms = ?, error = ? WHERE id = ?",
                finished,
            )
            assignments = "failed = failed + ?, last_failed_ms = ?, last_error = ?"
            self._count(rows, assignments, (len(rows), now_ms, error))

    def drop(self, notifier: str, incident: str, due_after_ms: int = -1) -> int:
        """Forget what waits about an incident, was never tried, and is due only later; how many that were."""
        with self._database.change() as cursor:
            cursor.execute(
                "DELETE FROM outbox"
                " WHERE notifier = ? AND incident = ? AND state = 'waiting' AND attempts = 0 AND due_ms > ?",
                (notifier, _column(incident), due_after_ms),
            )
            return cursor.rowcount

    def has_any(self, notifier: str, incident: str) -> bool:
        """Whether anything about an incident may have arrived, or will."""
        query = "SELECT 1 FROM outbox WHERE notifier = ? AND incident = ? LIMIT 1"
        return bool(self._database.read(query, (notifier, _column(incident))))

    def results(self, notifier: str) -> Results:
        """How a notifier has been doing, over all restarts."""
        waiting = "SELECT count(*), min(first_due_ms) FROM outbox WHERE notifier = ? AND state = 'waiting'"
        counts = "SELECT sent, retried, failed, last_sent_ms, last_failed_ms, last_error FROM outbox_results"
        with self._database.change() as cursor:  # so that both are of one moment
            [found] = cursor.execute(waiting, (notifier,)).fetchall()
            counted = cursor.execute(f"{counts} WHERE notifier = ?", (notifier,)).fetchall()
        return Results(*found, *(counted[0] if counted else ()))

    def prune(self, now_ms: int) -> int:
        """Forget what was finished a week ago, and give up what nobody has asked for; how many the latter were."""
        with self._database.change() as cursor:
            cursor.execute("DELETE FROM outbox WHERE state != 'waiting' AND finished_ms < ?", (now_ms - KEEP_MS,))
            cursor.execute(
                "UPDATE outbox SET state = 'failed', finished_ms = ?, error = 'no notifier took it'"
                " WHERE state = 'waiting' AND first_due_ms < ?",
                (now_ms, now_ms - ABANDON_MS),
            )
            return cursor.rowcount

    def _count(self, rows: Sequence[Row], assignments: str, values: tuple[int | str, ...]) -> None:
        """Change the numbers of the notifier that these rows belong to."""
        if not rows:
            return
        with self._database.change() as cursor:
            of = "SELECT notifier FROM outbox WHERE id = ?"
            [(notifier,)] = cursor.execute(of, (rows[0].id,)).fetchall()
            cursor.execute("INSERT OR IGNORE INTO outbox_results (notifier) VALUES (?)", (notifier,))
            cursor.execute(f"UPDATE outbox_results SET {assignments} WHERE notifier = ?", (*values, notifier))


def to_json(event: Event) -> str:
    """An event as it is kept."""
    return json.dumps(event._asdict() | {"cause": event.cause._asdict() if event.cause else None})


def from_json(text: str) -> Event:
    """The event that was kept."""
    kept = json.loads(text)
    cause = kept.pop("cause")
    kept |= {"turn": Turn(kept["turn"]), "was": Status(kept["was"]), "now": Status(kept["now"])}
    return Event(**kept, cause=Cause(**cause) if cause else None)


def _row(values: Sequence[object]) -> Row:
    number, event, first_due_ms, due_ms, attempts, batch = cast(tuple[int, str, int, int, int, str], values)
    return Row(number, from_json(event), first_due_ms, due_ms, attempts, batch)


def _column(text: str) -> str:
    """Names of groups can hold bytes that are no UTF-8, which SQLite refuses; the event itself keeps them."""
    return text.encode("utf-8", "backslashreplace").decode()
