"""A Spark session for the run, as the app starts it, and the broker of the integration tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from warren.pipeline.session import start_session, stop_session
from warren.sources.commits import CommitsSource
from warren.sources.heads import HeadsSource


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A local session that knows our sources."""
    session = start_session("local[2]", tmp_path_factory.mktemp("spark"))
    session.dataSource.register(CommitsSource)
    session.dataSource.register(HeadsSource)
    yield session
    stop_session(session, limit_s=20)
