"""Burrow's HTTP API, version 3: one function for each route, from names to an answer."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, NoReturn, Protocol

from warren.clusters.state import ClusterState
from warren.config.model import Config
from warren.serve import bodies, config_bodies
from warren.serve.answer import Answer, json_answer, page
from warren.serve.router import Found, Route

Clusters = Mapping[str, ClusterState]

_CLUSTER = "/v3/kafka/{cluster}"
_GROUP = _CLUSTER + "/consumer/{group}"
_TOPIC = _CLUSTER + "/topic/{topic}"

CLUSTER_LIST = "cluster_list"

ROUTES = (
    Route("GET", "/burrow/admin", "alive"),
    Route("GET", "/burrow/admin/ready", "ready"),
    Route("GET", "/v3/admin/loglevel", "log_level"),
    Route("POST", "/v3/admin/loglevel", "set_log_level"),
    Route("GET", "/v3/config", "main_config"),
    *(Route("GET", f"/v3/config/{kind}", f"{kind}_modules") for kind in config_bodies.COORDINATORS),
    *(Route("GET", f"/v3/config/{kind}/{{name}}", f"{kind}_module") for kind in config_bodies.COORDINATORS),
    Route("GET", "/v3/kafka", CLUSTER_LIST),
    Route("GET", _CLUSTER, "cluster_detail"),
    Route("GET", _CLUSTER + "/topic", "topic_list"),
    Route("GET", _TOPIC, "topic_offsets"),
    Route("GET", _TOPIC + "/consumers", "topic_consumers"),
    Route("GET", _CLUSTER + "/consumer", "consumer_list"),
    Route("GET", _GROUP, "consumer_detail"),
    Route("GET", _GROUP + "/status", "consumer_status"),
    Route("GET", _GROUP + "/lag", "consumer_lag"),
    Route("DELETE", _GROUP, "delete_consumer"),
    Route("DELETE", _GROUP + "/topic/{topic}", "delete_consumer_topic"),
)

OF_ONE_CLUSTER = frozenset(
    {
        "topic_list",
        "topic_offsets",
        "topic_consumers",
        "consumer_list",
        "consumer_detail",
        "consumer_status",
        "consumer_lag",
    }
)
"""What these answer depends on one cluster's state, its version, and the time."""

LEVELS = {
    "debug": "debug",
    "trace": "debug",
    "info": "info",
    "warning": "warn",
    "warn": "warn",
    "error": "error",
    "fatal": "fatal",
}
"""What a client may ask for, and what it is called afterwards."""


class LogLevel(Protocol):
    """The level of the log, while Warren runs."""

    def get(self) -> str:
        """The level: debug, info, warn, error or fatal."""

    def set(self, name: str) -> None:
        """Log from this level on; it is one of those that `get` tells."""


class Call(NamedTuple):
    """What a function needs to know of its request."""

    parameters: dict[str, str]
    url: str
    """The decoded path."""
    body: bytes = b""


