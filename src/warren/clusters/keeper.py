"""Keeps the state of all clusters over restarts: restores it at the start, saves it every so often and at the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import structlog

from warren.clusters.snapshots import SnapshotError, SnapshotReader, SnapshotWriter, previous, set_aside, write_error
from warren.clusters.state import ClusterState
from warren.machine.names import file_name
from warren.machine.periodic import Periodic

log = structlog.get_logger()

LONGEST_AGE_MS = 24 * 3600 * 1000
"""Kafka keeps tombstones for a day: what is older may have missed one."""


class Keeper(Periodic):
    """One snapshot file for each cluster in a directory."""

    def __init__(
        self,
        clusters: Mapping[str, ClusterState],
        directory: Path,
        interval_s: float,
        now_ms: Callable[[], int],
        before_saved: Callable[[str], None] = lambda _: None,
    ) -> None:
        super().__init__("keeper", interval_s, self.save)
        self._clusters = clusters
        self._directory = directory
        self._now_ms = now_ms
        self._before_saved = before_saved
        """Told of a cluster before its snapshot counts: nobody may be behind it after a crash."""
        self._writing = threading.Lock()  # two threads may want to save one cluster

    def restore(self) -> None:
        """Bring back what was saved last of every cluster."""
        for cluster in self._clusters.values():
            self.restore_one(cluster)

    def restore_one(self, cluster: ClusterState) -> None:
        """Bring back what was saved last; what cannot be used is set aside and told."""
        path = self._path(cluster.name)
        for candidate in (path, previous(path)):
            if candidate.exists() and self._restore(cluster, candidate):
                break

    def stop(self) -> None:
        """Save a last time."""
        super().stop()
        self.save()

    def save(self) -> None:
        """Save every cluster that has anything to say; a failure is told, and the file before stays."""
        for cluster in list(self._clusters.values()):
            self.save_one(cluster)

    def save_one(self, cluster: ClusterState) -> None:
        """Save one cluster, if it has anything to say."""
        if not cluster.is_worth_saving:
            return
        path, header = self._path(cluster.name), cluster.header(self._now_ms())
        try:
            with self._writing, SnapshotWriter(path, header) as file:
                cluster.save(file)
                self._before_saved(cluster.name)
            cluster.saved_ms = header.created_ms
        except OSError as error:
            log.error("snapshot not written", cluster=cluster.name, error=write_error(path, error))
        except SnapshotError as error:
            log.warning("snapshot not written", cluster=cluster.name, error=str(error))

    def _restore(self, cluster: ClusterState, path: Path) -> bool:
        started_s = time.monotonic()
        try:
            file = SnapshotReader(path)
            self._check(cluster, file)
            cluster.restore(file)
        except SnapshotError as error:
            log.warning("snapshot not used", cluster=cluster.name, error=str(error), kept_as=str(set_aside(path)))
            return False
        age_s = (self._now_ms() - file.header.created_ms) // 1000
        took_s = round(time.monotonic() - started_s, 2)
        log.info("restored", cluster=cluster.name, groups=len(cluster.groups()), age_s=age_s, took_s=took_s)
        return True

    def _check(self, cluster: ClusterState, file: SnapshotReader) -> None:
        if file.header.cluster != cluster.name:
            message = f"It is of cluster {file.header.cluster}, not of {cluster.name}."
            raise SnapshotError(message)
        if self._now_ms() - file.header.created_ms > LONGEST_AGE_MS:
            message = "It is older than a day, so deletions since may be gone from the topic; all is read again."
            raise SnapshotError(message)

    def _path(self, cluster: str) -> Path:
        return self._directory / f"{file_name(cluster)}.snapshot"
