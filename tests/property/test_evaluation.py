"""All groups at once: whatever a store holds, each group is judged as it is by itself."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.scenario import commit_rows, head_rows
from warren.model import Status
from warren.rules import evaluation as all_at_once
from warren.rules.evaluation import ages_s, causes, evaluate, row_policy
from warren.rules.insight import Threshold
from warren.rules.policy import Policy, RulesFor, ThresholdFor
from warren.rules.rule import Settings
from warren.rules.rule_sets import RULE_SETS
from warren.rules.verdict import GroupVerdict, facts_of, judge_group
from warren.windows.labels import Owner
from warren.windows.store import Assignment, Limits, Windows

GROUPS, TOPICS, PARTITIONS = ("a", "b", "c"), ("x", "y"), 3
NOW_MS = 400_000

commits = st.tuples(
    st.sampled_from(GROUPS),
    st.sampled_from(TOPICS),
    st.integers(0, PARTITIONS - 1),
    st.integers(0, 60),
    st.integers(0, 60).map(lambda s: s * 5_000),
)
ends = st.lists(st.integers(0, 100), min_size=3, max_size=5).map(sorted)
owners = st.lists(st.tuples(st.sampled_from(GROUPS), st.sampled_from(TOPICS)), max_size=2)
thresholds = st.builds(Threshold, st.one_of(st.none(), st.integers(0, 60)), st.one_of(st.none(), st.integers(0, 400)))
policies = st.builds(
    lambda rules, limits: Policy(
        tuple(RulesFor(re.compile(group), rule_set) for group, rule_set in rules),
        tuple(ThresholdFor(re.compile(group), re.compile(topic), limit) for group, topic, limit in limits),
    ),
    st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.sampled_from(list(RULE_SETS))), max_size=2),
    st.lists(st.tuples(st.sampled_from(["", "a", "c"]), st.sampled_from(["", "x"]), thresholds), max_size=2),
)
settings = st.builds(Settings, st.sampled_from([0, 0, 5]), st.sampled_from([0.0, 0.0, 0.6]))


def store_of(history: list[tuple[str, str, int, int, int]], ends: list[int], owned: list[tuple[str, str]]) -> Windows:
    windows = Windows(Limits(4))
    for n, end in enumerate(ends):
        windows.apply_heads(head_rows({"x": [end] * PARTITIONS, "y": [end, end // 2, -1]}, 1 + n * 90_000))
    for order, (group, topic, partition, offset, at_ms) in enumerate(sorted(history, key=lambda one: one[4])):
        windows.apply_commits(
            commit_rows([(offset, order, at_ms)], group=group, topic=topic, partition=partition), NOW_MS
        )
    for group, topic in owned:
        windows.apply_assignment(Assignment(group, {(topic, 0): Owner("host", "client")}))
    return windows


def alone(windows: Windows, name: str, of: Settings, policy: Policy) -> GroupVerdict:
    facts = facts_of(windows, name, of)
    assert facts is not None
    limits = policy.thresholds_of(name, facts.windows.topics)
    return judge_group(name, facts, of, now_ms=NOW_MS, rule_set=policy.rule_set_of(name), thresholds=limits)


@given(st.lists(commits, max_size=30), ends, owners, policies, settings, st.integers(1, 7))
def test_all_at_once_is_each_by_itself(
    history: list[tuple[str, str, int, int, int]],
    ends: list[int],
    owned: list[tuple[str, str]],
    policy: Policy,
    of: Settings,
    chunk_rows: int,
) -> None:
    windows = store_of(history, ends, owned)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(all_at_once, "CHUNK_ROWS", chunk_rows)
        found = evaluate(windows, of, row_policy(windows, policy), now_ms=NOW_MS)
        age_s = ages_s(windows, found)

    shown = [code for code, status in enumerate(found.group_status.tolist()) if status]
    assert sorted(str(found.names[code]) for code in shown) == windows.groups()
    for code, cause in zip(shown, causes(windows, found, shown, of), strict=True):
        verdict = alone(windows, str(found.names[code]), of, policy)
        assert Status(int(found.group_status[code])) == verdict.status
        assert found.total_lag[code] == verdict.total_lag
        assert found.partitions[code] == len(verdict.partitions)
        assert found.complete[code] == sum(one.complete == 1 for one in verdict.partitions)
        told = [one.insight for one in verdict.partitions]
        assert found.total_lost[code] == sum(one.lost_records or 0 for one in told)
        at_least_s = [-1 if one.lag_s_at_least is None else one.lag_s_at_least for one in told]
        assert age_s[found.group == code].max() == max(at_least_s)
        assert verdict.worst is not None
        assert (cause.status, int(found.lag[found.worst[code]])) == (verdict.worst.status, verdict.worst.current_lag)
        same = [one for one in verdict.partitions if (one.topic, one.partition) == (cause.topic, cause.partition)]
        assert (cause.rule, cause.reason) == (same[0].rule, same[0].reason)


@given(st.lists(commits, max_size=20), ends)
def test_another_rule_set_can_be_asked_for_all(history: list[tuple[str, str, int, int, int]], ends: list[int]) -> None:
    windows = store_of(history, ends, [])
    for rule_set in RULE_SETS:
        found = evaluate(windows, Settings(), row_policy(windows, Policy(), rule_set), now_ms=NOW_MS)
        policy = Policy((RulesFor(re.compile(""), rule_set),))
        for code in np.flatnonzero(found.group_status).tolist():
            verdict = alone(windows, str(found.names[code]), Settings(), policy)
            assert Status(int(found.group_status[code])) == verdict.status
