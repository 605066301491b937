"""What stands behind a dot: a method, a field, or an entry of a map. Pure."""

from __future__ import annotations

from collections.abc import Callable

from warren.notify.templates.data import OLD_NAMES
from warren.notify.templates.errors import Failure, Problem, did_you_mean
from warren.notify.templates.methods import methods_of
from warren.notify.templates.values import Field, Function, GoType, Pointer, Struct, Table, Value, pointed_at


def find_field(receiver: Value | None, name: str, warn: Callable[[str], None]) -> Value | Function | None:
    """A field or method by its name; None for an entry that a map does not have, and for what is behind it."""
    value = pointed_at(receiver)
    if receiver is None or value is None:
        return None
    if (method := methods_of(value).get(name)) is not None:
        return method
    if isinstance(value, Table):
        return value.entries.get(name.encode("utf-8", "surrogateescape"))
    if isinstance(value, Struct) and (found := _member(value, name, warn)) is not None:
        return found
    if isinstance(value, Pointer):
        _check_nil(value, name)
    raise _no_such_field(receiver.type, value, name)


def _member(struct: Struct, name: str, warn: Callable[[str], None]) -> Value | None:
    for field, value in zip(struct.type.fields, struct.values, strict=True):
        if field.name == name:
            return value
    if (struct.type, name) not in OLD_NAMES:
        return None
    right_name = OLD_NAMES[struct.type, name]
    warn(f".{name} is taken for .{right_name}; Burrow would refuse it")
    return _member(struct, right_name, warn)


def _check_nil(pointer: Pointer, name: str) -> None:
    """Say that a pointer is nil, if what it could point to has that field."""
    if name in [field.name for field in _fields(pointer.type)]:
        hint = "Ask for it with {{if}} or {{with}} first."
        raise Failure(Problem.DATA, f".{name} of a nil pointer of type {pointer.type}", hint)


def _fields(type: GoType) -> tuple[Field, ...]:  # noqa: A002 - it is the type
    return type.element.fields if type.element else type.fields


def _no_such_field(type: GoType, value: Value, name: str) -> Failure:  # noqa: A002 - it is the type
    known = [field.name for field in _fields(type)] + list(methods_of(value))
    shown = "the data" if type.name.startswith("struct {") else type.name
    return Failure(Problem.FIELD, f"{shown} has no field or method {name}", did_you_mean(name, known, "."))
