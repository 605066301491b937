"""Forgets groups that the brokers no longer have, for clusters with `groups-reaper-refresh`.

Warren sees deletions in the offsets topic by itself. This is for those that it missed: before it began to read with
`start-latest`, or in a topic whose tombstones are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import structlog
from confluent_kafka import KafkaException

from warren.clusters.state import ClusterState
from warren.config.kafka_client import client_settings
from warren.config.model import Config
from warren.errors import SourceError
from warren.kafka.clients import REQUEST_TIMEOUT_S, ClientConfig, kafka_errors, process_admin, right
from warren.machine.periodic import Periodic

log = structlog.get_logger()

TICK_S = 1.0


class Reaper(Periodic):
    """Asks for the groups of each cluster as often as its configuration says."""

    def __init__(
        self, clusters: Mapping[str, ClusterState], config: Callable[[], Config], now_ms: Callable[[], int]
    ) -> None:
        super().__init__("reaper", TICK_S, self.look)
        self._clusters = clusters
        self._config = config
        self._now_ms = now_ms
        self._asked_ms: dict[str, int] = {}

    def look(self) -> None:
        """One round; a cluster is first asked one refresh after the start."""
        config, now_ms = self._config(), self._now_ms()
        for name, state in list(self._clusters.items()):
            refresh_s = config.cluster[name].groups_reaper_refresh if name in config.cluster else 0
            if refresh_s and now_ms - self._asked_ms.setdefault(name, now_ms) >= refresh_s * 1000 and state.is_ready:
                self._asked_ms[name] = now_ms
                self._reap(config, state)

    def _reap(self, config: Config, state: ClusterState) -> None:
        of = config.cluster[state.name]
        before = [group for group in state.groups() if state.is_of_brokers(group)]
        try:
            there = groups_of(client_settings(config, of.servers, of.client_profile))
        except SourceError as error:  # nothing is known, so nothing is forgotten
            log.warning("groups could not be listed", cluster=state.name, error=str(error))
            return
        if before and not there:  # brokers leave out what one may not see
            of_this = client_settings(config, of.servers, of.client_profile)
            needs = right(of_this, ("Describe",), "--group '*'")
            log.warning("no group may be seen, so none is forgotten", cluster=state.name, needs=needs)
            return
        gone = [group for group in before if group not in there]
        for group in gone:
            state.delete_group(group)
        if gone:
            log.info("groups are gone", cluster=state.name, groups=gone)


def groups_of(client: ClientConfig) -> set[str]:
    """All groups that the brokers have; `SourceError` if one of them did not answer."""
    admin = process_admin(client)
    with kafka_errors("listing groups", admin):
        answer = admin.list_consumer_groups(request_timeout=REQUEST_TIMEOUT_S).result()
        for error in answer.errors:
            raise error if isinstance(error, KafkaException) else KafkaException(error)
    return {one.group_id for one in answer.valid}
