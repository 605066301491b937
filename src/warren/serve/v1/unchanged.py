"""Answers that are as they were for whoever asks again and again: 304 without a body, by their ETag.

An answer that is only judged anew, and says the same, counts as unchanged: the moment of the judgement is left out.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_JUDGED = re.compile(rb'"evaluated_at":"[^"]*"')


def tag_of(body: bytes) -> str:
    """The same for bodies that say the same; a weak one, for not every byte must be the same."""
    return f'W/"{blake2b(_JUDGED.sub(b"", body), digest_size=12).hexdigest()}"'


class Unchanged:
    """Around all routes that are read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope.get("method") != "GET":
            await self._app(scope, receive, send)
            return
        known = {one.strip() for one in Headers(scope=scope).get("if-none-match", "").split(",")}
        start: Message = {}
        parts: list[bytes] = []

        async def gather(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                await _finish(start, b"".join(parts), known, send)

        await self._app(scope, receive, gather)


async def _finish(start: Message, body: bytes, known: set[str], send: Send) -> None:
    if start["status"] == 200:
        tag, headers = tag_of(body), MutableHeaders(raw=start["headers"])
        headers["ETag"] = tag
        if tag in known:
            del headers["Content-Length"], headers["Content-Type"]
            start, body = {**start, "status": 304, "headers": headers.raw}, b""
    await send(start)
    await send({"type": "http.response.body", "body": body})
