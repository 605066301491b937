"""What can be said about partitions beside their status: age of the lag, speeds, and records lost or in danger.

Nothing here changes a verdict, except thresholds where somebody sets them; they can only make it worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from warren.model import Status
from warren.rules.rule import Rule, Verdicts, known_lags, last_entry, status_of
from warren.rules.warren import records_read, span_ms, usual_distance_ms
from warren.windows.columns import UNKNOWN, Bool, Int64
from warren.windows.head_history import Float64
from warren.windows.rings import Window
from warren.windows.views import GroupWindows, Partitions


class LogFacts(NamedTuple):
    """What is known of the log behind each partition of a group; UNKNOWN where it is not.

    `unread_since_ms` is `HeadHistory.time_of` what `first_unread` says, `history_since_ms` its `oldest_ms`, both by our
    clock. `produced_per_s` and `log_start_per_s` are `HeadHistory.rate_per_s` of the end and of the log start.
    """

    log_start: Int64
    unread_since_ms: Int64
    history_since_ms: Int64
    produced_per_s: Float64
    log_start_per_s: Float64


class Insight(NamedTuple):
    """One element for each partition; -1 (UNKNOWN) where it cannot be told."""

    lag_s: Float64
    """The age of the first unread record; 0 when nothing is unread."""
    lag_s_at_least: Float64
    """What is sure of `lag_s`: the same, or how far the history goes back if the record is older."""
    consumed_per_s: Float64
    produced_per_s: Float64
    catch_up_s: Float64
    """Until nothing is unread at these speeds; also -1 if that will never be."""
    commit_age_s: Float64
    lost_records: Int64
    """So many records after the committed offset were deleted before they were read."""
    loss_in_s: Float64
    """Until the first unread record is deleted at the speed of the log start, 0 if some are; also -1 without risk."""


def first_unread(group: Partitions, log_start: Int64) -> Int64:
    """The offset of the first record that each partition's consumer can still read and has not."""
    return np.maximum(last_entry(group.window.offset, group.window), log_start)


def insight(group: Partitions, log: LogFacts, *, now_ms: int, clock_skew_ms: int = 0) -> Insight:
    """Tell what can be told at `now_ms`; `clock_skew_ms` is the brokers' clock less ours."""
    judged = (group.window.length > 0) & (group.head != UNKNOWN)
    unread = np.where(judged, np.maximum(group.head - first_unread(group, log.log_start), 0), UNKNOWN)
    committed_ms = now_ms + clock_skew_ms
    consumed_per_s = _consumed_per_s(group.window, committed_ms)
    produced_per_s = np.where(log.produced_per_s >= 0, log.produced_per_s, _produced_per_s(group.window))
    lag_s = _age_s(unread, log.unread_since_ms, now_ms)
    lost_records = _lost_records(group, log.log_start)
    return Insight(
        lag_s=lag_s,
        lag_s_at_least=np.where(lag_s >= 0, lag_s, _age_s(unread, log.history_since_ms, now_ms)),
        consumed_per_s=consumed_per_s,
        produced_per_s=produced_per_s,
        catch_up_s=_until_s(unread, consumed_per_s, produced_per_s),
        commit_age_s=_commit_age_s(group.window, committed_ms),
        lost_records=lost_records,
        loss_in_s=_loss_in_s(group, log, unread, lost_records, consumed_per_s),
    )


def _age_s(unread: Int64, since_ms: Int64, now_ms: int) -> Float64:
    """How long there is something unread: 0 where there is nothing, however long that has been so."""
    age_s = np.where(since_ms > 0, np.maximum(now_ms - since_ms, 0) / 1000, UNKNOWN)
    return np.where(unread > 0, age_s, np.where(unread == 0, 0.0, UNKNOWN))


def _consumed_per_s(window: Window, now_ms: int) -> Float64:
    """Over the window and what silence there is beyond the usual: the speed of a stopped consumer goes to 0."""
    overdue_ms = np.maximum(now_ms - last_entry(window.timestamp_ms, window) - usual_distance_ms(window), 0)
    return _per_s(records_read(window), span_ms(window) + overdue_ms, span_ms(window) > 0)


