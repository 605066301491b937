"""Regular expressions as Burrow reads them: RE2, searched anywhere in a name."""

from __future__ import annotations

from typing import Protocol

import re2


class Pattern(Protocol):
    """Something that finds itself in a name."""

    def search(self, text: str, /) -> object | None:
        """What was found, or None."""


class PatternError(ValueError):
    """A text that is no regular expression; the message says why."""


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
