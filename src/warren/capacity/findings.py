"""What else is odd about groups and topics: uneven partitions, idle members, logs that are too short. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from warren.capacity.measured import Measured
from warren.capacity.sizing import Sizing
from warren.capacity.words import count, percent, rate, records
from warren.reports.moments import duration

SKEWED = 2.0
"""A partition with so many times its even share is uneven."""
ENOUGH_RECORDS = 100
"""For each partition: with fewer, chance makes shares uneven."""
MOST_OF_LAG = 0.5
RISKY = 0.5
"""A lag of this share of the time that the log keeps records is a risk."""


class FindingKind(StrEnum):
    """What is odd, the worst first."""

    LOST = "records lost"
    RETENTION = "retention at risk"
    HOT = "partition too hot"
    SLOW = "one slow partition"
    SKEW = "uneven partitions"
    IDLE = "idle members"
    REWIND = "rewinds"


class Finding(NamedTuple):
    """Something odd, with its numbers."""

    kind: FindingKind
    group: str
    topic: str
    says: str


def findings(sizings: Iterable[Sizing]) -> list[Finding]:
    """All that is odd, the worst first."""
    found = [one for sizing in sizings for one in _of(sizing)]
    order = list(FindingKind)
    alike = {(one.kind, one.group, one.topic): one for one in found}
    return sorted(alike.values(), key=lambda one: (order.index(one.kind), one.group, one.topic))


def _of(sizing: Sizing) -> Iterator[Finding]:
    one = sizing.measured
    said = [
        (FindingKind.LOST, one.topic, _lost(one)),
        (FindingKind.RETENTION, one.topic, _retention(one)),
        (FindingKind.HOT, one.topic, _hot(sizing)),
        (FindingKind.SLOW, one.topic, _slow(one)),
        (FindingKind.SKEW, one.topic, _skewed(one)),
        (FindingKind.IDLE, "", _idle(one)),  # members are of the group, not of one of its topics
        (FindingKind.REWIND, one.topic, _rewound(one)),
    ]
    yield from (Finding(kind, one.group, topic, says) for kind, topic, says in said if says)


def _lost(one: Measured) -> str:
    if one.lost < 1:
        return ""
    return f"the log let go of {records(one.lost)} before the group had read them; {_kept(one)}"


def _kept(one: Measured) -> str:
    return (
        f"it keeps records for {duration(one.kept_s)}"
        if one.kept_s is not None
        else "how long it keeps them is not known"
    )


def _retention(one: Measured) -> str:
    if one.kept_s is None or one.lost >= 1 or one.lag_s_max < RISKY * one.kept_s:
        return ""
    least = "at least " if one.lag_s_is_least else ""
    share = percent(one.lag_s_max / one.kept_s) if one.kept_s else "all"
    behind = f"the group was {least}{duration(one.lag_s_max)} behind"
    return f"{behind}, {share} of the {duration(one.kept_s)} that records are kept"


def _is_skewed(one: Measured) -> bool:
    enough = one.read > 1 and one.produced >= ENOUGH_RECORDS * one.read
    return enough and one.hot_share * one.read >= SKEWED


def _hot(sizing: Sizing) -> str:
    """A partition has one consumer at a time: what comes to it must be within the capacity of one."""
    one = sizing.measured
    hot_rate = sizing.demand.rate * one.hot_share
    if one.capacity is None or not _is_skewed(one) or hot_rate <= one.capacity:
        return ""
    return (
        f"partition {one.hot_partition} gets {percent(one.hot_share)} of all records, so it needs {rate(hot_rate)}, "
        f"and one consumer does at most {rate(one.capacity)}: more consumers will not help, other keys would"
    )


def _skewed(one: Measured) -> str:
    if not _is_skewed(one):
        return ""
    return (
        f"partition {one.hot_partition} gets {percent(one.hot_share)} of all records, "
        f"{one.hot_share * one.read:.1f} times its even share of {percent(1 / one.read)}"
    )


def _slow(one: Measured) -> str:
    """Only where the lag is not simply where the records are."""
    is_small = one.read < 3 or one.lag_mean < ENOUGH_RECORDS
    if is_small or one.slow_share < MOST_OF_LAG or _follows_load(one):
        return ""
    return (
        f"partition {one.slow_partition} alone has {percent(one.slow_share)} of the group's lag: "
        f"more partitions will not help"
    )


def _follows_load(one: Measured) -> bool:
    return one.slow_partition == one.hot_partition and one.slow_share < SKEWED * one.hot_share


def _idle(one: Measured) -> str:
    if one.members is None or not one.owned or one.members <= one.owned:
        return ""
    idle = one.members - one.owned
    return f"{count(one.members, 'member')} for {count(one.owned, 'partition')}: {idle:,} with nothing to do"


def _rewound(one: Measured) -> str:
    if not one.rewinds:
        return ""
    return f"the group went back {count(one.rewinds, 'time')}; what it read again counts as consumed again"
