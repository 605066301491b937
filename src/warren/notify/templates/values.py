"""Values that know their Go types: what templates compare, print and refuse depends on them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import NamedTuple, TypeAlias


class Kind(Enum):
    """What a type is underneath its name."""

    BOOL = "bool"
    INT = "int"
    UINT = "uint"
    FLOAT = "float"
    STRING = "string"
    STRUCT = "struct"
    POINTER = "pointer"
    MAP = "map"
    SLICE = "slice"


class Field(NamedTuple):
    """A field of a struct; in JSON it has another name, or none."""

    name: str
    type: GoType
    json: str | None


@dataclass(frozen=True, eq=False)
class GoType:
    """A type, named as Go prints it; two types are the same only if they are one object."""

    name: str
    kind: Kind
    bits: int = 64
    element: GoType | None = None
    fields: tuple[Field, ...] = ()

    def __str__(self) -> str:
        return self.name


BOOL = GoType("bool", Kind.BOOL)
INT = GoType("int", Kind.INT)
INT32 = GoType("int32", Kind.INT, 32)
INT64 = GoType("int64", Kind.INT)
UINT8 = GoType("uint8", Kind.UINT, 8)
UINT64 = GoType("uint64", Kind.UINT)
FLOAT32 = GoType("float32", Kind.FLOAT, 32)
FLOAT64 = GoType("float64", Kind.FLOAT)
STRING = GoType("string", Kind.STRING)
TIME = GoType("time.Time", Kind.STRUCT)


@cache
def pointer_to(target: GoType) -> GoType:
    """The type of pointers to a type."""
    return GoType(f"*{target}", Kind.POINTER, element=target)


@cache
def slice_of(element: GoType) -> GoType:
    """The type of lists of a type."""
    return GoType(f"[]{element}", Kind.SLICE, element=element)


@cache
def map_of(element: GoType) -> GoType:
    """The type of maps from strings to a type."""
    return GoType(f"map[string]{element}", Kind.MAP, element=element)


@dataclass(frozen=True, slots=True)
class Truth:
    """A bool."""

    value: bool
    type: GoType = BOOL


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number, signed or not by its type."""

    value: int
    type: GoType = INT


@dataclass(frozen=True, slots=True)
class Real:
    """A float32 or float64."""

    value: float
    type: GoType = FLOAT64


@dataclass(frozen=True, slots=True)
class Text:
    """A string: bytes, as in Go, which need not be UTF-8."""

    value: bytes
    type: GoType = STRING


@dataclass(frozen=True, slots=True)
class Struct:
    """The values of the fields, in their order."""

    values: tuple[Value, ...]
    type: GoType


@dataclass(frozen=True, slots=True)
class Pointer:
    """What is pointed to, if anything; the address is made up, and tells pointers apart."""

    target: Value | None
    type: GoType
    address: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """A map with strings as keys."""

    entries: Mapping[bytes, Value]
    type: GoType

    def ordered(self) -> list[tuple[bytes, Value]]:
        """The entries by their keys, as Go prints and ranges over them."""
        return sorted(self.entries.items(), key=lambda entry: entry[0])


@dataclass(frozen=True, slots=True)
class List:
    """A slice."""

    items: tuple[Value, ...]
    type: GoType


class Offset(NamedTuple):
    """How far a zone is from UTC at some moment, and what it is called then."""

    seconds: int
    name: str


class Zone(NamedTuple):
    """A time zone."""

    name: str
    at: Callable[[int], Offset]  # seconds since 1970


@dataclass(frozen=True, slots=True)
class Moment:
    """A time.Time without a monotonic clock; `local` is the zone that its method Local turns to."""

    seconds: int  # since 1970, UTC
    nanos: int
    zone: Zone
    local: Zone
    type: GoType = TIME


Value: TypeAlias = Truth | Integer | Real | Text | Struct | Pointer | Table | List | Moment


class Parameter(Enum):
    """Parameters that take any value: as an interface, or looked into as it is."""

    ANY = "interface {}"
    INSIDE = "reflect.Value"

    def __str__(self) -> str:
        return self.value


class Function(NamedTuple):
    """A function or method that templates can call; `rest` is the type of any further arguments."""

    takes: tuple[GoType | Parameter, ...]
    run: Callable[[Sequence[Value | None]], Value | None]
    rest: GoType | Parameter | None = None


def to_bytes(content: str) -> bytes:
    """A text as UTF-8; surrogates stand for single bytes, or else are written as if they were characters."""
    try:
        return content.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return content.encode("utf-8", "surrogatepass")


def text(content: str) -> Text:
    """A string of Go."""
    return Text(to_bytes(content))


def wrapped(number: int, type: GoType = INT) -> Integer:  # noqa: A002 - it is the type
    """A number cut to the bits of its type, as Go's arithmetic does."""
    cut = number & ((1 << type.bits) - 1)
    is_negative = type.kind is Kind.INT and cut >> (type.bits - 1)
    return Integer(cut - (1 << type.bits) if is_negative else cut, type)


def zero(type: GoType) -> Value:  # noqa: A002 - it is the type
    """What a variable of a type holds before anything is put into it."""
    match type.kind:
        case Kind.INT | Kind.UINT:
            return Integer(0, type)
        case Kind.STRING:
            return Text(b"", type)
        case Kind.SLICE:
            return List((), type)
        case _:
            raise AssertionError(type.name)  # unreachable: maps in templates hold numbers, strings and lists


def pointed_at(value: Value | None) -> Value | None:
    """What a pointer points to, or the value itself; a pointer only if it is nil."""
    while isinstance(value, Pointer) and value.target is not None:
        value = value.target
    return value


def is_true(value: Value | None) -> bool:
    """Whether `if` takes a value for true."""
    match value:
        case None:
            return False
        case Truth() | Integer() | Real() | Text():
            return bool(value.value)
        case Pointer():
            return value.target is not None
        case Table():
            return bool(value.entries)
        case List():
            return bool(value.items)
        case _:
            return True
