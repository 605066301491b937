"""The text of a template -> tokens, with the trim markers applied. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

LEFT, RIGHT = "{{", "}}"
SPACES = " \t\r\n"
_TRIM_LEFT = re.compile(r"-[ \t\r\n]")
_CLOSE = re.compile(r"(?:[ \t\r\n]-)?}}")
_SPACE = re.compile(r"[ \t\r\n]+(?!-}})")  # the last one before -}} belongs to it
_DECIMAL = r"[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?"
_HEXADECIMAL = r"0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?"
_NUMBER = re.compile(rf"[+-]?(?:{_HEXADECIMAL}|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|{_DECIMAL})i?")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"')
_CHARACTER = re.compile(r"'(?:[^'\\\n]|\\[^\n])*'")
_RAW = re.compile(r"`[^`]*`")


class Kind(Enum):
    """What a token is, in the words of messages."""

    TEXT = "text"
    LEFT = "{{"
    RIGHT = "}}"
    KEYWORD = "keyword"
    IDENTIFIER = "function"
    BOOL = "truth"
    FIELD = "field"
    VARIABLE = "variable"
    DOT = "."
    NUMBER = "number"
    CHARACTER = "character"
    STRING = "string"
    OPEN = "("
    CLOSE = ")"
    PIPE = "|"
    ASSIGN = "="
    DECLARE = ":="
    OTHER = "character outside of quotes"
    WRONG = "wrong"  # `value` says what is wrong
    END = "end of the text"


class Token(NamedTuple):
    """A piece of a template."""

    kind: Kind
    value: str
    at: int
    after_space: bool = False


KEYWORDS = frozenset(("block", "break", "continue", "define", "else", "end", "if", "nil", "range", "template", "with"))
_SINGLE = {"(": Kind.OPEN, ")": Kind.CLOSE, "|": Kind.PIPE, "=": Kind.ASSIGN}
_QUOTES = {
    '"': (_QUOTED, Kind.STRING, "this string is not closed in its line"),
    "`": (_RAW, Kind.STRING, "this raw string is not closed"),
    "'": (_CHARACTER, Kind.CHARACTER, "this character is not closed in its line"),
}


class _Wrong(Exception):
    """The text cannot be cut further."""

    def __init__(self, at: int, what: str) -> None:
        super().__init__(what)
        self.token = Token(Kind.WRONG, what, at)


def tokens(source: str) -> Iterator[Token]:
    """All tokens; the last one is END or WRONG."""
    lexer = _Lexer(source)
    try:
        yield from lexer.run()
    except _Wrong as wrong:
        yield wrong.token


class _Lexer:
    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0

    def run(self) -> Iterator[Token]:
        trims = False  # whether the action before wants the space after it removed
        while True:
            left = self._source.find(LEFT, self._at)
            end = left if left >= 0 else len(self._source)
            opens_trimming = left >= 0 and _TRIM_LEFT.match(self._source, left + 2) is not None
            yield from self._text(end, trims, opens_trimming)
            if left < 0:
                yield Token(Kind.END, "", end)
                return
            self._at = left + (4 if opens_trimming else 2)
            if self._source.startswith("/*", self._at):
                self._comment()
            else:
                yield Token(Kind.LEFT, LEFT, left)
                yield from self._action(left)
            trims = self._close()

    def _text(self, end: int, trim_left: bool, trim_right: bool) -> Iterator[Token]:
        content, at = self._source[self._at : end], self._at
        if trim_left:
            kept = content.lstrip(SPACES)
            content, at = kept, at + len(content) - len(kept)
        if trim_right:
            content = content.rstrip(SPACES)
        if content:
            yield Token(Kind.TEXT, content, at)

    def _comment(self) -> None:
        start = self._at
        end = self._source.find("*/", self._at + 2)
        if end < 0:
            raise _Wrong(start, "this comment is not closed; end it with */}}")
        self._at = end + 2
        if not _CLOSE.match(self._source, self._at):
            raise _Wrong(start, "after a comment's */ must come }} or -}} with one space before it")

    def _close(self) -> bool:
        closing = _CLOSE.match(self._source, self._at)
        assert closing is not None  # whoever calls has looked
        self._at = closing.end()
        return len(closing[0]) > 2

    def _action(self, start: int) -> Iterator[Token]:
        depth = 0
        while True:
            after_space = self._space()
            if _CLOSE.match(self._source, self._at):
                if depth:
                    raise _Wrong(self._at, "a parenthesis is not closed before the end of the action")
                yield Token(Kind.RIGHT, RIGHT, self._at, after_space)
                return
            if self._at >= len(self._source):
                line = self._source.count("\n", 0, start) + 1
                raise _Wrong(self._at, f"the action that starts in line {line} is not closed; end it with }}}}")
            token = self._token(after_space)
            depth += {Kind.OPEN: 1, Kind.CLOSE: -1}.get(token.kind, 0)
            if depth < 0:
                raise _Wrong(token.at, "this parenthesis closes none")
            yield token

    def _space(self) -> bool:
        found = _SPACE.match(self._source, self._at)
        if found:
            self._at = found.end()
        return found is not None

    def _token(self, after_space: bool) -> Token:
        at = self._at
        kind = self._kind(self._source[at])
        return Token(kind, self._source[at : self._at], at, after_space)

    def _kind(self, first: str) -> Kind:
        """Step over the next token and say what it is."""
        if first in _QUOTES:
            return self._quoted(*_QUOTES[first])
        if first in _SINGLE:
            self._at += 1
            return _SINGLE[first]
        if first == ":":
            return self._declare()
        if first == "$" or (first == "." and not self._digit_follows()):
            return self._name_after_mark(first)
        if first in "+-." or "0" <= first <= "9":
            return self._number()
        if _is_word(first):
            return self._word()
        if " " < first <= "~":
            self._at += 1
            return Kind.OTHER
        raise _Wrong(self._at, f"{_shown(first)} has no meaning in an action")

    def _quoted(self, pattern: re.Pattern[str], kind: Kind, what: str) -> Kind:
        found = pattern.match(self._source, self._at)
        if not found:
            raise _Wrong(self._at, what)
        self._at = found.end()
        return kind

    def _declare(self) -> Kind:
        if not self._source.startswith(":=", self._at):
            raise _Wrong(self._at, '":" must be followed by "="')
        self._at += 2
        return Kind.DECLARE

    def _digit_follows(self) -> bool:
        after = self._source[self._at + 1 : self._at + 2]
        return not after or "0" <= after <= "9"

    def _name_after_mark(self, mark: str) -> Kind:
        start = self._at
        self._at += 1
        self._step_over_word(start)
        if mark == "$":
            return Kind.VARIABLE
        return Kind.DOT if self._at == start + 1 else Kind.FIELD

    def _number(self) -> Kind:
        start = self._at
        found = _NUMBER.match(self._source, start)
        assert found is not None  # the pattern fits the empty text, too
        self._at = found.end()
        if self._at < len(self._source) and _is_word(self._source[self._at]):
            raise _Wrong(start, f"{self._source[start : self._at + 1]} is no number")
        if self._source[self._at : self._at + 1] in ("+", "-"):
            raise _Wrong(start, "numbers are separated by spaces; to calculate, use functions like add")
        return Kind.NUMBER

    def _word(self) -> Kind:
        start = self._at
        self._step_over_word(start)
        word = self._source[start : self._at]
        if word in KEYWORDS:
            return Kind.KEYWORD
        return Kind.BOOL if word in ("true", "false") else Kind.IDENTIFIER

    def _step_over_word(self, start: int) -> None:
        while self._at < len(self._source) and _is_word(self._source[self._at]):
            self._at += 1
        after = self._source[self._at : self._at + 1]
        if after and after not in " \t\r\n.,|:()" and not self._source.startswith(RIGHT, self._at):
            raise _Wrong(self._at, f"{_shown(after)} cannot follow {self._source[start : self._at]}")


def _is_word(character: str) -> bool:
    return character == "_" or character.isalpha() or character.isdecimal()


def _shown(character: str) -> str:
    return f'"{character}"' if character.isprintable() else f"U+{ord(character):04X}"
