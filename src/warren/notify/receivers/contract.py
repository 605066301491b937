"""What every receiver does: make one message of some events, send it, and say what became of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from warren.errors import WarrenError
from warren.notify.events import Event
from warren.webclient.hiding import Hider

MESSAGE = TypeVar("MESSAGE")


class Result(Enum):
    """What became of a message."""

    DELIVERED = "delivered"
    RETRY = "retry"
    PERMANENT = "permanent"


class Outcome(NamedTuple):
    """What became of a message, why, and in how many seconds the receiver wants to be asked again if it says so."""

    result: Result
    reason: str = ""
    after_s: float | None = None


DELIVERED = Outcome(Result.DELIVERED)


def retry(reason: str, after_s: float | None = None) -> Outcome:
    """It did not arrive, and may later."""
    return Outcome(Result.RETRY, reason, after_s)


def permanent(reason: str) -> Outcome:
    """It will not arrive however often it is sent."""
    return Outcome(Result.PERMANENT, reason)


class Receiver(ABC, Generic[MESSAGE]):
    """One kind of receiver with its settings; used by one thread."""

    most_events = 1
    """As many events become one message at most."""

    @abstractmethod
    def build(self, events: Sequence[Event], *, now_ms: int) -> MESSAGE:
        """One message of events, oldest first; pure. `UnsendableError` if there is none."""

    @abstractmethod
    def send(self, message: MESSAGE, key: str) -> Outcome:
        """Send it; `key` is the same each time the same message is sent."""

    def secrets(self) -> Iterable[str]:
        """What must not be told to anybody."""
        return ()

    def deliver(self, events: Sequence[Event], key: str, *, now_ms: int) -> Outcome:
        """Build and send; no secret is in the reason."""
        try:
            outcome = self.send(self.build(events, now_ms=now_ms), key)
        except WarrenError as error:  # of a template, too
            outcome = permanent(str(error))
        return outcome._replace(reason=Hider(self.secrets()).hide(outcome.reason))

    def close(self) -> None:
        """Let go of connections."""
