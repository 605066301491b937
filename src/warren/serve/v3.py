"""Burrow's HTTP v3 API over the state of the clusters."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from warren.config.model import ClientProfile, Config
from warren.serve import bodies, gojson
from warren.serve.metrics import Metrics
from warren.serve.v1.routes import Queries, make_v1
from warren.state import ClusterState

Clusters = Mapping[str, ClusterState]


def make_app(clusters: Clusters, config: Config, now_ms: Callable[[], int], queries: Queries = lambda: {}) -> Starlette:
    """The ASGI application, with Warren's own API beside v3; it reads `clusters`, which others fill."""
    api = _Api(clusters, config, now_ms)
    cluster = "/v3/kafka/{cluster}"
    group = cluster + "/consumer/{group}"
    routes = [
        Route("/burrow/admin", api.alive),
        Route("/burrow/admin/ready", api.ready),
        Route("/v3/kafka", api.cluster_list),
        Route(cluster, api.cluster_detail),
        Route(f"{cluster}/topic", api.topic_list),
        Route(f"{cluster}/topic/{{topic}}", api.topic_offsets),
        Route(f"{cluster}/topic/{{topic}}/consumers", api.topic_consumers),
        Route(f"{cluster}/consumer", api.consumer_list),
        Route(group, api.consumer_detail),
        Route(group, api.delete_consumer, methods=["DELETE"]),
        Route(f"{group}/status", api.consumer_status),
        Route(f"{group}/lag", api.consumer_lag),
        Route(f"{group}/topic/{{topic}}", api.delete_consumer_topic, methods=["DELETE"]),
        Route("/metrics", Metrics(clusters, now_ms, queries).page),
        Mount("/api/v1", make_v1(clusters, now_ms, queries)),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _http_error, Exception: _server_error})


