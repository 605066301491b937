"""All groups of a cluster as they are judged: worked out once, and shared by all that ask at about the same time.

Nothing here is locked: the state of a cluster holds its lock whenever it asks.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from warren.clusters.ledger import Ledger
from warren.rules.evaluation import Evaluation, RowPolicy, evaluate, row_policy
from warren.rules.policy import Policy
from warren.rules.rule import Settings
from warren.rules.survey import Survey, shown_by, survey

FRESH_MS = 1_000
"""An evaluation of all groups is good for so long: pages and lists that are asked for together share it."""

_POOL = ThreadPoolExecutor(2, "judge")
"""NumPy lets other threads run while it computes: two judge a large cluster in little more than half the time."""


class Judgements:
    """What is said of the groups of one ledger."""

    def __init__(self, ledger: Ledger, settings: Settings, policy: Policy) -> None:
        self._ledger = ledger
        self.judge_by(settings, policy)

    def judge_by(self, settings: Settings, policy: Policy) -> None:
        """From now on groups are judged by these."""
        self.settings, self.policy = settings, policy
        self.forget()

    def forget(self) -> None:
        """Other windows, or other rules: what was worked out does not hold."""
        self._row_policies: dict[str, RowPolicy] = {}
        self._evaluations: dict[str, Evaluation] = {}  # by rule set, "" is each group's own
        self._survey: Survey | None = None

    def evaluation_of(self, now_ms: int) -> Evaluation:
        """Of exactly this moment: what is written down of another one could not be replayed."""
        self._evaluations.pop("", None)
        return self.evaluation(now_ms)

    def evaluation(self, now_ms: int, rule_set: str = "", fresh_ms: int = FRESH_MS) -> Evaluation:
        """An evaluation of everything that is less than so old."""
        windows, reading = self._ledger.windows, self._ledger.reading
        fresh = {
            name: one
            for name, one in self._evaluations.items()
            if one.layout == windows.layout and 0 <= now_ms - one.now_ms < fresh_ms
        }
        self._evaluations = fresh  # the others only take up memory
        if rule_set in fresh:
            return fresh[rule_set]
        stale = reading.staleness(windows.heads, now_ms)
        as_of_ms = reading.as_of_ms(windows.group_names(), stale, now_ms)
        policy = self._row_policy(rule_set)
        found = self._evaluations[rule_set] = evaluate(
            windows, self.settings, policy, now_ms=now_ms, as_of_ms=as_of_ms, in_parallel=_POOL.map
        )
        return found

    def _row_policy(self, rule_set: str) -> RowPolicy:
        windows, policy = self._ledger.windows, self._row_policies.get(rule_set)
        if policy is None or policy.layout != windows.layout:
            policy = self._row_policies[rule_set] = row_policy(windows, self.policy, rule_set)
        return policy

    def survey(self, now_ms: int, fresh_ms: int = FRESH_MS) -> Survey:
        """All groups and topics as columns; the same object as long as the evaluation and what is shown are."""
        windows, last = self._ledger.windows, self._survey
        evaluation = self.evaluation(now_ms, fresh_ms=fresh_ms)
        shown = last.shown if last and last.shown.is_of(windows) else shown_by(windows, evaluation)
        if last is None or last.evaluation is not evaluation or last.shown is not shown:
            self._survey = last = survey(windows, evaluation, shown)
        return last
