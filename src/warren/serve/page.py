"""The web page: files that were built from `web/`, served as they are. It learns everything else from API v1.

Only these paths are the page's: `/`, `/ui` with what is below it (links into the page, all the same document), and
`/assets/...`. Everything else stays Burrow's. All addresses in the page are relative, so a proxy may put it anywhere.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

from warren.serve.answer import HTML, NO_SNIFFING, TEXT, Answer, Header

BUILT = Path(__file__).parent / "static"
INDEX = "index.html"
ASSETS = "/assets/"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".html": HTML,
}

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    )
)
SAFE: tuple[Header, ...] = (
    ("Content-Security-Policy", POLICY),
    ("Referrer-Policy", "same-origin"),
    NO_SNIFFING,
)
FOR_EVER = ("Cache-Control", "public, max-age=31536000, immutable")
ASK_AGAIN = ("Cache-Control", "no-cache")

NOT_BUILT = "The page was not built here: `make setup` builds it. The API is at api/v1/.\n"


class File(NamedTuple):
    """One built file."""

    body: bytes
    compressed: bytes
    content_type: str


class Page:
    """The files below a directory; they are read once, at the first request."""

    def __init__(self, directory: Path = BUILT) -> None:
        self._directory = directory

    @cached_property
    def files(self) -> dict[str, File]:
        """By their path below the directory; empty if nothing was built."""
        found = (path for path in sorted(self._directory.rglob("*")) if path.suffix in TYPES)
        return {path.relative_to(self._directory).as_posix(): _file(path) for path in found}

    def answer(self, method: str, raw_path: bytes, headers: Mapping[bytes, bytes]) -> Answer | None:
        """The answer, if the path is one of the page's."""
        path = raw_path.decode("latin-1")
        if method not in ("GET", "HEAD"):
            return None
        if path in ("/", "/ui") or path.startswith("/ui/"):
            return self._document(path, headers)
        return self._asset(path, headers) if path.startswith(ASSETS) else None

    def _document(self, path: str, headers: Mapping[bytes, bytes]) -> Answer:
        """The document, whose addresses begin where the page does, however deep the link is."""
        found = self.files.get(INDEX)
        if found is None:
            return Answer(HTTPStatus.NOT_FOUND, NOT_BUILT.encode(), TEXT, SAFE)
        root = "../" * (path.count("/") - 1) or "./"
        body = found.body.replace(b'"./assets/', f'"{root}assets/'.encode())
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        told = (*SAFE, ASK_AGAIN, ("ETag", tag))
        if headers.get(b"if-none-match") == tag.encode():
            return Answer(HTTPStatus.NOT_MODIFIED, headers=told)
        return Answer(HTTPStatus.OK, body, HTML, told)

    def _asset(self, path: str, headers: Mapping[bytes, bytes]) -> Answer | None:
        """A file whose name changes with its content."""
        found = self.files.get(path[1:])
        if found is None:
            return None
        told = (*SAFE, FOR_EVER, ("Vary", "Accept-Encoding"))
        if b"gzip" in headers.get(b"accept-encoding", b""):
            return Answer(HTTPStatus.OK, found.compressed, found.content_type, (*told, ("Content-Encoding", "gzip")))
        return Answer(HTTPStatus.OK, found.body, found.content_type, told)


def _file(path: Path) -> File:
    body = path.read_bytes()
    return File(body, gzip.compress(body, 9, mtime=0), TYPES[path.suffix])
