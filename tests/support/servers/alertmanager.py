"""Alertmanager with one receiver that sends nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.programs import ALERTMANAGER
from tests.support.servers.server import Server

CONFIG = """
route: { receiver: none, group_wait: 0s }
receivers: [{ name: none }]
"""


class Alertmanager(Server):
    """A single node without peers."""

    @property
    def working_directory(self) -> Path:
        return ALERTMANAGER.home  # it finds its templates there

    def command(self) -> list[str]:
        config = self.directory / "alertmanager.yml"
        config.write_text(CONFIG)
        where = [f"--storage.path={self.directory / 'data'}", f"--web.listen-address={self.address}"]
        return [str(ALERTMANAGER.path()), f"--config.file={config}", *where, "--cluster.listen-address="]

    def answers(self) -> bool:
        return self.ask("/-/ready").status == 200

    def firing(self, group: str) -> list[dict[str, Any]]:
        """Return the alerts of a consumer group that have not ended."""
        answer = self.ask("/api/v2/alerts")
        assert answer.status == 200, answer.body.decode()
        return [alert for alert in answer.json() if alert["labels"]["group"] == group]