class _Api:
    """One method for each route."""

    def __init__(self, clusters: Clusters, config: Config, now_ms: Callable[[], int]) -> None:
        self._clusters = clusters
        self._config = config
        self._now_ms = now_ms
        self._host = socket.gethostname()

    async def alive(self, request: Request) -> Response:
        return PlainTextResponse("GOOD")

    async def ready(self, request: Request) -> Response:
        ready = all(cluster.is_ready for cluster in self._clusters.values())
        return PlainTextResponse("READY") if ready else PlainTextResponse("STARTING", 503)

    async def cluster_list(self, request: Request) -> Response:
        return self._found(request, "cluster list returned", clusters=sorted(self._clusters))

    async def cluster_detail(self, request: Request) -> Response:
        name = request.path_params["cluster"].lower()
        if name not in self._config.cluster:
            return self._not_found(request, "cluster module not found")
        return self._found(request, "cluster module detail returned", module=self._module(name))

    async def topic_list(self, request: Request) -> Response:
        cluster = self._cluster(request)
        if cluster is None:
            return self._not_found(request, "cluster not found")
        return self._found(request, "topic list returned", topics=cluster.topics())

    async def topic_offsets(self, request: Request) -> Response:
        cluster = self._cluster(request)
        offsets = cluster.topic_ends(request.path_params["topic"]) if cluster else None
        if offsets is None:
            return self._not_found(request, "cluster or topic not found")
        return self._found(request, "topic offsets returned", offsets=offsets)

    async def topic_consumers(self, request: Request) -> Response:
        cluster = self._cluster(request)
        if cluster is None:
            return self._not_found(request, "cluster not found")
        groups = cluster.groups_of_topic(request.path_params["topic"])
        return self._found(request, "consumers of topic returned", consumers=groups)

    async def consumer_list(self, request: Request) -> Response:
        cluster = self._cluster(request)
        if cluster is None:
            return self._not_found(request, "cluster not found")
        return self._found(request, "consumer list returned", consumers=cluster.groups())

    async def consumer_detail(self, request: Request) -> Response:
        cluster = self._cluster(request)
        verdict = cluster.judge(request.path_params["group"], now_ms=self._now_ms()) if cluster else None
        if cluster is None or verdict is None:
            return self._not_found(request, "cluster or consumer not found")
        topics = bodies.group_detail(verdict, cluster.intervals)
        return self._found(request, "consumer detail returned", topics=topics)

    async def consumer_status(self, request: Request) -> Response:
        return self._group_status(request, all_partitions=False)

    async def consumer_lag(self, request: Request) -> Response:
        return self._group_status(request, all_partitions=True)

    async def delete_consumer(self, request: Request) -> Response:
        _refuse_strangers(request)
        if cluster := self._cluster(request):
            cluster.delete_group(request.path_params["group"])
        return self._found(request, "consumer group removed")

    async def delete_consumer_topic(self, request: Request) -> Response:
        _refuse_strangers(request)
        if cluster := self._cluster(request):
            cluster.delete_group_topic(request.path_params["group"], request.path_params["topic"])
        return self._found(request, "consumer group removed")

    def _group_status(self, request: Request, *, all_partitions: bool) -> Response:
        cluster, group = self._cluster(request), request.path_params["group"]
        verdict = cluster.judge(group, now_ms=self._now_ms()) if cluster else None
        if cluster is None or verdict is None:
            status = bodies.group_not_found(request.path_params["cluster"], group)
            return self._found(request, "consumer status returned", 404, status=status)
        status = bodies.group_status(cluster.name, verdict, all_partitions=all_partitions)
        return self._found(request, "consumer status returned", status=status)

    def _cluster(self, request: Request) -> ClusterState | None:
        return self._clusters.get(request.path_params["cluster"])

    def _module(self, name: str) -> dict[str, Any]:
        cluster = self._config.cluster[name]
        profile = self._config.client_profile.get(cluster.client_profile.lower(), ClientProfile())
        return {
            "class-name": cluster.class_name,
            "servers": cluster.servers,
            "client-profile": {
                "name": cluster.client_profile,
                "client-id": profile.client_id,
                "kafka-version": profile.kafka_version,
                "tls": self._tls(profile),
                "sasl": self._sasl(profile),
            },
            "topic-refresh": cluster.topic_refresh,
            "offset-refresh": cluster.offset_refresh,
        }

    def _tls(self, profile: ClientProfile) -> dict[str, Any] | None:
        tls = self._config.tls.get(profile.tls.lower())
        if tls is None:
            return None
        files = {"certfile": tls.certfile, "keyfile": tls.keyfile, "cafile": tls.cafile}
        return {"name": profile.tls, "noverify": tls.noverify, **files}

    def _sasl(self, profile: ClientProfile) -> dict[str, Any] | None:
        sasl = self._config.sasl.get(profile.sasl.lower())
        if sasl is None:
            return None
        return {"name": profile.sasl, "handshake-first": sasl.handshake_first, "username": sasl.username}

    def _found(self, request: Request, message: str, status_code: int = 200, **fields: object) -> Response:
        return _json(bodies.found(message, self._request(request), **fields), status_code)

    def _not_found(self, request: Request, message: str) -> Response:
        return _json(bodies.failed(message, self._request(request)), 404)

    def _request(self, request: Request) -> bodies.Body:
        return {"url": request.url.path, "host": self._host}


def _json(body: bodies.Body, status_code: int = 200) -> Response:
    return Response(gojson.dumps(body), status_code, media_type="application/json")


def _refuse_strangers(request: Request) -> None:
    """Changes are for clients on this machine: there is no password that could let others in."""
    host = request.client.host if request.client else ""
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local:
        raise HTTPException(403, "changes are accepted from this machine only")


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        text = '{"error":true,"message":"invalid request type","result":{}}\n'
        return PlainTextResponse(text, 404, {"X-Content-Type-Options": "nosniff"})
    if error.status_code == 405:
        return PlainTextResponse("Method Not Allowed\n", 405, dict(error.headers or {}))
    return _json({"error": True, "message": error.detail}, error.status_code)


async def _server_error(request: Request, error: Exception) -> Response:
    return _json({"error": True, "message": "internal error, see the log"}, 500)
