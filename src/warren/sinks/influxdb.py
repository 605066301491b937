"""InfluxDB: line protocol over the write API of version 1, or of version 2 where a bucket is named."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlencode

import pyarrow as pa

from warren.sinks.columns import lines
from warren.sinks.contract import Sent
from warren.sinks.http import Poster, Web, compressed, sent_in_parts
from warren.sinks.line_protocol import lines_of
from warren.webclient.client import Request

_DROPPED = re.compile(r"dropped=(\d+)")
_PARTIAL = "partial write"


class InfluxOptions(NamedTuple):
    """Version 2 if there is a `bucket`."""

    web: Web
    database: str = ""
    retention_policy: str = ""
    org: str = ""
    bucket: str = ""
    token: str = ""
    batch_points: int = 10_000

    @property
    def address(self) -> str:
        """Where points are posted to."""
        base = self.web.url.rstrip("/")
        if self.bucket:
            asked = {"org": self.org, "bucket": self.bucket}
            return f"{base}/api/v2/write?{urlencode({**asked, 'precision': 'ms'})}"
        asked = {"db": self.database, **({"rp": self.retention_policy} if self.retention_policy else {})}
        return f"{base}/write?{urlencode({**asked, 'precision': 'ms'})}"


class Influx:
    """Writes points; the same point again replaces itself."""

    def __init__(self, options: InfluxOptions) -> None:
        self._options = options
        self._poster = Poster(options.web, [options.token])
        self._reason = ""

    def send(self, points: pa.RecordBatch) -> Sent:
        """Send all of them, some thousand at a time."""
        found = lines(lines_of(points))
        return sent_in_parts(
            len(found),
            self._options.batch_points,
            lambda start, stop: self._send(found.between(start, stop), stop - start),
            lambda: self._reason,
        )

    def close(self) -> None:
        """Let go of the connection."""
        self._poster.close()

    def _send(self, body: bytes, count: int) -> Sent | None:
        answer = self._poster.ask(self._request(body))
        if 200 <= answer.status < 300:
            return Sent(count)
        self._reason = self._poster.reason(answer)
        if _PARTIAL not in self._reason:
            return None
        found = _DROPPED.search(self._reason)
        dropped = min(int(found[1]), count) if found else count
        return Sent(count - dropped, dropped, self._reason)

    def _request(self, body: bytes) -> Request:
        login = [("Authorization", f"Token {self._options.token}")] if self._options.token else []
        headers = (("Content-Encoding", "gzip"), *login)
        return Request("POST", self._options.address, compressed(body), "text/plain; charset=utf-8", headers)
