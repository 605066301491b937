"""Leadership by ZooKeeper: whoever has the lowest node under Burrow's lock path."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import structlog
from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, LockTimeout
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.states import KazooState
from kazoo.recipe.lock import Lock
from kazoo.retry import KazooRetry

from warren.config.model import Tls, Zookeeper
from warren.notify.lease import Lease

log = structlog.get_logger()

TICK_S = 0.5
ASK_S = 2.0
TELL_EVERY_S = 60.0
CONNECT_S = 5.0


class ZooKeeperLeader:
    """Stands for leadership in a thread of its own, and again whenever it was lost."""

    def __init__(self, zookeeper: Zookeeper, tls: Tls | None = None) -> None:
        self._path = f"{zookeeper.root_path.rstrip('/')}/notifier"
        self._timeout_s = float(zookeeper.timeout)
        self._lease = Lease(self._timeout_s)
        self._stop = threading.Event()
        self._told_s = time.monotonic() - TELL_EVERY_S + CONNECT_S  # not before it has had time to connect
        self._client = KazooClient(
            hosts=",".join(zookeeper.servers),
            timeout=self._timeout_s,
            connection_retry=KazooRetry(max_tries=-1, max_delay=CONNECT_S, interrupt=self._stop.is_set),
            use_ssl=tls is not None,
            **_tls_options(tls),
        )
        self._client.add_listener(self._on_state)
        self._thread = threading.Thread(target=self._run, name="leader", daemon=True)
        self.says = "not connected to ZooKeeper"

    @property
    def is_leader(self) -> bool:
        """Whether it is, now."""
        return self._lease.holds

    def start(self) -> None:
        """Begin to stand for it."""
        self._client.start_async()
        self._thread.start()

    def stop(self) -> None:
        """Step down, so that another one need not wait for the session to end."""
        self._lease.give_up()
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._client.stop()
        self._client.close()

    def _on_state(self, state: KazooState) -> None:
        """A connection that is lost for a moment may be lost for good: somebody else may lead soon."""
        if state != KazooState.CONNECTED:
            self._lease.give_up()
            self.says = "not connected to ZooKeeper"

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._stand()
            except (KazooException, KazooTimeoutError) as error:
                self._tell(f"{type(error).__name__} {error}".strip())
            self._stop.wait(TICK_S)

    def _tell(self, error: str) -> None:
        """Once a minute: it is tried again all the time."""
        now_s = time.monotonic()
        if now_s - self._told_s >= TELL_EVERY_S:
            self._told_s = now_s
            log.warning("leadership could not be asked for", error=error)

    def _stand(self) -> None:
        if not self._client.connected:
            self._tell("ZooKeeper cannot be reached")
            return
        self._client.ensure_path(self._path)
        lock = self._client.Lock(self._path)
        self.says = "waiting: another Warren leads"
        while not self._stop.is_set() and self._client.connected:
            with suppress(LockTimeout):
                lock.acquire(timeout=ASK_S)
                break
        if not lock.is_acquired:
            return
        try:
            self._lead(lock)
        finally:
            if self._client.connected:
                lock.release()

    def _lead(self, lock: Lock) -> None:
        """Lead as long as the node is there; each answer of ZooKeeper says that the session still is."""
        self._lease.take()
        self.says = "leading"
        log.info("this Warren notifies")
        node = f"{self._path}/{lock.node}"
        try:
            while not self._stop.wait(TICK_S) and self._lease.holds and self._client.exists(node) is not None:
                self._lease.confirm()
        finally:
            self._lease.give_up()
            log.info("this Warren no longer notifies")


def _tls_options(tls: Tls | None) -> dict[str, object]:
    if tls is None:
        return {}
    return {
        "ca": tls.cafile or None,
        "certfile": tls.certfile or None,
        "keyfile": tls.keyfile or None,
        "verify_certs": not tls.noverify,
    }
