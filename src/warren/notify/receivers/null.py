"""Nobody: for trying out what would be sent."""

from __future__ import annotations

from collections.abc import Sequence

from warren.notify.events import Event
from warren.notify.receivers.contract import DELIVERED, Outcome, Receiver


class Null(Receiver[None]):
    """Takes everything."""

    most_events = 1000

    def build(self, events: Sequence[Event], *, now_ms: int) -> None:
        """Nothing."""

    def send(self, message: None, key: str) -> Outcome:
        """It arrives."""
        return DELIVERED
