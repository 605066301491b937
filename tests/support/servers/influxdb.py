"""InfluxDB: 1.6 of the distribution, or 1.8, which has the v2 API as well; both require authentication."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

from tests.support.programs import INFLUXDB, INFLUXDB_18, Program
from tests.support.servers.server import Server, with_query
from warren.embedded.broker import free_port

USER, PASSWORD = "warren", "cony-burrow-7"
DATABASE = "lag"
CONFIG = """
reporting-disabled = true
bind-address = "127.0.0.1:{rpc_port}"
[meta]
  dir = "meta"
[data]
  dir = "data"
  wal-dir = "wal"
  query-log-enabled = false
[http]
  bind-address = "127.0.0.1:{port}"
  auth-enabled = true
  flux-enabled = {flux}
  log-enabled = false
"""


class InfluxDB(Server):
    """A server with one user and one database."""

    def __init__(self, directory: Path, program: Program = INFLUXDB) -> None:
        super().__init__(directory)
        self._program = program
        self._has_database = False
        flux = "true" if program is INFLUXDB_18 else "false"
        config = CONFIG.format(rpc_port=free_port(), port=self.port, flux=flux)
        (self.directory / "influxdb.conf").write_text(config)

    def command(self) -> list[str]:
        return [str(self._program.path("influxd")), "-config", "influxdb.conf"]

    def answers(self) -> bool:
        if self.ask("/ping").status != 204:
            return False
        if not self._has_database:
            self.query(f"CREATE USER {USER} WITH PASSWORD '{PASSWORD}' WITH ALL PRIVILEGES")
            self.query(f"CREATE DATABASE {DATABASE}")
            self._has_database = True
        return True

    def query(self, text: str, database: str = DATABASE) -> list[dict[str, Any]]:
        """Return the series that a query finds; times are in milliseconds."""
        login = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        path = with_query("/query", db=database, q=text, epoch="ms")
        answer = self.ask(path, b"", headers={"Authorization": f"Basic {login}"}).json()
        assert "error" not in answer, answer
        (result,) = answer["results"]
        assert "error" not in result, result
        series: list[dict[str, Any]] = result.get("series", [])
        return series

    def rows(self, text: str) -> list[dict[str, Any]]:
        """Return the rows of all series by column, without null values."""
        return [
            {name: value for name, value in zip(one["columns"], row, strict=True) if value is not None}
            for one in self.query(text)
            for row in one["values"]
        ]
