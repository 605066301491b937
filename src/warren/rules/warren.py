"""Warren's own rules: Burrow's questions, asked so that fewer answers are wrong.

  1  lag now at most the allowed lag, or the one that the group always leaves             OK
  2  silent for several times the usual distance of commits, while there was work         STOP
  3  the newest commit is below the highest of the window                                 REWIND
  4  fewer than three commits, or than three of them with a known lag                     OK
  5  at every commit all was read that was there a moment before                          OK
     every commit is of the same offset, and none of them was made at the end             STALL
  6  the lag climbs, and is more than the group reads between two commits                 WARN
  7  otherwise                                                                            OK

What differs from Burrow, by the numbers of its known defects:

  D26  one commit is no usual distance: until there are three, silence means five minutes.
  D27  the trend of the known lags decides, so one dip or one zero in it hides nothing. The test is Mann and Kendall's:
       of all pairs of lags, those that rise less those that fall must be two thirds. It asks for the order only, so one
       wild value cannot tip it, and it is easily told. Since some noise looks like a trend for a while, the lag must
       also be more than the group reads in one go; below that it is not behind, it is at work.
  D28  every step back counts. If any was not made up for, the highest offset of the window is above the newest.
  D29  silence is measured against the median distance of commits: one long pause in the window does not stretch it.
  D30  silence counts from when there was something to commit, not from the last commit of an idle topic.
  D31  a lag that is not known is no evidence of anything.
  D32  commits carry the brokers' time, so the brokers' clock says how old they are.
  D35  the allowed lag is allowed in "was at the end lately", too.

A lag that stays as it is is WARN in Burrow and OK here: the group keeps up. A high one is for thresholds to say.
A client that commits the last record it processed instead of the next one is always 1 behind. Such a lag, which a group
leaves each time that it has read to the end, is allowed (`Labels.note_rests`).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from warren.rules.burrow import is_stalled, was_caught_up
from warren.rules.rule import Rule, Settings, UnreadSince, filled, first_yes, is_behind, known_lags, last_entry
from warren.windows.columns import UNKNOWN, Bool, Int64
from warren.windows.head_history import Float64
from warren.windows.labels import LAST_RECORD
from warren.windows.rings import Entry, Window
from warren.windows.views import Partitions

ENOUGH_COMMITS = 3
"""Two distances and a trend of three: less says nothing about what is usual."""

SILENT_DISTANCES = 3
"""So many usual distances without a commit are silence."""

SHORTEST_SILENCE_MS = 60_000
"""Longer than Kafka's default session.timeout.ms of 45 s: when a member dies, another one takes over by then."""

SILENCE_OF_A_NEW_GROUP_MS = 300_000
"""Kafka's default max.poll.interval.ms: who takes longer for one batch is put out of the group."""

LONGEST_TRANSACTION_MS = 900_000
"""Kafka's default transaction.max.timeout.ms: by then the broker itself has ended every transaction that it can."""

SHORTEST_DISTANCE_MS = 5_000
"""Kafka's default auto.commit.interval.ms: who commits more often still reads ahead about as far."""

MOST_RECORDS = float(1 << 62)
"""More than any log has, and it fits into an int64."""


def rules(
    of: Partitions, settings: Settings, *, now_ms: int | Int64, unread_since: UnreadSince, clock_skew_ms: int
) -> NDArray[np.int8]:
    """The rule that decides each partition; the ones before 2 have been asked.

    `unread_since` is what `HeadHistory.passed_since` tells of `first_too_many`; `clock_skew_ms` the brokers' clock less
    ours.
    """
    unread_since_ms = unread_since(np.arange(len(of.head)))
    window, allowed = of.window, allowed_lag(of, settings)
    distance_ms = usual_distance_ms(window)
    silent_ms = silence_ms(window, unread_since_ms, now_ms, clock_skew_ms)
    excused = (unread_since_ms <= 0) & was_at_end_lately(of, allowed)
    much = np.maximum(read_in_one_go(window, distance_ms), allowed)
    held, hangs = is_held(of, allowed), now_ms - of.held_since_ms > LONGEST_TRANSACTION_MS
    questions = [
        (Rule.ONLY_MARKS, of.newest_offset + settings.allowed_lag >= of.readable_end),
        (Rule.USUAL_LAG, of.current_lag <= allowed),
        (Rule.HANGING_TRANSACTION, held & hangs),
        (Rule.OPEN_TRANSACTION, held),
        (Rule.SILENT, (silent_ms > longest_usual_silence_ms(window, distance_ms)) & ~excused),
        (Rule.WENT_BACK, has_gone_back(window)),
        (Rule.TOO_FEW_COMMITS, window.length < ENOUGH_COMMITS),
        (Rule.UNKNOWN_LAG, known_lags(window).sum(axis=0) < ENOUGH_COMMITS),
        (Rule.KEEPS_UP, ~is_behind(window, allowed)),
        (Rule.STALLED, is_stalled(window) & ~was_caught_up(window, allowed)),
        (Rule.CLIMBING, lag_climbs(window) & (last_known_lag(window) > much)),
        (Rule.CAUGHT_UP_LATELY, was_caught_up(window, allowed)),
    ]
    return first_yes(questions, otherwise=Rule.NOT_CLIMBING)


