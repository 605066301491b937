"""Real brokers, one per version and run: each test takes its own topics and groups."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from warren.embedded.broker import Broker


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Kafka 4.3.1, in whose data directory the broker's log lies."""
    with Broker(tmp_path_factory.mktemp("kafka"), "4.3.1") as running:
        running.prepare_groups()
        yield running


@pytest.fixture(scope="session")
def broker_39(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Kafka 3.9.2, the last line before 4; started by the first test that asks for it."""
    with Broker(tmp_path_factory.mktemp("kafka-39"), "3.9.2") as running:
        running.prepare_groups()
        yield running
