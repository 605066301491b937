"""What the golden files are answered from: one story of groups, and a configuration with one of everything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from unittest.mock import patch

import pyarrow as pa

from tests.support.scenario import classic_group, commit_table, head_table
from warren.clusters.state import ClusterState
from warren.codec.keys import encode_group_key
from warren.config.load import parse
from warren.config.model import Config, HttpServer
from warren.rules.rule import Settings
from warren.serve.access import hash_token
from warren.serve.app import make_app
from warren.serve.server import HttpListener
from warren.windows.rows import COMMIT_ROWS, RowKind
from warren.windows.store import Limits

NOW_MS = 41_500
HEADS = {
    "__consumer_offsets": [12], "orders": [100, 50], "a/b": [7], "a b": [7], "<ü>": [7], "100%": [7],
    "wide": [10] * 12,
}  # fmt: skip
NAMES = ("a/b", "a b", "<ü>", "100%")

EVERYTHING = {
    "general": {"pidfile": "w.pid", "stdout-logfile": "out.log"},
    "logging": {"filename": "w.log", "level": "warn", "use-compression": True},
    "zookeeper": {"servers": ["zk1:2181", "zk2:2181"], "root-path": "/w"},
    "tls": {"corp": {"certfile": "our.pem", "keyfile": "our.key", "cafile": "ca.pem", "noverify": True}},
    "sasl": {"corp": {"username": "warren", "password": "hunter2", "handshake-first": True}},
    "client-profile": {
        "secure": {"client-id": "w", "kafka-version": "3.6.0", "tls": "corp", "sasl": "corp"},
        "plain": {"kafka-version": "0.11.0"},
    },
    "httpserver": {"one": {"address": ":8000"}, "two": {"address": "[::1]:8443", "tls": "corp", "timeout": 5}},
    "storage": {"mem": {"intervals": 3, "min-distance": 1, "group-allowlist": "^b", "group-denylist": "secret-group"}},
    "evaluator": {"quick": {"expire-cache": 3}},
    "cluster": {
        "local": {"servers": ["b1:9092", "b2:9092"], "client-profile": "secure", "topic-refresh": 30},
        "other": {"servers": ["b3:9092"]},
    },
    "consumer": {
        "local": {"cluster": "local", "servers": ["b1:9092"], "group-allowlist": "a|b", "start-latest": True},
        "old": {"class-name": "kafka_zk", "cluster": "local", "servers": ["zk1:2181"], "zookeeper-path": "/kafka"},
    },
    "notifier": {
        "hook": {
            "class-name": "http",
            "template-open": "open.tmpl",
            "template-close": "close.tmpl",
            "send-close": True,
            "url-open": "https://warren:hunter2@hooks.example.org/v1/T0123456789ABCDEF?token=hunter2&a=",
            "url-close": "http://hooks.example.org/close/{{.ID}}-{{.Group}}",
            "method-close": "DELETE",
            "headers": {"x-secret": "hunter2"},
            "username": "u",
            "password": "hunter2",
            "extras": {"env": "prod", "api_key": "hunter2", "link": "http://u:hunter2@h/x", "AuthCode": "hunter2"},
            "noverify": False,
        },
        "mail": {
            "class-name": "email",
            "template-open": "mail.tmpl",
            "server": "mail.example.org",
            "port": 587,
            "from": "w@example.org",
            "to": "a@example.org,b@example.org",
            "auth-type": "plain",
            "username": "w",
            "password": "hunter2",
            "extra-ca": "ca.pem",
            "threshold": 3,
            "interval": 30,
        },
        "nothing": {"class-name": "null", "template-open": "none.tmpl", "group-denylist": "secret-group"},
    },
}  # fmt: skip

WRITER, READER = "writer-token", "reader-token"
TOKENS = {"security": {"write-tokens": [hash_token(WRITER)], "read-tokens": [hash_token(READER)]}}

CONFIGS: dict[str, Config] = {
    "default": parse(EVERYTHING, "a test"),
    "empty": Config(),
    "cors": parse(EVERYTHING | {"general": {"access-control-allow-origin": "*"}}, "a test"),
    "tokens": parse(EVERYTHING | TOKENS, "a test"),
    "v2": parse(EVERYTHING | {"api": {"v2": True}}, "a test"),
    "starting": parse(EVERYTHING, "a test"),
}
"""By the name that a file says on its first line."""


class Level:
    """A log level that is only remembered."""

    def __init__(self) -> None:
        self.name = "info"

    def get(self) -> str:
        return self.name

    def set(self, name: str) -> None:
        self.name = name


def told_state() -> ClusterState:
    """`billing` has stopped, `steady` is well and has an owner, `wide` has many partitions; and strange names."""
    state = ClusterState("local", Limits(intervals=3), Settings(), {"local": "__consumer_offsets"})
    state.apply_head_rows(head_table(HEADS, 9_000), now_ms=9_000)
    commits = [
        ("billing", "orders", 0, 10, 10_000),
        ("billing", "orders", 0, 10, 20_000),
        *(("steady", "orders", 1, 30 + second, second * 1_000) for second in (10, 15, 20)),
        *((name, name, 0, 7, 20_000) for name in NAMES),
        *(("wide", "wide", partition, 5, 20_000) for partition in range(12)),
    ]
    state.apply_commit_rows("local", commit_table(*commits), now_ms=20_000)
    member = classic_group(("/10.0.0.1", "steady-7", [("orders", [1])]))
    rows = [
        {
            "kind": RowKind.GROUP_RECORD, "source_partition": 1, "order": [0],
            "key": encode_group_key("steady"), "value": member,
        },
        {"kind": RowKind.POSITION, "partition": [1], "offset": [1]},
    ]  # fmt: skip
    state.apply_commit_rows("local", pa.Table.from_pylist(rows, COMMIT_ROWS), now_ms=20_500)
    state.apply_head_rows(head_table(HEADS, 21_000), now_ms=21_000)
    return state


def states_of(config_name: str) -> dict[str, ClusterState]:
    """The clusters of a site."""
    match config_name:
        case "empty":
            return {}
        case "starting":
            other = ClusterState("other", Limits(), Settings(), {"other": "__consumer_offsets"})
            return {"local": told_state(), "other": other}
        case _:
            return {"local": told_state()}


class _Site:
    """One application for all sites: to make one takes half a second."""

    def __init__(self) -> None:
        self.clusters: dict[str, ClusterState] = {}
        self.config = CONFIGS["default"]
        self.level = Level()
        with patch("socket.gethostname", return_value="warren"):
            self.app = make_app(self.clusters, lambda: self.config, lambda: NOW_MS, log_level=self.level)

    def become(self, config_name: str) -> None:
        self.clusters.clear()
        self.clusters.update(states_of(config_name))
        self.config = CONFIGS[config_name]
        self.level.name = "info"


_site = cache(_Site)


@contextmanager
def listening(config_name: str = "default") -> Iterator[tuple[str, int]]:
    """A listener that tells the story; where it listens. One at a time."""
    _site().become(config_name)
    listener = HttpListener(HttpServer(address="127.0.0.1:0"))
    listener.start(_site().app, _site().app.at_once)
    try:
        host, port = listener.url.removeprefix("http://").split(":")
        yield host, int(port)
    finally:
        listener.stop()
