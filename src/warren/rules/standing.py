"""Since when groups are in their status, and which of them changed it lately."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from warren.model import Status
from warren.rules.evaluation import Cause, Evaluation, causes
from warren.rules.rule import Rule, Settings
from warren.windows.store import Windows

REMEMBERED_CHANGES = 1_000


class Standing(NamedTuple):
    """A group's status, and since when."""

    status: Status
    since_ms: int


class Change(NamedTuple):
    """A group's status changed. `cause` is None for a group that is gone."""

    at_ms: int
    group: str
    was: Status
    now: Status
    cause: Cause | None


class _Turn(NamedTuple):
    """A change without words yet; a code of -1 is a group that is gone."""

    group: str
    code: int
    was: Status
    now: Status


class Standings:
    """What was said of each group last, and the newest changes, oldest first."""

    def __init__(self) -> None:
        self.groups: dict[str, Standing] = {}
        self.changes: deque[Change] = deque(maxlen=REMEMBERED_CHANGES)

    def update(self, evaluation: Evaluation) -> list[_Turn]:
        """Take what is said now; the turns that are worth telling.

        A group that comes or goes is one only if it is in trouble then.
        """
        before, self.groups = self.groups, {}
        turns = []
        for code, (name, number) in enumerate(zip(evaluation.names, evaluation.group_status.tolist(), strict=True)):
            if name is None or not number:
                continue
            known = before.pop(name, None)
            if known and known.status == number:
                self.groups[name] = known
                continue
            now = Status(number)
            self.groups[name] = Standing(now, evaluation.now_ms)
            if known or now > Status.OK:
                turns.append(_Turn(name, code, known.status if known else Status.NOTFOUND, now))
        gone = [(name, known.status) for name, known in before.items() if known.status > Status.OK]
        return turns + [_Turn(name, -1, status, Status.NOTFOUND) for name, status in gone]


def changes_of(
    windows: Windows,
    evaluation: Evaluation,
    standings: Standings,
    settings: Settings,
    untold: Collection[str] = (),
) -> list[Change]:
    """Take what is said now; what changed, with the reasons, but of groups that are of interest to nobody."""
    turns = [one for one in standings.update(evaluation) if one.group not in untold]
    there = [turn.code for turn in turns if turn.code >= 0]
    found = dict(zip(there, causes(windows, evaluation, there, settings), strict=True))
    changes = [Change(evaluation.now_ms, one.group, one.was, one.now, found.get(one.code)) for one in turns]
    standings.changes.extend(changes)
    return changes


def note_statuses(windows: Windows, evaluation: Evaluation) -> None:
    """Write down what is said of each partition, and since when if that is new."""
    rows, labels = evaluation.row, windows.labels
    changed = evaluation.status != labels.status[rows]
    labels.status[rows[changed]] = evaluation.status[changed]
    labels.since_s[rows[changed]] = np.uint32(evaluation.now_ms // 1000)
    windows.rings.touched[rows[changed]] = True


# -- being written down, and read back -------------------------------------------------------------------------------

GROUPS = pa.schema([("group", pa.string()), ("status", pa.int8()), ("since_ms", pa.int64())])
CHANGES = pa.schema(
    [
        ("at_ms", pa.int64()),
        ("group", pa.string()),
        ("was", pa.int8()),
        ("now", pa.int8()),
        ("topic", pa.string()),  # this and the rest: null for a group that is gone
        ("partition", pa.int32()),
        ("status", pa.int8()),
        ("rule", pa.int8()),
        ("reason", pa.string()),
    ]
)


def standing_tables(standings: Standings) -> dict[str, pa.Table]:
    """Everything that is to be remembered."""
    groups = [{"group": name, **one._asdict()} for name, one in standings.groups.items()]
    changes = [{**one._asdict(), **(one.cause._asdict() if one.cause else {})} for one in standings.changes]
    return {
        "standings": pa.Table.from_pylist(groups, GROUPS),
        "changes": pa.Table.from_pylist(changes, CHANGES),
    }


def restored_standings(groups: pa.Table, changes: pa.Table) -> Standings:
    """What was written down."""
    standings = Standings()
    for row in groups.to_pylist():
        standings.groups[row["group"]] = Standing(Status(row["status"]), row["since_ms"])
    for row in changes.to_pylist():
        where = (row["topic"], row["partition"])
        cause = Cause(*where, Status(row["status"]), Rule(row["rule"]), row["reason"]) if row["topic"] else None
        standings.changes.append(Change(row["at_ms"], row["group"], Status(row["was"]), Status(row["now"]), cause))
    return standings
