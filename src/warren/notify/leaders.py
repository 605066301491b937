"""Which of several Warrens sends: they all watch, and one of them is the leader."""

from __future__ import annotations

from typing import Protocol

from warren.config.kafka_client import client_settings
from warren.config.model import Config


class Leader(Protocol):
    """Who knows whether this Warren is the one that sends."""

    @property
    def is_leader(self) -> bool:
        """Whether it is, now; never while another one may be, for longer than a session lasts."""

    @property
    def says(self) -> str:
        """How it stands, for people."""

    def start(self) -> None:
        """Begin to stand for it."""

    def stop(self) -> None:
        """Step down."""


class Alone:
    """There is no other."""

    is_leader = True
    says = "the only one"

    def start(self) -> None:
        """Nothing to do."""

    def stop(self) -> None:
        """Nothing to do."""


def make_leader(config: Config) -> Leader:
    """As `[alerts] leader` says; without notifiers there is nothing to agree on."""
    kind = config.alerts.leader
    if kind == "auto":
        kind = "zookeeper" if config.zookeeper.servers else "none"
    if kind == "none" or not config.notifier:
        return Alone()
    if kind == "zookeeper":
        from warren.notify.zookeeper_leader import ZooKeeperLeader

        tls = config.tls.get(config.zookeeper.tls.lower())
        return ZooKeeperLeader(config.zookeeper, tls)
    from warren.notify.kafka_leader import KafkaLeader

    cluster = config.cluster[config.alerts.leader_cluster.lower() or next(iter(config.cluster))]
    client = client_settings(config, cluster.servers, cluster.client_profile)
    return KafkaLeader(client, session_s=config.alerts.leader_session)
