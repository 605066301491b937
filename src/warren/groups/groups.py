"""All groups of a cluster: what is told of each in short, and which are to be looked at anew after a change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pyarrow as pa

from warren.groups.derived import GroupState
from warren.groups.records import GroupRecords, RawRecord
from warren.groups.views import SIMPLE, GroupType, GroupView, view_of

RECORDS = pa.schema(
    [("source_partition", pa.int32()), ("order", pa.int64()), ("key", pa.binary()), ("value", pa.binary())]
)


class GroupBrief(NamedTuple):
    """A group in a list."""

    type: GroupType
    state: GroupState
    member_count: int


class Groups:
    """The groups of one cluster by their records; one that has offsets only is not known here: it is a simple one."""

    def __init__(self) -> None:
        self._records = GroupRecords()
        self._briefs: dict[str, GroupBrief] = {}
        self._topic_names: Mapping[bytes, str] = {}
        self._groups_of_topic_id: dict[bytes, set[str]] = {}
        self._topic_ids: dict[str, set[bytes]] = {}
        self._told: dict[str, GroupView] = {}
        """Groups in places where there are no records of them."""

    def tell(self, group: str, view: GroupView | None) -> GroupView:
        """Take what another place than the offsets topic tells of a group; None if it is gone from there."""
        if view is None:
            self._told.pop(group, None)
        else:
            self._told[group] = view
        return self._look_at(group)

    def apply(self, records: Iterable[RawRecord]) -> dict[str, GroupView]:
        """Take records; the groups that are now another way."""
        changed = {group for raw in records if (group := self._records.put(raw))}
        return {group: self._look_at(group) for group in changed}

    def name_topics(self, topic_names: Mapping[bytes, str]) -> dict[str, GroupView]:
        """Take the names of all topics by id; the groups that are told by other names now."""
        changed_ids = {one for one, _ in topic_names.items() ^ self._topic_names.items()}
        self._topic_names = dict(topic_names)
        changed = {group for one in changed_ids for group in self._groups_of_topic_id.get(one, ())}
        return {group: self._look_at(group) for group in changed}

    def forget(self, group: str) -> None:
        """Take all records of a group away."""
        self._records.forget(group)
        self._told.pop(group, None)
        self._look_at(group)

    def view(self, group: str) -> GroupView:
        """Everything that is told of a group."""
        told = self._told.get(group)
        return told or view_of(group, self._records.of(group), self._topic_names)

    def brief(self, group: str) -> GroupBrief:
        """The same in short."""
        return self._briefs.get(group, _brief(SIMPLE))

    def briefs(self) -> Mapping[str, GroupBrief]:
        """All groups that have records."""
        return self._briefs

    def table(self) -> pa.Table:
        """What is kept of them over restarts: their records."""
        columns = list(zip(*self._records, strict=True)) or [()] * len(RECORDS)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, RECORDS, strict=True)]
        return pa.table(arrays, schema=RECORDS)

    def _look_at(self, group: str) -> GroupView:
        view = self.view(group)
        if self._records.of(group) or group in self._told:
            self._briefs[group] = _brief(view)
        else:
            self._briefs.pop(group, None)
        self._note_topic_ids(group, view.topic_ids)
        return view

    def _note_topic_ids(self, group: str, now: set[bytes]) -> None:
        before = self._topic_ids.pop(group, set())
        for one in before - now:
            self._groups_of_topic_id[one].discard(group)
            if not self._groups_of_topic_id[one]:
                del self._groups_of_topic_id[one]
        for one in now - before:
            self._groups_of_topic_id.setdefault(one, set()).add(group)
        if now:
            self._topic_ids[group] = now


def restored_groups(table: pa.Table, topic_names: Mapping[bytes, str]) -> Groups:
    """What was kept."""
    groups = Groups()
    groups.name_topics(topic_names)
    groups.apply(RawRecord(**row) for row in table.to_pylist())
    return groups


def _brief(view: GroupView) -> GroupBrief:
    return GroupBrief(view.type, view.state, len(view.members))
