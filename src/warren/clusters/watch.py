"""Judges all groups of all clusters every few seconds, and tells whose status changed and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import structlog

from warren.clusters.state import ClusterState
from warren.machine.periodic import Periodic
from warren.model import Status
from warren.rules.standing import Change

log = structlog.get_logger()


class Watch(Periodic):
    """A cluster is watched from when it is ready: before that its statuses mean nothing."""

    def __init__(self, clusters: Mapping[str, ClusterState], interval_s: float, now_ms: Callable[[], int]) -> None:
        super().__init__("watch", interval_s, self.look)
        self._clusters = clusters
        self._now_ms = now_ms

    def look(self) -> None:
        """One round."""
        for cluster in list(self._clusters.values()):
            if cluster.is_ready:
                for change in cluster.evaluate(now_ms=self._now_ms()):
                    _tell(cluster.name, change)


def _tell(cluster: str, change: Change) -> None:
    tell = log.info if change.now <= Status.OK else log.warning
    where = {"cluster": cluster, "group": change.group, "was": change.was.name, "now": change.now.name}
    if change.cause is None:
        tell("group is gone", **where)
        return
    cause = change.cause
    partition = f"{cause.topic} {cause.partition}"
    tell("group changed", **where, partition=partition, rule=cause.rule.name.lower(), reason=cause.reason)
