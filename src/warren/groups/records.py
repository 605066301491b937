"""The newest value of every full record key of a cluster's groups.

The topic is compacted: what came before a record may be gone, and the tombstone of a thing never seen is nothing
unusual. So nothing is made of the order of records but which value of a key is the newest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from warren.codec.keys import GroupRecordKey, GroupRecordType, decode_key

VIEWED = frozenset(
    {
        GroupRecordType.CLASSIC_GROUP,
        GroupRecordType.CONSUMER_GROUP,
        GroupRecordType.CONSUMER_MEMBER,
        GroupRecordType.CONSUMER_TARGET,
        GroupRecordType.CONSUMER_MEMBER_CURRENT,
        GroupRecordType.SHARE_MEMBER,
        GroupRecordType.SHARE_GROUP,
        GroupRecordType.SHARE_MEMBER_CURRENT,
        GroupRecordType.SHARE_STATE_PARTITIONS,
        GroupRecordType.STREAMS_GROUP,
        GroupRecordType.STREAMS_MEMBER,
        GroupRecordType.STREAMS_TARGET,
        GroupRecordType.STREAMS_MEMBER_CURRENT,
        GroupRecordType.STREAMS_TOPOLOGY,
    }
)
"""Types that something is told from. The others (what members are to have, retired types) are read and let go."""


class RawRecord(NamedTuple):
    """A record about a group as it lies in the offsets topic; no value is a tombstone."""

    source_partition: int
    order: int
    key: bytes
    value: bytes | None


class Kept(NamedTuple):
    """The newest value of a key."""

    raw: RawRecord
    value: bytes

    @property
    def order(self) -> int:
        """Its place in the log; all records of a group lie in one partition."""
        return self.raw.order


RecordsOfGroup = Mapping[GroupRecordKey, Kept]


class GroupRecords:
    """The newest values, by group."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[GroupRecordKey, Kept]] = {}

    def put(self, raw: RawRecord) -> str | None:
        """Take a record; the group that has changed by it, if one has."""
        key = decode_key(raw.key)
        if not isinstance(key, GroupRecordKey) or key.type not in VIEWED:
            return None
        group = self._groups.get(key.group, {})
        known = group.get(key)
        if known and known.order >= raw.order:
            return None
        if raw.value:
            self._groups.setdefault(key.group, group)[key] = Kept(raw, raw.value)
        elif known:
            del group[key]
            if not group:
                del self._groups[key.group]
        return key.group if raw.value or known else None

    def forget(self, group: str) -> None:
        """Take all records of a group away."""
        self._groups.pop(group, None)

    def of(self, group: str) -> RecordsOfGroup:
        """The newest values of a group's keys; none for a group without any."""
        return self._groups.get(group, {})

    def groups(self) -> list[str]:
        """The groups that have records."""
        return list(self._groups)

    def __iter__(self) -> Iterator[RawRecord]:
        return (kept.raw for group in self._groups.values() for kept in group.values())
