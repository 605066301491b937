"""Incidents, notifiers and the HTTP API about them, at second 60 of the example cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from pydantic import SecretStr
from starlette.testclient import TestClient

from tests.support.example_cluster import ms, new_state
from warren.config.load import for_bootstrap
from warren.config.model import Config, Notifier
from warren.model import Status
from warren.notify.events import Cause, Event, Turn
from warren.notify.incidents import Incident, Step, after
from warren.notify.outbox import Outbox
from warren.notify.service import Alerts
from warren.serve.app import make_app

NOW_S = 60
CAUSE = Cause("orders", 3, "stopped", "no commit for 6 s", ms(9), 310, 12.3456)
NOTIFIERS = {
    "idle": Notifier(class_name="null"),
    "chat": Notifier(class_name="slack", url=SecretStr("https://chat.invalid/s3cret")),
}


def config_with(**sections: Any) -> Config:
    """Return a configuration with NOTIFIERS, where `sections` replace the defaults."""
    return for_bootstrap("127.0.0.1:9092", "127.0.0.1:8000").model_copy(update={"notifier": NOTIFIERS, **sections})


class AlertsApi(NamedTuple):
    """HTTP client of API v1 and the alerts behind it."""

    client: TestClient
    alerts: Alerts

    def get(self, path: str, **parameters: Any) -> Any:
        """Return the JSON body of a successful GET."""
        answer = self.client.get(path, params=parameters or None)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def error(self, method: str, path: str, status: int, body: object = None) -> dict[str, str]:
        """Return the error that a request fails with."""
        answer = self.client.request(method, path, json=body)
        assert answer.status_code == status, answer.text
        assert answer.json().keys() == {"error"}
        error: dict[str, str] = answer.json()["error"]
        return error

    def incident_ids(self, **parameters: Any) -> list[str]:
        """Return the ids of the listed incidents, in their order."""
        return [incident["id"] for incident in self.get("incidents", **parameters)["incidents"]]


def alerts_api(home: Path, config: Config, address: str = "127.0.0.1") -> AlertsApi:
    """Serve two empty clusters, `local` and `other`, to a client at `address`; stop `alerts` after use."""
    clusters = {"local": new_state(), "other": new_state()}
    alerts = Alerts(config, clusters, home, lambda: ms(NOW_S))
    app = make_app(clusters, lambda: config, lambda: ms(NOW_S), alerts=alerts)
    return AlertsApi(TestClient(app, base_url="http://warren/api/v1/", client=(address, 1)), alerts)


def step(second: float, turn: Turn, status: Status, cause: Cause | None = CAUSE) -> Step:
    """Return a step of an incident; without a cause its lag is 0."""
    return Step(ms(second), turn, status, cause, 310 if cause else 0)


def record_incident(
    api: AlertsApi, incident_id: str, second: float, *later: Step, cluster: str = "local", group: str = "billing"
) -> None:
    """Store an incident that opens with WARN at `second` and goes on with the `later` steps."""
    opened = step(second, Turn.OPENED, Status.WARN)
    incident = Incident(incident_id, cluster, group, ms(second), Status.WARN, (opened,))
    api.alerts.incidents.write(incident)
    for each in later:
        incident = after(incident, each)
        api.alerts.incidents.write(incident)


def _event(key: str) -> Event:
    return Event(
        key, Turn.OPENED, ms(10), "local", "g", "", ms(10), Status.OK, Status.ERR, None, [], [], 0, {}, ""
    )  # fmt: skip


def deliver_some(outbox: Outbox) -> None:
    """Queue four events for `chat`: one is sent, one is to be retried, one has failed, one still waits."""
    for number in range(4):
        outbox.put("chat", _event(str(number)), ms(10 + number))
    sent, retried, failed, _ = outbox.due("chat", ms(NOW_S), 10)
    outbox.sent([sent], ms(20))
    outbox.failed([failed], "refused", ms(21))
    outbox.retry([retried], ms(90), "no answer", ms(22))


class Follower:
    """Leadership of an instance that leaves sending to another one."""

    is_leader = False
    says = "another one is the leader"
