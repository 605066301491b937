"""A tree and data -> text. Pure.

`_at` follows the place that is executed, the way Go's does, so that errors are found at the same line and column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import NamedTuple, TypeAlias

from warren.notify.templates import nodes
from warren.notify.templates.arguments import Wanted, constant, fitting, literal
from warren.notify.templates.builtins import SHORT_CIRCUIT, printable
from warren.notify.templates.errors import Failure, Problem, Source
from warren.notify.templates.fields import find_field
from warren.notify.templates.printing import MAX_OUTPUT_BYTES, print_all
from warren.notify.templates.values import (
    Function,
    Integer,
    List,
    Parameter,
    Table,
    Text,
    Value,
    is_true,
    pointed_at,
)

MAX_DEPTH = 100
MAX_STEPS = 1_000_000
"""So many nodes are executed at most; an integer to range over can be any."""


class Rendered(NamedTuple):
    """What came out, and what the author of the template should know."""

    output: bytes
    warnings: tuple[str, ...]


class _Flow(Enum):
    ON = "on"
    BREAK = "break"
    CONTINUE = "continue"


class _Missing(Enum):
    """No value has come through the pipeline; nil could have."""

    MISSING = "missing"


_MISSING = _Missing.MISSING
_Final: TypeAlias = Value | _Missing | None


class _Given(NamedTuple):
    """What a function gets: arguments, and last what came through the pipeline."""

    operands: Sequence[nodes.Operand]
    final: _Final

    @property
    def amount(self) -> int:
        """How many arguments there are."""
        return len(self.operands) + (not isinstance(self.final, _Missing))

    def refuse(self, name: str) -> None:
        """Say that what is no function takes no arguments."""
        if self.amount:
            raise Failure(Problem.TYPE, f"{name} is no function and takes no arguments")


_NOTHING = _Given((), _MISSING)


class _Place(NamedTuple):
    """Where something is called, and with what."""

    at: int
    given: _Given


class _Bound:
    """A variable."""

    def __init__(self, name: str, value: Value | None) -> None:
        self.name = name
        self.value = value


def execute(
    source: Source, trees: Mapping[str, nodes.Body], functions: Mapping[str, Function], data: Value
) -> Rendered:
    """Execute the tree of the whole text."""
    run = _Execution(source, trees, functions, data)
    try:
        run.walk(data, trees[source.root])
    except Failure as failure:
        raise source.error(run.at, failure) from None
    except RecursionError:
        raise source.error(run.at, Failure(Problem.LIMIT, "this is nested too deeply")) from None
    return Rendered(bytes(run.out), tuple(run.warnings))


class _Execution:
    def __init__(
        self, source: Source, trees: Mapping[str, nodes.Body], functions: Mapping[str, Function], data: Value
    ) -> None:
        self.out = bytearray()
        self.at = 0
        self.warnings: dict[str, None] = {}
        self._source = source
        self._trees = trees
        self._functions = functions
        self._variables = [_Bound("$", data)]
        self._depth = 0
        self._steps = 0

    # -- text and control ----------------------------------------------------------------------------------------------

    def walk(self, dot: Value | None, body: nodes.Body) -> _Flow:
        """Execute the nodes of a body."""
        for node in body:
            self._step()
            self.at = node.at
            flow = self._node(dot, node)
            if flow is not _Flow.ON:
                return flow
        return _Flow.ON

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise Failure(Problem.LIMIT, f"the template takes more than {MAX_STEPS:,} steps")

    def _node(self, dot: Value | None, node: nodes.Node) -> _Flow:
        match node:
            case nodes.Literal():
                self._write(node.value)
            case nodes.Action():
                self._action(dot, node)
            case nodes.If():
                return self._if(dot, node)
            case nodes.Range():
                return self._range(dot, node)
            case nodes.Include():
                self._include(dot, node)
            case nodes.Break():
                return _Flow.BREAK
            case nodes.Continue():
                return _Flow.CONTINUE
        return _Flow.ON

    def _write(self, content: bytes) -> None:
        self.out += content
        if len(self.out) > MAX_OUTPUT_BYTES:
            raise Failure(Problem.LIMIT, f"the text becomes longer than {MAX_OUTPUT_BYTES:,} bytes")

    def _descend(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Failure(Problem.LIMIT, f"more than {MAX_DEPTH} levels are nested here")

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        """One level deeper; variables that are declared there are forgotten after it."""
        known = len(self._variables)
        self._descend()
        yield
        self._depth -= 1
        del self._variables[known:]

    def _action(self, dot: Value | None, node: nodes.Action) -> None:
        value = self._pipeline(dot, node.pipeline)
        if not node.pipeline.variables:
            self.at = node.at
            self._write(print_all([printable(value)]))

    def _if(self, dot: Value | None, node: nodes.If) -> _Flow:
        with self._deeper():
            for branch in node.branches:
                self.at = branch.condition.at
                value = self._pipeline(dot, branch.condition)
                if is_true(value):
                    return self.walk(value if node.is_with else dot, branch.body)
            return self.walk(dot, node.otherwise)

    def _range(self, dot: Value | None, node: nodes.Range) -> _Flow:
        with self._deeper():
            value = pointed_at(self._pipeline(dot, node.pipeline))
            is_empty = True
            for key, element in self._pairs(value, node):
                is_empty = False
                if self._round(key, element, node) is _Flow.BREAK:
                    break
            return self.walk(dot, node.otherwise) if is_empty else _Flow.ON

    def _pairs(self, value: Value | None, node: nodes.Range) -> Iterator[tuple[Value | None, Value]]:
        match value:
            case None:
                pass
            case Integer():
                if len(node.pipeline.variables) > 1:
                    raise Failure(Problem.TYPE, "a range over a number has one variable only")
                yield from ((None, Integer(number, value.type)) for number in range(value.value))
            case List():
                yield from ((Integer(index), element) for index, element in enumerate(value.items))
            case Table():
                yield from ((Text(key), element) for key, element in value.ordered())
            case _:
                raise Failure(Problem.TYPE, f"a {value.type} cannot be ranged over")

    def _round(self, key: Value | None, element: Value, node: nodes.Range) -> _Flow:
        """One round of a range; both variables of two, or the only one, are set."""
        names = node.pipeline.variables
        known = len(self._variables)
        for name, value in zip(names, (key, element)[-len(names) :], strict=False):
            self._assign(name, value)
        self._step()  # an empty body takes its time, too
        flow = self.walk(element, node.body)
        del self._variables[known:]
        return flow

    def _include(self, dot: Value | None, node: nodes.Include) -> None:
        if node.name not in self._trees:
            raise Failure(Problem.FIELD, f'there is no template "{node.name}"', 'Define it with {{define "name"}}.')
        with self._deeper():
            value = self._pipeline(dot, node.pipeline) if node.pipeline else None
            outer = self._variables
            self._variables = [_Bound("$", value)]
            self.walk(value, self._trees[node.name])
            self._variables = outer

    # -- variables -----------------------------------------------------------------------------------------------------

    def _assign(self, name: str, value: Value | None) -> None:
        self._bound(name).value = value

    def _bound(self, name: str) -> _Bound:
        for one in reversed(self._variables):
            if one.name == name:
                return one
        raise Failure(Problem.FIELD, f"the variable {name} is not known here")

    # -- pipelines -----------------------------------------------------------------------------------------------------

    def _pipeline(self, dot: Value | None, pipeline: nodes.Pipeline) -> Value | None:
        self.at = pipeline.at
        value: _Final = _MISSING
        for command in pipeline.commands:
            value = self._command(dot, command, value)
        assert not isinstance(value, _Missing)  # a pipeline has a command
        for name in pipeline.variables:
            if pipeline.assigns:
                self._assign(name, value)
            else:
                self._variables.append(_Bound(name, value))
        return value

    def _command(self, dot: Value | None, command: nodes.Command, final: _Final) -> Value | None:
        first, given = command.operands[0], _Given(command.operands[1:], final)
        match first:
            case nodes.Fields() | nodes.Chain() | nodes.Variable():
                return self._path(dot, first, given)
            case nodes.Identifier():
                return self._function(dot, first, command.at, given)
            case nodes.Pipeline():
                given.refuse("this")
                return self._parentheses(dot, first)
        self.at = first.at
        given.refuse("this")
        if isinstance(first, nodes.Dot):
            return dot
        if isinstance(first, nodes.Nil):
            raise Failure(Problem.TYPE, "nil alone is no command")
        return constant(first)

    def _parentheses(self, dot: Value | None, pipeline: nodes.Pipeline) -> Value | None:
        self._descend()
        value = self._pipeline(dot, pipeline)
        self._depth -= 1
        return value

    def _path(
        self, dot: Value | None, node: nodes.Fields | nodes.Chain | nodes.Variable, given: _Given
    ) -> Value | None:
        """Follow the names after a value; the last one can be a method that takes arguments."""
        self.at = node.at
        match node:
            case nodes.Fields():
                receiver, names = dot, node.names
            case nodes.Variable():
                receiver, names = self._bound(node.name).value, node.fields
            case nodes.Chain():
                receiver, names = self._base(dot, node.base), node.names
        if not names:
            given.refuse("this")
            return receiver
        for name in names[:-1]:
            receiver = self._field(dot, receiver, name, _Place(node.at, _NOTHING))
        return self._field(dot, receiver, names[-1], _Place(node.at, given))

    def _base(self, dot: Value | None, node: nodes.Operand) -> Value | None:
        if isinstance(node, nodes.Nil):
            raise Failure(Problem.TYPE, "nil has no fields")
        return self._argument(dot, node, None)

    def _field(self, dot: Value | None, receiver: Value | None, name: str, place: _Place) -> Value | None:
        found = find_field(receiver, name, self._warn)
        if isinstance(found, Function):
            return self._call(dot, name, found, place)
        if receiver is not None:
            place.given.refuse(name)
        return found

    def _warn(self, what: str) -> None:
        warning = self._source.error(self.at, Failure(Problem.FIELD, what))
        self.warnings[str(warning)] = None

    # -- functions -----------------------------------------------------------------------------------------------------

    def _function(self, dot: Value | None, node: nodes.Identifier, at: int, given: _Given) -> Value | None:
        self.at = node.at
        function = self._functions[node.name]
        if node.name in SHORT_CIRCUIT:
            _check_count(node.name, function, given.amount)
            return self._short_circuit(dot, given, stops_at=node.name == "or")
        return self._call(dot, node.name, function, _Place(at, given))

    def _short_circuit(self, dot: Value | None, given: _Given, *, stops_at: bool) -> Value | None:
        """The first argument that decides, or the last one; those after it are not evaluated."""
        value: Value | None = None
        for operand in given.operands:
            value = self._argument(dot, operand, Parameter.INSIDE)
            if is_true(value) == stops_at:
                return value
        return value if isinstance(given.final, _Missing) else given.final

    def _call(self, dot: Value | None, name: str, function: Function, place: _Place) -> Value | None:
        operands, final = place.given
        _check_count(name, function, place.given.amount)
        values = [self._argument(dot, one, _wanted(function, index)) for index, one in enumerate(operands)]
        if not isinstance(final, _Missing):
            values.append(fitting(final, _wanted(function, len(values))))
        try:
            return function.run(values)
        except Failure as failure:
            self.at = place.at
            raise Failure(failure.problem, f"{name}: {failure.what}", failure.hint) from None

    def _argument(self, dot: Value | None, node: nodes.Operand, wanted: Wanted) -> Value | None:
        """The value of an argument, if it fits the parameter."""
        self.at = node.at
        match node:
            case nodes.Dot():
                return fitting(dot, wanted)
            case nodes.Fields() | nodes.Chain() | nodes.Variable():
                return fitting(self._path(dot, node, _NOTHING), wanted)
            case nodes.Pipeline():
                return fitting(self._parentheses(dot, node), wanted)
            case nodes.Identifier():
                return fitting(self._function(dot, node, node.at, _NOTHING), wanted)
            case _:
                return literal(node, wanted)


def _wanted(function: Function, index: int) -> Wanted:
    return function.takes[index] if index < len(function.takes) else function.rest


def _check_count(name: str, function: Function, count: int) -> None:
    least = len(function.takes)
    if count < least or (count > least and function.rest is None):
        wanted = least if function.rest is None else f"at least {least}"
        raise Failure(Problem.TYPE, f"{name} takes {wanted} arguments, not {count}")
