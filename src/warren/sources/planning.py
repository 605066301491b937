"""How a micro-batch of the offsets topic is cut: which offsets it covers, and which task reads what. Pure."""

from __future__ import annotations

from typing import NamedTuple

SMALL_BATCH_RECORDS = 20_000
"""Below this a second task costs more than it saves."""


class Range(NamedTuple):
    """The records of one partition from `start` up to, not including, `end`. Not every offset holds a record."""

    partition: int
    start: int
    end: int

    @property
    def records(self) -> int:
        """At most so many records are in it."""
        return self.end - self.start


def limited_ends(starts: dict[int, int], ends: dict[int, int], max_records: int) -> dict[int, int]:
    """Where a batch of about `max_records` ends.

    Whole partitions are taken as long as they fit, smallest backlog first; the first that does not fit is cut.
    Taking whole partitions instead of a slice of each lets a task fold the whole history of a group-partition at once.
    """
    batch = {partition: starts.get(partition, 0) for partition in ends}
    room = max(max_records, 1)
    for partition in sorted(ends, key=lambda number: (ends[number] - batch[number], number)):
        taken = min(ends[partition] - batch[partition], room)
        batch[partition] += taken
        room -= taken
    return batch


def ranges_between(starts: dict[int, int], ends: dict[int, int]) -> list[Range]:
    """The non-empty ranges from `starts` (0 where there is none: a partition that is new begins there) to `ends`."""
    ranges = (Range(partition, starts.get(partition, 0), end) for partition, end in sorted(ends.items()))
    return [one for one in ranges if one.records > 0]


def balanced(ranges: list[Range], tasks: int) -> list[list[Range]]:
    """Spread ranges over at most `tasks` tasks of about the same size; one task when there is little to do."""
    if sum(one.records for one in ranges) < SMALL_BATCH_RECORDS:
        tasks = 1
    shares: list[list[Range]] = [[] for _ in range(max(tasks, 1))]
    loads = [0] * len(shares)
    for one in sorted(ranges, key=lambda one: (-one.records, one.partition)):
        least = loads.index(min(loads))
        shares[least].append(one)
        loads[least] += one.records
    return [share for share in shares if share]
