"""Whether a value fits a parameter: types must be the same, only literals adapt. Pure."""

from __future__ import annotations

from typing import TypeAlias

from warren.notify.templates import nodes
from warren.notify.templates.errors import Failure, Problem
from warren.notify.templates.values import (
    GoType,
    Integer,
    Kind,
    Parameter,
    Pointer,
    Real,
    Text,
    Truth,
    Value,
)

Wanted: TypeAlias = GoType | Parameter | None
"""The type of a parameter; None where anything can stand."""

_CAN_BE_NIL = (Kind.POINTER, Kind.MAP, Kind.SLICE)
Constant: TypeAlias = nodes.Bool | nodes.Number | nodes.String


def constant(node: Constant) -> Value:
    """A literal where any type will do."""
    match node:
        case nodes.Bool():
            return Truth(node.value)
        case nodes.String():
            return Text(node.value)
        case nodes.Number():
            return _ideal(node)


def _ideal(node: nodes.Number) -> Value:
    if node.is_float and node.as_float is not None:
        return Real(node.as_float)
    if node.as_int is None:
        raise Failure(Problem.TYPE, f"{node.source} is too large for an int")
    return Integer(node.as_int)


def fitting(value: Value | None, wanted: Wanted) -> Value | None:
    """The value, if a parameter takes it."""
    if not isinstance(wanted, GoType):
        return value
    if value is None:
        _check_nil(wanted, "no value")
        return None
    if value.type is wanted:
        return value
    if isinstance(value, Pointer) and value.type.element is wanted:
        if value.target is None:
            raise Failure(Problem.DATA, f"a nil pointer stands where {wanted} is wanted")
        return value.target
    raise Failure(Problem.TYPE, f"{wanted} is wanted here, and this is {value.type}", _hint(value.type, wanted))


def _hint(given: GoType, wanted: GoType) -> str:
    is_number = given.kind in (Kind.INT, Kind.UINT, Kind.FLOAT)
    return "Types of numbers are not converted into each other." if is_number and wanted.kind is Kind.INT else ""


def _check_nil(wanted: GoType, what: str) -> None:
    if wanted.kind not in _CAN_BE_NIL:
        raise Failure(Problem.TYPE, f"{wanted} is wanted here, and this is {what}")


def literal(node: nodes.Nil | Constant, wanted: Wanted) -> Value | None:
    """A literal as the type that a parameter has."""
    if isinstance(node, nodes.Nil):
        if isinstance(wanted, GoType):
            _check_nil(wanted, "nil")
        return None
    if not isinstance(wanted, GoType):
        return constant(node)
    found = _adapted(node, wanted)
    if found is None:
        raise Failure(Problem.TYPE, f"{wanted} is wanted here, and not this")
    return found


def _adapted(node: Constant, wanted: GoType) -> Value | None:
    match node, wanted.kind:
        case nodes.Bool(), Kind.BOOL:
            return Truth(node.value)
        case nodes.String(), Kind.STRING:
            return Text(node.value)
        case nodes.Number(as_int=int(number)), Kind.INT:
            return Integer(number, wanted)
        case nodes.Number(as_uint=int(number)), Kind.UINT:
            return Integer(number, wanted)
        case nodes.Number(as_float=float(value)), Kind.FLOAT:
            return Real(value, wanted)
        case _:
            return None
