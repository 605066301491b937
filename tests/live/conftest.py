"""Warrens that all tests here share and only add topics and groups to; they end with the last of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.asked import Asked, ask_for
from tests.support.kafka import Cluster
from tests.support.warren import StartWarren, Warren, WarrenProcess, config
from warren.embedded.broker import Broker


@pytest.fixture(scope="package")
def live(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarrenProcess]:
    """A Warren that watches `broker`."""
    with WarrenProcess(tmp_path_factory.mktemp("live"), config(broker.bootstrap)) as warren:
        yield warren.wait_until_ready()


@pytest.fixture(scope="package")
def live_39(broker_39: Broker, start_warren: StartWarren, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warren]:
    """The same for `broker_39`."""
    with start_warren(tmp_path_factory.mktemp("live-39"), config(broker_39.bootstrap)) as warren:
        yield warren.wait_until_ready()


@pytest.fixture(scope="package")
def asked(live: WarrenProcess, broker: Broker) -> Iterator[Asked]:
    """Groups for programs that read from Warren."""
    with ask_for(live, Cluster(broker.bootstrap)) as groups:
        yield groups
