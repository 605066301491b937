"""InfluxDB: line protocol over the write API of version 1, or of version 2 where a bucket is named."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlencode

import pyarrow as pa

from warren.sinks.columns import lines
from warren.sinks.contract import Sent
from warren.sinks.http import HttpSender, Prepared, Refused, Web, compressed, login
from warren.sinks.line_protocol import lines_of
from warren.webclient.client import Answer, Request

_DROPPED = re.compile(r"dropped=([1-9]\d*)")
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


class Influx(HttpSender):
    """Writes points; the same point again replaces itself."""

    def __init__(self, options: InfluxOptions) -> None:
        super().__init__(options.web, options.batch_points, options.token)
        self._options = options

    def _prepared(self, points: pa.RecordBatch) -> Prepared:
        return lines(lines_of(points))

    def _request(self, body: bytes) -> Request:
        headers = (("Content-Encoding", "gzip"), *login("Token", self._options.token))
        return Request("POST", self._options.address, compressed(body), "text/plain; charset=utf-8", headers)

    def _judged(self, answer: Answer, count: int) -> Sent | Refused:
        """Of a partial write it may be told how many points are lost; lines that cannot be read are not among them."""
        told = answer.body.decode("utf-8", "replace")
        if answer.is_good or _PARTIAL not in told or not (found := _DROPPED.search(told)):
            return super()._judged(answer, count)
        dropped = min(int(found[1]), count)
        return Sent(count - dropped, dropped, self._poster.reason(answer))
