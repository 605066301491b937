"""How the suite runs: in two lanes, in random order, quick or long; and the servers that many tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

import tests.support.examples  # noqa: F401  # registers the profiles
from tests.support.java_clients import GroupOracle
from tests.support.lanes import Lanes, rank
from tests.support.minutes import print_minutes
from tests.support.warren import StartWarren, WarrenInProcess
from warren.embedded.broker import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Members of share and streams groups learn of their partitions with a heartbeat: by default every 5 s, after 3 s more.
QUICK_GROUPS = {
    "group.share.heartbeat.interval.ms": "300",
    "group.share.min.heartbeat.interval.ms": "300",
    "group.streams.heartbeat.interval.ms": "300",
    "group.streams.min.heartbeat.interval.ms": "300",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
}

LONG_METADATA = {"offset.metadata.max.bytes": "8192"}  # the default refuses 4,096


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run what takes long: `make test-long`")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("long" if config.getoption("--long") else "quick")


@pytest.hookimpl(trylast=True)  # after pytest-randomly has shuffled everything
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("long")])
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    items.sort(key=lambda item: rank(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Lanes:
    return Lanes(config, log)  # type: ignore[arg-type]  # xdist's own, which it does not name


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    print_minutes(terminalreporter)


@pytest.fixture(scope="session")
def is_long(pytestconfig: pytest.Config) -> bool:
    """Whether this is `make test-long`: tests that count something count further."""
    return bool(pytestconfig.getoption("--long"))


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Kafka 4.3.1 with groups that can commit; tests take topics and groups of their own."""
    with Broker(tmp_path_factory.mktemp("kafka"), "4.3.1", overrides=QUICK_GROUPS | LONG_METADATA) as running:
        running.prepare_groups()
        yield running


@pytest.fixture(scope="session")
def broker_39(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Kafka 3.9.2, the last line before 4."""
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
    """Kafka's own Admin client, which knows the truth about the groups of `broker`."""
    with GroupOracle(tmp_path_factory.mktemp("oracle"), broker.bootstrap) as running:
        yield running


@pytest.fixture(scope="session")
def oracle_39(broker_39: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GroupOracle]:
    """The same for `broker_39`."""
    with GroupOracle(tmp_path_factory.mktemp("oracle-39"), broker_39.bootstrap) as running:
        yield running


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One local Spark session for each lane, as the app starts it; Warrens in this process run on it, too."""
    from warren.pipeline.session import start_session, stop_session
    from warren.sources.commits import CommitsSource
    from warren.sources.heads import HeadsSource

    session = start_session("local[8]", tmp_path_factory.mktemp("spark"))
    session.dataSource.register(CommitsSource)
    session.dataSource.register(HeadsSource)
    yield session
    stop_session(session, limit_s=20)


@pytest.fixture(scope="session")
def start_warren(request: pytest.FixtureRequest) -> StartWarren:
    """Start a Warren in this process, on the Spark session of the lane."""
    return lambda directory, config: WarrenInProcess(directory, config, request.getfixturevalue("spark"))
