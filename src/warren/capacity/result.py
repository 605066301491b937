"""A plan as it is shown. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warren.capacity.findings import Finding
from warren.capacity.sizing import Sizing, Target
from warren.capacity.words import percent
from warren.reports.moments import duration, instant


@dataclass(frozen=True)
class Plan:
    """What is needed, the worst first."""

    cluster: str
    from_ms: int
    to_ms: int
    target: Target
    sizings: Sequence[Sizing]
    findings: Sequence[Finding]
    notes: Sequence[str]
    """What is to be known about these numbers."""
    series: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    """What is plotted, by group and topic."""

    @property
    def about(self) -> str:
        """Which cluster and time it is about."""
        return f"{self.cluster}, {instant(self.from_ms)} to {instant(self.to_ms)}"

    @property
    def aim(self) -> str:
        """The target, for people."""
        target = self.target
        free = f", {percent(target.headroom)} of each consumer's capacity left free" if target.headroom else ""
        return f"no record waits longer than {duration(target.drain_s)}, with {percent(target.growth)} growth{free}"
