"""Warren's own HTTP API, version 1: the routes. parameters, models and errors tell what they take and answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, FastAPI, Query, Request
from fastapi.routing import APIRoute
from fastapi.telemetry import TelemetryConfig
from starlette.middleware import Middleware

from warren import __version__
from warren.clusters.state import ClusterState
from warren.groups.views import GroupType
from warren.health import QueryHealth
from warren.history.service import History
from warren.model import Status
from warren.notify.service import Alerts
from warren.rules.listing import Selection, pattern_of
from warren.rules.verdict import GroupVerdict
from warren.serve.v1 import answers, models, trails
from warren.serve.v1.about import AboutApi, add_about_routes
from warren.serve.v1.alerts import AlertsApi, ConfigNow, add_alert_routes
from warren.serve.v1.endpoints import add_get
from warren.serve.v1.errors import (
    HANDLERS,
    Edge,
    cluster_not_found,
    group_not_found,
    partition_not_found,
    refuse_unknown_parameters,
    topic_not_found,
    topic_not_used,
)
from warren.serve.v1.history import HistoryApi, add_history_routes
from warren.serve.v1.parameters import (
    ChangeQuery,
    ClusterName,
    GroupName,
    GroupQuery,
    PartitionNumber,
    TopicName,
    TopicQuery,
)
from warren.serve.v1.sinks import add_sink_routes
from warren.serve.v1.trail_models import Trail, WindowList, WindowQuery
from warren.serve.v1.unchanged import Unchanged
from warren.serve.v1.words import Only, RuleSetName
from warren.sinks.service import Sinks

Queries = Callable[[], Mapping[str, QueryHealth]]

# What Warren tells to whom is in its own configuration, not in FastAPI's environment variables.
NO_TELEMETRY: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}

DESCRIPTION = """What Warren knows of Kafka consumer groups: which are in trouble, why, and since when.