def _produced_per_s(window: Window) -> Float64:
    """From the ends at the first and the last commit with a known lag, for want of a history."""
    known = known_lags(window)
    first, last = _first_and_last(known)
    columns = np.arange(window.lag.shape[1])
    end = window.offset + window.lag
    passed_ms = window.timestamp_ms[last, columns] - window.timestamp_ms[first, columns]
    grown_by = np.maximum(end[last, columns] - end[first, columns], 0)
    return _per_s(grown_by, passed_ms, (known.sum(axis=0) > 1) & (passed_ms > 0))


def _first_and_last(marked: Bool) -> tuple[Int64, Int64]:
    """The first and the last marked entry of each window."""
    return marked.argmax(axis=0), len(marked) - 1 - marked[::-1].argmax(axis=0)


def _per_s(records: Int64 | Float64, passed_ms: Int64, known: Bool) -> Float64:
    return np.where(known, records * 1000.0 / np.where(known, passed_ms, 1), UNKNOWN)


def _until_s(records: Int64, closing_per_s: Float64, opening_per_s: Float64) -> Float64:
    """How long until a distance of `records` is closed; UNKNOWN if it never is, or if a speed is not known."""
    net_per_s = closing_per_s - opening_per_s
    closes = (records >= 0) & (closing_per_s >= 0) & (opening_per_s >= 0) & (net_per_s > 0)
    return np.where(records == 0, 0.0, np.where(closes, records / np.where(closes, net_per_s, 1), UNKNOWN))


def _commit_age_s(window: Window, now_ms: int) -> Float64:
    age_s = np.maximum(now_ms - last_entry(window.timestamp_ms, window), 0) / 1000
    return np.where(window.length > 0, age_s, UNKNOWN)


def _lost_records(group: Partitions, log_start: Int64) -> Int64:
    lost = np.maximum(log_start - last_entry(group.window.offset, group.window), 0)
    return np.where((group.window.length > 0) & (log_start != UNKNOWN), lost, UNKNOWN)


def _loss_in_s(
    group: Partitions, log: LogFacts, unread: Int64, lost_records: Int64, consumed_per_s: Float64
) -> Float64:
    """The log start runs after the consumer: when does it reach the first unread record?"""
    ahead = np.where(lost_records == 0, last_entry(group.window.offset, group.window) - log.log_start, UNKNOWN)
    # a consumer whose speed is not known is taken to stand still: better warned too early
    in_s = _until_s(ahead, log.log_start_per_s, np.maximum(consumed_per_s, 0))
    # at the log start and not moving is a place like any other: only a moving one deletes
    at_risk = (unread > 0) & (lost_records == 0) & (log.log_start_per_s > 0)
    return np.where(lost_records > 0, 0.0, np.where(at_risk, in_s, UNKNOWN))


# -- thresholds ------------------------------------------------------------------------------------------------------

NO_LIMIT = np.iinfo(np.int64).max


class Threshold(NamedTuple):
    """The lag from which on a partition that is fine by the rules is WARN all the same; None is no limit."""

    records: int | None = None
    seconds: int | None = None


def apply_thresholds(
    verdicts: Verdicts, group: GroupWindows, found: Insight, thresholds: Sequence[Threshold]
) -> Verdicts:
    """Make partitions above their topic's threshold WARN; `thresholds` has one for each of `group.topics`.

    A verdict that is WARN or worse stays, with its own rule.
    """
    most_records = _limits([one.records for one in thresholds])[group.topic]
    most_seconds = _limits([one.seconds for one in thresholds])[group.topic]
    fine = verdicts.status < Status.WARN
    rule = np.where(fine & (found.lag_s_at_least > most_seconds), np.int8(Rule.OVER_SECONDS), verdicts.rule)
    rule = np.where(fine & (group.current_lag > most_records), np.int8(Rule.OVER_RECORDS), rule)
    return verdicts._replace(status=status_of(rule), rule=rule)


def _limits(values: list[int | None]) -> Int64:
    return np.array([NO_LIMIT if value is None else value for value in values], np.int64)


def threshold_reason(rule: Rule, lag: int) -> str:
    """Why a threshold made a partition WARN."""
    if rule is Rule.OVER_RECORDS:
        return f"lag {lag:,} is above the threshold that was set"
    return f"the first of {lag:,} unread records is older than the threshold that was set"
