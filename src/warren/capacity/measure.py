"""Measures one group and topic: matrices of partitions by time in, one row of numbers out. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from warren.capacity.grid import DAY_MS, Bool, Float, Grid, Int

WINDOWS_MIN = (
    *(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 23, 26, 30, 35, 40, 45, 50, 60, 70, 80, 90, 105, 120),
    *(140, 160, 180, 210, 240, 270, 300, 360, 420, 480, 540, 600, 720, 840, 960, 1080, 1200, 1320, 1440),
)
"""Each at most a fifth longer than the one before, so that no window in between holds much more."""
CAPACITY_QUANTILE = 0.9
"""Not the highest: commits are not made on the minute, so single minutes seem faster than they were."""
SUSTAINED_S = 300
"""What a consumer did in each minute of so long a time it can do; a single minute may be a jump to the end."""
FEWEST_STEPS = 3
"""With a backlog seen more seldom than this nothing is said about the capacity."""
MOST_POINTS = 240
HOUR_S = 3_600


class Assignment(NamedTuple):
    """Who owned the partitions of the topic from a moment on."""

    at_ms: int
    members: int
    owned: int
    """Partitions of all topics."""
    partition: Sequence[int]
    owner: Sequence[str]


class Log(NamedTuple):
    """One partition at the edges since its end last went down: before, other records had the same offsets."""

    grid: Grid
    end: Float
    log_start: Float
    lag: Float


@dataclass(frozen=True)
class Sides:
    """The two sides of a topic at the edges of the grid, as matrices of partitions by edges; NaN is not known."""

    grid: Grid
    partition: Int
    end: Float
    log_start: Float
    position: Float
    """Of the group."""

    def known(self) -> Sides:
        """From the first step on of which the ends are known: there may be none."""
        is_known = ~np.isnan(np.diff(self.end, axis=1)).all(axis=0)
        first = int(is_known.argmax()) if is_known.any() else self.grid.steps
        cut = (column[:, first:] for column in (self.end, self.log_start, self.position))
        return Sides(self.grid.since(first), self.partition, *cut)

    @property
    def is_sure(self) -> Bool:
        """At each edge, whether the two sides are of one moment: neither in a hole nor where an end goes down."""
        goes_down = np.diff(self.end, axis=1) < 0
        beside = np.pad(goes_down, ((0, 0), (0, 1))) | np.pad(goes_down, ((0, 0), (1, 0)))
        return np.logical_and(self.grid.seen_edges, ~beside)

    @property
    def produced(self) -> Float:
        """In each step; an end that went down (another topic of that name) produced nothing."""
        return np.maximum(np.nan_to_num(np.diff(self.end, axis=1)), 0.0)

    @property
    def lag(self) -> Float:
        """At each edge, 0 where it is not known."""
        return np.where(self.is_sure, np.maximum(np.nan_to_num(self.end - self.position), 0.0), 0.0)

    @property
    def consumed(self) -> Float:
        """In each step; neither going back counts, nor going over what the log has let go."""
        skipped = np.maximum(-np.nan_to_num(np.diff(self.missing, axis=1)), 0.0)
        return np.maximum(np.nan_to_num(np.diff(self.position, axis=1)) - skipped, 0.0)

    @property
    def missing(self) -> Float:
        """At each edge, the records between the group and the beginning of the log, as of the last sure edge."""
        found = np.maximum(np.nan_to_num(self.log_start - self.position), 0.0)
        last_sure = np.maximum.accumulate(np.where(self.is_sure, np.arange(found.shape[1]), 0), axis=1)
        return np.take_along_axis(found, last_sure, axis=1)

    def logs(self, lag: Float) -> Iterator[Log]:
        """Of each partition what still tells how old its records are."""
        for end, log_start, behind in zip(self.end, self.log_start, lag, strict=True):
            first = int(np.flatnonzero(np.append(True, np.diff(end) < 0))[-1])
            yield Log(self.grid.since(first), end[first:], log_start[first:], behind[first:])


def measure(sides: Sides, assignments: Sequence[Assignment]) -> dict[str, Any]:
    """The columns of `MEASURED` except for names, `partitions` and `rewinds`; none if no step was seen."""
    sides = sides.known()
    if not sides.grid.seen_steps.any():
        return {}
    produced, consumed, lag = sides.produced, sides.consumed, sides.lag
    last = next((one for one in reversed(assignments) if one.members), None)
    return {
        "read": len(sides.partition),
        "members": last.members if last else None,
        "owned": last.owned if last else 0,
        "seconds": sides.grid.steps * sides.grid.step_s,
        "produced": float(produced.sum()),
        "consumed": float(consumed.sum()),
        **_produce(sides.grid, produced.sum(axis=0)),
        **_capacity(sides, consumed, lag, assignments),
        **_lags(sides, lag),
        **_shares(sides.partition, produced, lag),
        "lost": float(np.maximum(np.nan_to_num(np.diff(sides.missing, axis=1)), 0.0).sum()),
        **_series(sides.grid, produced.sum(axis=0), consumed.sum(axis=0), lag.sum(axis=0)[1:]),
    }


# -- what is produced ------------------------------------------------------------------------------------------------


def _produce(grid: Grid, produced: Float) -> dict[str, Any]:
    rate = produced / grid.step_s
    hours = _most_within(produced, round(HOUR_S / grid.step_s))
    lengths = [one for one in (round(m * 60 / grid.step_s) for m in WINDOWS_MIN) if 1 <= one <= grid.steps]
    lengths = sorted({*lengths, grid.steps})
    windows = [_most_within(produced, length) for length in lengths]
    return {
        "produce_p95": float(np.quantile(rate[grid.seen_steps], 0.95)),
        "produce_peak": float(rate.max()),
        "produce_peak_ms": int(grid.edges_ms[int(rate.argmax())]),
        "peak_hour": hours[0] / HOUR_S if hours else None,
        "peak_hour_ms": int(grid.edges_ms[hours[1]]) if hours else None,
        "window_s": [length * grid.step_s for length in lengths],
        "window_records": [one[0] for one in windows if one],
        "day_peaks": list(_day_peaks(grid, produced)),
    }


def _most_within(values: Float, length: int) -> tuple[float, int] | None:
    """The largest sum of so many neighbours, and where they begin; None if there are fewer."""
    if length > len(values):
        return None
    total = np.concatenate(([0.0], np.cumsum(values)))
    sums = total[length:] - total[:-length]
    at = int(sums.argmax())
    return float(sums[at]), at


def _day_peaks(grid: Grid, produced: Float) -> Iterator[float | None]:
    day, hour, seen = DAY_MS // grid.step_ms, round(HOUR_S / grid.step_s), grid.seen_steps
    for back in range(len(produced) // day, 0, -1):
        of_day = slice(len(produced) - back * day, len(produced) - (back - 1) * day)
        found = _most_within(produced[of_day], hour)
        hides_hour = int((~seen[of_day]).sum()) >= hour
        yield found[0] / HOUR_S if found and not hides_hour else None


# -- what one consumer can do ----------------------------------------------------------------------------------------


def _capacity(sides: Sides, consumed: Float, lag: Float, assignments: Sequence[Assignment]) -> dict[str, Any]:
    # More waited at the beginning of the step than was done in it: the consumer never ran dry. Where nothing at all
    # was done it was not working, which says nothing about its speed.
    is_backlogged = (lag[:, :-1] >= consumed) & (consumed > 0) & sides.grid.seen_steps
    seen, highest = [], 0.0
    for steps, consumer in _consumers(sides, assignments):
        for one in np.unique(consumer):
            mine = consumer == one
            done = consumed[mine, steps].sum(axis=0)
            seen.append(done[is_backlogged[mine, steps].any(axis=0)])
            highest = max(highest, _sustained(done, sides.grid))
    with_backlog = np.concatenate(seen) / sides.grid.step_s if seen else np.empty(0)
    is_known = len(with_backlog) >= FEWEST_STEPS
    return {
        # a consumer that keeps a distance always has a backlog, and only sometimes shows what it can do
        "capacity": max(float(np.quantile(with_backlog, CAPACITY_QUANTILE)), highest) if is_known else None,
        "capacity_steps": len(with_backlog),
        "highest": highest,
        "consume_peak": float(consumed.sum(axis=0).max(initial=0.0)) / sides.grid.step_s,
    }


def _sustained(done: Float, grid: Grid) -> float:
    """The highest rate that was reached in each step of `SUSTAINED_S`, and of two steps at least."""
    length = min(max(round(SUSTAINED_S / grid.step_s), 2), len(done))
    if not length:
        return 0.0
    return float(np.lib.stride_tricks.sliding_window_view(done, length).min(axis=1).max()) / grid.step_s


def _consumers(sides: Sides, assignments: Sequence[Assignment]) -> Iterator[tuple[slice, Int]]:
    """For each stretch of steps the number of the consumer that owned each partition.

    Before the first assignment it was as after it; if nobody told, each partition has a consumer of its own.
    """
    told = [one for one in assignments if one.partition and one.members]
    if not told:
        yield slice(0, sides.grid.steps), sides.partition
        return
    begins = [(one.at_ms - sides.grid.from_ms) / sides.grid.step_ms for one in told]
    first = [0, *(min(max(int(np.ceil(at)), 0), sides.grid.steps) for at in begins[1:]), sides.grid.steps]
    for one, begin, end in zip(told, first[:-1], first[1:], strict=True):
        if begin < end:
            yield slice(begin, end), consumer_numbers(one, sides.partition)


def consumer_numbers(assignment: Assignment, partition: Int) -> Int:
    """For each partition the number of its consumer.

    Where owners are told without their member ids, several members may look alike. Then neighbouring partitions are
    taken to be those of one member, as Kafka's usual assignors give them out. A partition of nobody stands for itself.
    """
    owner_of = dict(zip(assignment.partition, assignment.owner, strict=True))
    named = sorted((owner_of[one], one) for one in partition.tolist() if one in owner_of)
    names = sorted({name for name, _ in named})
    members = min(assignment.members, len(named))
    if len(names) >= members:
        number = {one: names.index(name) for name, one in named}
    else:
        number = {one: at * members // len(named) for at, (_, one) in enumerate(named)}
    return np.array([number.get(one, -1 - one) for one in partition.tolist()], np.int64)


# -- lag and the log -------------------------------------------------------------------------------------------------


def _lags(sides: Sides, lag: Float) -> dict[str, Any]:
    total = lag.sum(axis=0)
    at = int(total.argmax())
    logs = list(sides.logs(lag))
    longest = max((_longest_wait(one) for one in logs), default=(0.0, False))
    kept = [age_s for one in logs if (age_s := _shortest_kept(one)) is not None]
    return {
        "lag_last": float(total[-1]),
        "lag_max": float(total[at]),
        "lag_max_ms": int(sides.grid.edges_ms[at]),
        "lag_mean": float(total[sides.grid.seen_edges].mean()),
        "lag_s_max": longest[0],
        "lag_s_is_least": longest[1],
        "kept_s": min(kept, default=None),
    }


def _longest_wait(log: Log) -> tuple[float, bool]:
    """How old the oldest unread record was at most, in seconds; and whether it was older than that."""
    at = np.flatnonzero(log.lag >= 1)
    if not len(at):
        return 0.0, False
    produced_ms = _produced_ms(log, log.end[at] - log.lag[at])
    waits = (log.grid.edges_ms[at] - np.where(np.isnan(produced_ms), _first_known_ms(log), produced_ms)) / 1000
    longest = int(waits.argmax())
    return max(float(waits[longest]), 0.0), bool(np.isnan(produced_ms[longest]))


def _shortest_kept(log: Log) -> float | None:
    """How old the oldest record was at least, right after the log had let some go."""
    has_records = (log.log_start < log.end) & log.grid.seen_edges
    let_go = np.flatnonzero((np.diff(log.log_start) > 0) & has_records[1:]) + 1
    age_s = (log.grid.edges_ms[let_go] - _produced_ms(log, log.log_start[let_go])) / 1000
    age_s = age_s[~np.isnan(age_s)]
    return float(age_s.min()) if len(age_s) else None


def _produced_ms(log: Log, offsets: Float) -> Float:
    """When the record at each offset was produced; NaN if that was before the first known end."""
    known = np.flatnonzero(~np.isnan(log.end))
    if not len(known):
        return np.full(len(offsets), np.nan)
    ends, edges_ms = log.end[known], log.grid.edges_ms[known]
    after = np.clip(np.searchsorted(ends, offsets, "right"), 1, max(len(ends) - 1, 1))
    if len(ends) == 1:
        return np.where(offsets < ends[0], np.nan, edges_ms[0])
    low, high = ends[after - 1], ends[after]
    share = np.clip((offsets - low) / np.maximum(high - low, 1), 0, 1)
    return np.where(offsets < ends[0], np.nan, edges_ms[after - 1] + share * log.grid.step_ms)


def _first_known_ms(log: Log) -> float:
    known = np.flatnonzero(~np.isnan(log.end))
    return float(log.grid.edges_ms[known[0] if len(known) else 0])


# -- who has most of it ----------------------------------------------------------------------------------------------


def _shares(partition: Int, produced: Float, lag: Float) -> dict[str, Any]:
    hot, slow = _largest(produced.sum(axis=1)), _largest(lag.sum(axis=1))
    return {
        "hot_partition": int(partition[hot[0]]),
        "hot_share": hot[1],
        "slow_partition": int(partition[slow[0]]),
        "slow_share": slow[1],
    }


def _largest(of: Float) -> tuple[int, float]:
    at, total = int(of.argmax()), float(of.sum())
    return at, float(of[at]) / total if total else 0.0


# -- for plots -------------------------------------------------------------------------------------------------------


def _series(grid: Grid, produced: Float, consumed: Float, lag: Float) -> dict[str, Any]:
    stride = -(-grid.steps // MOST_POINTS)
    begins = np.arange(0, grid.steps, stride)
    seconds = np.diff(np.append(begins, grid.steps)) * grid.step_s
    seen = np.logical_or.reduceat(grid.seen_steps, begins).tolist()

    def points(values: Float) -> list[float | None]:
        return [value if is_seen else None for value, is_seen in zip(values.tolist(), seen, strict=True)]

    return {
        "series_ms": (grid.edges_ms[begins] + grid.step_ms * stride / 2).astype(np.int64).tolist(),
        "series_produced": points(np.add.reduceat(produced, begins) / seconds),
        "series_consumed": points(np.add.reduceat(consumed, begins) / seconds),
        "series_lag": points(np.maximum.reduceat(lag, begins)),
    }
