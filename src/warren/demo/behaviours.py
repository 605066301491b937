"""How each group of the demo reads, and how orders come in. Pure: what was read goes in, what to commit comes out.

A new group is a class here (which offset does it commit next?) and a line in `GROUPS` (what does it read?).
Every group commits once in a second and Warren looks at its last ten commits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from warren.model import Status

ORDERS, INVOICES = "orders", "invoices"
PARTITIONS = 4
SEED_RECORDS = 1_000
"""So many orders are in each partition before the first group starts: room to be behind, and to go back."""
FEW_RECORDS = 25

# Orders come in waves, at another time in each partition. In the calm a good reader is exactly at the end, so that it
# can be told from one that is always a little behind; and at every moment some partition is growing.
WAVE_S = 8.0
BUSY_S = 4.0
RECORD_INTERVAL_S = 0.05


def is_busy(partition: int, at_s: float) -> bool:
    """Whether orders are coming in on a partition."""
    return (at_s + partition * WAVE_S / PARTITIONS) % WAVE_S < BUSY_S


class Reader(Protocol):
    """Reads one partition for a group."""

    def __init__(self, partition: int) -> None: ...

    def next_commit(self, read_to: int) -> int | None:
        """The offset to commit now that everything before `read_to` is there; None for no commit this time."""


class Healthy:
    """Keeps up."""

    def __init__(self, partition: int) -> None:
        pass

    def next_commit(self, read_to: int) -> int:
        return read_to


class Slow:
    """Gets through one record while ten come in.

    It depends on what came in and not on the time, so that its lag does not fall either when nothing comes for a while.
    """

    def __init__(self, partition: int) -> None:
        pass

    def next_commit(self, read_to: int) -> int:
        return read_to // 10


class Stalled:
    """Cannot get past one record, and says so again and again."""

    def __init__(self, partition: int) -> None:
        self._poison_offset = 100 + partition

    def next_commit(self, read_to: int) -> int:
        return min(read_to, self._poison_offset)


class Rewound:
    """Goes back again and again, further than it has come since.

    A step back counts only as long as no later commit has made up for it. So it loses ground for a long time, and only
    then starts again near the end; for the next ten commits that looks like recovery. The partitions start again at
    different times: at least all but one of them are going back at any moment.
    """

    CYCLE_COMMITS = 100
    STEPS = (4, 4, -20)
    SHORT_OF_END = 20

    def __init__(self, partition: int) -> None:
        self._commits = self.CYCLE_COMMITS * partition // PARTITIONS
        self._offset: int | None = None

    def next_commit(self, read_to: int) -> int:
        if self._offset is None or self._commits % self.CYCLE_COMMITS == 0:
            self._offset = read_to - self.SHORT_OF_END
        else:
            self._offset += self.STEPS[self._commits % len(self.STEPS)]
        self._commits += 1
        self._offset = max(self._offset, 0)
        return self._offset


class Idle:
    """Has read everything there is, and is silent until there is more."""

    def __init__(self, partition: int) -> None:
        self._committed = 0

    def next_commit(self, read_to: int) -> int | None:
        if read_to == self._committed:
            return None
        self._committed = read_to
        return read_to


@dataclass(frozen=True)
class Group:
    """One consumer group of the demo, with one member."""

    name: str
    topic: str
    reader: type[Reader]
    shows: Status
    """What its worst partition comes to."""
    protocol: Literal["classic", "consumer"] = "classic"
    lives_for_commits: int | None = None
    """It leaves after so many commits; None = never."""


GROUPS = (
    Group("orders-healthy", ORDERS, Healthy, Status.OK, protocol="consumer"),
    Group("orders-idle", INVOICES, Idle, Status.OK),
    Group("orders-slow", ORDERS, Slow, Status.WARN),
    Group("orders-stopped", ORDERS, Healthy, Status.STOP, lives_for_commits=5),
    Group("orders-stalled", ORDERS, Stalled, Status.STALL, protocol="consumer"),
    Group("orders-rewound", ORDERS, Rewound, Status.REWIND),
)
