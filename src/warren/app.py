"""Warren, put together: configuration -> state of each cluster -> HTTP -> Spark -> queries. Read this first."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from warren.config.kafka_client import client_settings
from warren.config.model import Config
from warren.errors import SetupError, WarrenError
from warren.keeper import Keeper
from warren.look import Look
from warren.parallel import run_in_parallel
from warren.patterns import compile_pattern
from warren.progress import STALE_AFTER_MS
from warren.rules.insight import Threshold
from warren.rules.policy import Policy, RulesFor, ThresholdFor
from warren.rules.rule import Settings
from warren.serve.app import make_app
from warren.serve.server import HttpListener
from warren.sources.commits import CommitsOptions, CommitsSource
from warren.sources.folding import FoldSettings
from warren.sources.heads import HeadsOptions, HeadsSource
from warren.sources.kafka import ClientConfig
from warren.state import ClusterState
from warren.watch import Watch
from warren.windows.store import Limits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from warren.pipeline.queries import QueryHealth, QueryPlan, SupervisedQuery

log = structlog.get_logger()

LOOK_INTERVAL_S = 10.0
MISSED_OBSERVATIONS = 3
"""After so many that did not come what is known of a cluster is stale."""


def now_ms() -> int:
    """The one place where the clock is read."""
    return time.time_ns() // 1_000_000


class App:
    """A running Warren. `start` returns when HTTP answers; Spark comes up behind it."""

    def __init__(self, config: Config, home: Path) -> None:
        self.config = config
        self.clusters = {name: _cluster_state(config, name) for name in config.cluster}
        self.queries: list[SupervisedQuery] = []
        self.failure: WarrenError | None = None
        """What kept Spark from starting."""
        self._home = home
        self._spark: SparkSession | None = None
        self._stopping = threading.Event()
        self.finished = threading.Event()
        self._keeper = Keeper(self.clusters, home / "snapshots", config.warren.snapshot_interval, now_ms)
        self._watch = Watch(self.clusters, config.warren.evaluate_interval, now_ms)
        self._look = Look(self.clusters, {name: _client(config, name) for name in config.cluster}, LOOK_INTERVAL_S)
        self.listeners = [HttpListener(one, config.tls.get(one.tls.lower())) for one in config.listeners.values()]

    def start(self) -> None:
        """Remember, answer, then bring up the pipeline."""
        self._keeper.restore()
        asgi = make_app(self.clusters, lambda: self.config, now_ms, self._query_health)
        for listener in self.listeners:
            listener.start(asgi)
            log.info("answering", url=listener.url)
        self._keeper.start()
        self._watch.start()
        self._look.start()
        threading.Thread(target=self._start_pipeline, name="pipeline", daemon=True).start()

    def stop(self) -> None:
        """Stop everything, in the order in which it depends on one another."""
        self._stopping.set()
        stops = [query.stop for query in self.queries] + [listener.stop for listener in self.listeners]
        run_in_parallel(stops, limit_s=2)
        self._watch.stop()
        self._look.stop()
        self._keeper.stop()
        if self._spark is not None:
            from warren.pipeline.session import stop_session

            stop_session(self._spark)

    @property
    def is_ready(self) -> bool:
        """Whether every cluster has caught up."""
        return all(cluster.is_ready for cluster in self.clusters.values())

    def _query_health(self) -> dict[str, QueryHealth]:
        return {query.name: query.health for query in self.queries}

    def _start_pipeline(self) -> None:
        from warren.pipeline.queries import SupervisedQuery, cause_of
        from warren.pipeline.session import start_session

        warren = self.config.warren
        try:
            self._spark = start_session(warren.master, self._home)
        except Exception as error:  # whatever it is: without Spark there is nothing to run for
            spark_failed = SetupError(f"Spark did not start: {cause_of(error)}")
            self.failure = error if isinstance(error, WarrenError) else spark_failed
            self.finished.set()
            return
        log.info("Spark is up", version=self._spark.version, master=warren.master)
        for plan in self._plans():
            query = SupervisedQuery(self._spark, plan, self._home / "checkpoints", warren.trigger)
            if self._stopping.is_set():
                return
            self.queries.append(query)
            query.start()

    def _plans(self) -> list[QueryPlan]:
        heads = [_heads_plan(self.config, state) for state in self.clusters.values()]
        commits = [
            _commits_plan(self.config, self.clusters[one.cluster], name) for name, one in self.config.consumer.items()
        ]
        return heads + commits


def _cluster_state(config: Config, name: str) -> ClusterState:
    storage, evaluator = config.the_storage, config.the_evaluator
    limits = Limits(storage.intervals, storage.min_distance * 1000, storage.expire_group * 1000)
    settings = Settings(evaluator.allowed_lag, evaluator.minimum_complete)
    consumers = {module: one.offsets_topic for module, one in config.consumer.items() if one.cluster == name}
    stale_after_ms = max(STALE_AFTER_MS, MISSED_OBSERVATIONS * config.cluster[name].offset_refresh * 1000)
    return ClusterState(name, limits, settings, consumers, _policy(config, name), stale_after_ms=stale_after_ms)


def _policy(config: Config, cluster: str) -> Policy:
    rules = [one for one in config.rules.values() if compile_pattern(one.cluster).search(cluster)]
    thresholds = [one for one in config.threshold.values() if compile_pattern(one.cluster).search(cluster)]
    return Policy(
        tuple(RulesFor(compile_pattern(one.group), one.use) for one in rules),
        tuple(
            ThresholdFor(compile_pattern(one.group), compile_pattern(one.topic), Threshold(one.records, one.seconds))
            for one in thresholds
        ),
    )


def _client(config: Config, cluster: str) -> ClientConfig:
    of = config.cluster[cluster]
    return client_settings(config, of.servers, of.client_profile)


def _heads_plan(config: Config, state: ClusterState) -> QueryPlan:
    from warren.pipeline.queries import QueryPlan

    cluster = config.cluster[state.name]
    options = HeadsOptions(_client(config, state.name), cluster.offset_refresh, cluster.topic_refresh)
    return QueryPlan(
        name=f"heads-{state.name}",
        source=HeadsSource,
        options=options.to_json,
        apply=lambda table: state.apply_head_rows(table, now_ms=now_ms()),
    )


def _commits_plan(config: Config, state: ClusterState, module: str) -> QueryPlan:
    from warren.pipeline.queries import QueryPlan

    consumer, storage = config.consumer[module], config.the_storage
    options = CommitsOptions(
        client=client_settings(config, consumer.servers, consumer.client_profile),
        topic=consumer.offsets_topic,
        fold=FoldSettings(
            storage.intervals,
            storage.min_distance * 1000,
            (storage.group_allowlist, consumer.group_allowlist),
            (storage.group_denylist, consumer.group_denylist),
        ),
        start_latest=consumer.start_latest,
        max_records=config.warren.max_records,
    )
    return QueryPlan(
        name=f"commits-{module}",
        source=CommitsSource,
        options=lambda: options._replace(positions=state.positions(module), topic_id=state.topic_id(module)).to_json(),
        apply=lambda table: state.apply_commit_rows(module, table, now_ms=now_ms()),
        start_over=lambda: state.start_over(module),
    )
