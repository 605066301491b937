"""Tokens -> the trees of a template and of those defined in it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from warren.notify.templates import literals, nodes
from warren.notify.templates.errors import Failure, Problem, Source, did_you_mean
from warren.notify.templates.lexer import Kind, Token, tokens

MAX_NESTING = 100
_TERMS = (
    Kind.IDENTIFIER, Kind.BOOL, Kind.FIELD, Kind.VARIABLE, Kind.DOT, Kind.NUMBER, Kind.CHARACTER, Kind.STRING, Kind.OPEN
)  # fmt: skip
_Read = TypeVar("_Read")
_LITERALS = (nodes.Bool, nodes.Dot, nodes.Nil, nodes.Number, nodes.String)


def parse(source: Source, functions: Collection[str]) -> dict[str, nodes.Body]:
    """The trees by name; that of the whole text is called `source.root`."""
    parser = _Parser(source, functions)
    try:
        parser.add(source.root, parser.whole(), 0)
    except RecursionError:
        raise source.error(0, Failure(Problem.LIMIT, "the template is nested too deeply")) from None
    return parser.trees


class _Parser:
    def __init__(self, source: Source, functions: Collection[str]) -> None:
        self.trees: dict[str, nodes.Body] = {}
        self._source = source
        self._functions = functions
        self._tokens = list(tokens(source.text))
        self._next = 0
        self._variables = ["$"]
        self._ranges = 0
        self._nesting = 0

    # -- tokens ----------------------------------------------------------------------------------------------------

    @property
    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._peek
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _at_keyword(self, *words: str) -> bool:
        return self._peek.kind is Kind.KEYWORD and self._peek.value in words

    def _expect(self, kind: Kind, where: str) -> Token:
        if self._peek.kind is not kind:
            self._unexpected(self._peek, where)
        return self._take()

    def _fail(self, at: int, what: str, hint: str = "", problem: Problem = Problem.SYNTAX) -> NoReturn:
        raise self._source.error(at, Failure(problem, what, hint))

    def _unexpected(self, token: Token, where: str) -> NoReturn:
        if token.kind is Kind.WRONG:
            self._fail(token.at, token.value)
        shown = "the end of the text" if token.kind is Kind.END else f"{token.value!r}"
        hint = "Strings are written in double quotes." if token.kind is Kind.CHARACTER else ""
        self._fail(token.at, f"{shown} cannot stand here, in {where}", hint)

    def _read(self, at: int, read: Callable[[], _Read]) -> _Read:
        try:
            return read()
        except Failure as failure:
            raise self._source.error(at, failure) from None

    @contextmanager
    def _nested(self) -> Iterator[None]:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            self._fail(self._peek.at, f"more than {MAX_NESTING} levels are nested here", problem=Problem.LIMIT)
        yield
        self._nesting -= 1

    # -- text and actions --------------------------------------------------------------------------------------------

    def whole(self) -> nodes.Body:
        """The text outside of all definitions."""
        body: list[nodes.Node] = []
        while self._peek.kind is not Kind.END:
            if self._peek.kind is Kind.LEFT and self._keyword_follows("define"):
                self._define()
            elif self._peek.kind is Kind.LEFT and self._keyword_follows("else", "end"):
                word = self._tokens[self._next + 1]
                self._fail(word.at, f"there is nothing open that {{{{{word.value}}}}} could belong to")
            else:
                body.append(self._piece())
        return tuple(body)

    def _keyword_follows(self, *words: str) -> bool:
        after = self._tokens[self._next + 1]
        return after.kind is Kind.KEYWORD and after.value in words

    def _define(self) -> None:
        opening = self._take()
        self._take()
        where = "{{define}}"
        name = self._name(where)
        self._expect(Kind.RIGHT, where)
        self.add(name, self._body_of_its_own(opening, where), opening.at)

    def add(self, name: str, body: nodes.Body, at: int) -> None:
        """Take a definition in; one that is blank neither replaces another nor hinders it."""
        if not nodes.is_blank(self.trees.get(name, ())):
            if not nodes.is_blank(body):
                self._fail(at, f'the template "{name}" is defined twice')
            return
        self.trees[name] = body

    def _body_of_its_own(self, opening: Token, where: str) -> nodes.Body:
        """What stands up to {{end}}, where variables and ranges around it do not count."""
        outer = self._variables, self._ranges
        self._variables, self._ranges = ["$"], 0
        body, last = self._body(opening)
        if last.value != "end":
            self._fail(last.at, f"{{{{else}}}} cannot stand in {where}")
        self._end_of_end()
        self._variables, self._ranges = outer
        return body

    def _body(self, opening: Token) -> tuple[nodes.Body, Token]:
        """What stands up to {{end}} or {{else}}; that word is taken, what follows it is not."""
        body: list[nodes.Node] = []
        with self._nested():
            while self._peek.kind is not Kind.END:
                if self._peek.kind is Kind.LEFT and self._keyword_follows("else", "end"):
                    self._take()
                    return tuple(body), self._take()
                body.append(self._piece())
        line = self._source.text.count("\n", 0, opening.at) + 1
        self._fail(self._peek.at, f"{{{{end}}}} is missing for what is opened in line {line}")

    def _end_of_end(self) -> None:
        self._expect(Kind.RIGHT, "{{end}}")

    def _piece(self) -> nodes.Node:
        token = self._take()
        if token.kind is Kind.TEXT:
            return nodes.Literal(token.at, token.value.encode("utf-8", "surrogateescape"))
        if token.kind is not Kind.LEFT:
            self._unexpected(token, "text")
        if self._peek.kind is not Kind.KEYWORD or self._peek.value == "nil":
            at = self._peek.at
            return nodes.Action(at, self._pipeline("an action", Kind.RIGHT))
        return self._control(token, self._take())

    def _control(self, opening: Token, word: Token) -> nodes.Node:
        match word.value:
            case "if" | "with":
                return self._if(opening, word.value)
            case "range":
                return self._range(opening)
            case "break" | "continue":
                return self._jump(word)
            case "template":
                return self._template()
            case "block":
                return self._block(opening)
            case "define":
                self._fail(word.at, "{{define}} cannot stand inside of something else", "Move it to the end.")
            case _:
                self._unexpected(word, "an action")

    def _if(self, opening: Token, word: str) -> nodes.If:
        outer = len(self._variables)
        at = self._peek.at
        branches: list[nodes.Branch] = []
        last = self._branch(opening, word, branches)
        while last.value == "else" and self._at_keyword(word):
            self._take()
            last = self._branch(opening, word, branches)
        otherwise = self._otherwise(opening, last)
        del self._variables[outer:]
        return nodes.If(at, word == "with", tuple(branches), otherwise)

    def _branch(self, opening: Token, word: str, branches: list[nodes.Branch]) -> Token:
        condition = self._pipeline(f"{{{{{word}}}}}", Kind.RIGHT)
        body, last = self._body(opening)
        branches.append(nodes.Branch(condition, body))
        return last

    def _otherwise(self, opening: Token, last: Token) -> nodes.Body:
        """What stands between {{else}}, if that came last, and {{end}}."""
        body: nodes.Body = ()
        if last.value == "else":
            self._expect(Kind.RIGHT, "{{else}}")
            body, last = self._body(opening)
            if last.value == "else":
                self._fail(last.at, "there is an {{else}} already; {{end}} is missing")
        self._end_of_end()
        return body

    def _range(self, opening: Token) -> nodes.Range:
        outer = len(self._variables)
        at = self._peek.at
        pipeline = self._pipeline("{{range}}", Kind.RIGHT)
        self._ranges += 1
        body, last = self._body(opening)
        self._ranges -= 1
        otherwise = self._otherwise(opening, last)
        del self._variables[outer:]
        return nodes.Range(at, pipeline, body, otherwise)

    def _jump(self, word: Token) -> nodes.Break | nodes.Continue:
        where = f"{{{{{word.value}}}}}"
        self._expect(Kind.RIGHT, where)
        if not self._ranges:
            self._fail(word.at, f"{where} can only stand inside of {{{{range}}}}")
        return nodes.Break(word.at) if word.value == "break" else nodes.Continue(word.at)

    def _name(self, where: str) -> str:
        token = self._expect(Kind.STRING, where)
        return self._read(token.at, lambda: literals.string(token.value)).decode("utf-8", "surrogateescape")

    def _template(self) -> nodes.Include:
        at = self._peek.at
        name = self._name("{{template}}")
        if self._peek.kind is Kind.RIGHT:
            self._take()
            return nodes.Include(at, name, None)
        return nodes.Include(at, name, self._pipeline("{{template}}", Kind.RIGHT))

    def _block(self, opening: Token) -> nodes.Include:
        at = self._peek.at
        name = self._name("{{block}}")
        pipeline = self._pipeline("{{block}}", Kind.RIGHT)
        self.add(name, self._body_of_its_own(opening, "{{block}}"), opening.at)
        return nodes.Include(at, name, pipeline)

    # -- pipelines ---------------------------------------------------------------------------------------------------

    def _pipeline(self, where: str, end: Kind) -> nodes.Pipeline:
        at = self._peek.at
        variables, assigns = self._declarations(where)
        commands: list[nodes.Command] = []
        while self._peek.kind is not end:
            if self._peek.kind not in _TERMS and not self._at_keyword("nil"):
                self._unexpected(self._peek, where)
            commands.append(self._command())
        closing = self._take()
        self._check(commands, closing, where)
        return nodes.Pipeline(at, variables, assigns, tuple(commands))

    def _check(self, commands: list[nodes.Command], closing: Token, where: str) -> None:
        if not commands:
            self._fail(closing.at, f"a value is missing in {where}")
        for command in commands[1:]:
            if isinstance(command.operands[0], _LITERALS):
                self._fail(command.at, "what stands after | must be a function or a method, not a value")

    def _declarations(self, where: str) -> tuple[tuple[str, ...], bool]:
        """The variables before := or =, and whether it is the latter."""
        names: list[str] = []
        while self._peek.kind is Kind.VARIABLE:
            token, after = self._peek, self._tokens[self._next + 1]
            is_comma = after.kind is Kind.OTHER and after.value == ","
            if not is_comma and after.kind not in (Kind.ASSIGN, Kind.DECLARE):
                break
            self._take()
            self._take()
            names.append(token.value)
            self._variables.append(token.value)
            if not is_comma:
                return tuple(names), after.kind is Kind.ASSIGN
            self._check_comma(where, after, len(names))
        return tuple(names), False

    def _check_comma(self, where: str, comma: Token, count: int) -> None:
        if where != "{{range}}" or count > 1:
            self._fail(comma.at, f"there are too many variables in {where}", "Only {{range}} has two.")
        if self._peek.kind not in (Kind.VARIABLE, Kind.RIGHT, Kind.CLOSE):
            self._fail(self._peek.at, "after the comma in {{range}} must come a variable")

    def _command(self) -> nodes.Command:
        at = self._peek.at
        operands = [self._operand()]
        while self._peek.kind not in (Kind.RIGHT, Kind.CLOSE):
            token = self._peek
            if token.kind is Kind.PIPE:
                self._take()
                break
            if not token.after_space or (token.kind not in _TERMS and not self._at_keyword("nil")):
                self._unexpected(token, "the arguments of a function")
            operands.append(self._operand())
        return nodes.Command(at, tuple(operands))

    def _operand(self) -> nodes.Operand:
        term = self._term()
        at, names = self._peek.at, []
        while self._peek.kind is Kind.FIELD and not self._peek.after_space:
            names.append(self._take().value[1:])
        if not names:
            return term
        match term:
            case nodes.Fields():
                return nodes.Fields(at, (*term.names, *names))
            case nodes.Variable():
                return nodes.Variable(at, term.name, (*term.fields, *names))
            case nodes.Bool() | nodes.Dot() | nodes.Nil() | nodes.Number() | nodes.String():
                self._fail(at, "a value that is written out has no fields")
            case _:
                return nodes.Chain(at, term, tuple(names))

    def _term(self) -> nodes.Operand:
        token = self._take()
        match token.kind:
            case Kind.IDENTIFIER:
                return self._identifier(token)
            case Kind.VARIABLE:
                return self._variable(token)
            case Kind.OPEN:
                with self._nested():
                    return self._pipeline("parentheses", Kind.CLOSE)
            case Kind.FIELD:
                return nodes.Fields(token.at, (token.value[1:],))
            case Kind.DOT:
                return nodes.Dot(token.at)
            case Kind.BOOL:
                return nodes.Bool(token.at, token.value == "true")
            case Kind.NUMBER:
                return self._read(token.at, lambda: literals.number(token.at, token.value))
            case Kind.CHARACTER:
                return self._read(token.at, lambda: literals.character(token.at, token.value))
            case Kind.STRING:
                return nodes.String(token.at, self._read(token.at, lambda: literals.string(token.value)))
            case _:
                return nodes.Nil(token.at)

    def _identifier(self, token: Token) -> nodes.Identifier:
        if token.value not in self._functions:
            hint = did_you_mean(token.value, self._functions)
            self._fail(token.at, f"there is no function {token.value}", hint)
        return nodes.Identifier(token.at, token.value)

    def _variable(self, token: Token) -> nodes.Variable:
        if token.value not in self._variables:
            known = [name for name in self._variables if name != "$"]
            self._fail(token.at, f"the variable {token.value} is not known here", did_you_mean(token.value, known))
        return nodes.Variable(token.at, token.value)
