"""Regular expressions as Burrow reads them: RE2, searched anywhere in a name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

import re2


class Pattern(Protocol):
    """Something that finds itself in a name."""

    def search(self, text: str, /) -> object | None:
        """What was found, or None."""


class PatternError(ValueError):
    """A text that is no regular expression; the message says why."""


@lru_cache(maxsize=1_000)
def compile_pattern(text: str) -> Pattern:
    """A regular expression; RE2 knows no look-around, and never takes long."""
    options = re2.Options()
    options.log_errors = False  # it writes to standard error by itself otherwise
    try:
        pattern: Pattern = re2.compile(text, options)
    except re2.error as error:
        reason = error.args[0]
        message = reason.decode() if isinstance(reason, bytes) else str(reason)
        raise PatternError(message) from error
    return pattern


def exactly(name: str) -> str:
    """A pattern that finds this name and no other."""
    escaped: str = re2.escape(name)
    return f"^{escaped}$"


class GroupFilter:
    """Which groups are wanted: all allow patterns find them, and no deny pattern does; an empty pattern is none."""

    def __init__(self, allow: Sequence[str], deny: Sequence[str]) -> None:
        self._allow = [compile_pattern(text) for text in allow if text]
        self._deny = [compile_pattern(text) for text in deny if text]

    def wants(self, group: str) -> bool:
        """Whether a group is wanted."""
        return all(one.search(group) for one in self._allow) and not any(one.search(group) for one in self._deny)
