"""Sinks, put together: moments -> points of each cluster -> a queue for each sink -> Spark. Read this first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from warren.clusters.state import ClusterState
from warren.config.model import Config
from warren.health import ClusterHealth, ProcessHealth, cluster_health
from warren.machine.names import file_name
from warren.sinks.courier import Courier, SinkHealth, Turns
from warren.sinks.health_points import health_points
from warren.sinks.moments import moments_due, next_moment
from warren.sinks.points import Points
from warren.sinks.setup import SinkPlan, make_sinks
from warren.sinks.spool import Spool

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger()

STOP_S = 2.0
LONGEST_WAIT_S = 1.0
READING_FIRST_MS = 30_000
"""At most so long nothing is sent after the start: new processes of Spark are for the queries, until they read."""
DIRECTORY = "sinks"


class Sinks:
    """Everything between what is known of the clusters and those who keep it."""

    def __init__(
        self,
        config: Config,
        clusters: Mapping[str, ClusterState],
        home: Path,
        now_ms: Callable[[], int],
        process: Callable[[], ProcessHealth],
    ) -> None:
        self._clusters = clusters
        self._process = process
        self._home = home / DIRECTORY
        self._now_ms = now_ms
        self._plans = make_sinks(config)
        self._couriers: dict[str, Courier] = {}
        self._spools: dict[str, Spool] = {}
        """Of all sinks that there ever were: one that is changed goes on with what waits for it."""
        self._turns = Turns()
        self._taken_ms: dict[str, int] = {}
        """Until when the points of each sink were taken."""
        self._spark: SparkSession | None = None
        self._started_ms = 0
        self._is_sending = False
        self._changing = threading.Lock()
        self._woken = threading.Event()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name="sinks", daemon=True)

    def start(self, spark: SparkSession) -> None:
        """Begin to take points, and soon to send them, with what waits from before."""
        with self._changing:
            if self._is_stopping:
                return
            self._spark, self._started_ms = spark, self._now_ms()
            for name in self._plans:
                self._begin(name)
            self._tell_left_over()
        self._thread.start()

    def stop(self) -> None:
        """Send for a short time what still waits; the rest waits on disk for the next start."""
        with self._changing:
            self._is_stopping = True
            self._woken.set()
            couriers = list(self._couriers.values())
        _stop(couriers)

    @staticmethod
    def check(config: Config) -> None:
        """`ConfigError` if the sinks of a configuration are wrong."""
        make_sinks(config)

    def reload(self, config: Config) -> None:
        """Take on the sinks of another configuration; `ConfigError`, and nothing changes, if they are wrong."""
        plans = make_sinks(config)
        with self._changing:
            was, self._plans = self._plans, plans
            gone = [name for name in was if name not in plans or was[name].configured != plans[name].configured]
            _stop([self._couriers.pop(name) for name in gone if name in self._couriers])
            for name in plans:
                if name not in self._couriers:
                    self._begin(name)
            self._woken.set()

    def health(self) -> dict[str, SinkHealth]:
        """How each sink is doing; before Spark is up there is nothing to tell."""
        with self._changing:
            return {name: courier.health() for name, courier in sorted(self._couriers.items())}

    def classes(self) -> dict[str, str]:
        """Of which class each sink is."""
        return {name: plan.class_name for name, plan in sorted(self._plans.items())}

    def _begin(self, name: str) -> None:
        spark, plan = self._spark, self._plans[name]
        if spark is None:
            return  # they begin when it is up
        from warren.pipeline.queries import cause_of
        from warren.sinks.writers import register, write_tables

        register(spark, plan.sink)
        courier = Courier(
            name,
            self._spool(name, plan.queue_bytes),
            lambda tables: write_tables(spark, plan.sink, tables),
            cause_of,
            self._now_ms,
            turns=self._turns,
            is_in_order=plan.sink.is_in_order,
        )
        self._taken_ms.setdefault(name, self._now_ms())
        self._couriers[name] = courier
        if self._is_sending:
            courier.start()

    def _spool(self, name: str, most_bytes: int) -> Spool:
        """The same for as long as Warren runs: points may just be added to it when the sink is changed."""
        if name not in self._spools:
            self._spools[name] = Spool(self._home / file_name(name), most_bytes)
        self._spools[name].most_bytes = most_bytes
        return self._spools[name]

    def _tell_left_over(self) -> None:
        directories = [path for path in self._home.glob("*") if path.is_dir() and any(path.iterdir())]
        ours = {file_name(name) for name in self._plans}
        if left := sorted(path.name for path in directories if path.name not in ours):
            log.warning("points still wait for sinks that are no longer configured", sinks=left, where=str(self._home))

    def _run(self) -> None:
        while not self._is_stopping:
            with _told_if_it_fails():
                self.step()
            self._woken.wait(self._wait_s())
            self._woken.clear()

    def _wait_s(self) -> float:
        """Until the next moment of any sink, but no longer than it may take to notice that a clock was set."""
        now_ms = self._now_ms()
        waits_s = [(next_moment(now_ms, plan.interval_ms) - now_ms) / 1000 for plan in self._plans.values()]
        return min([LONGEST_WAIT_S, *waits_s])

    def _begin_to_send(self) -> None:
        """Once all clusters are read, or cannot be."""
        with self._changing:
            is_early = 0 <= self._now_ms() - self._started_ms < READING_FIRST_MS
            if self._is_sending or self._is_stopping or (is_early and not self._is_settled()):
                return
            self._is_sending = True
            for courier in self._couriers.values():
                courier.start()

    def _is_settled(self) -> bool:
        return all(state.is_settled for state in list(self._clusters.values()))

    def step(self) -> None:
        """Take the points of all moments that are due, each cluster's once for all sinks."""
        self._begin_to_send()
        with self._changing:
            now_ms = self._now_ms()
            due: dict[int, list[SinkPlan]] = {}
            for name in self._couriers:
                plan = self._plans[name]
                for at_ms in moments_due(min(self._taken_ms[name], now_ms), now_ms, plan.interval_ms):
                    due.setdefault(at_ms, []).append(plan)
                self._taken_ms[name] = now_ms
            couriers = dict(self._couriers)
        for at_ms, plans in sorted(due.items()):
            self._take(at_ms, plans, couriers)

    def _take(self, at_ms: int, plans: list[SinkPlan], couriers: Mapping[str, Courier]) -> None:
        for name, state in list(self._clusters.items()):
            wanting = [plan for plan in plans if plan.choice.wants_cluster(name)]
            if wanting and state.is_ready:
                with _told_if_it_fails(cluster=name):
                    points = state.points(now_ms=at_ms)
                    for plan in wanting:
                        _add(couriers[plan.sink.name], plan, points, at_ms)
        with _told_if_it_fails():
            self._take_health(at_ms, [plan for plan in plans if plan.choice.warren], couriers)
        for plan in plans:
            couriers[plan.sink.name].wake()

    def _take_health(self, at_ms: int, plans: list[SinkPlan], couriers: Mapping[str, Courier]) -> None:
        """Also of clusters that are not ready: that is when it matters."""
        if not plans:
            return
        clusters = {
            name: _health(state, at_ms)
            for name, state in list(self._clusters.items())
            if any(plan.choice.wants_cluster(name) for plan in plans)
        }
        process = self._process()
        for plan in plans:
            wanted = {name: one for name, one in clusters.items() if plan.choice.wants_cluster(name)}
            couriers[plan.sink.name].add(health_points(wanted, process, at_ms=at_ms), at_ms)


@contextmanager
def _told_if_it_fails(**where: str) -> Iterator[None]:
    """One bad moment, or cluster, must not end the rest, and must be seen."""
    try:
        yield
    except Exception:
        log.exception("points could not be taken", **where)


def _health(state: ClusterState, at_ms: int) -> ClusterHealth:
    """Groups are counted where they are worth reading: there, what is found of them was just taken for their points."""
    return cluster_health(state, state.survey(now_ms=at_ms) if state.is_ready else None, now_ms=at_ms)


def _add(courier: Courier, plan: SinkPlan, points: Points, at_ms: int) -> None:
    table = plan.choice.of(points).as_table()
    if table.num_rows:
        courier.add(table, at_ms)


def _stop(couriers: list[Courier]) -> None:
    for courier in couriers:
        courier.tell_to_stop(STOP_S)
    for courier in couriers:
        courier.wait(STOP_S)
