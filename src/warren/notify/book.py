"""Incidents and silences as they are kept over restarts, in the same file as what waits to be sent."""

from __future__ import annotations

import json
from typing import NamedTuple, cast

from warren.model import Status
from warren.notify.database import Database, Value
from warren.notify.decisions import Told
from warren.notify.events import Cause, Turn
from warren.notify.incidents import Incident, Step
from warren.notify.silences import Scope, Silence

TABLES = """
CREATE TABLE IF NOT EXISTS incidents (
    id TEXT PRIMARY KEY,
    cluster TEXT NOT NULL,
    name TEXT NOT NULL,
    opened_ms INTEGER NOT NULL,
    closed_ms INTEGER,
    status INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS incidents_open ON incidents (cluster) WHERE closed_ms IS NULL;
CREATE INDEX IF NOT EXISTS incidents_of_group ON incidents (cluster, name, opened_ms);
CREATE INDEX IF NOT EXISTS incidents_by_time ON incidents (opened_ms);
CREATE TABLE IF NOT EXISTS steps (
    incident TEXT NOT NULL,
    number INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    turn TEXT NOT NULL,
    status INTEGER NOT NULL,
    cause TEXT,
    total_lag INTEGER NOT NULL,
    PRIMARY KEY (incident, number)
);
CREATE TABLE IF NOT EXISTS told (
    notifier TEXT NOT NULL,
    incident TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (notifier, incident)
);
CREATE TABLE IF NOT EXISTS silences (
    id TEXT PRIMARY KEY,
    cluster TEXT NOT NULL,
    name TEXT NOT NULL,
    topic TEXT NOT NULL,
    from_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL,
    author TEXT NOT NULL,
    comment TEXT NOT NULL
);
"""


class Wanted(NamedTuple):
    """Which incidents are asked for; "" and None fit everything."""

    cluster: str = ""
    group: str = ""
    is_open: bool | None = None
    limit: int = 100
    before_ms: int | None = None
    """Only those that were opened before."""
    after: Incident | None = None
    """Only those that come after it in the list; many are opened in the same millisecond."""


