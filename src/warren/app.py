"""Warren, put together: configuration -> state of each cluster -> HTTP -> Spark -> queries. Read this first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from warren.config.changes import changes
from warren.config.kafka_client import client_settings
from warren.config.model import Config, Consumer
from warren.errors import SetupError, WarrenError
from warren.keeper import Keeper
from warren.logs import LogLevel
from warren.marks import Look
from warren.notify.service import Alerts
from warren.parallel import run_in_parallel
from warren.patterns import GroupFilter, compile_pattern
from warren.periodic import Periodic
from warren.places.plans import SOURCES, look_plan, polled_modules
from warren.progress import STALE_AFTER_MS
from warren.reaper import Reaper
from warren.rules.insight import Threshold
from warren.rules.policy import Policy, RulesFor, ThresholdFor
from warren.rules.rule import Settings
from warren.serve.app import make_app
from warren.serve.server import HttpListener
from warren.sources.commits import CommitsOptions, CommitsSource
from warren.sources.folding import FoldSettings
from warren.sources.heads import HeadsOptions, HeadsSource
from warren.sources.kafka import ClientConfig, check_reachable
from warren.state import HEADS, ClusterState
from warren.watch import Watch
from warren.windows.store import Limits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from warren.pipeline.queries import QueryHealth, QueryPlan, SupervisedQuery

log = structlog.get_logger()

LOOK_INTERVAL_S = 10.0
STOP_QUERIES_S = 10.0
RENEW_S = 10.0
MISSED_OBSERVATIONS = 3
"""After so many that did not come what is known of a cluster is stale."""


def now_ms() -> int:
    """The one place where the clock is read."""
    return time.time_ns() // 1_000_000


class App:
    """A running Warren. `start` returns when HTTP answers; Spark comes up behind it."""

    def __init__(self, config: Config, home: Path, level: LogLevel | None = None) -> None:
        self.config = config
        self.level = level or LogLevel()
        self.clusters = {name: _cluster_state(config, name) for name in config.cluster}
        self._queries: dict[str, list[SupervisedQuery]] = {}  # by cluster
        self._changing = threading.RLock()
        """Held while queries are started or stopped."""
        self.failure: WarrenError | None = None
        """What kept Spark from starting."""
        self._home = home
        self._spark: SparkSession | None = None
        self._stopping = threading.Event()
        self.finished = threading.Event()
        self._keeper = Keeper(self.clusters, home / "snapshots", config.warren.snapshot_interval, now_ms)
        self.alerts = Alerts(config, self.clusters, home, now_ms)
        self._watch = Watch(self.clusters, config.warren.evaluate_interval, now_ms)
        self._look = Look(self.clusters, lambda name: _client(self.config, name), LOOK_INTERVAL_S)
        self._reaper = Reaper(self.clusters, lambda: self.config, now_ms)
        self._renewals = Periodic("certificates", RENEW_S, self._renew_certificates)
        self.listeners = [HttpListener(one, config.tls.get(one.tls.lower())) for one in config.listeners.values()]

    def start(self) -> None:
        """Remember, answer, then bring up the pipeline."""
        for name in self.clusters:
            self._restore(name)
        asgi = make_app(
            self.clusters, lambda: self.config, now_ms, self._query_health, log_level=self.level, alerts=self.alerts
        )
        for listener in self.listeners:
            listener.start(asgi, asgi.at_once)
            log.info("answering", url=listener.url)
        self._keeper.start()
        self._watch.start()
        self._look.start()
        self._reaper.start()
        self._renewals.start()
        self.alerts.start()
        threading.Thread(target=self._start_pipeline, name="pipeline", daemon=True).start()

    def stop(self) -> None:
        """Stop everything, in the order in which it depends on one another."""
        self._stopping.set()
        stops = [query.stop for query in self._all_queries()] + [listener.stop for listener in self.listeners]
        run_in_parallel(stops, limit_s=2)
        self._watch.stop()
        self.alerts.stop()
        self._look.stop()
        self._reaper.stop()
        self._renewals.stop()
        self._keeper.stop()
        if self._spark is not None:
            from warren.pipeline.session import stop_session

            stop_session(self._spark)

    def _renew_certificates(self) -> None:
        for listener in self.listeners:
            listener.renew_certificate()

    @property
    def is_ready(self) -> bool:
        """Whether every cluster has caught up."""
        return all(cluster.is_ready for cluster in self.clusters.values())

    def _query_health(self) -> dict[str, QueryHealth]:
        return {query.name: query.health for query in self._all_queries()}

    def _all_queries(self) -> list[SupervisedQuery]:
        return [query for queries in list(self._queries.values()) for query in queries]

    # -- another configuration -----------------------------------------------------------------------------------

    def reload_from(self, load: Callable[[], Config]) -> None:
        """Read the configuration again and take it on; a wrong one changes nothing, and is told."""
        with self._changing:  # from before it is read: of two at once the one that has read last must come last
            try:
                self.reload(load())
            except WarrenError as error:
                log.error("the configuration is wrong, so everything stays as it is", error=str(error))

    def reload(self, config: Config) -> None:
        """Take on another configuration while running; no window of a cluster that stays is lost."""
        with self._changing:
            found = changes(self.config, config)
            self.alerts.reload(config)  # first: wrong templates are found here, and nothing has changed yet
            self.config = config
            self.level.set(config.logging.level)
            for name in found.removed:
                self._leave(name)
            for name in (*found.changed, *found.added):
                self._leave(name)
                self.clusters[name] = _cluster_state(config, name)
                self._restore(name)
                self._start_queries(name)
            for name, state in self.clusters.items():
                state.judge_by(_settings(config), _policy(config, name))
        log.info("configuration taken on", added=found.added, removed=found.removed, changed=found.changed)
        if found.later:
            log.warning("some changes need a restart", sections=found.later)

    def _leave(self, name: str) -> None:
        """Read a cluster no longer; what is known of it is kept in its snapshot."""
        run_in_parallel([query.stop for query in self._queries.pop(name, [])], limit_s=STOP_QUERIES_S)
        state = self.clusters.pop(name, None)
        if state is not None:
            self._keeper.save_one(state)

    def _restore(self, name: str) -> None:
        """Bring back what was known of a cluster, but for groups that are not wanted any more."""
        state = self.clusters[name]
        self._keeper.restore_one(state)
        mine = [one for one in self.config.consumer.values() if one.cluster == name]
        filters = [GroupFilter(*_group_lists(self.config, one)) for one in mine]
        state.keep_groups(lambda group: any(one.wants(group) for one in filters))

    # -- the pipeline --------------------------------------------------------------------------------------------

    def _start_pipeline(self) -> None:
        from warren.pipeline.queries import cause_of
        from warren.pipeline.session import LOCAL, local_master, start_session

        master = self.config.warren.master
        if master == LOCAL:
            master = local_master(len(self.clusters))
        try:
            self._spark = start_session(master, self._home)
        except Exception as error:  # whatever it is: without Spark there is nothing to run for
            spark_failed = SetupError(f"Spark did not start: {cause_of(error)}")
            self.failure = error if isinstance(error, WarrenError) else spark_failed
            self.finished.set()
            return
        log.info("Spark is up", version=self._spark.version, master=master)
        with self._changing:
            for name in self.clusters:
                self._start_queries(name)

    def _start_queries(self, cluster: str) -> None:
        from warren.pipeline.queries import SupervisedQuery

        if self._spark is None:
            return  # it starts all queries when it is up
        for plan in self._plans(cluster):
            if self._stopping.is_set():
                return
            query = SupervisedQuery(self._spark, plan, self._home / "checkpoints", self.config.warren.trigger)
            self._queries.setdefault(cluster, []).append(query)
            query.start()

    def _plans(self, cluster: str) -> list[QueryPlan]:
        state, consumers = self.clusters[cluster], self.config.consumer.items()
        mine = [name for name, one in consumers if one.cluster == cluster]
        return [_heads_plan(self.config, state), *(_consumer_plan(self.config, state, name) for name in mine)]


def _cluster_state(config: Config, name: str) -> ClusterState:
    storage = config.the_storage
    limits = Limits(storage.intervals, storage.min_distance * 1000, storage.expire_group * 1000)
    consumers = {
        module: one.offsets_topic
        for module, one in config.consumer.items()
        if one.cluster == name and one.class_name == "kafka"
    }
    stale_after_ms = max(STALE_AFTER_MS, MISSED_OBSERVATIONS * config.cluster[name].offset_refresh * 1000)
    return ClusterState(
        name,
        limits,
        _settings(config),
        consumers,
        _policy(config, name),
        stale_after_ms=stale_after_ms,
        polled=polled_modules(config, name),
    )


def _settings(config: Config) -> Settings:
    return Settings(config.the_evaluator.allowed_lag, config.the_evaluator.minimum_complete)


def _group_lists(config: Config, consumer: Consumer) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The patterns of which all must find a group, and those of which none may."""
    storage = config.the_storage
    allow, deny = (storage.group_allowlist, consumer.group_allowlist), (storage.group_denylist, consumer.group_denylist)
    return allow, deny


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
        check=lambda: check_reachable(options.client),
        failed=lambda reason: state.note_failure(HEADS, reason, now_ms=now_ms()),
    )


