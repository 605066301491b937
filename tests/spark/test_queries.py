"""Queries look after themselves: what fails is told, tried again, and stops nothing else."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from tests.support.waiting import eventually
from warren.embedded.broker import Broker, free_port
from warren.pipeline.queries import QueryPlan, QueryState, SupervisedQuery, cause_of
from warren.sources.heads import HeadsOptions, HeadsSource


def heads_plan(name: str, bootstrap: str, taken: list[pa.Table]) -> QueryPlan:
    options = HeadsOptions({"bootstrap.servers": bootstrap}, 1, 1)
    return QueryPlan(name, HeadsSource, options.to_json, taken.append)


def test_a_cluster_that_cannot_be_reached_does_not_stop_another(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    nothing: list[pa.Table] = []
    something: list[pa.Table] = []
    dead = SupervisedQuery(spark, heads_plan("dead", f"127.0.0.1:{free_port()}", nothing), tmp_path, 0.2)
    alive = SupervisedQuery(spark, heads_plan("alive", broker.bootstrap, something), tmp_path, 0.2)
    dead.start()
    alive.start()
    try:
        eventually(lambda: dead.health.restarts >= 1, 60)
        seen = len(something)
        eventually(lambda: len(something) > seen, 30)
        assert alive.health.state is QueryState.RUNNING
        assert nothing == []
        assert "listing topics failed" in dead.health.last_error
    finally:
        dead.stop()
        alive.stop()


def test_a_query_whose_batch_fails_starts_again_by_itself(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    taken: list[pa.Table] = []

    def fail_once(table: pa.Table) -> None:
        taken.append(table)
        if len(taken) == 1:
            message = "the first batch is refused"
            raise ValueError(message)

    plan = heads_plan("fails-once", broker.bootstrap, [])._replace(apply=fail_once)
    query = SupervisedQuery(spark, plan, tmp_path, 0.2)
    query.start()
    try:
        eventually(lambda: len(taken) >= 3, 60)
        assert query.health.restarts == 1
        assert query.health.last_error == "ValueError: the first batch is refused"
    finally:
        query.stop()


def test_the_cause_of_a_failure_is_the_last_exception_in_sparks_account_of_it() -> None:
    account = """[STREAM_FAILED] Query terminated with exception: Traceback (most recent call last):
  File "x.py", line 1, in read
warren.errors.SourceError: asking for offsets failed: Broker not available.

The above exception was the direct cause of the following exception:
"""
    assert cause_of(RuntimeError(account)) == "asking for offsets failed: Broker not available."
    assert cause_of(RuntimeError("x\nKeyError: 'a'\n")) == "KeyError: 'a'"
    assert cause_of(RuntimeError("only a sentence")) == "only a sentence"
