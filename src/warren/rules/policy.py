"""Which rule set and which thresholds hold for a group: the first entry whose patterns fit."""

from __future__ import annotations

from typing import NamedTuple

from warren.patterns import Pattern
from warren.rules.insight import Threshold


class RulesFor(NamedTuple):
    """A rule set for the groups that a pattern finds."""

    group: Pattern
    rule_set: str


class ThresholdFor(NamedTuple):
    """A threshold for the topics of groups that two patterns find."""

    group: Pattern
    topic: Pattern
    threshold: Threshold


class Policy(NamedTuple):
    """How the groups of one cluster are judged; Burrow's rules without thresholds unless something else is said."""

    rules: tuple[RulesFor, ...] = ()
    thresholds: tuple[ThresholdFor, ...] = ()

    def rule_set_of(self, group: str) -> str:
        """The name of the rule set that judges a group."""
        return next((one.rule_set for one in self.rules if one.group.search(group)), "burrow")

    def thresholds_of(self, group: str, topics: list[str]) -> list[Threshold]:
        """The threshold for each of a group's topics; empty where none is set for any."""
        found = [self._threshold_of(group, topic) for topic in topics]
        return found if any(one != Threshold() for one in found) else []

    def _threshold_of(self, group: str, topic: str) -> Threshold:
        fits = (one.threshold for one in self.thresholds if one.group.search(group) and one.topic.search(topic))
        return next(fits, Threshold())
