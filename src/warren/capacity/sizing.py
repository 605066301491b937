"""How many consumers and partitions a group needs for a topic, and why. Pure.

The target is that no record waits longer than the drain time: whatever came within any window of time must be consumed
when the window and the drain time are over. docs/planning.md has the formula with an example.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import NamedTuple

from warren.capacity.measured import Measured
from warren.capacity.words import amount, count, is_are, percent, rate, records, was_were
from warren.reports.moments import duration, instant

MANY_MORE = 4
"""So many times the partitions that are needed are far more than that."""
FEWEST_DAYS = 2
STEADY = 0.005
"""A daily peak that changes by less than this share a day stays as it is."""


class Target(NamedTuple):
    """What is wanted; shares are of 1."""

    drain_s: float = 300.0
    growth: float = 0.0
    headroom: float = 0.0
    """The share of each consumer's capacity that is to stay free."""


class Verdict(StrEnum):
    """What a plan comes to, the worst first."""

    PARTITIONS = "too few partitions"
    CONSUMERS = "too few consumers"
    UNKNOWN = "cannot tell"
    ENOUGH = "enough"
    IDLE = "nothing to do"


class Demand(NamedTuple):
    """The rate that meets the target, and the window that asks for it."""

    rate: float
    window_s: float
    records: float
    """That came in it, without growth."""
    is_average: bool = False
    """No peak asks for more than what comes all the time."""


@dataclass(frozen=True)
class Sizing:
    """What one group needs for one topic."""

    measured: Measured
    verdict: Verdict
    why: str
    demand: Demand
    consumers: int
    """That work now: members beyond the number of partitions do not."""
    consumers_needed: int | None
    partitions_needed: int | None
    """Never fewer than there are."""
    trend_a_day: float | None
    """By which share the daily peak grows each day; None if the time is too short."""
    trend: str
    catch_up: str

    @property
    def is_upper_bound(self) -> bool:
        """Nobody has seen how fast a consumer is, so it may be that fewer are needed."""
        return self.measured.capacity is None and bool(self.consumers_needed)

    @property
    def needs_partitions(self) -> bool:
        """Whether there are fewer than needed, as far as is known."""
        return (self.partitions_needed or 0) > self.measured.partitions

    @property
    def rank(self) -> tuple[int, float, str, str]:
        """The worst first, and of those that are alike the one that lacks most."""
        lack = (self.consumers_needed or 0) / max(self.consumers, 1)
        return list(Verdict).index(self.verdict), -lack, self.measured.group, self.measured.topic


def size(measured: Measured, target: Target) -> Sizing:
    """What the group needs to meet the target."""
    demand = demand_of(measured, target)
    able = _one_consumer(measured) * (1 - target.headroom)
    needed = consumers_needed(demand.rate, able)
    verdict = _verdict(measured, demand, needed)
    return Sizing(
        measured,
        verdict,
        _why(measured, target, demand, needed, verdict),
        demand,
        consumers_now(measured),
        needed,
        None if needed is None else max(needed, measured.partitions),
        trend_of(measured.day_peaks),
        _trend(measured, target),
        _catch_up(measured),
    )


def demand_of(measured: Measured, target: Target) -> Demand:
    """The rate at which all that comes, with its growth, is consumed in time, whichever window one looks at."""
    windows = zip(measured.window_s, measured.window_records, strict=True)
    asked = [Demand(came * (1 + target.growth) / (long_s + target.drain_s), long_s, came) for long_s, came in windows]
    # what comes on average comes for ever: no drain time makes less of that
    average = Demand(measured.produce_mean * (1 + target.growth), measured.seconds, measured.produced, is_average=True)
    return max([average, *asked], key=lambda one: (round(one.rate, 6), one.window_s))


def consumers_needed(demand_rate: float, capacity: float) -> int | None:
    """How many consumers of that capacity do it; None if they do nothing at all."""
    if demand_rate <= 0:
        return 0
    if capacity <= 0:
        return None
    # a hair above a whole number is noise of the measurement, not one more consumer
    return max(math.ceil(demand_rate / capacity - 1e-6), 1)


def consumers_now(measured: Measured) -> int:
    """How many consumers can work; where nobody told of members, each partition is taken to have one."""
    return measured.read if measured.members is None else min(measured.members, measured.partitions)


def _one_consumer(measured: Measured) -> float:
    return measured.capacity if measured.capacity is not None else measured.highest


def _verdict(measured: Measured, demand: Demand, needed: int | None) -> Verdict:
    if not measured.read:
        return Verdict.UNKNOWN
    if demand.rate <= 0:
        return Verdict.IDLE
    if needed is None:
        return Verdict.UNKNOWN
    if needed <= consumers_now(measured):
        return Verdict.ENOUGH
    if measured.capacity is None:
        return Verdict.UNKNOWN
    return Verdict.PARTITIONS if needed > measured.partitions else Verdict.CONSUMERS


# -- words -----------------------------------------------------------------------------------------------------------


def _why(measured: Measured, target: Target, demand: Demand, needed: int | None, verdict: Verdict) -> str:
    if not measured.read:
        return "where the topic ends was not observed in that time, so nothing can be said"
    if verdict is Verdict.IDLE:
        unread = f"; {records(measured.lag_last)} were still unread" if measured.lag_last >= 1 else ""
        return f"nothing was produced in that time, so nothing is needed{unread}"
    if needed is None:
        return f"{_demanded(target, demand)}; nothing was consumed in that time, so nobody knows how fast a consumer is"
    parts = [_demanded(target, demand), _able(measured, target), _division(measured, target, demand, needed)]
    return "; ".join(parts) + _present(measured, needed, verdict)


