"""Which route a request means: the rules of the router that Burrow uses (httprouter 1.3). Pure.

A path is matched decoded and segment by segment. What does not match exactly may still be a path with a slash too many,
in another case, or with `//` and `..` in it: then the client is sent to the right one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from http import HTTPStatus
from posixpath import normpath
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_UNESCAPED_IN_PATHS = "/$&+,:;=@-_.~"
_UNESCAPED_IN_LOCATIONS = "".join(chr(code) for code in range(128))


class Route(NamedTuple):
    """A method, and a path whose segments in braces take any name."""

    method: str
    pattern: str
    name: str


class Found(NamedTuple):
    """The route that was meant, and the names in its path."""

    name: str
    parameters: dict[str, str]


class Redirect(NamedTuple):
    """The path is written differently."""

    status: HTTPStatus
    location: str

    @property
    def page(self) -> str:
        """What Go writes for people whose browser does not follow; only an answer to GET has it."""
        href = escape(self.location).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
        return f'<a href="{href}">{self.status.phrase}</a>.\n\n'


class Options(NamedTuple):
    """The client only asks which methods there are."""

    allow: str


class WrongMethod(NamedTuple):
    """The path is there, for other methods."""

    allow: str


class Nothing(NamedTuple):
    """There is nothing."""


Outcome = Found | Redirect | Options | WrongMethod | Nothing


def decode_path(raw: bytes) -> str | None:
    """The path that a client has asked for, bytes that are no UTF-8 as lone surrogates; None if it is broken."""
    if _BROKEN_ESCAPE.search(raw):
        return None
    return unquote_to_bytes(raw).decode("utf-8", "surrogateescape")


@dataclass
class _Node:
    """A place in the tree of one method; the next segment is one of `words`, or any name."""

    is_name: bool = False
    route: str | None = None
    words: dict[str, _Node] = field(default_factory=dict)
    name: tuple[str, _Node] | None = None

    def add(self, route: Route) -> None:
        node = self
        for segment in route.pattern[1:].split("/"):
            node = node._child(segment)
        node.route = route.name

    def _child(self, segment: str) -> _Node:
        if not segment.startswith("{"):
            return self.words.setdefault(segment, _Node())
        if self.name is None:
            self.name = (segment.strip("{}"), _Node(is_name=True))
        return self.name[1]

    @property
    def drops_slash(self) -> bool:
        """Whether a slash too many after this place is taken away.

        httprouter keeps paths by their common beginnings and does not go back behind a name. If several words with
        different first letters follow the name, then the slash stands alone, and it is not seen that it could go.
        """
        if not self.is_name:
            return self.route is not None
        return len({word[0] for word in self.words}) == 1 or not self.words


class Router:
    """All routes."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._trees: dict[str, _Node] = {}
        for route in routes:
            self._trees.setdefault(route.method, _Node(is_name=True)).add(route)  # as behind a name: no way back

    def resolve(self, method: str, path: str, query: str = "") -> Outcome:
        """What a request with this decoded path means."""
        found = self.match(method, path[1:].split("/"))
        if found is not None:
            return found
        location = self._better_path(method, path)
        if location is not None:
            status = HTTPStatus.MOVED_PERMANENTLY if method == "GET" else HTTPStatus.TEMPORARY_REDIRECT
            return Redirect(status, _location(location, query))
        allow = self._allowed(method, path)
        if allow:
            return Options(allow) if method == "OPTIONS" else WrongMethod(allow)
        return Nothing()

    def match(self, method: str, segments: list[str]) -> Found | None:
        """The route whose path has exactly these segments."""
        node, parameters = self._trees.get(method), {}
        for place, segment in enumerate(segments):
            if node is None:
                return None
            is_empty_end = not segment and place == len(segments) - 1
            if node.name is None or is_empty_end:
                node = node.words.get(segment)
            else:
                parameters[node.name[0]] = segment
                node = node.name[1]
        return Found(node.route, parameters) if node is not None and node.route is not None else None

    def _better_path(self, method: str, path: str) -> str | None:
        """The path as it should have been written; None if it is another one altogether."""
        tree = self._trees.get(method)
        if tree is None or path == "/":
            return None
        if path.endswith("/"):
            place = _place(tree, path[1:-1].split("/"), ignore_case=False)
            if place is not None and place[0].drops_slash:
                return path[:-1]
        cleaned = _clean(path + "/" if path.endswith("/.") else path)
        place = _place(tree, [one for one in cleaned.split("/") if one], ignore_case=True)
        if place is None:
            return None
        node, segments = place
        is_meant = node.drops_slash if cleaned.endswith("/") else node.route is not None
        return "/" + "/".join(segments) if is_meant else None

    def _allowed(self, method: str, path: str) -> str:
        others = [one for one in self._trees if one not in (method, "OPTIONS")]
        found = [one for one in others if self.match(one, path[1:].split("/"))]
        return ", ".join(sorted([*found, "OPTIONS"])) if found else ""


def _place(tree: _Node, segments: list[str], *, ignore_case: bool) -> tuple[_Node, list[str]] | None:
    """Where segments lead to, route or not, and how they are written there."""
    node, written = tree, []
    for segment in segments:
        if node.name is not None:
            node, word = node.name[1], segment
        else:
            word = segment.lower() if ignore_case else segment
            if word not in node.words:
                return None
            node = node.words[word]
        written.append(word)
    return node, written


def _clean(path: str) -> str:
    """Without `//`, `.` and `..`; a slash at the end stays."""
    cleaned = "/" + normpath(path).strip("/")
    return cleaned + "/" if path.endswith("/") and cleaned != "/" else cleaned


def _location(path: str, query: str) -> str:
    """A path as Go writes it into a Location."""
    cleaned = _clean(quote(path.encode("utf-8", "surrogateescape"), safe=_UNESCAPED_IN_PATHS))
    return cleaned + (f"?{quote(query, safe=_UNESCAPED_IN_LOCATIONS)}" if query else "")
