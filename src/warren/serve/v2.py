"""Burrow's HTTP API, version 2, for clients from before Burrow 1.0: the same facts in the old shape.

Errors come with HTTP status 200, as they did: these clients look at the body, and give up on any other status.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from warren.clusters.state import ClusterState
from warren.config.model import Cluster, Config
from warren.model import Status
from warren.rules.verdict import GroupVerdict, PartitionVerdict
from warren.serve import gojson
from warren.serve.answer import JSON, Answer
from warren.serve.bodies import Body
from warren.serve.router import Found, Route
from warren.serve.v3 import Clusters
from warren.windows.rings import Entry

T = TypeVar("T")

_CLUSTER = "/v2/kafka/{cluster}"
_GROUP = _CLUSTER + "/consumer/{group}"

ROUTES = (
    Route("GET", "/v2/kafka", "v2_cluster_list"),
    Route("GET", "/v2/zookeeper", "v2_cluster_list"),
    Route("GET", _CLUSTER, "v2_cluster_detail"),
    Route("GET", _CLUSTER + "/topic", "v2_topic_list"),
    Route("GET", _CLUSTER + "/topic/{topic}", "v2_topic_offsets"),
    Route("GET", _CLUSTER + "/consumer", "v2_consumer_list"),
    Route("GET", _GROUP + "/topic", "v2_consumer_topics"),
    Route("GET", _GROUP + "/topic/{topic}", "v2_consumer_offsets"),
    Route("GET", _GROUP + "/status", "v2_consumer_status"),
    Route("GET", _GROUP + "/lag", "v2_consumer_lag"),
    Route("DELETE", _GROUP, "v2_delete_consumer"),
)

OF_ONE_CLUSTER = frozenset(route.name for route in ROUTES if route.method == "GET" and route.pattern.count("/") > 3)
"""What these answer depends on one cluster's state, its version, and the time."""

UNKNOWN = -1
"""Version 2 has no null where a number belongs."""


class _Call(NamedTuple):
    cluster: str
    group: str
    topic: str
    url: str


class _Missing(Exception):
    """Something that was asked for is not known."""


class V2:
    """All functions."""

    def __init__(self, clusters: Clusters, config: Callable[[], Config], now_ms: Callable[[], int]) -> None:
        self._clusters = clusters
        self._config = config
        self._now_ms = now_ms
        self._host = socket.gethostname()
        self._functions: dict[str, Callable[[_Call], tuple[str, Body]]] = {
            "v2_cluster_list": self._cluster_list,
            "v2_cluster_detail": self._cluster_detail,
            "v2_topic_list": self._topic_list,
            "v2_topic_offsets": self._topic_offsets,
            "v2_consumer_list": self._consumer_list,
            "v2_consumer_topics": self._consumer_topics,
            "v2_consumer_offsets": self._consumer_offsets,
            "v2_consumer_status": self._consumer_status,
            "v2_consumer_lag": self._consumer_lag,
            "v2_delete_consumer": self._delete_consumer,
        }

    def answer(self, found: Found, url: str) -> Answer:
        """Answer a request for a route."""
        names = found.parameters
        call = _Call(names.get("cluster", ""), names.get("group", ""), names.get("topic", ""), url)
        try:
            message, fields = self._functions[found.name](call)
        except _Missing as missing:
            return self._failed(call, str(missing))
        body = {"error": False, "message": message, **fields, "request": self._request(call)}
        return Answer(200, gojson.dumps(body), JSON, is_cors=True)

    def refusal(self, url: str, status: int, message: str) -> Answer:
        """An answer that says no to whatever was asked."""
        return self._failed(_Call("", "", "", url), message, status)

    def _failed(self, call: _Call, message: str, status: int = 200) -> Answer:
        body = {"error": True, "message": message, "result": None, "request": self._request(call)}
        return Answer(status, gojson.dumps(body) + b"\n", JSON, is_miss=True, is_cors=True)

    def _request(self, call: _Call) -> Body:
        return {
            "url": call.url,
            "host": self._host,
            "cluster": call.cluster,
            "group": call.group,
            "topic": call.topic,
        }

    # -- one for each route --------------------------------------------------------------------------------------

    def _cluster_list(self, call: _Call) -> tuple[str, Body]:
        return "cluster list returned", {"clusters": sorted(self._clusters)}

    def _cluster_detail(self, call: _Call) -> tuple[str, Body]:
        config = self._config()
        cluster = _known(config.cluster.get(call.cluster), "cluster not found")
        topics = [one.offsets_topic for one in config.consumer.values() if one.cluster == call.cluster]
        return "cluster detail returned", {"cluster": _cluster_detail(cluster, topics)}

    def _topic_list(self, call: _Call) -> tuple[str, Body]:
        return "broker topic list returned", {"topics": self._cluster(call).topics()}

    def _topic_offsets(self, call: _Call) -> tuple[str, Body]:
        ends = self._cluster(call).topic_ends(call.topic)
        return "broker topic offsets returned", {"offsets": _known(ends, "topic not found")}

    def _consumer_list(self, call: _Call) -> tuple[str, Body]:
        return "consumer list returned", {"consumers": self._cluster(call).groups()}

    def _consumer_topics(self, call: _Call) -> tuple[str, Body]:
        topics = dict.fromkeys(one.topic for one in self._judged(call).partitions)
        return "consumer topic list returned", {"topics": list(topics)}

    def _consumer_offsets(self, call: _Call) -> tuple[str, Body]:
        committed = [one.end for one in self._judged(call).partitions if one.topic == call.topic]
        offsets = [entry.offset if entry else UNKNOWN for entry in committed]
        return "consumer group topic offsets returned", {"offsets": _known(offsets or None, "topic not found")}

    def _consumer_status(self, call: _Call) -> tuple[str, Body]:
        return _group_status(call.cluster, self._judged(call), all_partitions=False)

    def _consumer_lag(self, call: _Call) -> tuple[str, Body]:
        return _group_status(call.cluster, self._judged(call), all_partitions=True)

    def _delete_consumer(self, call: _Call) -> tuple[str, Body]:
        is_known = self._cluster(call).delete_group(call.group)
        _known(is_known or None, "consumer group not found")
        return "consumer group removed", {}

    def _cluster(self, call: _Call) -> ClusterState:
        return _known(self._clusters.get(call.cluster), "cluster not found")

    def _judged(self, call: _Call) -> GroupVerdict:
        verdict = self._cluster(call).judge(call.group, now_ms=self._now_ms())
        return _known(verdict, "consumer group not found")


