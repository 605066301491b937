"""What was thought of one group at one moment, and why: its windows as they were then, judged again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from warren.errors import HistoryError
from warren.history.reader import HistoryReader, Span
from warren.replay.job import Request, replayed
from warren.replay.kernel import Moment
from warren.reports.moments import instant
from warren.rules.verdict import GroupVerdict, PartitionVerdict, facts_of, judge_group

WATCHED_MS = 300_000
"""If there was no evaluation for so long Warren did not run."""
ANSWER = pa.schema([("answer", pa.string())])


def thought_at(reader: HistoryReader, cluster: str, group: str, at_ms: int) -> dict[str, Any]:
    """What was thought of a group; `HistoryError` if nothing was known of it then."""
    span = reader.checked(Span(cluster, at_ms - 1, at_ms))
    request = Request(span, only_group=group, shards=1)

    def rows(moments: Iterator[Moment]) -> Iterable[pa.Table]:
        answer = None
        for one in moments:
            if one.at_ms >= at_ms - WATCHED_MS:
                answer = _thought(one, group)
        yield pa.table({"answer": [json.dumps(answer)]}, schema=ANSWER)

    found = [json.loads(row["answer"]) for row in replayed(reader, request, rows, ANSWER).collect()]
    answers = [one for one in found if one]
    if not answers:
        message = f"Nothing was known of group {group} in cluster {cluster} at {instant(at_ms)}."
        raise HistoryError(message, hint="It had not committed yet, or was forgotten, or Warren did not run.")
    return {"cluster": cluster, **answers[0]}


def _thought(moment: Moment, group: str) -> dict[str, Any] | None:
    facts = facts_of(moment.windows, group, moment.judging.settings)
    if facts is None:
        return None
    policy, as_of_ms = moment.judging.policy, moment.evaluation.as_of_ms
    verdict = judge_group(
        group,
        facts,
        moment.judging.settings,
        now_ms=moment.at_ms,
        as_of_ms=None if as_of_ms is None else int(as_of_ms[moment.evaluation.names.index(group)]),
        rule_set=policy.rule_set_of(group),
        thresholds=policy.thresholds_of(group, facts.windows.topics),
    )
    return _answer(verdict, moment.at_ms)


def _answer(verdict: GroupVerdict, at_ms: int) -> dict[str, Any]:
    return {
        "group": verdict.group,
        "at": instant(at_ms),
        "status": verdict.status.name,
        "rule_set": verdict.rule_set,
        "reason": verdict.reason,
        "total_lag": verdict.total_lag,
        "partitions": [_partition(one) for one in verdict.partitions],
    }


def _partition(one: PartitionVerdict) -> dict[str, Any]:
    return {
        "topic": one.topic,
        "partition": one.partition,
        "status": one.status.name,
        "rule": one.rule.name.lower(),
        "reason": one.reason,
        "lag": one.current_lag,
        "lag_seconds": one.insight.lag_s,
        "end_offset": one.end_offset,
        "window": [
            {"committed_at": instant(entry.timestamp_ms), "offset": entry.offset, "lag": entry.lag}
            for entry in one.entries
        ],
    }
