"""Looks into logs where a small lag stays, to tell marks of transactions from records that nobody reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Protocol

import structlog

from warren.clusters.state import ClusterState
from warren.errors import SourceError
from warren.kafka.clients import ClientConfig, right
from warren.machine.periodic import Periodic
from warren.rules.marks import Doubt
from warren.sources.marks import MarksReader

log = structlog.get_logger()


UNSEEN_ROUNDS = 6
"""A topic that was just deleted or made is not in the list for a moment."""


class Reader(Protocol):
    """Who looks."""

    def readable_end(self, topic: str, partition: int, start: int, end: int) -> int | None:
        """Behind which offset there are no records; None if that cannot be told."""

    def close(self) -> None:
        """Disconnect."""


class Look(Periodic):
    """A cluster is looked into from when it is ready."""

    def __init__(
        self, clusters: Mapping[str, ClusterState], client_of: Callable[[str], ClientConfig], interval_s: float
    ) -> None:
        super().__init__("look", interval_s, self.look)
        self._clusters = clusters
        self._client_of = client_of
        self._readers: dict[str, tuple[ClientConfig, Reader]] = {}
        self._refused: set[tuple[str, str]] = set()  # cluster and topic: told once
        self._unseen: Counter[tuple[str, str]] = Counter()  # cluster and topic: in how many rounds

    def stop(self) -> None:
        """Stop, and disconnect."""
        super().stop()
        for _, reader in self._readers.values():
            reader.close()

    def look(self) -> None:
        """One round."""
        for name, cluster in list(self._clusters.items()):
            self._tell_of_unseen(cluster)
            for doubt in cluster.doubts() if cluster.is_ready else ():
                if self.is_stopping:
                    return
                self._look_into(cluster, self._reader(name), doubt)

    def _tell_of_unseen(self, cluster: ClusterState) -> None:
        """Brokers leave out topics that one may not see: whoever reads them would just be missing here."""
        unseen = [(cluster.name, topic) for topic in cluster.unseen_topics()] if cluster.is_ready else []
        self._unseen.update(unseen)
        if told := [topic for name, topic in unseen if self._unseen[name, topic] == UNSEEN_ROUNDS]:
            needs = right(self._client_of(cluster.name), ("Describe",), "--topic '*'")
            log.warning("topics are gone or may not be seen", cluster=cluster.name, topics=told, needs=needs)

    def _reader(self, cluster: str) -> Reader:
        """One for each cluster, made anew when the way to reach it is another one."""
        client, known = self._client_of(cluster), self._readers.get(cluster)
        if known and known[0] == client:
            return known[1]
        if known:
            known[1].close()
        reader: Reader = MarksReader(client)
        self._readers[cluster] = (client, reader)
        return reader

    def _look_into(self, cluster: ClusterState, reader: Reader, doubt: Doubt) -> None:
        """A partition that may not be read, or does not answer, is taken at its word until it grows."""
        try:
            found = reader.readable_end(*doubt)
        except SourceError as error:
            found = None
            if (cluster.name, doubt.topic) not in self._refused:
                self._refused.add((cluster.name, doubt.topic))
                log.info("a topic could not be looked into", cluster=cluster.name, topic=doubt.topic, error=str(error))
        cluster.note_readable_end(doubt, doubt.end if found is None else found)