def allowed_lag(of: Partitions, settings: Settings) -> Int64:
    """Return the configured allowed lag, or the group's usual lag if that is larger."""
    return np.maximum(of.usual_lag, settings.allowed_lag)


def is_held(of: Partitions, allowed: Int64) -> Bool:
    """Whether all is read that readers of committed records get: an open transaction keeps the rest from them.

    Who has committed beyond it reads uncommitted records, too, and is not held.
    """
    unread = of.last_stable - of.newest_offset
    held: Bool = (of.held_since_ms > 0) & (of.last_stable != UNKNOWN) & (unread >= 0) & (unread <= allowed)
    return held


def first_too_many(of: Partitions, settings: Settings) -> Int64:
    """The offset whose record makes the lag of each partition larger than allowed."""
    return last_entry(of.window.offset, of.window) + allowed_lag(of, settings)


def silence_ms(window: Window, unread_since_ms: Int64, now_ms: int | Int64, clock_skew_ms: int) -> Int64:
    """For how long a commit could have come: since the last one, and since there was something to commit."""
    commit_ms = last_entry(window.timestamp_ms, window)
    work_ms = np.where(unread_since_ms > 0, unread_since_ms + clock_skew_ms, commit_ms)
    return now_ms + clock_skew_ms - np.maximum(commit_ms, work_ms)


def longest_usual_silence_ms(window: Window, distance_ms: Int64) -> Int64:
    """More than this is silence."""
    longest = np.maximum(SILENT_DISTANCES * distance_ms, SHORTEST_SILENCE_MS)
    return np.where(window.length < ENOUGH_COMMITS, np.maximum(longest, SILENCE_OF_A_NEW_GROUP_MS), longest)


