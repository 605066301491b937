"""What every sink does: take batches of points, and say how many arrived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa


@dataclass(frozen=True)
class Sent:
    """What became of points that need not be sent again: `refused` are lost for good, for a `reason`."""

    points: int = 0
    refused: int = 0
    reason: str = ""

    def __add__(self, other: Sent) -> Sent:
        return Sent(self.points + other.points, self.refused + other.refused, other.reason or self.reason)


class Sender(Protocol):
    """One receiver of points; it lives in a worker process and is used by one task at a time."""

    def send(self, points: pa.RecordBatch) -> Sent:
        """Send `POINTS`; `SinkError` if they have to be sent again, all of them."""

    def close(self) -> None:
        """Let go of connections."""
