"""Takes events out of the outbox to their receivers: a thread for each notifier, so that none waits for another."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol
from uuid import uuid4

import structlog

from warren.machine.periodic import Periodic
from warren.notify.batches import Grouping, next_batch
from warren.notify.events import Event
from warren.notify.outbox import Outbox, Results, Row
from warren.notify.pace import Pace, TokenBucket
from warren.notify.receivers.contract import Outcome, Result, retry

log = structlog.get_logger()

LOOK_S = 1.0
"""How often a notifier without work looks whether there is some."""
MOST_ROWS = 1_000
PRUNE_INTERVAL_S = 3_600.0
STOP_S = 10.0
LONGEST_HOLD_MS = 3_600_000


class Receiving(Protocol):
    """A receiver, whatever its messages are."""

    @property
    def most_events(self) -> int:
        """As many events become one message at most."""

    def deliver(self, events: Sequence[Event], key: str, *, now_ms: int) -> Outcome:
        """Send them as one message."""

    def close(self) -> None:
        """Let go of connections."""


class Notifier(NamedTuple):
    """Who is told, and at which pace."""

    receiver: Receiving
    grouping: Grouping = Grouping()
    pace: Pace = Pace()


class Courier:
    """Delivers what waits for one notifier, a message at a time."""

    def __init__(
        self,
        name: str,
        notifier: Notifier,
        outbox: Outbox,
        now_ms: Callable[[], int],
        chance: Callable[[], float] = random.random,
        *,
        may_send: Callable[[], bool] = lambda: True,
    ) -> None:
        self._name = name
        self._may_send = may_send
        self._notifier = notifier
        self._outbox = outbox
        self._now_ms = now_ms
        self._chance = chance
        self._bucket = TokenBucket(notifier.pace)
        self._read: list[Row] = []
        self._read_ms = 0
        self._held_until_ms = 0
        """The receiver has asked not to hear anything before."""

    def step(self) -> float:
        """Deliver one message if there is one; in how many seconds to look again."""
        now_ms = self._now_ms()
        held_ms = self._held_until_ms - now_ms
        if 0 < held_ms <= LONGEST_HOLD_MS:  # longer only after the clock went back
            return held_ms / 1000
        rows = self._next(now_ms)
        if not rows or not self._may_send():
            return LOOK_S
        if wait_s := self._bucket.wait_s(now_ms):
            return wait_s
        batch = rows[0].batch or uuid4().hex
        if self._outbox.take(rows, batch):
            self._bucket.spend(now_ms)
            self._leave_out(rows)
            self._write_down(rows, self._deliver(rows, batch))
        else:
            self._read = []
        return 0.0

    def close(self) -> None:
        """Let go of connections."""
        self._notifier.receiver.close()

    @property
    def _grouping(self) -> Grouping:
        return self._notifier.grouping._replace(most_events=self._notifier.receiver.most_events)

    def _next(self, now_ms: int) -> list[Row]:
        """The rows of the next message, out of what was read from the outbox a moment ago if there is one."""
        if not 0 <= now_ms - self._read_ms < LOOK_S * 1000:
            self._read = []
        found = next_batch(self._read, self._grouping, now_ms)
        if not found:
            self._read, self._read_ms = self._outbox.due(self._name, now_ms, MOST_ROWS), now_ms
            found = next_batch(self._read, self._grouping, now_ms)
        batch = found[0].batch if found else ""
        return self._outbox.batch(self._name, batch) if batch else found

    def _leave_out(self, rows: list[Row]) -> None:
        """Until they are read again: these, and what comes after them in their incidents if they should fail."""
        incidents, ids = {row.event.incident for row in rows} - {""}, {row.id for row in rows}
        self._read = [row for row in self._read if row.id not in ids and row.event.incident not in incidents]

    def _deliver(self, rows: list[Row], batch: str) -> Outcome:
        try:
            return self._notifier.receiver.deliver([row.event for row in rows], batch, now_ms=self._now_ms())
        except Exception as error:  # a mistake of ours must neither end this thread nor lose the event
            # Not what it says: that may be anything, with secrets in it.
            return retry(f"Warren itself failed ({type(error).__name__})")

    def _write_down(self, rows: list[Row], outcome: Outcome) -> None:
        now_ms = self._now_ms()
        told = log.bind(notifier=self._name, events=[row.event.key for row in rows])
        if outcome.result is Result.DELIVERED:
            self._outbox.sent(rows, now_ms)
            if outcome.reason:
                told.warning("delivered, but not to all", reason=outcome.reason)
        elif outcome.result is Result.RETRY and now_ms < self._give_up_ms(rows):
            self._retry(rows, outcome, now_ms)
            told.warning("not delivered, to be tried again", reason=outcome.reason)
        else:
            reason = self._final_words(rows, outcome)
            self._outbox.failed(rows, reason, now_ms)
            told.error("not delivered, and not tried again", reason=reason)

    def _retry(self, rows: list[Row], outcome: Outcome, now_ms: int) -> None:
        if outcome.after_s is not None:
            self._held_until_ms = now_ms + int(outcome.after_s * 1000)  # it speaks of us, not of this message
            wait_s = outcome.after_s
        else:
            wait_s = self._notifier.pace.backoff.wait_s(rows[0].attempts + 1, self._chance())
        due_ms = min(now_ms + int(wait_s * 1000), self._give_up_ms(rows))
        self._outbox.retry(rows, due_ms, outcome.reason, now_ms)

    def _give_up_ms(self, rows: list[Row]) -> int:
        return rows[0].first_due_ms + int(self._notifier.pace.give_up_after_s * 1000)

    def _final_words(self, rows: list[Row], outcome: Outcome) -> str:
        if outcome.result is Result.PERMANENT:
            return outcome.reason
        return f"given up after {rows[0].attempts + 1} attempts; the last one: {outcome.reason}"


class Delivery:
    """All notifiers, and how they are doing."""

    def __init__(
        self,
        outbox: Outbox,
        notifiers: Mapping[str, Notifier],
        now_ms: Callable[[], int],
        chance: Callable[[], float] = random.random,
        *,
        may_send: Callable[[], bool] = lambda: True,
    ) -> None:
        self._outbox = outbox
        self._now_ms = now_ms
        self._threads = [
            _Thread(name, Courier(name, one, outbox, now_ms, chance, may_send=may_send))
            for name, one in notifiers.items()
        ]
        self._pruning = Periodic("outbox", PRUNE_INTERVAL_S, self._prune)

    def start(self) -> None:
        """Begin to deliver."""
        self._prune()
        self._pruning.start()
        for thread in self._threads:
            thread.start()

    def stop(self, limit_s: float = STOP_S) -> None:
        """Stop after the messages that are on their way, or after so long; whatever was not taken is in the outbox."""
        self._pruning.stop()
        for thread in self._threads:
            thread.tell_to_stop()
        end = time.monotonic() + limit_s
        for thread in self._threads:
            thread.wait(max(end - time.monotonic(), 0.0))

    def wake(self) -> None:
        """Something was put into the outbox: look at once."""
        for thread in self._threads:
            thread.wake()

    def health(self) -> dict[str, Results]:
        """How each notifier is doing, for the API and the metrics."""
        return {thread.name: self._outbox.results(thread.name) for thread in self._threads}

    def _prune(self) -> None:
        abandoned = self._outbox.prune(self._now_ms())
        if abandoned:
            log.error("events of notifiers that are no longer configured are given up", events=abandoned)


class _Thread:
    """Steps until it is told to stop."""

    def __init__(self, name: str, courier: Courier) -> None:
        self.name = name
        self._courier = courier
        self._is_stopping = False
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"notifier-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        self._woken.set()

    def tell_to_stop(self) -> None:
        self._is_stopping = True
        self._woken.set()

    def wait(self, limit_s: float) -> None:
        if self._thread.ident is not None:
            self._thread.join(limit_s)

    def _run(self) -> None:
        while not self._is_stopping:
            wait_s = self._step()
            if wait_s:
                self._woken.wait(min(wait_s, LOOK_S))
                self._woken.clear()
        self._courier.close()

    def _step(self) -> float:
        try:
            return self._courier.step()
        except Exception as error:  # the disk may be full: what cannot be written down is tried again later
            log.error("delivery failed", notifier=self.name, error=f"{type(error).__name__}: {error}")
            return LOOK_S
