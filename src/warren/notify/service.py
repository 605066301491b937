"""Alerts, put together: incidents -> who is told -> outbox -> delivery. Read this first of `notify/`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import uuid4

import structlog

from warren.clusters.state import ClusterState
from warren.config.model import Config
from warren.notify.book import IncidentBook, SilenceBook
from warren.notify.coordinator import Coordinator
from warren.notify.database import Database
from warren.notify.delivery import Delivery
from warren.notify.leaders import Alone, Leader, make_leader
from warren.notify.outbox import Outbox, Results
from warren.notify.receivers.contract import Outcome
from warren.notify.setup import Notifiers, make_notifiers
from warren.notify.trial import trial_event

log = structlog.get_logger()

FILE = "alerts.db"


class Alerts:
    """Everything between the status of a group and a message about it."""

    def __init__(
        self, config: Config, clusters: Mapping[str, ClusterState], home: Path, now_ms: Callable[[], int]
    ) -> None:
        self._now_ms = now_ms
        self._config = config
        self._notifiers = _made(config)
        self._database = Database(home / FILE)
        self._outbox = Outbox(self._database)
        self._changing = threading.Lock()
        self.leader: Leader = make_leader(config)
        self._delivery = self._new_delivery()
        self._coordinator = Coordinator(
            clusters,
            self._database,
            self._outbox,
            self,
            lambda: self._notifiers.terms,
            now_ms,
            self._wake,
        )

    @property
    def is_leader(self) -> bool:
        """Whether this Warren is the one that sends."""
        return self.leader.is_leader

    @property
    def incidents(self) -> IncidentBook:
        """What is and was open."""
        return self._coordinator.incidents

    @property
    def silences(self) -> SilenceBook:
        """What people have set."""
        return self._coordinator.silences

    def health(self) -> dict[str, Results]:
        """How each notifier is doing."""
        return self._delivery.health()

    def try_out(self, notifier: str) -> Outcome:
        """Send a message that says it is a test, now and once, whoever leads; `KeyError` if there is no such notifier.

        By a receiver of its own: the others are busy with what matters.
        """
        receiver = make_notifiers(self._config).receivers[notifier].receiver
        try:
            return receiver.deliver([trial_event(self._now_ms())], uuid4().hex, now_ms=self._now_ms())
        finally:
            receiver.close()

    def start(self) -> None:
        """Begin to look, and to send what waits from before."""
        self.leader.start()
        self._delivery.start()
        self._coordinator.start()

    def stop(self) -> None:
        """Stop; what waits is kept."""
        self._coordinator.stop()
        self._delivery.stop()
        self.leader.stop()
        self._database.close()

    def reload(self, config: Config) -> None:
        """Take on the notifiers of another configuration; `ConfigError`, and nothing changes, if they are wrong."""
        made = _made(config)
        with self._changing:
            self._stand_for_leadership(config)
            self._notifiers, self._config = made, config
            before, self._delivery = self._delivery, self._new_delivery()
            before.stop()
            self._delivery.start()

    def _stand_for_leadership(self, config: Config) -> None:
        """With the first notifiers there is something to agree on with other Warrens."""
        if isinstance(self.leader, Alone):
            self.leader = make_leader(config)
            self.leader.start()

    def _wake(self) -> None:
        self._delivery.wake()  # the one of now: a reload brings another

    def _new_delivery(self) -> Delivery:
        return Delivery(self._outbox, self._notifiers.receivers, self._now_ms, may_send=lambda: self.is_leader)


def _made(config: Config) -> Notifiers:
    made = make_notifiers(config)
    for warning in made.warnings:
        log.warning("a template may fail", reason=warning)
    return made
