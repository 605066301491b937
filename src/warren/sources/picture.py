"""A picture of all that is in one place (commits, members, what could not be read), as `COMMIT_ROWS`. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa

from warren.groups.told import encode_view
from warren.groups.views import GroupView
from warren.sources.folding import DETAIL_CHARACTERS, FUTURE_MS, LATEST_MS
from warren.windows.rows import COMMIT_ROWS, RowKind, Unreadable

MOST_POISON = 1_000
"""So many nodes that cannot be decoded are told at most."""

NOT_READABLE = "not readable"
"""What nodes and groups are counted under that may not be read."""

LARGEST_OFFSET = (1 << 63) - 1
LARGEST_PARTITION = (1 << 31) - 1


class Commit(NamedTuple):
    """What a group has committed to one partition, as it is found."""

    group: str
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    order: int


class BadNode(NamedTuple):
    """Something that could not be read or decoded; `mark` is another one when it was written again."""

    path: str
    mark: int
    kind: str
    why: str


class Picture(NamedTuple):
    """Everything that one look has found."""

    place_id: str
    commits: list[Commit]
    unreadable: list[Unreadable]
    bad: list[BadNode]
    views: dict[str, GroupView]
    unread: list[str]
    """Groups of which something may have happened that could not be read."""


def picture_rows(picture: Picture, *, looked_ms: int) -> pa.RecordBatch:
    """A picture as rows: one for each group and topic, and those that tell what the picture is of."""
    rows: list[dict[str, object]] = [
        {"kind": RowKind.LOOK, "topic": picture.place_id},
        {"kind": RowKind.PLANNED, "timestamp_ms": [looked_ms]},
        *_commit_rows(picture.commits, looked_ms),
        *(_unreadable_row(one) for one in picture.unreadable),
        *({"kind": RowKind.UNREAD, "group": one} for one in picture.unread),
        *(_poison_row(one) for one in picture.bad[:MOST_POISON]),
        *(_view_row(group, view) for group, view in picture.views.items()),
    ]
    return pa.RecordBatch.from_pylist(rows, COMMIT_ROWS)


def _commit_rows(commits: Iterable[Commit], looked_ms: int) -> Iterable[dict[str, object]]:
    by_pair: dict[tuple[str, str], dict[int, Commit]] = {}
    for one in commits:
        by_pair.setdefault((one.group, one.topic), {})[one.partition] = one
    for (group, topic), found in by_pair.items():
        yield {
            "kind": RowKind.COMMIT,
            "source_partition": 0,
            "group": group,
            "topic": topic,
            "partition": list(found),
            "offset": [one.offset for one in found.values()],
            "timestamp_ms": [_plausible_ms(one.timestamp_ms, looked_ms) for one in found.values()],
            "order": [one.order for one in found.values()],
        }


def _plausible_ms(timestamp_ms: int, looked_ms: int) -> int:
    """A commit of the future was made before we saw it."""
    believed_ms = looked_ms if timestamp_ms > looked_ms + FUTURE_MS else timestamp_ms
    return min(max(believed_ms, 0), LATEST_MS)


def _unreadable_row(one: Unreadable) -> dict[str, object]:
    partition = None if one.partition is None else [one.partition]
    return {"kind": RowKind.UNREADABLE, "group": one.group, "topic": one.topic, "partition": partition}


def _poison_row(one: BadNode) -> dict[str, object]:
    return {
        "kind": RowKind.POISON,
        "source_partition": 0,
        "order": [one.mark],
        "key": one.path.encode(),
        "record_type": -1,
        "reason": one.kind,
        "detail": f"{one.path}: {one.why}"[:DETAIL_CHARACTERS],
    }


def _view_row(group: str, view: GroupView) -> dict[str, object]:
    return {"kind": RowKind.GROUP_VIEW, "group": group, "value": encode_view(view)}
