"""The page: everything put together for one scrape, in the format that the scraper wants."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

import pyarrow as pa
from isal import isal_zlib
from starlette.requests import Request
from starlette.responses import Response

from warren.clusters.state import ClusterState
from warren.config.model import Metrics as Settings
from warren.health import QueryHealth
from warren.history.service import History
from warren.notify.service import Alerts
from warren.rules.survey import Survey
from warren.serve.metrics.columns import Labels, Told, labels_of, pages, worst
from warren.serve.metrics.formats import Format, accepts_gzip, chosen_format
from warren.serve.metrics.health import Health, RequestTotals
from warren.sinks.service import Sinks

FRESH_MS = 1_000
"""A page is good for so long, if nothing came or went: several Prometheus servers often ask at once."""
KEPT_BYTES = 16_000_000
"""Pages that are larger than this, which compressed ones are not, are not kept: they would only take up memory."""
GZIP = 31
"""What the deflate library calls a gzip stream with the largest window."""


class _Kind(NamedTuple):
    """What a page depends on beside what is known."""

    format: Format
    is_gzip: bool
    partitions: bool
    top_groups: int


class _Kept(NamedTuple):
    made_ms: int
    surveys: list[Survey]
    kind: _Kind
    body: bytes


class Metrics:
    """Answers scrapes.

    `settings` is asked each time, since the configuration may be read again; `requests` tells how many HTTP requests
    were answered, and in how many seconds.
    """

    def __init__(
        self,
        clusters: Mapping[str, ClusterState],
        now_ms: Callable[[], int],
        queries: Callable[[], Mapping[str, QueryHealth]],
        settings: Callable[[], Settings] = Settings,
        requests: Callable[[], RequestTotals] = dict,
        *,
        alerts: Alerts | None = None,
        sinks: Sinks | None = None,
        history: History | None = None,
    ) -> None:
        self._clusters = clusters
        self._now_ms = now_ms
        self._settings = settings
        self._health = Health(queries, requests, alerts, sinks, history)
        self._labels: dict[tuple[str, bool], Labels] = {}
        self._kept: _Kept | None = None
        self._lock = threading.Lock()

    def page(self, request: Request) -> Response:
        """A plain function, so that a thread waits for the state's lock and not the server."""
        chosen = chosen_format(", ".join(request.headers.getlist("accept")))
        gzip = accepts_gzip(", ".join(request.headers.getlist("accept-encoding")))
        headers = {"Content-Type": chosen.content_type, "Vary": "Accept, Accept-Encoding"}
        body = self.body(chosen, gzip=gzip)
        return Response(body, headers=headers | ({"Content-Encoding": "gzip"} if gzip else {}))

    def body(self, chosen: Format, *, gzip: bool) -> bytes:
        """One page, which may have been made for somebody else just now."""
        settings = self._settings()
        kind = _Kind(chosen, gzip, settings.partitions, settings.top_groups)
        with self._lock:
            now_ms, states = self._now_ms(), dict(sorted(self._clusters.items()))
            surveys = [state.survey(now_ms=now_ms) for state in states.values()]
            if self._kept and _is_good(self._kept, surveys, kind, now_ms):
                return self._kept.body
            self._kept = None  # its memory is needed for the next one
            body = self._made(states, surveys, kind, now_ms)
            if len(body) <= KEPT_BYTES:
                self._kept = _Kept(now_ms, surveys, kind, body)
            return body

    def _made(self, states: Mapping[str, ClusterState], surveys: list[Survey], kind: _Kind, now_ms: int) -> bytes:
        told = {name: self._told(name, survey, kind) for name, survey in zip(states, surveys, strict=True)}
        self._labels = {(name, kind.partitions): one.labels for name, one in told.items()}
        many = pages(list(told.values()), partitions=kind.partitions)
        pieces = chain(many, [self._health.text(states, told, kind.format, now_ms)])
        return b"".join(_compressed(pieces) if kind.is_gzip else pieces)

    def _told(self, cluster: str, survey: Survey, kind: _Kind) -> Told:
        labels = self._labels.get((cluster, kind.partitions))
        if labels is None or labels.shown is not survey.shown:
            labels = labels_of(cluster, survey.shown, partitions=kind.partitions)
        return Told(survey, labels, worst(survey, kind.top_groups))


def _is_good(kept: _Kept, surveys: list[Survey], kind: _Kind, now_ms: int) -> bool:
    """Whether it would hardly be another page if it was made now."""
    is_same = len(surveys) == len(kept.surveys) and all(map(lambda a, b: a is b, surveys, kept.surveys))
    return is_same and kept.kind == kind and 0 <= now_ms - kept.made_ms < FRESH_MS


def _compressed(pieces: Iterable[pa.Buffer | bytes]) -> Iterator[bytes]:
    """With a library that takes a fifth of zlib's time: Prometheus always wants gzip."""
    compressor = isal_zlib.compressobj(1, wbits=GZIP)
    for piece in pieces:
        yield compressor.compress(piece)
    yield compressor.flush()
