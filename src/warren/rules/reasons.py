"""Why a partition is judged as it is, in words and numbers."""

from __future__ import annotations

from itertools import pairwise

from warren.rules import warren
from warren.rules.insight import threshold_reason
from warren.rules.rule import Rule, Settings
from warren.windows.rings import Entry


def reason(rule: Rule, entries: list[Entry], lag: int, settings: Settings, now_ms: int) -> str:
    """Why a partition is judged as it is, in words and numbers."""
    if not entries:
        return "no commit yet"
    first, last = entries[0], entries[-1]
    silent_s, span_s = (now_ms - last.timestamp_ms) // 1000, (last.timestamp_ms - first.timestamp_ms) / 1000
    match rule:
        case Rule.INCOMPLETE:
            return f"only {len(entries)} commits seen, too few to judge"
        case Rule.NO_HEAD:
            return "the end of this partition is not known"
        case Rule.CAUGHT_UP:
            return "caught up" if lag == 0 else f"lag {lag:,} is at most the allowed {settings.allowed_lag:,}"
        case Rule.STOPPED:
            return f"no commit for {silent_s:,} s, window spans {span_s:,.0f} s, lag {lag:,}"
        case Rule.REWOUND:
            return _rewind_reason(entries)
        case Rule.CAUGHT_UP_LATELY | Rule.KEEPS_UP:
            return f"lag {lag:,}, but {_KEPT_UP[rule].format(len(entries))}"
        case Rule.STALLED:
            return f"the last {len(entries)} commits are all of offset {last.offset:,}, lag {lag:,}"
        case Rule.FALLING_BEHIND:
            return _falling_behind_reason(entries, lag)
        case Rule.OVER_RECORDS | Rule.OVER_SECONDS:
            return threshold_reason(rule, lag)
        case _ if rule in warren.OWN_RULES:
            return warren.reason(rule, entries, lag, now_ms)
        case _:
            return f"lag {lag:,}, and it fell within the last {len(entries)} commits"


_KEPT_UP = {
    Rule.CAUGHT_UP_LATELY: "caught up within the last {} commits",
    Rule.KEEPS_UP: "each of the last {} commits reached the end observed before it",
}


def _rewind_reason(entries: list[Entry]) -> str:
    before, after = next((a, b) for a, b in pairwise(entries) if b.offset < a.offset)
    return f"went back from offset {before.offset:,} to {after.offset:,} and has not reached it again"


def _falling_behind_reason(entries: list[Entry], lag: int) -> str:
    lags = [entry.lag for entry in entries if entry.lag is not None]
    if not lags:
        return f"lag {lag:,}, and no earlier lag is known to compare it with"
    return f"lag did not fall in {len(entries)} commits: {lags[0]:,} then, {lags[-1]:,} at the last commit, {lag:,} now"
