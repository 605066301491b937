"""Judges all groups of all clusters every few seconds, and tells whose status changed and why."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import structlog

from warren.model import Status
from warren.rules.standing import Change
from warren.state import ClusterState

log = structlog.get_logger()


class Watch:
    """A thread of its own; a cluster is watched from when it is ready: before that its statuses mean nothing."""

    def __init__(self, clusters: Mapping[str, ClusterState], interval_s: float, now_ms: Callable[[], int]) -> None:
        self._clusters = clusters
        self._interval_s = interval_s
        self._now_ms = now_ms
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watch", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the round under way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def look(self) -> None:
        """One round."""
        for cluster in self._clusters.values():
            if cluster.is_ready:
                for change in cluster.evaluate(now_ms=self._now_ms()):
                    _tell(cluster.name, change)

    def _watch(self) -> None:
        while not self._stop.wait(self._interval_s):
            try:
                self.look()
            except Exception:  # one bad round must not end the watch, and must be seen
                log.exception("the groups could not be judged")


def _tell(cluster: str, change: Change) -> None:
    tell = log.info if change.now <= Status.OK else log.warning
    where = {"cluster": cluster, "group": change.group, "was": change.was.name, "now": change.now.name}
    if change.cause is None:
        tell("group is gone", **where)
        return
    cause = change.cause
    partition = f"{cause.topic} {cause.partition}"
    tell("group changed", **where, partition=partition, rule=cause.rule.name.lower(), reason=cause.reason)
