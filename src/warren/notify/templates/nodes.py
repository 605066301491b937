"""A template as a tree; `at` is where in the text a node is, which is where its errors are. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Dot:
    """`.`"""

    at: int


@dataclass(frozen=True, slots=True)
class Nil:
    """`nil`"""

    at: int


@dataclass(frozen=True, slots=True)
class Bool:
    """`true` or `false`"""

    at: int
    value: bool


@dataclass(frozen=True, slots=True)
class Number:
    """A number or character; which types it can take is decided where it is used."""

    at: int
    source: str
    as_int: int | None
    as_uint: int | None
    as_float: float | None
    is_float: bool
    """Whether it is a float where any type will do."""


@dataclass(frozen=True, slots=True)
class String:
    """`"text"`"""

    at: int
    value: bytes


@dataclass(frozen=True, slots=True)
class Fields:
    """`.A.B`"""

    at: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """`$x.A.B`"""

    at: int
    name: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Identifier:
    """The name of a function."""

    at: int
    name: str


@dataclass(frozen=True, slots=True)
class Chain:
    """`(pipeline).A.B`"""

    at: int
    base: Operand
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """A value, or a function with its arguments."""

    at: int
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands of which each gets the result of the one before, and variables that take the last one."""

    at: int
    variables: tuple[str, ...]
    assigns: bool
    commands: tuple[Command, ...]


Operand: TypeAlias = (
    Dot | Nil | Bool | Number | String | Fields | Variable | Identifier | Chain | Pipeline  # a pipeline in parentheses
)


@dataclass(frozen=True, slots=True)
class Literal:
    """Text outside of actions."""

    at: int
    value: bytes


@dataclass(frozen=True, slots=True)
class Action:
    """`{{pipeline}}`"""

    at: int
    pipeline: Pipeline


@dataclass(frozen=True, slots=True)
class Branch:
    """A condition and what is done if it holds."""

    condition: Pipeline
    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class If:
    """`{{if}}` with each `{{else if}}`, and `{{with}}` with each `{{else with}}`."""

    at: int
    is_with: bool
    branches: tuple[Branch, ...]
    otherwise: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """`{{range}}`"""

    at: int
    pipeline: Pipeline
    body: tuple[Node, ...]
    otherwise: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Break:
    """`{{break}}`"""

    at: int


@dataclass(frozen=True, slots=True)
class Continue:
    """`{{continue}}`"""

    at: int


@dataclass(frozen=True, slots=True)
class Include:
    """`{{template}}`, and where a `{{block}}` stands."""

    at: int
    name: str
    pipeline: Pipeline | None


Node: TypeAlias = Literal | Action | If | Range | Break | Continue | Include
Body: TypeAlias = tuple[Node, ...]


def is_blank(body: Body) -> bool:
    """Whether nothing but space is in a body."""
    return all(isinstance(node, Literal) and not node.value.strip() for node in body)
