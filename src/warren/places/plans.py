"""Consumer modules that look at a place instead of reading the offsets topic: from their configuration to queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from warren.clusters.progress import Polled
from warren.clusters.state import ClusterState
from warren.config.kafka_client import client_settings
from warren.config.model import Config, Consumer, Tls
from warren.kafka.clients import check_reachable
from warren.places.looks import Mark
from warren.sources.admin import AdminOptions, AdminSource
from warren.sources.looking import LooksSource
from warren.sources.storm import StormSource
from warren.sources.zookeeper import ConsumersSource
from warren.sources.zookeeper_tree import ZooKeeperOptions, ask_ensemble
from warren.sources.zookeeper_wire import Login

if TYPE_CHECKING:
    from warren.pipeline.queries import QueryPlan

GroupLists = tuple[tuple[str, ...], tuple[str, ...]]
"""The patterns of which all must find a group, and those of which none may."""

SOURCES: dict[str, type[LooksSource]] = {
    "kafka_zk": ConsumersSource,
    "storm_zk": StormSource,
    "kafka_admin": AdminSource,
}


def polled_modules(config: Config, cluster: str) -> dict[str, Polled]:
    """The modules of a cluster that look at a place."""
    mine = {name: one for name, one in config.consumer.items() if one.cluster == cluster and one.class_name in SOURCES}
    return {name: _polled(one) for name, one in mine.items()}


def look_plan(
    config: Config, state: ClusterState, module: str, lists: GroupLists, now_ms: Callable[[], int]
) -> QueryPlan:
    """The query of one such module."""
    from warren.pipeline.queries import QueryPlan

    consumer = config.consumer[module]
    options = _admin(config, consumer, lists) if _is_admin(consumer) else _zookeeper(config, consumer, lists)
    return QueryPlan(
        name=f"commits-{module}",
        source=SOURCES[consumer.class_name],
        options=options.to_json,
        apply=lambda table: state.apply_look_rows(module, table, now_ms=now_ms()),
        check=lambda: _check(options),
        failed=lambda reason: state.note_failure(module, reason, now_ms=now_ms()),
    )


def _check(options: AdminOptions | ZooKeeperOptions) -> None:
    """Raise `SourceError` if there is nobody to ask."""
    if isinstance(options, AdminOptions):
        check_reachable(options.client)
    else:
        ask_ensemble(options, lambda reader: None)


def _is_admin(consumer: Consumer) -> bool:
    return consumer.class_name == "kafka_admin"


def _polled(consumer: Consumer) -> Polled:
    mark = Mark.OFFSET if _is_admin(consumer) else Mark.ORDER
    return Polled(mark, consumer.poll_interval * 1000, is_of_brokers=_is_admin(consumer))


def _admin(config: Config, consumer: Consumer, lists: GroupLists) -> AdminOptions:
    return AdminOptions(
        client_settings(config, consumer.servers, consumer.client_profile),
        consumer.poll_interval,
        consumer.groups_per_second,
        consumer.requests_in_flight,
        *lists,
    )


def _zookeeper(config: Config, consumer: Consumer, lists: GroupLists) -> ZooKeeperOptions:
    login = _login(consumer.zookeeper_auth.get_secret_value(), config.tls.get(consumer.tls.lower()))
    return ZooKeeperOptions(
        consumer.servers, consumer.zookeeper_path, consumer.zookeeper_timeout, consumer.poll_interval, login, *lists
    )


def _login(auth: str, tls: Tls | None) -> Login:
    if tls is None:
        return Login(auth)
    return Login(auth, True, tls.cafile, tls.certfile, tls.keyfile, tls.noverify)