class V3:
    """All functions; without a `log_level` the level cannot be changed."""

    def __init__(
        self, clusters: Clusters, config: Callable[[], Config], now_ms: Callable[[], int], log_level: LogLevel | None
    ) -> None:
        self._clusters = clusters
        self._config = config
        self._now_ms = now_ms
        self._level = log_level
        self._host = socket.gethostname()
        self._functions: dict[str, Callable[[Call], Answer]] = {
            "alive": self._alive,
            "ready": self._ready,
            "log_level": self._log_level,
            "set_log_level": self._set_log_level,
            "main_config": self._main_config,
            **{f"{kind}_modules": partial(self._modules, kind) for kind in config_bodies.COORDINATORS},
            **{f"{kind}_module": partial(self._module, kind, "name") for kind in config_bodies.COORDINATORS},
            CLUSTER_LIST: self._cluster_list,
            "cluster_detail": partial(self._module, "cluster", "cluster"),
            "topic_list": self._topic_list,
            "topic_offsets": self._topic_offsets,
            "topic_consumers": self._topic_consumers,
            "consumer_list": self._consumer_list,
            "consumer_detail": self._consumer_detail,
            "consumer_status": partial(self._group_status, all_partitions=False),
            "consumer_lag": partial(self._group_status, all_partitions=True),
            "delete_consumer": self._delete_consumer,
            "delete_consumer_topic": self._delete_consumer_topic,
        }

    def answer(self, found: Found, url: str, body: bytes = b"") -> Answer:
        """Answer a request for a route."""
        return self._functions[found.name](Call(found.parameters, url, body))

    def refusal(self, url: str, status: int, message: str) -> Answer:
        """An answer that says no to whatever was asked."""
        return json_answer(bodies.failed(message, self._request(url)), status)

    # -- Warren itself -------------------------------------------------------------------------------------------

    def _alive(self, call: Call) -> Answer:
        return page("GOOD")

    def _ready(self, call: Call) -> Answer:
        ready = all(cluster.is_settled for cluster in self._clusters.values())
        return page("READY") if ready else page("STARTING", 503)

    def _log_level(self, call: Call) -> Answer:
        level = self._level.get() if self._level else self._config().logging.level
        return self._found(call, "log level returned", level=level)

    def _set_log_level(self, call: Call) -> Answer:
        try:
            asked = wanted_level(call.body)
        except ValueError:
            return self.refusal(call.url, 400, "could not decode message body")
        level = LEVELS.get(asked.lower())
        if level is None:
            return self.refusal(call.url, 404, "unknown log level")
        if self._level is None:
            return self.refusal(call.url, 501, "the log level cannot be changed")
        self._level.set(level)
        return self._found(call, "set log level")

    # -- the configuration ---------------------------------------------------------------------------------------

    def _main_config(self, call: Call) -> Answer:
        body = {"error": False, "message": "main config returned", "request": self._request(call.url)}
        return json_answer(body | config_bodies.main_config(self._config()))

    def _modules(self, kind: str, call: Call) -> Answer:
        body = {"error": False, "message": "module list returned", "request": self._request(call.url)}
        names = config_bodies.module_names(self._config(), kind)
        return json_answer(body | {"coordinator": kind, "modules": names})

    def _module(self, kind: str, parameter: str, call: Call) -> Answer:
        module = config_bodies.module_detail(self._config(), kind, call.parameters[parameter])
        if module is None:
            return self._not_found(call, f"{kind} module not found")
        return self._found(call, f"{kind} module detail returned", module=module)

    # -- clusters ------------------------------------------------------------------------------------------------

    def _cluster_list(self, call: Call) -> Answer:
        return self._found(call, "cluster list returned", clusters=sorted(self._clusters))

    def _topic_list(self, call: Call) -> Answer:
        cluster = self._cluster(call)
        if cluster is None:
            return self._not_found(call, "cluster not found")
        return self._found(call, "topic list returned", topics=cluster.topics())

    def _topic_offsets(self, call: Call) -> Answer:
        cluster = self._cluster(call)
        offsets = cluster.topic_ends(call.parameters["topic"]) if cluster else None
        if offsets is None:
            return self._not_found(call, "cluster or topic not found")
        return self._found(call, "topic offsets returned", offsets=offsets)

    def _topic_consumers(self, call: Call) -> Answer:
        cluster = self._cluster(call)
        if cluster is None:
            return self._not_found(call, "cluster not found")
        groups = cluster.groups_of_topic(call.parameters["topic"])
        return self._found(call, "consumers of topic returned", is_miss=not groups, consumers=groups)

    def _consumer_list(self, call: Call) -> Answer:
        cluster = self._cluster(call)
        if cluster is None:
            return self._not_found(call, "cluster not found")
        return self._found(call, "consumer list returned", consumers=cluster.groups())

    def _consumer_detail(self, call: Call) -> Answer:
        cluster = self._cluster(call)
        verdict = cluster.judge(call.parameters["group"], now_ms=self._now_ms()) if cluster else None
        if cluster is None or verdict is None:
            return self._not_found(call, "cluster or consumer not found")
        return self._found(call, "consumer detail returned", topics=bodies.group_detail(verdict, cluster.intervals))

    def _group_status(self, call: Call, *, all_partitions: bool) -> Answer:
        cluster, group = self._cluster(call), call.parameters["group"]
        verdict = cluster.judge(group, now_ms=self._now_ms()) if cluster else None
        if cluster is None or verdict is None:
            status = bodies.group_not_found(call.parameters["cluster"], group)
            return self._found(call, "consumer status returned", 404, is_miss=True, status=status)
        status = bodies.group_status(cluster.name, verdict, all_partitions=all_partitions)
        return self._found(call, "consumer status returned", status=status)

    def _delete_consumer(self, call: Call) -> Answer:
        cluster = self._cluster(call)
        is_known = cluster is not None and cluster.delete_group(call.parameters["group"])
        return self._found(call, "consumer group removed", is_miss=not is_known)

    def _delete_consumer_topic(self, call: Call) -> Answer:
        cluster, of = self._cluster(call), call.parameters
        is_known = cluster is not None and cluster.delete_group_topic(of["group"], of["topic"])
        return self._found(call, "consumer group removed", is_miss=not is_known)

    # -- what all have -------------------------------------------------------------------------------------------

    def _cluster(self, call: Call) -> ClusterState | None:
        return self._clusters.get(call.parameters["cluster"])

    def _found(
        self, call: Call, message: str, status_code: int = 200, *, is_miss: bool = False, **fields: object
    ) -> Answer:
        return json_answer(bodies.found(message, self._request(call.url), **fields), status_code, is_miss=is_miss)

    def _not_found(self, call: Call, message: str) -> Answer:
        return json_answer(bodies.failed(message, self._request(call.url)), 404, is_miss=True)

    def _request(self, url: str) -> bodies.Body:
        return {"url": url, "host": self._host}


def wanted_level(body: bytes) -> str:
    """The level that a request names, "" if it names none; ValueError if Go could not decode it either.

    Go takes the first value of the body and leaves the rest, takes keys in any case, and takes null for nothing.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs, parse_constant=_refuse)
    try:
        value, _ = decoder.raw_decode(body.decode("utf-8", "replace").lstrip(" \t\r\n"))
    except RecursionError as error:
        message = "nested too deep"
        raise ValueError(message) from error
    if value is None:
        return ""
    if not isinstance(value, _Pairs):
        message = "not an object"
        raise ValueError(message)
    return _last_level(value)


class _Pairs(list[tuple[str, Any]]):
    """An object with all its keys, also those that come twice."""


def _last_level(pairs: _Pairs) -> str:
    level = ""
    for key, value in pairs:
        if key.lower() != "level" or value is None:
            continue
        if not isinstance(value, str):
            message = "the level is not a string"
            raise ValueError(message)
        level = value
    return level


def _refuse(constant: str) -> NoReturn:
    """Python takes NaN and Infinity for numbers."""
    message = f"{constant} is not JSON"
    raise ValueError(message)
