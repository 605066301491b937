"""Burrow's API as a whole: from a method and a path to an answer of version 3, or 2 where that is wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

from warren.config.model import Config
from warren.serve import v2, v3
from warren.serve.answer import Answer, unrouted
from warren.serve.rendered import Basis
from warren.serve.router import Found, Outcome, Route, Router, decode_path
from warren.serve.v3 import Clusters, LogLevel

METRICS = "metrics"
"""The route of the page that others make."""

_ROUTES = (*v3.ROUTES, Route("GET", "/metrics", METRICS))
_OF_ONE_CLUSTER = v3.OF_ONE_CLUSTER | v2.OF_ONE_CLUSTER
_WAITS_FOR_STATE = _OF_ONE_CLUSTER | {"ready", "delete_consumer", "delete_consumer_topic", "v2_delete_consumer"}


class Asked(NamedTuple):
    """A request."""

    method: str
    raw_path: bytes
    path: str
    """The same, decoded."""
    query: str = ""
    body: bytes = b""


class BurrowApi:
    """The routes of Burrow with what answers them."""

    def __init__(
        self, clusters: Clusters, config: Callable[[], Config], now_ms: Callable[[], int], log_level: LogLevel | None
    ) -> None:
        self._clusters = clusters
        self._config = config
        self._now_ms = now_ms
        self.v3 = v3.V3(clusters, config, now_ms, log_level)
        self.v2 = v2.V2(clusters, config, now_ms)
        self._router = Router(_ROUTES)
        self._router_with_v2 = Router((*_ROUTES, *v2.ROUTES))

    def resolve(self, asked: Asked) -> Outcome:
        """Which route is meant."""
        return self._routes().resolve(asked.method, asked.path, asked.query)

    def answer(self, asked: Asked, outcome: Outcome) -> tuple[Answer, Basis | None]:
        """The answer, and what it was made of if it is good for more than this request."""
        first = self._run(outcome, asked) if isinstance(outcome, Found) else None
        if first is not None and not first[0].is_miss:
            return first
        for reading in self._other_readings(asked, outcome):
            found = self._run(reading, asked)
            if not found[0].is_miss:
                return found
        return first or (unrouted(outcome, asked.method), None)

    def basis(self, outcome: Outcome) -> Basis | None:
        """What the answer will be made of; taken before, so that a change meanwhile makes it old."""
        if isinstance(outcome, Found) and outcome.name == v3.CLUSTER_LIST:
            return Basis(None, 0, self._config(), self._now_ms())
        if not isinstance(outcome, Found) or outcome.name not in _OF_ONE_CLUSTER:
            return None
        state = self._clusters.get(outcome.parameters["cluster"])
        return None if state is None else Basis(state, state.version, self._config(), self._now_ms())

    def refusal(self, url: str, status: int, message: str) -> Answer:
        """An answer that says no, in the shape of the API that was asked."""
        api = self.v2 if url.startswith("/v2/") and self._config().api.v2 else self.v3
        return api.refusal(url, status, message)

    def _routes(self) -> Router:
        return self._router_with_v2 if self._config().api.v2 else self._router

    def _run(self, found: Found, asked: Asked) -> tuple[Answer, Basis | None]:
        basis = self.basis(found)
        if found.name.startswith("v2_"):
            answer = self.v2.answer(found, asked.path)
        else:
            answer = self.v3.answer(found, asked.path, asked.body)
        return answer, None if answer.is_miss else basis

    def _other_readings(self, asked: Asked, outcome: Outcome) -> Iterator[Found]:
        """What else could be meant, where the first reading found nothing.

        Some clients escape names twice. And a slash in a name that was escaped is a slash of the path once the path is
        decoded. What would be deleted is never guessed: only a path that means nothing else is read once more.
        """
        is_read = asked.method == "GET"
        if is_read and isinstance(outcome, Found) and any("%" in name for name in outcome.parameters.values()):
            yield Found(outcome.name, {key: unquote(name) for key, name in outcome.parameters.items()})
        if b"%2f" in asked.raw_path.lower() and (is_read or not isinstance(outcome, Found)):
            segments = [decode_path(one) or "" for one in asked.raw_path[1:].split(b"/")]
            by_segments = self._routes().match(asked.method, segments)
            if by_segments is not None:
                yield by_segments


def waits_for_state(outcome: Outcome) -> bool:
    """Whether the answer needs the lock of a cluster's state: whoever makes it may have to wait."""
    return not isinstance(outcome, Found) or outcome.name in _WAITS_FOR_STATE
