"""Looks into logs where a small lag stays, to tell marks of transactions from records that nobody reads."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from warren.errors import SourceError
from warren.periodic import Periodic
from warren.sources.kafka import ClientConfig
from warren.sources.marks import MarksReader
from warren.state import ClusterState

log = structlog.get_logger()


class Look(Periodic):
    """A cluster is looked into from when it is ready."""

    def __init__(
        self, clusters: Mapping[str, ClusterState], clients: Mapping[str, ClientConfig], interval_s: float
    ) -> None:
        super().__init__("look", interval_s, self.look)
        self._clusters = clusters
        self._readers = {name: MarksReader(clients[name]) for name in clusters}

    def stop(self) -> None:
        """Stop, and disconnect."""
        super().stop()
        for reader in self._readers.values():
            reader.close()

    def look(self) -> None:
        """One round; a cluster that does not answer is left for the next one."""
        for name, cluster in self._clusters.items():
            if cluster.is_ready:
                try:
                    self._look_into(cluster, self._readers[name])
                except SourceError as error:
                    log.warning("logs could not be looked into", cluster=name, error=str(error))

    def _look_into(self, cluster: ClusterState, reader: MarksReader) -> None:
        for doubt in cluster.doubts():
            if self.is_stopping:
                return
            found = reader.readable_end(*doubt)
            if found is not None:
                cluster.note_readable_end(doubt, found)
