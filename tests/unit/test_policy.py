"""Which rule set and thresholds hold for a group, and what they make of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.scenario import commit_table, head_table
from warren.app import App
from warren.clusters.state import ClusterState
from warren.config.load import parse
from warren.model import Status
from warren.rules.rule import Rule

CONFIG = {
    "cluster": {"prod": {"servers": ["127.0.0.1:1"]}, "test": {"servers": ["127.0.0.1:1"]}},
    "consumer": {"prod": {"cluster": "prod"}, "test": {"cluster": "test"}},
    "rules": {"ours": {"use": "warren", "cluster": "^prod$", "group": "^new-"}},
    "threshold": {
        "orders": {"topic": "^orders$", "group": "^new-", "records": 50},
        "old": {"group": "old", "seconds": 5},
    },
    "httpserver": {"default": {"address": "127.0.0.1:0"}},
}


@pytest.fixture
def clusters(tmp_path: Path) -> dict[str, ClusterState]:
    app = App(parse(CONFIG, "a test"), tmp_path)
    for listener in app.listeners:
        listener.stop()
    for state in app.clusters.values():
        commits = [(name, "orders", 0, 10, 15_000) for name in ("new-billing", "old-billing", "plain")]
        for second, end in ((9, 10), (13, 11)):
            state.apply_head_rows(head_table({"orders": [end]}, second * 1000), now_ms=second * 1000)
        state.apply_commit_rows(state.name, commit_table(*commits), now_ms=16_000)
        state.apply_head_rows(head_table({"orders": [100]}, 20_000), now_ms=20_000)
    return app.clusters


def judged(state: ClusterState, group: str, **rules: str) -> tuple[Status, Rule, str]:
    verdict = state.judge(group, now_ms=30_000, **rules)
    assert verdict is not None
    return verdict.status, verdict.partitions[0].rule, verdict.partitions[0].reason


def test_a_pattern_chooses_the_rule_set(clusters: dict[str, ClusterState]) -> None:
    assert clusters["prod"].policy.rule_set_of("new-billing") == "warren"
    assert clusters["prod"].policy.rule_set_of("old-billing") == "burrow"
    assert clusters["test"].policy.rule_set_of("new-billing") == "burrow"


def test_both_rule_sets_can_be_asked(clusters: dict[str, ClusterState]) -> None:
    """One commit is a stall to Burrow, and too little to say so to Warren."""
    assert judged(clusters["test"], "plain", rule_set="burrow")[:2] == (Status.ERR, Rule.STALLED)
    assert judged(clusters["test"], "plain", rule_set="warren")[:2] == (Status.OK, Rule.TOO_FEW_COMMITS)


def test_a_threshold_makes_a_fine_partition_warn_and_says_so(clusters: dict[str, ClusterState]) -> None:
    status, rule, reason = judged(clusters["prod"], "new-billing")

    assert (status, rule) == (Status.WARN, Rule.OVER_RECORDS)
    assert reason == "lag 90 is above the threshold that was set"


def test_a_threshold_never_makes_a_verdict_better(clusters: dict[str, ClusterState]) -> None:
    assert judged(clusters["prod"], "old-billing")[:2] == (Status.ERR, Rule.STALLED)


def test_lag_in_seconds_is_the_age_of_the_first_unread_record(clusters: dict[str, ClusterState]) -> None:
    verdict = clusters["prod"].judge("old-billing", now_ms=30_000)

    assert verdict is not None
    told = verdict.partitions[0].insight
    assert told.lag_s == pytest.approx(17.0, abs=0.2)
    assert told.commit_age_s == 15.0
    assert told.lost_records == 0