def _known(found: T | None, otherwise: str) -> T:
    if found is None:
        raise _Missing(otherwise)
    return found


def _cluster_detail(cluster: Cluster, topics: list[str]) -> Body:
    """ZooKeeper's part is empty: a cluster has none that Warren would need."""
    addresses = [server.rpartition(":") for server in cluster.servers]
    return {
        "zookeepers": [],
        "zookeeper_port": 0,
        "zookeeper_path": "",
        "brokers": [host for host, _, _ in addresses],
        "broker_port": int(addresses[0][2]),
        "offsets_topic": topics[0] if topics else "__consumer_offsets",
    }


def _group_status(cluster: str, verdict: GroupVerdict, *, all_partitions: bool) -> tuple[str, Body]:
    shown = [one for one in verdict.partitions if all_partitions or one.status > Status.OK]
    worst = verdict.max_lag if verdict.max_lag and verdict.max_lag.current_lag else None
    status = {
        "cluster": cluster,
        "group": verdict.group,
        "status": verdict.status.name,
        "complete": all(one.complete == 1 for one in verdict.partitions),
        "partitions": [_partition(one) for one in shown],
        "partition_count": len(verdict.partitions),
        "maxlag": _partition(worst) if worst else None,
        "totallag": verdict.total_lag,
    }
    return "consumer group status returned", {"status": status}


def _partition(one: PartitionVerdict) -> Body:
    """`current_lag` is of version 3: without it an exporter that reads it everywhere tells 0."""
    end_offset = UNKNOWN if one.end_offset is None else one.end_offset
    return {
        "topic": one.topic,
        "partition": one.partition,
        "status": one.status.name,
        "start": _entry(one.start, UNKNOWN),
        "end": _entry(one.end, end_offset),
        "current_lag": one.current_lag,
    }


def _entry(entry: Entry | None, end_offset: int) -> Body:
    """`max_offset` is where the partition ended at that commit, as far as that is known."""
    if entry is None:
        return {"offset": UNKNOWN, "timestamp": 0, "lag": UNKNOWN, "max_offset": end_offset}
    lag = UNKNOWN if entry.lag is None else entry.lag
    max_offset = end_offset if entry.lag is None else entry.offset + entry.lag
    return {"offset": entry.offset, "timestamp": entry.timestamp_ms, "lag": lag, "max_offset": max_offset}
