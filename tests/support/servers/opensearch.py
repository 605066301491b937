"""OpenSearch from its jars: a single node without security, started by `tests/java/SearchNode.java`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.java_clients import java_command
from tests.support.programs import JARS
from tests.support.servers.server import Server
from warren.embedded.jars import fetch_jars

JVM_OPTIONS = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
MOST_HITS = 10_000


class OpenSearch(Server):
    """A node with nothing in it."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._jars = fetch_jars(JARS["opensearch"], print)

    def command(self) -> list[str]:
        options = [*JVM_OPTIONS, f"-Djava.io.tmpdir={self.directory}"]
        return java_command("SearchNode", [self._jars], options, [str(self.directory), str(self.port)])

    def answers(self) -> bool:
        return self.ask("/_cluster/health?wait_for_status=yellow&timeout=1s").status == 200

    def get(self, path: str) -> Any:
        """Return the JSON at a path."""
        return self.ask(path).json()

    def hits(self, index: str, query: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """Return the documents of an index that match, or all: each has `_index`, `_id` and `_source`."""
        self.ask(f"/{index}/_refresh", b"")
        body = {"size": MOST_HITS, "query": query or {"match_all": {}}}
        headers = {"Content-Type": "application/json"}
        answer = self.ask(f"/{index}/_search", json.dumps(body).encode(), headers=headers).json()
        found: list[dict[str, Any]] = answer["hits"]["hits"]
        return found