def usual_distance_ms(window: Window) -> Int64:
    """The median time between two commits (the lower one of two), 0 where there are not two."""
    columns = np.arange(window.offset.shape[1])
    if len(window.offset) < 2:
        return np.zeros(len(columns), np.int64)
    distance = np.maximum(np.diff(window.timestamp_ms, axis=0), 0)
    distance = np.sort(np.where(filled(window)[1:], distance, np.iinfo(np.int64).max), axis=0)
    median = distance[np.maximum(window.length - 2, 0) // 2, columns]
    return np.where(window.length < 2, 0, median)


def was_at_end_lately(of: Partitions, allowed: Int64) -> Bool:
    """Whether some remembered end is at most the allowed lag above the last commit."""
    last = last_entry(of.window.offset, of.window)
    at_end: Bool = (of.lowest_head != UNKNOWN) & (of.lowest_head <= last + allowed)
    return at_end


def has_gone_back(window: Window) -> Bool:
    """Whether any step back was not made up for: then the highest offset is above the newest one."""
    highest = np.where(filled(window), window.offset, 0).max(axis=0)
    gone_back: Bool = highest > last_entry(window.offset, window)
    return gone_back


def last_known_lag(window: Window) -> Int64:
    """The newest known lag of each window, UNKNOWN where there is none."""
    last = np.full(window.lag.shape[1], UNKNOWN, np.int64)
    for lag, known in zip(window.lag, known_lags(window), strict=True):
        last = np.where(known, lag, last)
    return last


def lag_climbs(window: Window) -> Bool:
    """Whether of all pairs of known lags those that rise, less those that fall, are at least two thirds."""
    known = known_lags(window)
    rising, pairs = (np.zeros(window.lag.shape[1], np.int64) for _ in range(2))
    for apart in range(1, len(window.lag)):
        both = known[apart:] & known[:-apart]
        rising += (np.sign(window.lag[apart:] - window.lag[:-apart]) * both).sum(axis=0)
        pairs += both.sum(axis=0)
    climbs: Bool = (pairs > 0) & (3 * rising >= 2 * pairs)
    return climbs


def records_read(window: Window) -> Float64:
    """How many records the commits of each window went forward by; going back is not unreading.

    In float64: going far to and fro more often than once is more than an int64 holds.
    """
    forward = np.maximum(np.diff(window.offset, axis=0), 0)
    read: Float64 = (forward * filled(window)[1:]).sum(axis=0, dtype=np.float64)
    return read


def span_ms(window: Window) -> Int64:
    """From the first commit of each window to the last."""
    span: Int64 = last_entry(window.timestamp_ms, window) - window.timestamp_ms[0]
    return span


def read_in_one_go(window: Window, distance_ms: Int64) -> Int64:
    """How many records each group reads in the usual distance of its commits."""
    distance = np.maximum(distance_ms, SHORTEST_DISTANCE_MS)
    read = records_read(window) * (distance / np.maximum(span_ms(window), 1))
    return np.minimum(read, MOST_RECORDS).astype(np.int64)


OWN_RULES = frozenset(
    {
        Rule.SILENT,
        Rule.WENT_BACK,
        Rule.TOO_FEW_COMMITS,
        Rule.UNKNOWN_LAG,
        Rule.CLIMBING,
        Rule.NOT_CLIMBING,
        Rule.ONLY_MARKS,
        Rule.OPEN_TRANSACTION,
        Rule.HANGING_TRANSACTION,
        Rule.USUAL_LAG,
    }
)
"""The rules that only this rule set has."""

# -- in words --------------------------------------------------------------------------------------------------------


def reason(rule: Rule, entries: list[Entry], lag: int, now_ms: int) -> str:
    """Why this rule set judges as it does, for its own rules; `entries` are not empty."""
    lags = [entry.lag for entry in entries if entry.lag is not None]
    match rule:
        case Rule.SILENT:
            return _silence_in_words(entries, lag, now_ms)
        case Rule.WENT_BACK:
            return _step_back_in_words(entries)
        case Rule.TOO_FEW_COMMITS:
            return f"lag {lag:,}, but only {len(entries)} of at least {ENOUGH_COMMITS} commits seen to tell a trend"
        case Rule.UNKNOWN_LAG:
            return f"lag {lag:,}, but known at only {len(lags)} of {len(entries)} commits, too few to tell a trend"
        case Rule.ONLY_MARKS:
            return f"the {lag:,} offsets up to the end are marks of transactions, all records are read"
        case Rule.USUAL_LAG if lag == LAST_RECORD:
            return f"always {lag} behind: this client commits the last record it processed"
        case Rule.USUAL_LAG:
            return f"always {lag} behind: the group leaves this lag each time it reads to the end"
        case Rule.OPEN_TRANSACTION:
            return f"lag {lag:,}, but an open transaction keeps it from readers of committed records; the rest is read"
        case Rule.HANGING_TRANSACTION:
            longest_min = LONGEST_TRANSACTION_MS // 60_000
            return (
                f"lag {lag:,} behind a transaction that has been open for over {longest_min} minutes; the rest is read"
            )
        case Rule.CLIMBING:
            return f"lag climbs over the last {len(entries)} commits: from {lags[0]:,} to {lags[-1]:,}, {lag:,} now"
        case _:
            return f"lag {lag:,}, but it does not climb: {lags[0]:,} then, {lags[-1]:,} at the last commit"


def _silence_in_words(entries: list[Entry], lag: int, now_ms: int) -> str:
    silent_s = (now_ms - entries[-1].timestamp_ms) // 1000
    if len(entries) < ENOUGH_COMMITS:
        return f"no commit for {silent_s:,} s after only {len(entries)}, lag {lag:,}"
    distances = sorted(max(after.timestamp_ms - before.timestamp_ms, 0) for before, after in pairwise(entries))
    usual_s = distances[(len(distances) - 1) // 2] / 1000
    return f"no commit for {silent_s:,} s, usually one every {usual_s:,.0f} s, lag {lag:,}"


def _step_back_in_words(entries: list[Entry]) -> str:
    offsets = [entry.offset for entry in entries]
    highest = max(range(len(offsets)), key=lambda i: (offsets[i], i))
    return f"went back from offset {offsets[highest]:,} to {offsets[highest + 1]:,} and has not reached it again"
