"""Warren, put together: configuration -> state of each cluster -> HTTP -> Spark -> queries. Read this first."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from warren.clusters.keeper import Keeper
from warren.clusters.marks import Look
from warren.clusters.reaper import Reaper
from warren.clusters.state import HEADS, ClusterState
from warren.clusters.watch import Watch
from warren.config.changes import changes
from warren.config.kafka_client import client_settings
from warren.config.model import Config, Consumer
from warren.errors import SetupError, WarrenError
from warren.health import ProcessHealth, alert_health, used_by_process
from warren.history.judging import Judging, RulesOf, ThresholdOf
from warren.history.service import History, Plan
from warren.kafka.clients import ClientConfig, check_reachable
from warren.machine.logs import LogLevel
from warren.machine.parallel import run_in_parallel
from warren.machine.periodic import Periodic
from warren.notify.service import Alerts
from warren.patterns import GroupFilter, compile_pattern
from warren.places.plans import SOURCES, look_plan, polled_modules
from warren.serve.app import make_app
from warren.serve.server import HttpListener
from warren.sinks.service import Sinks
from warren.sources.commits import CommitsOptions, CommitsSource
from warren.sources.folding import FoldSettings
from warren.sources.heads import HeadsOptions, HeadsSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from warren.pipeline.queries import QueryHealth, QueryPlan, SupervisedQuery

log = structlog.get_logger()

STOP_QUERIES_S = 10.0
RENEW_S = 10.0
MISSED_OBSERVATIONS = 3
"""After so many that did not come what is known of a cluster is stale."""


def now_ms() -> int:
    """The one place where the clock is read."""
    return time.time_ns() // 1_000_000


class App:
    """A running Warren. `start` returns when HTTP answers; Spark comes up behind it.

    With a `spark` session of the caller's, Warren starts none of its own, and leaves that one running when it stops.
    """

    def __init__(
        self, config: Config, home: Path, level: LogLevel | None = None, spark: SparkSession | None = None
    ) -> None:
        self.config = config
        self.level = level or LogLevel()
        self.clusters = {name: _cluster_state(config, name) for name in config.cluster}
        self._queries: dict[str, list[SupervisedQuery]] = {}  # by cluster
        self._changing = threading.RLock()
        """Held while queries are started or stopped."""
        self.failure: WarrenError | None = None
        """What kept Spark from starting."""
        self._home = home
        self._callers_spark = spark
        self._spark: SparkSession | None = None
        self._stopping = threading.Event()
        self.finished = threading.Event()
        self.history = History(_history_plan(config), home, now_ms)
        self._keeper = Keeper(
            self.clusters, home / "snapshots", config.warren.snapshot_interval, now_ms, self.history.sync
        )
        self.alerts = Alerts(config, self.clusters, home, now_ms)
        self.sinks = Sinks(config, self.clusters, home, now_ms, self._process_health)
        self._watch = Watch(self.clusters, config.warren.evaluate_interval, now_ms)
        probe_interval_s = config.warren.log_probe_interval
        self._look = Look(self.clusters, lambda name: _client(self.config, name), probe_interval_s)
        self._reaper = Reaper(self.clusters, lambda: self.config, now_ms)
        self._renewals = Periodic("certificates", RENEW_S, self._renew_certificates)
        self.listeners = [HttpListener(one, config.tls.get(one.tls.lower())) for one in config.listeners.values()]
        self._instance = f"{socket.gethostname()}:{self.listeners[0].port}"

    def start(self) -> None:
        """Remember, answer, then bring up the pipeline."""
        for state in self.clusters.values():
            self._restore(state)
        asgi = make_app(
            self.clusters,
            lambda: self.config,
            now_ms,
            self._query_health,
            log_level=self.level,
            alerts=self.alerts,
            sinks=self.sinks,
            history=self.history,
        )
        for listener in self.listeners:
            listener.start(asgi, asgi.at_once)
            log.info("answering", url=listener.url)
        self._keeper.start()
        self._watch.start()
        self._look.start()
        self._reaper.start()
        self._renewals.start()
        self.history.start()
        self.alerts.start()
        threading.Thread(target=self._start_pipeline, name="pipeline", daemon=True).start()

    def stop(self) -> None:
        """Stop everything, in the order in which it depends on one another."""
        self._stopping.set()
        stops = [query.stop for query in self._all_queries()] + [listener.stop for listener in self.listeners]
        run_in_parallel([*stops, self.sinks.stop], limit_s=2)
        self._watch.stop()
        self.alerts.stop()
        self._look.stop()
        self._reaper.stop()
        self._renewals.stop()
        self._keeper.stop()
        self.history.stop()
        if self._spark is not None and self._spark is not self._callers_spark:
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

    def _process_health(self) -> ProcessHealth:
        return ProcessHealth(self._instance, alert_health(self.alerts), self._query_health(), used_by_process())

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
            self.sinks.check(config)
            self.alerts.reload(config)  # first: wrong templates are found here, and nothing has changed yet
            self.sinks.reload(config)
            self.config = config
            self.level.set(config.logging.level)
            for name in found.removed:
                self._leave(name)
                del self.clusters[name]
            for name in (*found.changed, *found.added):
                self._leave(name)
                state = _cluster_state(config, name)
                self._restore(state)
                self.clusters[name] = state  # until now the one before it has answered
                self._start_queries(name)
            for name, state in self.clusters.items():
                judging = _judging(config, name)
                state.judge_by(judging.settings, judging.policy, judging.to_text(), now_ms=now_ms())
        log.info("configuration taken on", added=found.added, removed=found.removed, changed=found.changed)
        if found.later:
            log.warning("some changes need a restart", sections=found.later)

    def _leave(self, name: str) -> None:
        """Read a cluster no longer, if it was; what is known of it is kept in its snapshot, and still answered."""
        run_in_parallel([query.stop for query in self._queries.pop(name, [])], limit_s=STOP_QUERIES_S)
        if state := self.clusters.get(name):
            state.leave()
            self._keeper.save_one(state)
            self.history.leave(name)

    def _restore(self, state: ClusterState) -> None:
        """Bring back what was known of a cluster, but for groups that are not wanted any more."""
        self._keeper.restore_one(state)
        mine = [one for one in self.config.consumer.values() if one.cluster == state.name]
        filters = [GroupFilter(*_group_lists(self.config, one)) for one in mine]
        state.keep_groups(lambda group: any(one.wants(group) for one in filters))

    # -- the pipeline --------------------------------------------------------------------------------------------

    def _start_pipeline(self) -> None:
        from warren.pipeline.queries import cause_of

        try:
            self._spark = self._callers_spark or self._start_spark()
        except Exception as error:  # whatever it is: without Spark there is nothing to run for
            spark_failed = SetupError(f"Spark did not start: {cause_of(error)}")
            self.failure = error if isinstance(error, WarrenError) else spark_failed
            self.finished.set()
            return
        log.info("Spark is up", version=self._spark.version, master=self._spark.sparkContext.master)
        self.history.open(self._spark)
        with self._changing:
            for name in self.clusters:
                self._start_queries(name)
            self.sinks.start(self._spark)

    def _start_spark(self) -> SparkSession:
        from warren.pipeline.session import LOCAL, local_master, start_session

        settings, master = self.config.spark.settings, self.config.spark.master
        if master == LOCAL:
            master = local_master(len(self.clusters), len(self.config.sink))
        more = {name: one.get_secret_value() for name, one in settings.items()}
        return start_session(master, self._home, more, self.config.spark.environment)

    def _start_queries(self, cluster: str) -> None:
        from warren.pipeline.queries import SupervisedQuery

        if self._spark is None:
            return  # it starts all queries when it is up
        self.history.keep(self.clusters[cluster], lambda: _judging(self.config, cluster).to_text())
        for plan in self._plans(cluster):
            if self._stopping.is_set():
                return
            of = self.config.warren
            query = SupervisedQuery(self._spark, plan, self._home / "checkpoints", of.trigger, of.retry_max)
            self._queries.setdefault(cluster, []).append(query)
            query.start()

    def _plans(self, cluster: str) -> list[QueryPlan]:
        state, consumers = self.clusters[cluster], self.config.consumer.items()
        mine = [name for name, one in consumers if one.cluster == cluster]
        return [_heads_plan(self.config, state), *(_consumer_plan(self.config, state, name) for name in mine)]


def _cluster_state(config: Config, name: str) -> ClusterState:
    judging = _judging(config, name)
    consumers = {
        module: one.offsets_topic
        for module, one in config.consumer.items()
        if one.cluster == name and one.class_name == "kafka"
    }
    missed_s = MISSED_OBSERVATIONS * config.cluster[name].offset_refresh
    stale_after_ms = int(max(config.warren.stale_after, missed_s) * 1000)
    return ClusterState(
        name,
        judging.limits,
        judging.settings,
        consumers,
        judging.policy,
        stale_after_ms=stale_after_ms,
        polled=polled_modules(config, name),
    )


def _judging(config: Config, cluster: str) -> Judging:
    """What the configuration says about how the groups of a cluster are judged."""
    storage, evaluator = config.the_storage, config.the_evaluator
    rules = [one for one in config.rules.values() if compile_pattern(one.cluster).search(cluster)]
    thresholds = [one for one in config.threshold.values() if compile_pattern(one.cluster).search(cluster)]
    return Judging(
        intervals=storage.intervals,
        min_distance_ms=storage.min_distance * 1000,
        expire_group_ms=storage.expire_group * 1000,
        allowed_lag=evaluator.allowed_lag,
        minimum_complete=evaluator.minimum_complete,
        rules=tuple(RulesOf(one.group, one.use) for one in rules),
        thresholds=tuple(ThresholdOf(one.group, one.topic, one.records, one.seconds) for one in thresholds),
    )


def _history_plan(config: Config) -> Plan:
    of = config.history
    return Plan(
        path=of.path,
        flush_ms=of.flush_interval * 1000,
        flush_bytes=of.flush_bytes,
        most_spool_bytes=of.spool_bytes,
        sample_ms=of.sample_interval * 1000,
        retention_days=of.retention,
    )


def _group_lists(config: Config, consumer: Consumer) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The patterns of which all must find a group, and those of which none may."""
    storage = config.the_storage
    allow, deny = (storage.group_allowlist, consumer.group_allowlist), (storage.group_denylist, consumer.group_denylist)
    return allow, deny


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