def _demanded(target: Target, demand: Demand) -> str:
    """How the peak becomes the rate that is needed."""
    came = rate(demand.records / demand.window_s)
    peak = f"{came} on average" if demand.is_average else f"at the peak {came} for {duration(demand.window_s)}"
    if target.growth:
        grown = demand.records / demand.window_s * (1 + target.growth)
        peak += f" x {1 + target.growth:g} growth = {rate(grown)}"
    if not target.drain_s or demand.is_average:
        return peak
    return f"{peak}, drained {duration(target.drain_s)} later: {rate(demand.rate)}"


def _able(measured: Measured, target: Target) -> str:
    """What one consumer can do, and how that is known."""
    free = f", of which {percent(target.headroom)} stay free" if target.headroom else ""
    if measured.capacity is None:
        why = "it was not seen with a backlog for long enough"
        return f"one consumer did up to {rate(measured.highest)}{free}, and may do more: {why}"
    return f"one consumer does at most {rate(measured.capacity)} (seen while it had a backlog){free}"


def _division(measured: Measured, target: Target, demand: Demand, needed: int) -> str:
    able = _one_consumer(measured) * (1 - target.headroom)
    least = "at the most " if measured.capacity is None else ""
    quotient = demand.rate / able
    shown = f"{quotient:,.1f}" if quotient < 1000 else f"{quotient:,.0f}"
    return f"{amount(demand.rate)} / {amount(able)} = {shown}, so {least}{count(needed, 'consumer')}"


def _present(measured: Measured, needed: int, verdict: Verdict) -> str:
    """What there is, and what is to be done."""
    there = f"there {is_are(measured.partitions)} {count(measured.partitions, 'partition')}"
    if verdict is Verdict.PARTITIONS:
        return f" and at least {count(needed, 'partition')}; {there}"
    if verdict is Verdict.CONSUMERS:
        return f"; {_working(measured)}, and the {count(measured.partitions, 'partition')} are enough for them"
    if verdict is Verdict.UNKNOWN:
        return f"; {_working(measured)}, which may be enough"
    if measured.partitions >= MANY_MORE * max(needed, 1) and measured.partitions - needed > MANY_MORE:
        return f"; {_working(measured)}; {there}, far more than needed, which Kafka cannot take back"
    return f"; {_working(measured)}"


def _working(measured: Measured) -> str:
    now = consumers_now(measured)
    if measured.members is None:
        return f"nobody told of members, so each of {count(measured.read, 'partition')} is taken to have one"
    return f"there {is_are(now)} {now:,}"


def trend_of(day_peaks: tuple[float | None, ...]) -> float | None:
    """By which share of itself the daily peak grows each day: the median of all slopes between two days."""
    known = [(day, peak) for day, peak in enumerate(day_peaks) if peak is not None]
    middle = median(peak for _, peak in known) if known else 0.0
    if len(known) < FEWEST_DAYS or middle <= 0:
        return None
    slopes = ((later - earlier) / (j - i) for (i, earlier), (j, later) in itertools.combinations(known, 2))
    return median(slopes) / middle


def _trend(measured: Measured, target: Target) -> str:
    found, known = trend_of(measured.day_peaks), sum(peak is not None for peak in measured.day_peaks)
    if found is None:
        return _no_trend(measured, known)
    days = f"over {count(known, 'day')}"
    if abs(found) < STEADY:
        return f"the daily peak stays as it is {days}"
    pace = f"the daily peak {'grows' if found > 0 else 'falls'} by {percent(abs(found))} a day {days}"
    if found < 0 or target.growth <= 0:
        return pace
    return f"{pace}; so {percent(target.growth)} more are reached in {count(math.ceil(target.growth / found), 'day')}"


def _no_trend(measured: Measured, known: int) -> str:
    days = len(measured.day_peaks)
    if known >= FEWEST_DAYS:
        return f"nothing was produced{' on most days' if any(measured.day_peaks) else ''}"
    if days >= FEWEST_DAYS:
        return f"not known: of {count(days, 'day')} only {known:,} {was_were(known)} observed well enough"
    return f"too short to tell: {duration(measured.seconds)} instead of {FEWEST_DAYS} days at least"


def _catch_up(measured: Measured) -> str:
    """What is left beside the usual work, and how long the largest backlog takes with that."""
    if measured.capacity is None:
        return "not known: no consumer was seen with a backlog for long enough"
    whole = measured.capacity * consumers_now(measured)
    spare = whole - measured.produce_mean
    workers = f"{count(consumers_now(measured), 'consumer')} x {rate(measured.capacity)}"
    made_of = f"{workers} - {rate(measured.produce_mean)} that come on average"
    if spare <= 0:
        return f"none: {made_of} leaves nothing, so a backlog stays"
    backlog = f"; the largest backlog, {records(measured.lag_max)} at {instant(measured.lag_max_ms)}"
    return f"{made_of} = {rate(spare)}{backlog}, takes {duration(measured.lag_max / spare)}"
