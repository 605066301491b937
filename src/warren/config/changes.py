"""What is different in another configuration: what a running Warren can take on, and what has to wait for a restart."""

from __future__ import annotations

from typing import NamedTuple

from warren.config.kafka_client import client_settings
from warren.config.model import Config


class Changes(NamedTuple):
    """The clusters that are new, gone, or to be read another way, and the sections that only a restart brings in."""

    added: list[str]
    removed: list[str]
    changed: list[str]
    later: list[str]


def changes(old: Config, new: Config) -> Changes:
    """From one configuration to another."""
    both = [name for name in new.cluster if name in old.cluster]
    return Changes(
        added=[name for name in new.cluster if name not in old.cluster],
        removed=[name for name in old.cluster if name not in new.cluster],
        changed=[name for name in both if _sources(old, name) != _sources(new, name)],
        later=_later(old, new),
    )


def _sources(config: Config, cluster: str) -> tuple[object, ...]:
    """Everything that the windows of a cluster are made by."""
    of = config.cluster[cluster]
    consumers = {
        name: (one, client_settings(config, one.servers, one.client_profile), config.tls.get(one.tls.lower()))
        for name, one in config.consumer.items()
        if one.cluster == cluster
    }
    return of, client_settings(config, of.servers, of.client_profile), consumers, config.the_storage


def _later(old: Config, new: Config) -> list[str]:
    files = {"filename", "max_size", "max_backups", "max_age", "use_local_time", "use_compression"}
    parts = {
        "general.pidfile": (old.general.pidfile, new.general.pidfile),
        "general.stdout-logfile": (old.general.stdout_logfile, new.general.stdout_logfile),
        "logging": (old.logging.model_dump(include=files), new.logging.model_dump(include=files)),
        "httpserver": (old.httpserver, new.httpserver),
        "zookeeper": (old.zookeeper, new.zookeeper),
        "alerts.leader": (_leader(old), _leader(new)),
        "warren": (old.warren, new.warren),
        "spark": (old.spark, new.spark),
        "history": (old.history, new.history),
    }
    return [name for name, (before, after) in parts.items() if before != after]


def _leader(config: Config) -> tuple[object, ...]:
    of = config.alerts
    return of.leader, of.leader_cluster, of.leader_session