def _consumer_plan(config: Config, state: ClusterState, module: str) -> QueryPlan:
    consumer = config.consumer[module]
    if consumer.class_name in SOURCES:
        return look_plan(config, state, module, _group_lists(config, consumer), now_ms)
    return _commits_plan(config, state, module)


def _commits_plan(config: Config, state: ClusterState, module: str) -> QueryPlan:
    from warren.pipeline.queries import QueryPlan

    consumer, storage = config.consumer[module], config.the_storage
    options = CommitsOptions(
        client=client_settings(config, consumer.servers, consumer.client_profile),
        topic=consumer.offsets_topic,
        fold=FoldSettings(storage.intervals, storage.min_distance * 1000, *_group_lists(config, consumer)),
        start_latest=consumer.start_latest and not consumer.backfill_earliest,
        max_records=config.warren.max_records,
    )
    return QueryPlan(
        name=f"commits-{module}",
        source=CommitsSource,
        options=lambda: options._replace(positions=state.positions(module), topic_id=state.topic_id(module)).to_json(),
        apply=lambda table: state.apply_commit_rows(module, table, now_ms=now_ms()),
        check=lambda: check_reachable(options.client, options.topic),
        failed=lambda reason: state.note_failure(module, reason, now_ms=now_ms()),
        start_over=lambda: state.start_over(module),
    )
