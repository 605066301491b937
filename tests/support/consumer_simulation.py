"""Consumers and producers on a simulated clock: what each rule set says of them, second by second.

`random_case` makes up one consumer of one partition. `simulate` shows many of them to one store of windows, as the
pipeline would, and to Burrow's own way of measuring lag: against the end that it fetched last when the commit came in.

`python -m tests.support.consumer_simulation` prints the table of docs/accuracy.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warren.model import Status
from warren.rules.evaluation import evaluate, row_policy
from warren.rules.policy import Policy
from warren.rules.rule import Settings
from warren.rules.rule_sets import judge
from warren.windows.columns import UNKNOWN, Int64
from warren.windows.commit_rows import CommitRows
from warren.windows.heads import HeadRows
from warren.windows.rings import Window
from warren.windows.store import Limits, Windows
from warren.windows.views import Partitions

STALE = "Burrow"
RULE_SETS = (STALE, "burrow", "warren")
"""Burrow's rules with its own lags, and Warren's two rule sets."""

INTERVALS = 10
START_MS = 1_700_000_000_000
STEP_MS = 500
SAMPLE_MS = 1_000
READ_DELAY_MS = 600
"""Warren reads a commit so long after it was made."""
BURROW_READ_DELAY_MS = 20

Statuses = NDArray[np.int8]
Behaviour = Literal["keeps up", "slows down", "stalls", "stops", "rewinds", "reads half"]


# -- producers and consumers -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One consumer of one partition; times are in ms after the start."""

    behaviour: Behaviour
    arrived_ms: Int64
    """When each record arrived, ascending."""
    committed_ms: Int64
    """When the consumer committed, ascending, and which offsets."""
    offset: Int64


class Timing(NamedTuple):
    """What the cases of one simulation have in common."""

    commit_ms: int
    refresh_ms: int

    @property
    def window_ms(self) -> int:
        return INTERVALS * self.commit_ms

    @property
    def first_ms(self) -> int:
        """When Warren starts: in the middle of everything."""
        return 20_000

    @property
    def trouble_ms(self) -> int:
        """When a consumer that does not keep up gets into trouble."""
        return self.first_ms + self.window_ms + self.refresh_ms + 5_000

    @property
    def until_ms(self) -> int:
        return self.trouble_ms + 2 * self.window_ms + 2 * self.refresh_ms + 60_000