Everything is read with GET; only silences are set and removed.
Times are ISO 8601 in UTC, durations are seconds, and what is not known is null."""


def make_v1(
    clusters: Mapping[str, ClusterState],
    now_ms: Callable[[], int],
    queries: Queries,
    config: ConfigNow,
    alerts: Alerts | None = None,
    *,
    sinks: Sinks | None = None,
    history: History | None = None,
) -> FastAPI:
    """The application to mount at /api/v1; it reads `clusters`, which others fill.

    Without `alerts`, `sinks` or `history` it has no paths about them.
    """
    api = _Api(clusters, now_ms, queries, has_alerts=alerts is not None)
    app = FastAPI(
        title="Warren",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,  # these two load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_operation_id,
        dependencies=[Depends(refuse_unknown_parameters)],
        middleware=[Middleware(Edge), Middleware(Unchanged)],
        exception_handlers=HANDLERS,
        telemetry=NO_TELEMETRY,
    )
    cluster = "/clusters/{cluster}"
    group = cluster + "/groups/{group}"
    partition = group + "/topics/{topic}/partitions/{partition}"
    add_get(app, "/", api.start, "Version and links")
    add_get(app, "/clusters", api.list_clusters, "All clusters")
    add_get(app, cluster, api.get_cluster, "One cluster")
    add_get(app, f"{cluster}/groups", api.list_groups, "Groups of a cluster, filtered and sorted")
    add_get(app, group, api.get_group, "One group with its partitions")
    add_get(app, f"{group}/trail", api.get_trail, "How the lag of a group has gone")
    add_get(app, f"{group}/windows", api.list_windows, "Windows of the partitions of a group")
    add_get(app, partition, api.get_partition, "One partition of a group with its window")
    add_get(app, f"{cluster}/topics", api.list_topics, "Topics of a cluster")
    add_get(app, f"{cluster}/topics/{{topic}}", api.get_topic, "One topic and the groups that use it")
    add_get(app, f"{cluster}/changes", api.list_changes, "Changes of status, newest first")
    add_get(app, "/pipeline", api.get_pipeline, "The queries that bring the data")
    add_about_routes(app, AboutApi(clusters, config))
    if alerts is not None:
        add_alert_routes(app, AlertsApi(alerts, clusters, config, now_ms))
    if sinks is not None:
        add_sink_routes(app, sinks)
    if history is not None:
        add_history_routes(app, HistoryApi(history, clusters, now_ms))
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name


class _Api:
    """One method for each route; plain functions, so that a thread waits for the state's lock and not the server."""

    def __init__(
        self, clusters: Mapping[str, ClusterState], now_ms: Callable[[], int], queries: Queries, *, has_alerts: bool
    ) -> None:
        self._has_alerts = has_alerts
        self._clusters = clusters
        self._now_ms = now_ms
        self._queries = queries

    def start(self) -> models.Start:
        """Tells the version, and where to go from here."""
        links = models.Links(clusters="clusters", pipeline="pipeline", openapi="openapi.json")
        if self._has_alerts:
            links.update({"incidents": "incidents", "silences": "silences", "notifiers": "notifiers"})
        return models.Start(version=__version__, links=links)

    def list_clusters(self) -> models.ClusterList:
        """Tells of each cluster how well Warren knows it, and how its groups are."""
        health, now_ms = self._queries(), self._now_ms()
        found = [answers.cluster(one, health, now_ms=now_ms) for _, one in sorted(self._clusters.items())]
        return models.ClusterList(clusters=found)

    def get_cluster(self, cluster: ClusterName) -> models.Cluster:
        """Tells how well Warren knows a cluster, and how its groups are."""
        return answers.cluster(self._cluster(cluster), self._queries(), now_ms=self._now_ms())

    def list_groups(
        self, request: Request, cluster: ClusterName, query: Annotated[GroupQuery, Query()]
    ) -> models.GroupList:
        """Groups that fit all filters. Each comes with the partition that made it what it is, and why.

        Groups move in a list that is sorted by what changes. To see each once, sort by `name`.
        """
        state = self._cluster(cluster)
        page = state.list_groups(_selection(query), now_ms=self._now_ms(), rule_set=query.rules or "")
        next_page = _next_page(request, query, page.matching)
        found = answers.group_list(state, page, rule_set=query.rules, next_page=next_page)
        return trails.with_trails(state, found) if query.trail else found

    def get_group(
        self,
        cluster: ClusterName,
        group: GroupName,
        only: Annotated[Only | None, Query(description="`trouble` leaves out the partitions that are OK.")] = None,
    ) -> models.Group:
        """Everything that is known of a group, with what each rule set says, and why."""
        state, now_ms = self._cluster(cluster), self._now_ms()
        if group in state.groups_without_offsets():
            return answers.group_without_offsets(state, group, now_ms=now_ms)
        verdicts = {name: _judged(state, group, now_ms, name) for name in RuleSetName}
        return answers.group(state, verdicts, now_ms=now_ms, only_trouble=only is Only.TROUBLE)

    def get_trail(self, cluster: ClusterName, group: GroupName) -> Trail:
        """The group's lag in records and seconds over the last hour, as far back as Warren has watched."""
        state = self._cluster(cluster)
        if group not in state.groups_without_offsets():
            _judged(state, group, self._now_ms())
        return trails.trail(state, group)

    def list_windows(
        self, request: Request, cluster: ClusterName, group: GroupName, query: Annotated[WindowQuery, Query()]
    ) -> WindowList:
        """The commits that the partitions of a group are judged by, many partitions at once."""
        state, now_ms = self._cluster(cluster), self._now_ms()
        verdict = _judged(state, group, now_ms)
        next_page = _next_page(request, query, len(trails.selected(verdict, query)))
        return trails.windows(state, verdict, query, now_ms=now_ms, next_page=next_page)

    def get_partition(
        self, cluster: ClusterName, group: GroupName, topic: TopicName, partition: PartitionNumber
    ) -> models.PartitionWindow:
        """One partition of a group, with the commits that it is judged by."""
        state, now_ms = self._cluster(cluster), self._now_ms()
        verdict = _judged(state, group, now_ms)
        of_topic = [one for one in verdict.partitions if one.topic == topic]
        if not of_topic:
            raise topic_not_used(group, topic, sorted({one.topic for one in verdict.partitions}))
        found = next((one for one in of_topic if one.partition == partition), None)
        if found is None:
            raise partition_not_found(topic, partition, len(of_topic))
        return answers.partition(state, verdict, found, now_ms=now_ms)

    def list_topics(
        self, request: Request, cluster: ClusterName, query: Annotated[TopicQuery, Query()]
    ) -> models.TopicList:
        """Topics by name, with how many groups use each."""
        state, fits = self._cluster(cluster), pattern_of(query.name).match
        names = [name for name in state.topics() if fits(name)]
        found = ((name, state.topic_ends(name)) for name in names[query.offset : query.offset + query.limit])
        topics = [
            models.TopicSummary(topic=name, partition_count=len(ends), group_count=len(state.groups_of_topic(name)))
            for name, ends in found
            if ends is not None  # it may have gone meanwhile
        ]
        next_page = _next_page(request, query, len(names))
        return models.TopicList(matching=len(names), topics=topics, next=next_page)

    def get_topic(self, cluster: ClusterName, topic: TopicName) -> models.Topic:
        """Where the partitions of a topic end, and how the groups that use it do on it."""
        state, now_ms = self._cluster(cluster), self._now_ms()
        partitions = state.topic_partitions(topic, now_ms=now_ms)
        if partitions is None:
            raise topic_not_found(state.name, topic, state.topics())
        return answers.topic(state, topic, partitions, now_ms=now_ms)

    def list_changes(self, cluster: ClusterName, query: Annotated[ChangeQuery, Query()]) -> models.ChangeList:
        """Groups whose status changed lately. A group that comes or goes is here only if it was in trouble then."""
        fits = pattern_of(query.group).match
        since_ms = answers.milliseconds(query.since) if query.since else 0
        found = [one for one in self._cluster(cluster).changes() if one.at_ms >= since_ms and fits(one.group)]
        changes = [answers.change(one) for one in found[: query.limit]]
        return models.ChangeList(matching=len(found), changes=changes)

    def get_pipeline(self) -> models.Pipeline:
        """Tells how each query is doing. One that fails is started again by itself, and stops no other."""
        return models.Pipeline(queries=answers.queries(self._queries()))

    def _cluster(self, name: str) -> ClusterState:
        state = self._clusters.get(name)
        if state is None:
            raise cluster_not_found(name, sorted(self._clusters))
        return state


def _judged(state: ClusterState, group: str, now_ms: int, rule_set: str = "") -> GroupVerdict:
    verdict = state.judge(group, now_ms=now_ms, rule_set=rule_set)
    if verdict is None:
        raise group_not_found(state.name, group, state.groups())
    return verdict


def _selection(query: GroupQuery) -> Selection:
    return Selection(
        statuses=frozenset(Status[one.name] for one in query.status),
        name=query.name,
        topic=query.topic,
        owner=query.owner,
        types=frozenset(GroupType(one.value) for one in query.type),
        sort=query.sort,
        reverse=query.reverse,
        limit=query.limit,
        offset=query.offset,
    )


def _next_page(request: Request, query: GroupQuery | TopicQuery | WindowQuery, matching: int) -> str | None:
    """Only the query: it holds also behind a proxy that puts something before the path."""
    offset = query.offset + query.limit
    if offset >= matching:
        return None
    others = [(name, value) for name, value in request.query_params.multi_items() if name != "offset"]
    return f"?{urlencode([*others, ('offset', offset)])}"
