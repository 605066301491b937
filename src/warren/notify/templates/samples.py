"""Data to try templates with: a group in trouble, one that is well, and one of which little is known. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warren.notify.templates.data import notification_data
from warren.notify.templates.values import Struct

_START_MS = 1_767_323_045_678
_STATUSES = ("WARN", "STOP", "STALL", "REWIND")


def sample_data(extras: Mapping[str, str]) -> tuple[Struct, ...]:
    """The samples, with the extras that are configured."""
    id_ = "00000000-0000-4000-8000-000000000000"
    return (
        notification_data("local", "orders", id_, _START_MS, extras, in_trouble()),
        notification_data("local", "orders", "", None, extras, _status("OK", [], _partition(0, "OK", lag=0))),
        notification_data("local", "orders", id_, _START_MS, extras, _status("OK", [], None)),
        notification_data("local", "orders", id_, _START_MS, extras, _hardly_known()),
    )


def in_trouble() -> dict[str, Any]:
    """The status of a group with partitions in all kinds of trouble."""
    partitions = [_partition(number, status, lag=100 * number) for number, status in enumerate(_STATUSES)]
    return _status("ERR", partitions, partitions[-1])


def _hardly_known() -> dict[str, Any]:
    """No offset has a lag, and one partition has no offsets at all."""
    without_lag = _partition(0, "STOP", lag=None)
    without_offsets = without_lag | {"partition": 1, "start": None, "end": None}
    return _status("WARN", [without_lag, without_offsets], without_lag)


def _status(status: str, partitions: list[dict[str, Any]], worst: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "cluster": "local",
        "group": "orders",
        "status": status,
        "complete": 1,
        "partitions": partitions,
        "partition_count": len(partitions) + (worst is not None),
        "maxlag": worst,
        "totallag": sum(one["current_lag"] for one in partitions),
    }


def _partition(number: int, status: str, *, lag: int | None) -> dict[str, Any]:
    end = {"offset": 1000, "timestamp": _START_MS, "observedAt": _START_MS, "lag": lag}
    return {
        "topic": "orders",
        "partition": number,
        "owner": "host",
        "client_id": "client",
        "status": status,
        "start": end | {"offset": 900, "timestamp": _START_MS - 60_000},
        "end": end,
        "current_lag": lag or 0,
        "complete": 1,
    }
