"""Keeps secrets out of what is told: answers of receivers repeat them, and errors of libraries, too. Pure."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

HIDDEN = "***"
TELLING_LENGTH = 6
"""A piece of an address or a header that is shorter is a word like `v2`, not a secret."""


class Hider:
    """Knows some secrets, in the spellings that they take on the way."""

    def __init__(self, secrets: Iterable[str]) -> None:
        spellings = {spelling for secret in secrets if secret for spelling in _spellings(secret)}
        self._spellings = sorted(spellings, key=len, reverse=True)  # else a piece would break up the whole

    def hide(self, text: str) -> str:
        """The text without them."""
        for spelling in self._spellings:
            text = text.replace(spelling, HIDDEN)
        return text


def secrets_of_url(url: str) -> Iterator[str]:
    """An address that is secret as a whole, and the pieces of it that could be repeated without the rest."""
    yield url
    try:
        parts = urlsplit(url)
    except ValueError:
        yield from (piece for piece in re.split("[/?&=]", url) if len(piece) >= TELLING_LENGTH)
        return
    yield f"{parts.path}?{parts.query}" if parts.query else (parts.path if len(parts.path) > 1 else "")
    yield parts.password or ""
    pieces = [*parts.path.split("/"), *(value for _, value in parse_qsl(parts.query))]
    for piece in pieces:
        if len(piece) >= TELLING_LENGTH:
            yield piece
            yield unquote(piece)


def secrets_of_header(value: str) -> Iterator[str]:
    """A header's value, and words of it that could be repeated without the rest."""
    yield from (piece for piece in (value, *value.split()) if len(piece) >= TELLING_LENGTH)


def secrets_of_login(username: str, password: str) -> Iterator[str]:
    """A password, and what HTTP and SMTP make of it and the name."""
    if password:
        yield password
        yield b64encode(f"{username}:{password}".encode("utf-8", "replace")).decode()
        yield b64encode(f"\0{username}\0{password}".encode("utf-8", "replace")).decode()


def _spellings(secret: str) -> Iterator[str]:
    escaped = secret.encode("utf-8", "replace")
    yield secret
    yield quote(escaped, safe="")
    yield quote(escaped)
    yield quote_plus(escaped)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
