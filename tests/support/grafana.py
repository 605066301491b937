"""Shipped dashboards as Grafana uses them: it puts the chosen values of variables into the queries of panels."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

SHIPPED = Path(__file__).parents[2] / "src" / "warren" / "dashboards" / "grafana"
ALL: Sequence[str] = ()
"""Grafana's choice `All`."""

Chosen = Mapping[str, Sequence[str]]
"""Chosen values by the name of the variable."""
Format = Callable[[Sequence[str], str], str]
Key = tuple[tuple[str, str], ...]
Found = Mapping[Key, Any]
"""The answer to a query: the values of each series, or table row, by its sorted tags.

Tags are named like variables, for all data sources alike.
"""

EVERYTHING: Chosen = {"cluster": ALL, "group": ALL, "topic": ALL, "instance": ALL}

_VARIABLE = re.compile(r"\$(\w+)|\$\{(\w+)(?::\w+)?\}")


class Target(NamedTuple):
    """A query of a panel."""

    dashboard: str
    panel: str
    target: dict[str, Any]
    variables: frozenset[str]
    """Names of the dashboard's variables."""

    def __str__(self) -> str:
        return f"{self.dashboard}: {self.panel} {self.target['refId']}"


class Variable(NamedTuple):
    """A variable whose values come from the data source."""

    dashboard: str
    name: str
    query: Any
    all_value: str

    def __str__(self) -> str:
        return f"{self.dashboard}: ${self.name}"


def dashboards(source: str) -> dict[str, dict[str, Any]]:
    """Return the shipped dashboards of a data source, by name."""
    return {path.stem: json.loads(path.read_text()) for path in sorted((SHIPPED / source).glob("*.json"))}


def panels(dashboard: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the panels of a dashboard without the row headings."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def targets(source: str) -> list[Target]:
    """Return every query of every panel of a data source."""
    return [
        Target(name, panel["title"], target, frozenset(one["name"] for one in dashboard["templating"]["list"]))
        for name, dashboard in dashboards(source).items()
        for panel in panels(dashboard)
        for target in panel["targets"]
    ]


def variables(source: str) -> list[Variable]:
    """Return every query variable of a data source."""
    return [
        Variable(name, variable["name"], variable["query"], variable["allValue"])
        for name, dashboard in dashboards(source).items()
        for variable in dashboard["templating"]["list"]
        if variable["type"] == "query"
    ]


def filled(text: str, chosen: Chosen, built_in: Mapping[str, str], format_values: Format, all_value: str) -> str:
    """Replace all variables in a text; `KeyError` for an unknown one."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name in built_in:
            return built_in[name]
        return format_values(chosen[name], name) if chosen[name] else all_value

    return _VARIABLE.sub(value, text)


def as_regex(values: Sequence[str], name: str = "") -> str:
    """Write values as Grafana's InfluxDB data source does, for a regular expression."""
    escaped = [re.sub(r"[\\^$*+?.()|\[\]{}/]", r"\\\g<0>", value) for value in values]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"


def as_promql(values: Sequence[str], name: str = "") -> str:
    """Write values as the Prometheus data source does: a PromQL string doubles each backslash."""
    escaped = [re.sub(r"[$^*{}\[\]'+?.()|\\]", r"\\\\\g<0>", value).replace('"', r"\"") for value in values]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"


def as_lucene(values: Sequence[str], name: str = "") -> str:
    """Write values as the Elasticsearch data source does, in Lucene's query language."""
    quoted = [re.sub(r'[!*+\-=<>\s&|()\[\]{}^~?:\\/"]', r"\\\g<0>", value) for value in values]
    return "(" + " OR ".join(f'"{value}"' for value in quoted) + ")"


# -- filters ---------------------------------------------------------------------------------------------------------


def assert_finds_only_what_was_chosen(
    target: Target, data_tags: Set[str], chosen: Chosen, ask: Callable[[Chosen], Found]
) -> None:
    """Assert that each variable of the dashboard filters a query, and that all together leave something.

    A variable must filter if the queried data has its tag. The comparison is with the answer for `All`: wherever it
    has the tag, it must have chosen values and others.
    """
    everything = ask(EVERYTHING)
    filters = target.variables & data_tags
    assert filters, "the data has no tag that a variable could filter"
    for name in filters:
        found = ask({**EVERYTHING, name: chosen[name]})
        assert found, f"${name}: nothing found"
        assert found != everything, f"${name}: it filters nothing, or there is nothing to filter out"
        if tag_values(everything, name):
            wanted = {key: values for key, values in everything.items() if dict(key)[name] in chosen[name]}
            assert found == wanted, f"${name}"

    found = ask(chosen)
    assert found, "nothing found that fits all variables"
    for name, values in chosen.items():
        assert tag_values(found, name) <= set(values), name
        assert not tag_values(everything, name) or tag_values(everything, name) - set(values), f"no other {name}"


def tag_values(found: Found, name: str) -> set[str]:
    """Return the values of a tag in an answer; empty if the query does not group by it."""
    return {tags[name] for tags in map(dict, found) if name in tags}
