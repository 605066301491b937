"""The methods of values: how a status is called, and what a time can tell. Pure."""

from __future__ import annotations

from collections.abc import Callable

from warren.model import Status
from warren.notify.templates import layouts, times
from warren.notify.templates.values import (
    INT,
    INT64,
    STRING,
    TIME,
    Function,
    GoType,
    Integer,
    Kind,
    Moment,
    Text,
    Truth,
    Value,
    wrapped,
)

STATUS = GoType("protocol.StatusConstant", Kind.INT)
MONTH = GoType("time.Month", Kind.INT)
WEEKDAY = GoType("time.Weekday", Kind.INT)
STATUS_NAMES = tuple(status.name for status in Status)


def status_name(number: int) -> str:
    """What a status is called."""
    return STATUS_NAMES[number] if 0 <= number < len(STATUS_NAMES) else "UNKNOWN"


def _month_name(number: int) -> str:
    return layouts.MONTHS[number - 1] if 1 <= number <= 12 else f"%!Month({number})"


def _weekday_name(number: int) -> str:
    return layouts.DAYS[number] if 0 <= number <= 6 else f"%!Weekday({number})"


_NAMES: dict[GoType, Callable[[int], str]] = {STATUS: status_name, MONTH: _month_name, WEEKDAY: _weekday_name}


def string_of(value: Value) -> bytes | None:
    """What the method String says, for values that have it."""
    if isinstance(value, Moment):
        return layouts.string(value)
    if isinstance(value, Integer) and value.type in _NAMES:
        return _NAMES[value.type](value.value).encode()
    return None


def methods_of(value: Value) -> dict[str, Function]:
    """The methods of a value, bound to it."""
    if isinstance(value, Moment):
        return {name: _bound(value, method) for name, method in _OF_TIME.items()} | _with_arguments(value)
    if (said := string_of(value)) is not None:
        return {"String": Function((), lambda _: Text(said))}
    return {}


def _bound(moment: Moment, method: Callable[[Moment], Value]) -> Function:
    return Function((), lambda _: method(moment))


def _clocked(field: Callable[[times.Clock], int], type: GoType = INT) -> Callable[[Moment], Value]:  # noqa: A002
    return lambda moment: Integer(field(times.clock(moment)), type)


_OF_TIME: dict[str, Callable[[Moment], Value]] = {
    "String": lambda moment: Text(layouts.string(moment)),
    "Unix": lambda moment: Integer(moment.seconds, INT64),
    "UnixMilli": lambda moment: wrapped(times.unix_nanos(moment) // 1_000_000, INT64),
    "UnixMicro": lambda moment: wrapped(times.unix_nanos(moment) // 1_000, INT64),
    "UnixNano": lambda moment: wrapped(times.unix_nanos(moment), INT64),
    "UTC": lambda moment: times.in_zone(moment, times.UTC_ZONE),
    "Local": lambda moment: times.in_zone(moment, moment.local),
    "Year": _clocked(lambda now: now.year),
    "Month": _clocked(lambda now: now.month, MONTH),
    "Day": _clocked(lambda now: now.day),
    "Hour": _clocked(lambda now: now.hour),
    "Minute": _clocked(lambda now: now.minute),
    "Second": _clocked(lambda now: now.second),
    "Nanosecond": lambda moment: Integer(moment.nanos),
    "Weekday": _clocked(lambda now: now.weekday, WEEKDAY),
    "YearDay": _clocked(lambda now: now.year_day),
    "IsZero": lambda moment: Truth(times.is_zero(moment)),
}


def _with_arguments(moment: Moment) -> dict[str, Function]:
    nanos = times.unix_nanos(moment)
    return {
        "Format": Function((STRING,), lambda given: Text(layouts.layout(moment, _bytes(given[0])))),
        "AddDate": Function((INT, INT, INT), lambda given: times.add_date(moment, *map(_number, given))),
        "Before": Function((TIME,), lambda given: Truth(nanos < _nanos(given[0]))),
        "After": Function((TIME,), lambda given: Truth(nanos > _nanos(given[0]))),
        "Equal": Function((TIME,), lambda given: Truth(nanos == _nanos(given[0]))),
    }


def _bytes(value: Value | None) -> bytes:
    assert isinstance(value, Text)  # the parameter says so
    return value.value


def _number(value: Value | None) -> int:
    assert isinstance(value, Integer)
    return value.value


def _nanos(value: Value | None) -> int:
    assert isinstance(value, Moment)
    return times.unix_nanos(value)
