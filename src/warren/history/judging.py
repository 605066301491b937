"""How the groups of a cluster are judged, in one value that can be written down and read back. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from warren.patterns import compile_pattern
from warren.rules.insight import Threshold
from warren.rules.policy import Policy, RulesFor, ThresholdFor
from warren.rules.rule import Settings
from warren.windows.store import Limits


@dataclass(frozen=True)
class RulesOf:
    """The rule set for the groups that a pattern finds."""

    group: str
    use: str


@dataclass(frozen=True)
class ThresholdOf:
    """A threshold for the topics of groups that two patterns find."""

    group: str
    topic: str
    records: int | None = None
    seconds: int | None = None


@dataclass(frozen=True)
class Judging:
    """What `[storage]`, `[evaluator]`, `[rules]` and `[threshold]` come to for one cluster."""

    intervals: int = 10
    min_distance_ms: int = 0
    expire_group_ms: int = 604_800_000
    allowed_lag: int = 0
    minimum_complete: float = 0.0
    rules: tuple[RulesOf, ...] = ()
    thresholds: tuple[ThresholdOf, ...] = ()

    @property
    def limits(self) -> Limits:
        """How much windows remember."""
        return Limits(self.intervals, self.min_distance_ms, self.expire_group_ms)

    @property
    def settings(self) -> Settings:
        """What the rules are told."""
        return Settings(self.allowed_lag, self.minimum_complete)

    @property
    def policy(self) -> Policy:
        """Which rules hold for whom."""
        return Policy(
            tuple(RulesFor(compile_pattern(one.group), one.use) for one in self.rules),
            tuple(
                ThresholdFor(
                    compile_pattern(one.group), compile_pattern(one.topic), Threshold(one.records, one.seconds)
                )
                for one in self.thresholds
            ),
        )

    def with_changes(self, changes: dict[str, Any]) -> Judging:
        """The same with other values for some names."""
        return replace(self, **changes)

    def to_text(self) -> str:
        """As it is written down."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Judging:
        """As it was written down; what an older Warren did not know has its default."""
        values = json.loads(text)
        rules = tuple(RulesOf(**one) for one in values.pop("rules", ()))
        thresholds = tuple(ThresholdOf(**one) for one in values.pop("thresholds", ()))
        return cls(**values, rules=rules, thresholds=thresholds)
