"""Words shared by every stage: the statuses and their order."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """Burrow's statuses; the numbers are part of its wire and say which of two is worse."""

    NOTFOUND = 0
    OK = 1
    WARN = 2
    ERR = 3
    STOP = 4
    STALL = 5
    REWIND = 6

    @property
    def of_group(self) -> Status:
        """How a partition in this status shows in its group: every trouble past WARN is ERR."""
        return min(self, Status.ERR)
