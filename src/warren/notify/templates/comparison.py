"""eq, ne, lt, le, gt, ge: numbers of one kind compare, signed with unsigned, too, but not with floats. Pure."""

from __future__ import annotations

from warren.notify.templates.errors import Failure, Problem
from warren.notify.templates.values import GoType, Integer, Kind, Moment, Pointer, Real, Text, Truth, Value


def equal(first: Value | None, others: list[Value | None]) -> bool:
    """Whether a value is the same as one of the others."""
    if not others:
        raise Failure(Problem.TYPE, "something to compare with is missing")
    return any(_same(first, other) for other in others)


def _same(first: Value | None, second: Value | None) -> bool:
    if first is None or second is None:
        return _is_nil(first) and _is_nil(second)
    if isinstance(first, Truth | Integer | Real | Text) or isinstance(second, Truth | Integer | Real | Text):
        return _same_basic(first, second)
    if first.type.kind is not second.type.kind:
        raise _incompatible(first, second)
    if isinstance(first, Pointer) and isinstance(second, Pointer):
        return first.type is second.type and first.address == second.address
    if not _is_comparable(second.type):
        raise Failure(Problem.TYPE, f"values of type {second.type} cannot be compared")
    return first.type is second.type and _contents(first) == _contents(second)


def _is_comparable(type: GoType) -> bool:  # noqa: A002 - it is the type
    """Whether Go has == for a type: not for maps and slices, and not for what holds one."""
    return type.kind not in (Kind.MAP, Kind.SLICE) and all(_is_comparable(field.type) for field in type.fields)


def _is_nil(value: Value | None) -> bool:
    return value is None or (isinstance(value, Pointer) and value.target is None)


def _contents(value: Value) -> object:
    """What makes two values of one kind the same; numbers can be of different types."""
    match value:
        case Truth() | Integer() | Real() | Text():
            return value.value
        case Moment():
            return value.seconds, value.nanos, value.zone.name
        case _:
            return value


def _same_basic(first: Value, second: Value) -> bool:
    match first, second:
        case (Truth(), Truth()) | (Integer(), Integer()) | (Real(), Real()) | (Text(), Text()):
            return _contents(first) == _contents(second)
        case _:
            raise _incompatible(first, second)


def less(first: Value | None, second: Value | None) -> bool:
    """Whether a value comes before another."""
    match first, second:
        case Integer(value=one), Integer(value=other):
            return one < other
        case Real(value=share), Real(value=other_share):
            return share < other_share
        case Text(value=content), Text(value=other_content):
            return content < other_content
        case ((Truth() | Integer() | Real() | Text()), (Truth() | Integer() | Real() | Text())):
            raise _incompatible(first, second)
        case _:
            raise Failure(Problem.TYPE, "only numbers and strings have an order")


def _incompatible(first: Value, second: Value) -> Failure:
    numbers = {first.type.kind.value, second.type.kind.value} & {"float"}
    hint = "Write a number of the same kind, such as 1.0 for 1." if numbers else ""
    return Failure(Problem.TYPE, f"{first.type} and {second.type} cannot be compared", hint)
