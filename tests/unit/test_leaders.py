"""Who decides which of several Warrens sends, by the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from warren.config.load import parse
from warren.config.model import Config
from warren.notify import service
from warren.notify.kafka_leader import KafkaLeader
from warren.notify.leaders import Alone, make_leader
from warren.notify.service import Alerts
from warren.notify.zookeeper_leader import ZooKeeperLeader

NOTIFIER = {"notifier": {"n": {"class-name": "null"}}}


def config(**sections: Any) -> Config:
    return parse({"cluster": {"a": {"servers": ["127.0.0.1:1"]}}, **sections}, "a test")


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        (NOTIFIER, Alone),
        ({"zookeeper": {"servers": ["127.0.0.1:1"]}}, Alone),  # nobody to notify: nothing to agree on
        (NOTIFIER | {"zookeeper": {"servers": ["127.0.0.1:1"]}}, ZooKeeperLeader),
        (NOTIFIER | {"zookeeper": {"servers": ["127.0.0.1:1"]}, "alerts": {"leader": "none"}}, Alone),
        (NOTIFIER | {"alerts": {"leader": "kafka"}}, KafkaLeader),
    ],
)
def test_the_configuration_chooses(sections: dict[str, Any], expected: type) -> None:
    assert isinstance(make_leader(config(**sections)), expected)


def test_with_the_first_notifier_leadership_is_stood_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else two Warrens that got their notifiers by a reload would both send."""

    class Follower(Alone):
        is_leader = False

    alerts = Alerts(config(), {}, tmp_path, lambda: 0)
    assert alerts.is_leader
    monkeypatch.setattr(service, "make_leader", lambda config: Follower())
    alerts.start()
    alerts.reload(config(**NOTIFIER))
    try:
        assert not alerts.is_leader
    finally:
        alerts.stop()
