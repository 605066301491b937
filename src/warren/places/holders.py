"""Which place the commits of each group and topic come from, if a cluster has several places. Pure.

Orders of different places cannot be compared, so a window holds commits of one place only. A consumer that commits
in two places (while it is moved from ZooKeeper to Kafka, say) is followed in the place that was seen first, until only
the other one goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pyarrow as pa

from warren.windows.commit_rows import CommitRows

LEFT_AFTER_MS = 600_000
"""A place whose newest commit is so much older than one in another place was left for it."""

HELD = pa.schema([("group", pa.string()), ("topic", pa.string()), ("place", pa.string())])

NewestMs = Callable[[str, str], int | None]
"""When a group last committed to a topic, as its windows tell; None if they hold nothing."""


class Holders:
    """Whose each group and topic is; where there is only one place everything is of that."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places
        """By consumer module: several that read the same topic are in one place."""
        distinct = set(places.values())
        self._only = next(iter(distinct)) if len(distinct) == 1 else None
        self._held: dict[str, dict[str, str]] = {}

    def places_of(self, group: str) -> set[str]:
        """The places that a group's windows come from."""
        return {self._only} if self._only is not None else set(self._held.get(group, {}).values())

    def holds(self, module: str, group: str, topic: str) -> bool:
        """Whether what a module tells of a group and topic counts, as things are."""
        return self._only is not None or self._held.get(group, {}).get(topic) == self._places[module]

    def admitted(self, module: str, rows: CommitRows, newest_ms: NewestMs) -> tuple[CommitRows, list[tuple[str, str]]]:
        """The rows that count, and the pairs that were another place's before: their windows must be emptied first."""
        if self._only is not None or not len(rows.offset):
            return rows, []
        newest = np.full(len(rows.pairs), -1, np.int64)
        np.maximum.at(newest, rows.pair, rows.timestamp_ms)
        is_new = np.zeros(len(rows.pairs), np.bool_)
        is_new[rows.pair[~rows.tombstone]] = True
        admitted, taken = np.zeros(len(rows.pairs), np.bool_), []
        for i, (group, topic) in enumerate(rows.pairs):
            if self.holds(module, group, topic):
                admitted[i] = True
            elif is_new[i] and self._may_take(group, topic, int(newest[i]), newest_ms):
                admitted[i] = True
                taken += [(group, topic)] if topic in self._held.get(group, {}) else []
                self._held.setdefault(group, {})[topic] = self._places[module]
        return rows.take(admitted[rows.pair]), taken

    def _may_take(self, group: str, topic: str, at_ms: int, newest_ms: NewestMs) -> bool:
        if topic not in self._held.get(group, {}):
            return True
        known_ms = newest_ms(group, topic)
        return known_ms is None or at_ms - known_ms > LEFT_AFTER_MS

    def of_place(self, place: str) -> list[tuple[str, str]]:
        """All pairs that are of a place, where there are several."""
        return [(group, topic) for group, topics in self._held.items() for topic, at in topics.items() if at == place]

    def keep(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Forget whose all other pairs were: their windows are gone."""
        if self._only is not None:
            return
        kept: dict[str, dict[str, str]] = {}
        for group, topic in pairs:
            if (place := self._held.get(group, {}).get(topic)) is not None:
                kept.setdefault(group, {})[topic] = place
        self._held = kept

    def table(self) -> pa.Table:
        """What is kept over restarts; where there is only one place, a row without a group tells which."""
        rows: list[dict[str, str | None]] = [
            {"group": group, "topic": topic, "place": place}
            for group, topics in self._held.items()
            for topic, place in topics.items()
        ]
        return pa.Table.from_pylist([*rows, {"group": None, "topic": None, "place": self._only}], HELD)

    def restore(self, table: pa.Table, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Go on from what was kept; the pairs that come from places which are no longer there."""
        rows = table.to_pylist()
        known, first = set(self._places.values()), next(iter(self._places.values()), None)
        told = {(row["group"], row["topic"]): row["place"] for row in rows if row["group"] is not None}
        usual = next((row["place"] for row in rows if row["group"] is None), None) or first
        gone = []
        for group, topic in pairs:
            place = told.get((group, topic), usual)
            if place not in known:
                gone.append((group, topic))
            elif self._only is None:
                self._held.setdefault(group, {})[topic] = place
        return gone
