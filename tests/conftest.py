"""Real brokers, one per version and run: each test takes its own topics and groups."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.java_clients import GroupOracle
from warren.embedded.broker import Broker

# Members of share and streams groups learn of their partitions with a heartbeat: by default every 5 s, after 3 s more.
QUICK_GROUPS = {
    "group.share.heartbeat.interval.ms": "300",
    "group.share.min.heartbeat.interval.ms": "300",
    "group.streams.heartbeat.interval.ms": "300",
    "group.streams.min.heartbeat.interval.ms": "300",
    "group.streams.initial.rebalance.delay.ms": "0",
}

LONG_METADATA = {"offset.metadata.max.bytes": "8192"}  # the default refuses 4,096


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Kafka 4.3.1, in whose data directory the broker's log lies."""
    with Broker(tmp_path_factory.mktemp("kafka"), "4.3.1", overrides=QUICK_GROUPS | LONG_METADATA) as running:
        running.prepare_groups()
        yield running


@pytest.fixture(scope="session")
def broker_39(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Kafka 3.9.2, the last line before 4; started by the first test that asks for it."""
    preview = {
        "group.coordinator.rebalance.protocols": "classic,consumer",
        "group.consumer.migration.policy": "bidirectional",
        **LONG_METADATA,
    }
    with Broker(tmp_path_factory.mktemp("kafka-39"), "3.9.2", overrides=preview) as running:
        running.prepare_groups()
        yield running


@pytest.fixture(scope="session")
def oracle(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GroupOracle]:
    """What Kafka itself says about the groups of `broker`."""
    with GroupOracle(tmp_path_factory.mktemp("oracle"), broker.bootstrap) as running:
        yield running


@pytest.fixture(scope="session")
def oracle_39(broker_39: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GroupOracle]:
    """What Kafka itself says about the groups of `broker_39`."""
    with GroupOracle(tmp_path_factory.mktemp("oracle-39"), broker_39.bootstrap) as running:
        yield running