class IncidentBook:
    """The incidents of all clusters, and what was told of them to whom."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._open: dict[str, dict[str, Incident]] = {}
        database.add_tables(TABLES)

    def open_incidents(self, cluster: str) -> dict[str, Incident]:
        """What is open in a cluster, by group; asked every second, so it is remembered."""
        if cluster not in self._open:
            rows = self._database.read(f"{_SELECT} WHERE cluster = ? AND closed_ms IS NULL", (cluster,))
            self._open[cluster] = {one.group: one for one in map(self._incident, rows)}
        return dict(self._open[cluster])

    def clusters_with_open(self) -> list[str]:
        """The clusters in which anything is open."""
        rows = self._database.read("SELECT DISTINCT cluster FROM incidents WHERE closed_ms IS NULL")
        return [str(cluster) for (cluster,) in rows]

    def remember(self, incident: Incident) -> None:
        """An incident was written down for good."""
        of_cluster = self._open.setdefault(incident.cluster, {})
        if incident.closed_ms is None:
            of_cluster[incident.group] = incident
        else:
            of_cluster.pop(incident.group, None)

    def find(self, wanted: Wanted) -> list[Incident]:
        """Some of them, the newest first."""
        conditions: dict[str, Value] = {}
        if wanted.cluster:
            conditions["cluster = ?"] = wanted.cluster
        if wanted.group:
            conditions["name = ?"] = _kept(wanted.group)
        if wanted.before_ms is not None:
            conditions["opened_ms < ?"] = wanted.before_ms
        clauses, values = list(conditions), list(conditions.values())
        if wanted.after is not None:
            clauses.append("(opened_ms < ? OR (opened_ms = ? AND id > ?))")
            values += [wanted.after.opened_ms, wanted.after.opened_ms, wanted.after.id]
        if wanted.is_open is not None:
            clauses.append(f"closed_ms IS {'' if wanted.is_open else 'NOT '}NULL")
        where = f" WHERE {' AND '.join(clauses)}" if clauses else ""
        query = f"{_SELECT}{where} ORDER BY opened_ms DESC, id LIMIT ?"
        return [self._incident(row) for row in self._database.read(query, [*values, wanted.limit])]

    def count_open(self) -> dict[str, int]:
        """How many are open in each cluster that has any."""
        query = "SELECT cluster, count(*) FROM incidents WHERE closed_ms IS NULL GROUP BY cluster"
        return dict(cast(list[tuple[str, int]], self._database.read(query)))

    def get(self, incident_id: str) -> Incident | None:
        """One of them."""
        rows = self._database.read(f"{_SELECT} WHERE id = ?", (incident_id,))
        return self._incident(rows[0]) if rows else None

    def last_closed(self, cluster: str, group: str) -> Incident | None:
        """The newest of a group that is over."""
        query = f"{_SELECT} WHERE cluster = ? AND name = ? AND closed_ms IS NOT NULL ORDER BY closed_ms DESC LIMIT 1"
        rows = self._database.read(query, (cluster, _kept(group)))
        return self._incident(rows[0]) if rows else None

    def closed_since(self, cluster: str, at_ms: int) -> list[Incident]:
        """Those that have ended since then."""
        rows = self._database.read(f"{_SELECT} WHERE cluster = ? AND closed_ms >= ?", (cluster, at_ms))
        return [self._incident(row) for row in rows]

    def write(self, incident: Incident) -> None:
        """Write an incident down with its newest step."""
        step, number = incident.steps[-1], len(incident.steps) - 1
        cause = json.dumps(step.cause._asdict()) if step.cause else None
        name = _kept(incident.group)
        values = (incident.id, incident.cluster, name, incident.opened_ms, incident.closed_ms, int(incident.status))
        with self._database.change() as cursor:
            cursor.execute("INSERT OR REPLACE INTO incidents VALUES (?, ?, ?, ?, ?, ?)", values)
            cursor.execute(
                "INSERT OR REPLACE INTO steps VALUES (?, ?, ?, ?, ?, ?, ?)",
                (incident.id, number, step.at_ms, step.turn.value, int(step.status), cause, step.total_lag),
            )

    def told(self, notifier: str, incident_id: str) -> Told | None:
        """What a notifier was told of an incident last."""
        query = "SELECT at_ms FROM told WHERE notifier = ? AND incident = ?"
        rows = self._database.read(query, (notifier, incident_id))
        return Told(cast(int, rows[0][0])) if rows else None

    def tell(self, notifier: str, incident_id: str, at_ms: int) -> None:
        """A notifier is told of it."""
        with self._database.change() as cursor:
            cursor.execute("INSERT OR REPLACE INTO told VALUES (?, ?, ?)", (notifier, incident_id, at_ms))

    def untell(self, notifier: str, incident_id: str) -> None:
        """It was taken back before it was sent."""
        with self._database.change() as cursor:
            cursor.execute("DELETE FROM told WHERE notifier = ? AND incident = ?", (notifier, incident_id))

    def prune(self, closed_before_ms: int) -> None:
        """Forget what is long over."""
        gone = "SELECT id FROM incidents WHERE closed_ms < ?"
        with self._database.change() as cursor:
            for table, column in (("steps", "incident"), ("told", "incident"), ("incidents", "id")):
                cursor.execute(f"DELETE FROM {table} WHERE {column} IN ({gone})", (closed_before_ms,))

    def _incident(self, row: tuple[Value, ...]) -> Incident:
        incident_id, cluster, name, opened_ms, closed_ms, status = cast(tuple[str, str, str, int, int | None, int], row)
        query = "SELECT at_ms, turn, status, cause, total_lag FROM steps WHERE incident = ? ORDER BY number"
        steps = tuple(_step(one) for one in self._database.read(query, (incident_id,)))
        return Incident(incident_id, cluster, _named(name), opened_ms, Status(status), steps, closed_ms)


class SilenceBook:
    """The silences that people have set."""

    def __init__(self, database: Database) -> None:
        self._database = database
        database.add_tables(TABLES)

    def add(self, silence: Silence) -> None:
        """Set one."""
        values = (silence.id, *silence.scope, silence.from_ms, silence.until_ms, silence.by, silence.comment)
        with self._database.change() as cursor:
            cursor.execute("INSERT INTO silences VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)

    def all(self) -> list[Silence]:
        """Those that hold, will hold, or have held lately; the newest first."""
        rows = self._database.read("SELECT * FROM silences ORDER BY from_ms DESC, id")
        return [_silence(row) for row in rows]

    def remove(self, silence_id: str) -> bool:
        """Take one back; False if there is none of this name."""
        with self._database.change() as cursor:
            cursor.execute("DELETE FROM silences WHERE id = ?", (silence_id,))
            return cursor.rowcount == 1

    def prune(self, ended_before_ms: int) -> None:
        """Forget those that are long over."""
        with self._database.change() as cursor:
            cursor.execute("DELETE FROM silences WHERE until_ms < ?", (ended_before_ms,))


_SELECT = "SELECT id, cluster, name, opened_ms, closed_ms, status FROM incidents"


def _silence(row: tuple[Value, ...]) -> Silence:
    silence_id, cluster, group, topic, from_ms, until_ms, by, comment = cast(
        tuple[str, str, str, str, int, int, str, str], row
    )
    return Silence(silence_id, Scope(cluster, group, topic), from_ms, until_ms, by, comment)


def _step(row: tuple[Value, ...]) -> Step:
    at_ms, turn, status, cause, total_lag = cast(tuple[int, str, int, str | None, int], row)
    return Step(at_ms, Turn(turn), Status(status), Cause(**json.loads(cause)) if cause else None, total_lag)


def _kept(name: str) -> str:
    """Names of groups can hold bytes that are no UTF-8, which SQLite refuses: they are kept as JSON has them."""
    return json.dumps(name)


def _named(kept: str) -> str:
    return str(json.loads(kept))
