"""What is wrong with a template, where, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from enum import Enum
from typing import NamedTuple

from warren.errors import WarrenError


class Problem(Enum):
    """What kind of mistake it is, by when it shows."""

    SYNTAX = "syntax"  # always, when the template is read
    FIELD = "field"  # whenever that place is executed: there is no such field or method
    TYPE = "type"  # whenever that place is executed: a value of another type is wanted
    DATA = "data"  # with some groups and not with others: a nil pointer, an index, a division by zero
    LIMIT = "limit"  # too much output, or nested too deeply


class TemplateError(WarrenError):
    """A template cannot be read or executed; `line` and `column` count from 1, columns in bytes.

    Line 0 is the file as a whole.
    """

    def __init__(self, file: str, line: int, column: int, what: str, *, hint: str = "", problem: Problem) -> None:
        place = f"{file}:{line}:{column}" if line else file
        super().__init__(_printable(f"{place}: {what}{'.' if hint else ''}"), hint=_printable(hint))
        self.file = file
        self.line = line
        self.column = column
        self.problem = problem


def _printable(words: str) -> str:
    """Words that any log can take, whatever bytes the template has."""
    return words.encode("utf-8", "backslashreplace").decode()


class Failure(Exception):
    """A mistake that does not know its place yet; whoever does makes a TemplateError of it."""

    def __init__(self, problem: Problem, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.problem = problem
        self.what = what
        self.hint = hint


class Source(NamedTuple):
    """The text of a template and the name of its file; bytes that are no UTF-8 are surrogates."""

    name: str
    text: str

    @property
    def root(self) -> str:
        """What the template as a whole is called in itself: the name of its file without the directory."""
        return self.name.rpartition("/")[2]

    def error(self, at: int, failure: Failure) -> TemplateError:
        """A mistake at a position in the text."""
        before = self.text[:at]
        line = before.rpartition("\n")[2]
        column = len(line.encode("utf-8", "surrogateescape")) + 1
        return TemplateError(
            self.name, before.count("\n") + 1, column, failure.what, hint=failure.hint, problem=failure.problem
        )


def did_you_mean(name: str, known: Iterable[str], mark: str = "") -> str:
    """A hint with the nearest of the names that are known, or with all of them."""
    names = sorted(known)
    by_lower = {one.lower(): one for one in names}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    if near:
        return f"Did you mean {mark}{by_lower[near[0]]}?"
    return f"There are {', '.join(mark + one for one in names)}." if names else ""