def random_case(rng: np.random.Generator, timing: Timing, behaviour: Behaviour) -> Case:
    """Make up a producer and a consumer; whoever reads half reads half of what comes in steadily."""
    producer = _steady_producer(rng) if behaviour == "reads half" else _random_producer(rng)
    arrived_ms = producer(timing.until_ms)
    committed_ms = _ticks(rng, timing)
    offset = np.searchsorted(arrived_ms, committed_ms - rng.integers(1, 200), side="right")
    after = committed_ms >= timing.trouble_ms
    reached = offset[after.argmax()]
    match behaviour:
        case "slows down" | "reads half":
            share = rng.uniform(0.1, 0.9) if behaviour == "slows down" else 0.5
            offset = np.where(after, reached + ((offset - reached) * share).astype(np.int64), offset)
        case "stalls":
            offset = np.where(after, reached, offset)
        case "rewinds":
            offset = np.where(after, offset - reached // 2, offset)
        case "stops":
            committed_ms, offset = committed_ms[~after], offset[~after]
        case "keeps up":
            pass
    if rng.random() < 0.5 and behaviour != "stalls":  # librdkafka commits what is new only, Java's client again
        is_new = np.diff(offset, prepend=UNKNOWN) != 0
        committed_ms, offset = committed_ms[is_new], offset[is_new]
    return Case(behaviour, arrived_ms, committed_ms, offset)


def _steady_producer(rng: np.random.Generator) -> Callable[[int], Int64]:
    gap_ms = 1000 / rng.uniform(1, 60)
    phase_ms = rng.uniform(0, gap_ms)
    return lambda until_ms: np.arange(phase_ms, until_ms, gap_ms).astype(np.int64)


def _random_producer(rng: np.random.Generator) -> Callable[[int], Int64]:
    """Return what gives the arrival times up to a moment."""
    period_ms, size, per_s = int(rng.integers(500, 5_000)), int(rng.integers(1, 50)), float(rng.uniform(0.5, 60))
    phase_ms, kind = rng.integers(period_ms), rng.integers(5)

    def pulses(until_ms: int) -> Int64:
        return np.repeat(np.arange(phase_ms, until_ms, period_ms), size)

    def jittery(until_ms: int) -> Int64:
        at_ms = rng.exponential(1000 / per_s, int(2 * until_ms / 1000 * per_s) + 20).cumsum()
        return at_ms[at_ms < until_ms].astype(np.int64)

    steady = _steady_producer(rng)

    def bursty(until_ms: int) -> Int64:
        at_ms = steady(until_ms)
        return at_ms[(at_ms + phase_ms) % (4 * period_ms) < period_ms]

    def nearly_idle(until_ms: int) -> Int64:
        return jittery(until_ms)[:: int(20 * per_s) + 1]

    return (pulses, steady, jittery, bursty, nearly_idle)[kind]


def _ticks(rng: np.random.Generator, timing: Timing) -> Int64:
    """When a consumer commits."""
    at_ms = np.arange(rng.integers(timing.commit_ms), timing.until_ms, timing.commit_ms)
    return np.sort(at_ms + rng.integers(0, 40, len(at_ms)))


# -- what is said of them --------------------------------------------------------------------------------------------


class Sampled(NamedTuple):
    """What each rule set said of each case in each second: `[samples, cases]`."""

    timing: Timing
    at_ms: Int64
    statuses: dict[str, Statuses]

    def share_in_trouble(self, rule_set: str) -> float:
        """The share of samples that are not OK."""
        return float((self.statuses[rule_set] != Status.OK).mean())

    def delays_s(self, rule_set: str) -> NDArray[np.float64]:
        """How long after the trouble began each case was first not OK, at most until the end."""
        found = (self.statuses[rule_set] != Status.OK) & (self.at_ms[:, None] >= self.timing.trouble_ms)
        first_ms = np.where(found.any(axis=0), self.at_ms[found.argmax(axis=0)], self.timing.until_ms)
        return (first_ms - self.timing.trouble_ms) / 1000


def simulate(cases: Sequence[Case], timing: Timing) -> Sampled:
    """Let the cases happen, and sample once in a second what is said of them."""
    warren, burrow = _Warren(cases), _Burrow(cases)
    at_ms, statuses = [], {rule_set: [] for rule_set in RULE_SETS}
    observed_ms = timing.first_ms
    for now_ms in range(timing.first_ms, timing.until_ms, STEP_MS):
        if now_ms >= observed_ms:
            ends = np.array([np.searchsorted(case.arrived_ms, now_ms, side="right") for case in cases])
            burrow.commit(now_ms)
            burrow.fetch(ends)
            warren.observe(ends, now_ms)
            observed_ms += timing.refresh_ms
        warren.commit(now_ms)
        burrow.commit(now_ms)
        if now_ms % SAMPLE_MS == 0:
            at_ms.append(now_ms)
            statuses[STALE].append(burrow.statuses(now_ms))
            for rule_set in RULE_SETS[1:]:
                statuses[rule_set].append(warren.statuses(rule_set, now_ms))
    return Sampled(timing, np.array(at_ms), {name: np.array(rows) for name, rows in statuses.items()})


class _Commits:
    """The commits of all cases in their order, some at a time."""

    def __init__(self, cases: Sequence[Case], delay_ms: int) -> None:
        case = np.concatenate([np.full(len(one.offset), number) for number, one in enumerate(cases)])
        at_ms, offset = (np.concatenate([getattr(one, name) for one in cases]) for name in ("committed_ms", "offset"))
        in_order = np.argsort(at_ms, kind="stable")
        self.case, self.at_ms, self.offset = case[in_order], at_ms[in_order], offset[in_order]
        self._delay_ms, self._taken = delay_ms, 0

    def take(self, now_ms: int) -> slice:
        """Return those that were read since the last time."""
        start, self._taken = self._taken, int(np.searchsorted(self.at_ms, now_ms - self._delay_ms, side="right"))
        self._taken = max(self._taken, start)
        return slice(start, self._taken)


class _Warren:
    """The windows of one cluster: case `n` is group and topic number `n`."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._windows = Windows(Limits(INTERVALS))
        self._commits = _Commits(cases, READ_DELAY_MS)
        self._topics = [f"t{number:05}" for number in range(len(cases))]
        self._pairs = [(f"g{number:05}", topic) for number, topic in enumerate(self._topics)]

    def observe(self, ends: Int64, now_ms: int) -> None:
        numbers, zeros = np.arange(len(ends)), np.zeros(len(ends), np.int64)
        self._windows.apply_heads(HeadRows(self._topics, numbers, zeros, ends, zeros, START_MS + now_ms))

    def commit(self, now_ms: int) -> None:
        at = self._commits.take(now_ms)
        order = np.arange(at.start, at.stop)
        if len(order):
            of, zeros = self._commits, np.zeros(len(order), np.int64)
            rows = (of.case[at], zeros, of.offset[at], START_MS + of.at_ms[at], order, zeros.astype(np.bool_))
            self._windows.apply_commits(CommitRows(self._pairs, *rows), START_MS + now_ms)

    def statuses(self, rule_set: str, now_ms: int) -> Statuses:
        policy = row_policy(self._windows, Policy(), rule_set)
        found = evaluate(self._windows, Settings(), policy, now_ms=START_MS + now_ms)
        statuses = np.full(len(self._pairs), Status.OK, np.int8)
        cases = [int(str(found.names[code])[1:]) for code in found.group.tolist()]
        statuses[cases] = found.status
        return statuses


class _Burrow:
    """Windows as Burrow keeps them: a commit's lag is against the end that was fetched last."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._commits = _Commits(cases, BURROW_READ_DELAY_MS)
        self._offset, self._ms, self._lag, self._ends = (np.zeros((INTERVALS, len(cases)), np.int64) for _ in range(4))
        self._length, self._fetched = np.zeros(len(cases), np.int64), 0

    def fetch(self, ends: Int64) -> None:
        self._ends = np.concatenate((self._ends[1:], [ends]))
        self._fetched = min(self._fetched + 1, INTERVALS)

    def commit(self, now_ms: int) -> None:
        at = self._commits.take(now_ms)
        columns = (self._commits.case, self._commits.offset, self._commits.at_ms)
        rows = zip(*(column[at].tolist() for column in columns), strict=True)
        for case, offset, at_ms in rows if self._fetched else ():  # before that the topic is not known
            if self._length[case] == INTERVALS:
                for column in (self._offset, self._ms, self._lag):
                    column[:-1, case] = column[1:, case]
            place = min(self._length[case], INTERVALS - 1)
            self._offset[place, case], self._ms[place, case] = offset, START_MS + at_ms
            self._lag[place, case] = max(0, self._ends[-1, case] - offset)
            self._length[case] = place + 1

    def statuses(self, now_ms: int) -> Statuses:
        cases = np.arange(len(self._length))
        newest, end = self._offset[np.maximum(self._length - 1, 0), cases], self._ends[-1]
        zeros, unknown = np.zeros(len(cases), np.int64), np.full(len(cases), UNKNOWN)
        numbers: dict[str, Any] = {"head_row": cases, "log_start": unknown, "last_stable": unknown, "usual_lag": zeros}
        of = Partitions(
            length=self._length,
            owned=zeros.astype(np.bool_),
            head=end,
            newest_offset=newest,
            current_lag=np.where(self._length > 0, np.maximum(end - newest, 0), 0),
            window=Window(
                offset=self._offset,
                timestamp_ms=self._ms,
                lag=self._lag,
                lag_at_least=self._lag,
                length=self._length,
            ),
            lowest_head=self._ends[-self._fetched :].min(axis=0),
            held_since_ms=zeros,
            readable_end=end,
            **numbers,
        )
        return judge("burrow", of, Settings(), now_ms=START_MS + now_ms).status


# -- the table of the docs -------------------------------------------------------------------------------------------

TIMINGS = tuple(Timing(*both) for both in product((1_000, 5_000, 20_000), (1_000, 2_000, 10_000, 30_000)))
TROUBLES: tuple[Behaviour, ...] = ("slows down", "stalls", "stops", "rewinds")


def random_cases(seed: int, timing: Timing, behaviour: Behaviour, count: int) -> list[Case]:
    """Make up cases of one behaviour; each seed gives others."""
    rng = np.random.default_rng([seed, *timing, len(behaviour)])
    return [random_case(rng, timing, behaviour) for _ in range(count)]


def _table(count: int) -> Iterator[str]:
    names = " | ".join(f"{name}" for name in RULE_SETS)
    yield f"| consumer | commits every | offset-refresh | {names} |"
    yield "|---|---|---|" + "---|" * len(RULE_SETS)
    for behaviour in ("keeps up", *TROUBLES):
        for timing in TIMINGS:
            told = simulate(random_cases(0, timing, behaviour, count), timing)  # type: ignore[arg-type]
            if behaviour == "keeps up":
                cells = [f"{told.share_in_trouble(name):.2%}" for name in RULE_SETS]
            else:
                delays = [told.delays_s(name) for name in RULE_SETS]
                cells = [f"{np.median(one):.0f} s / {one.mean():.0f} s" for one in delays]
            seconds = f"{timing.commit_ms // 1000} s | {timing.refresh_ms // 1000} s"
            yield f"| {behaviour} | {seconds} | {' | '.join(cells)} |"


if __name__ == "__main__":
    for line in _table(count=100):
        print(line, flush=True)
