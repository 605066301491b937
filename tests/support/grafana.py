"""What Grafana makes of a dashboard: its variables put into its queries, as each data source does it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

SHIPPED = Path(__file__).parents[2] / "src" / "warren" / "dashboards" / "grafana"
ALL: Sequence[str] = ()
"""Chosen: whatever there is."""

Chosen = Mapping[str, Sequence[str]]
Format = Callable[[Sequence[str], str], str]

_VARIABLE = re.compile(r"\$(\w+)|\$\{(\w+)(?::\w+)?\}")


class Target(NamedTuple):
    """A query of a panel."""

    dashboard: str
    panel: str
    target: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.dashboard}: {self.panel} {self.target['refId']}"


class Variable(NamedTuple):
    """A variable that asks the data source for its values."""

    dashboard: str
    name: str
    query: Any
    all_value: str

    def __str__(self) -> str:
        return f"{self.dashboard}: ${self.name}"


def dashboards(source: str) -> dict[str, dict[str, Any]]:
    """The dashboards that are shipped for a source, by name."""
    return {path.stem: json.loads(path.read_text()) for path in sorted((SHIPPED / source).glob("*.json"))}


def panels(dashboard: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All but the headings."""
    return [one for one in dashboard["panels"] if one["type"] != "row"]


def targets(source: str) -> list[Target]:
    """Every query of every panel for a source."""
    return [
        Target(name, panel["title"], target)
        for name, dashboard in dashboards(source).items()
        for panel in panels(dashboard)
        for target in panel["targets"]
    ]


def variables(source: str) -> list[Variable]:
    """Every variable that asks a source."""
    return [
        Variable(name, one["name"], one["query"], one["allValue"])
        for name, dashboard in dashboards(source).items()
        for one in dashboard["templating"]["list"]
        if one["type"] == "query"
    ]


def filled(text: str, chosen: Chosen, built_in: Mapping[str, str], format_values: Format, all_value: str) -> str:
    """The text with all variables replaced; `KeyError` for one that nobody knows."""

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name in built_in:
            return built_in[name]
        return format_values(chosen[name], name) if chosen[name] else all_value

    return _VARIABLE.sub(value, text)


def as_regex(values: Sequence[str], name: str = "") -> str:
    """As the sources of InfluxDB put values into a regular expression."""
    escaped = [re.sub(r"[\\^$*+?.()|\[\]{}/]", r"\\\g<0>", one) for one in values]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"


def as_promql(values: Sequence[str], name: str = "") -> str:
    """The same within a string of PromQL, where a backslash is written twice."""
    escaped = [re.sub(r"[$^*{}\[\]'+?.()|\\]", r"\\\\\g<0>", one).replace('"', r"\"") for one in values]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"


def as_lucene(values: Sequence[str], name: str = "") -> str:
    """As Elasticsearch's source writes values, be it one of several."""
    quoted = [re.sub(r'[!*+\-=<>\s&|()\[\]{}^~?:\\/"]', r"\\\g<0>", one) for one in values]
    return "(" + " OR ".join(f'"{one}"' for one in quoted) + ")"
