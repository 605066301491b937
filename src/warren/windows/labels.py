"""What is known of each row beside its window: whose it is, who reads it, where its head is, what was said of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warren.windows.columns import Bool, Int32, Int64, Table


class Owner(NamedTuple):
    """Who reads a partition."""

    host: str = ""
    client_id: str = ""
    member_id: str = ""
    instance_id: str = ""


NOBODY = Owner()
NO_OWNER = 0
FREE = 0
"""In `group`: a row that belongs to nobody."""
NO_HEAD = -1
"""In `head_row`: the brokers do not have this partition (yet)."""


LARGEST_REST_LAG = 10
"""A larger lag is no usual lag: the group does not read to the end."""
ENOUGH_RESTS = 3
"""This many commits equally close to the end, and none closer, establish a usual lag."""
MOST_RESTS = 10
LAST_RECORD = 1
"""One commit establishes this lag: many clients commit the offset of the last record they processed.

A consumer that is stuck at the last record of a topic looks the same until the next record arrives.
"""


class Labels(Table):
    """One element for each row of the rings."""

    group: Int32
    """The code of the group that the row belongs to."""
    head_row: Int32
    """The row of its partition in the heads."""
    owner: Int32
    """Who reads it, a code of `Owners`."""
    waiting: Bool
    """Whether some lag of its window waits for a head."""
    status: NDArray[np.int8]
    """What was said of it last, 0 if nothing was."""
    since_s: NDArray[np.uint32]
    """Since when that is said."""
    incarnation: Int32
    """Stands for the id of the topic that its newest commits were made to, 0 if that was never told."""
    rest_lag: NDArray[np.int8]
    """The smallest lag that the group reaches, see `note_rests`."""
    rests: NDArray[np.int8]
    """How many commits support `rest_lag`."""

    def __init__(self) -> None:
        super().__init__(
            {
                "group": np.int32,
                "head_row": np.int32,
                "owner": np.int32,
                "waiting": np.bool_,
                "status": np.int8,
                "since_s": np.uint32,
                "incarnation": np.int32,
                "rest_lag": np.int8,
                "rests": np.int8,
            }
        )

    def heads_of(self, rows: Int64) -> Int64:
        """Each row's row in the heads, NO_HEAD where there is none."""
        return self.head_row[rows].astype(np.int64)

    def clear(self, rows: slice) -> None:
        """These rows belong to nobody."""
        for name in self._kinds:
            getattr(self, name)[rows] = 0
        self.head_row[rows] = NO_HEAD

    def forget_commits(self, rows: Int64) -> None:
        """Reset what depends on the commits of these rows."""
        for column in (self.incarnation, self.rest_lag, self.rests):
            column[rows] = 0

    def note_rests(self, rows: Int64, lag: Int64) -> None:
        """Update the smallest lag of each row from the upper bound of a new commit's lag (no row twice).

        Each commit that stays further from the end counts against it; at zero the new lag replaces it.
        """
        small = lag <= LARGEST_REST_LAG
        rows, lag = rows[small], lag[small].astype(np.int8)
        known, times = self.rest_lag[rows], self.rests[rows]
        closer, same = (lag < known) | (times == 0), lag == known
        times = np.where(same, np.minimum(times + 1, MOST_RESTS), times - ~closer)
        replaced = closer | (times == 0)
        self.rest_lag[rows] = np.where(replaced, lag, known)
        self.rests[rows] = np.where(replaced & ~same, 1, times)

    def usual_lag(self, rows: Int64) -> Int64:
        """Return the lag that each group always leaves unread; 0 if none or not established."""
        rest_lag, rests = self.rest_lag[rows].astype(np.int64), self.rests[rows]
        return np.where((rests >= ENOUGH_RESTS) | (rest_lag == LAST_RECORD), rest_lag, 0)

    def move(self, source: slice, target: slice) -> None:
        """Copy the labels of `source` rows to as many `target` rows, and clear the source."""
        self.copy_rows(source, target)
        self.clear(source)


class Owners:
    """Owners by number: each is kept once, however many partitions it reads."""

    def __init__(self) -> None:
        self.known: list[Owner] = [NOBODY]
        self._codes: dict[Owner, int] = {NOBODY: NO_OWNER}

    def code_of(self, owner: Owner) -> int:
        """The number of an owner, which may be new."""
        code = self._codes.setdefault(owner, len(self.known))
        if code == len(self.known):
            self.known.append(owner)
        return code

    def forget_unused(self, labels: Labels) -> bool:
        """Forget owners who own nothing, once they are more than half; True if the others have new numbers."""
        used = np.union1d(labels.owner, [NO_OWNER])
        if len(self.known) <= 2 * len(used):
            return False
        self.known = [self.known[code] for code in used.tolist()]
        self._codes = {owner: code for code, owner in enumerate(self.known)}
        labels.owner[:] = np.searchsorted(used, labels.owner)
        return True
