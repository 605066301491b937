"""What a template is executed with: an incident and the status of its group, with Burrow's types and names. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from warren.notify.templates import times
from warren.notify.templates.methods import STATUS, STATUS_NAMES
from warren.notify.templates.values import (
    FLOAT32,
    INT,
    INT32,
    INT64,
    STRING,
    TIME,
    UINT64,
    Field,
    GoType,
    Integer,
    Kind,
    List,
    Pointer,
    Real,
    Struct,
    Table,
    Value,
    Zone,
    map_of,
    pointer_to,
    slice_of,
    text,
)

Body = Mapping[str, Any]
"""A part of a v3 body."""

_FIRST_ADDRESS, _ADDRESS_STEP = 0xC000010000, 0x40


def _struct(name: str, *fields: tuple[str, GoType, str | None]) -> GoType:
    return GoType(name, Kind.STRUCT, fields=tuple(Field(*one) for one in fields))


LAG = _struct("protocol.Lag", ("Value", UINT64, "Value"))
CONSUMER_OFFSET = _struct(
    "protocol.ConsumerOffset",
    ("Offset", INT64, "offset"),
    ("Order", INT64, None),
    ("Timestamp", INT64, "timestamp"),
    ("ObservedTimestamp", INT64, "observedAt"),
    ("Lag", pointer_to(LAG), "lag"),
)
PARTITION_STATUS = _struct(
    "protocol.PartitionStatus",
    ("Topic", STRING, "topic"),
    ("Partition", INT32, "partition"),
    ("Owner", STRING, "owner"),
    ("ClientID", STRING, "client_id"),
    ("Status", STATUS, "status"),
    ("Start", pointer_to(CONSUMER_OFFSET), "start"),
    ("End", pointer_to(CONSUMER_OFFSET), "end"),
    ("CurrentLag", UINT64, "current_lag"),
    ("Complete", FLOAT32, "complete"),
)
GROUP_STATUS = _struct(
    "protocol.ConsumerGroupStatus",
    ("Cluster", STRING, "cluster"),
    ("Group", STRING, "group"),
    ("Status", STATUS, "status"),
    ("Complete", FLOAT32, "complete"),
    ("Partitions", slice_of(pointer_to(PARTITION_STATUS)), "partitions"),
    ("TotalPartitions", INT, "partition_count"),
    ("Maxlag", pointer_to(PARTITION_STATUS), "maxlag"),
    ("TotalLag", UINT64, "totallag"),
)
_MEMBERS = {
    "Cluster": STRING,
    "Group": STRING,
    "ID": STRING,
    "Start": TIME,
    "Extras": map_of(STRING),
    "Result": GROUP_STATUS,
}
NOTIFICATION = _struct(
    "struct { " + "; ".join(f"{name} {type_}" for name, type_ in _MEMBERS.items()) + " }",
    *((name, type_, name) for name, type_ in _MEMBERS.items()),
)
OLD_NAMES = {(NOTIFICATION, "Id"): "ID"}
"""Fields by names that Burrow's own templates use and its data does not have; here they work, with a warning."""


def notification_data(  # noqa: PLR0917 - these are the fields, in their order
    cluster: str,
    group: str,
    id: str,  # noqa: A002 - the name of the field
    start_ms: int | None,
    extras: Mapping[str, str],
    status: Body,
    *,
    zone: Zone = times.MACHINE_ZONE,
) -> Struct:
    """The data of a message; `start_ms` is None where there is no incident, `status` is as in the answers of v3.

    `Order` of an offset is 0 always: the answers do not have it.
    """
    start = times.zero_time(zone) if start_ms is None else times.at_ms(start_ms, zone)
    entries: dict[bytes, Value] = {text(key).value: text(value) for key, value in extras.items()}
    return Struct(
        (text(cluster), text(group), text(id), start, Table(entries, map_of(STRING)), _Builder().group(status)),
        NOTIFICATION,
    )


class _Builder:
    """Makes values of a body, each pointer with an address of its own."""

    def __init__(self) -> None:
        self._address = _FIRST_ADDRESS

    def group(self, status: Body) -> Struct:
        partitions = [self._partition(one) for one in status["partitions"]]
        return Struct(
            (
                text(status["cluster"]),
                text(status["group"]),
                _status(status["status"]),
                _share(status["complete"]),
                List(tuple(partitions), slice_of(pointer_to(PARTITION_STATUS))),
                Integer(status["partition_count"]),
                self._worst(status, partitions),
                Integer(status["totallag"], UINT64),
            ),
            GROUP_STATUS,
        )

    def _worst(self, status: Body, partitions: list[Pointer]) -> Pointer:
        """The partition with the most lag: the same pointer, if it is among those that are shown."""
        worst = status["maxlag"]
        if worst is None:
            return Pointer(None, pointer_to(PARTITION_STATUS))
        for body, pointer in zip(status["partitions"], partitions, strict=True):
            if (body["topic"], body["partition"]) == (worst["topic"], worst["partition"]):
                return pointer
        return self._partition(worst)

    def _partition(self, body: Body) -> Pointer:
        values = (
            text(body["topic"]),
            Integer(body["partition"], INT32),
            text(body["owner"]),
            text(body["client_id"]),
            _status(body["status"]),
            self._offset(body["start"]),
            self._offset(body["end"]),
            Integer(body["current_lag"], UINT64),
            _share(body["complete"]),
        )
        return self._pointer(Struct(values, PARTITION_STATUS))

    def _offset(self, body: Body | None) -> Pointer:
        if body is None:
            return Pointer(None, pointer_to(CONSUMER_OFFSET))
        numbers = (body["offset"], 0, body["timestamp"], body["observedAt"])
        values: list[Value] = [Integer(number, INT64) for number in numbers]
        return self._pointer(Struct((*values, self._lag(body["lag"])), CONSUMER_OFFSET))

    def _lag(self, lag: int | None) -> Pointer:
        if lag is None:
            return Pointer(None, pointer_to(LAG))
        return self._pointer(Struct((Integer(lag, UINT64),), LAG))

    def _pointer(self, target: Struct) -> Pointer:
        self._address += _ADDRESS_STEP
        return Pointer(target, pointer_to(target.type), self._address)


def _status(name: str) -> Integer:
    return Integer(STATUS_NAMES.index(name), STATUS)


def _share(complete: float) -> Real:
    return Real(float(np.float32(complete)), FLOAT32)
