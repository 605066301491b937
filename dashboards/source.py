"""What a data source has to say so that dashboards can be made for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.common import DataSourceRef
from grafana_foundation_sdk.models.dashboard import (
    DataTransformerConfig,
    VariableModel,
    VariableOption,
    VariableRefresh,
    VariableSort,
)

ADDED_UP = {
    "reading-delay": "Here of the consumer module that is latest.",
    "stale": "Here both together.",
    "undecodable": "Here of all kinds together.",
    "restarts": "Here of all queries together.",
    "waiting": "Here of all notifiers together.",
    "messages": "Here only those that failed, of all notifiers together.",
}
"""What sinks write of Warren itself is less than what Prometheus reads: by the name of the query."""

DATA_SOURCE = "${datasource}"
"""A variable: no dashboard knows the data sources of the Grafana that it will be in."""

Query = Builder[Dataquery]


class Asked(NamedTuple):
    """The queries of a panel, and what makes one table of their answers."""

    queries: Sequence[Query]
    transformations: Sequence[DataTransformerConfig] = ()


class Source(NamedTuple):
    """A kind of data source."""

    name: str
    plugin: str
    """Its type in Grafana."""
    status_codes: Mapping[int, str]
    labels: Mapping[str, str]
    """What a series calls its cluster and its group, where links can use that."""
    variable: Callable[[str, Sequence[str]], Builder[VariableModel]]
    """A variable of this name, filtered by those before it."""
    extras: Sequence[Builder[VariableModel]]
    """Variables that only this source needs."""
    asked: Mapping[str, Asked]
    """By the name of the query in the layout."""
    notes: Mapping[str, str] = MappingProxyType({})
    """What is different with this source, by the name of the query."""
    interval: str = ""
    """The least time between two points, where the source does not know it."""
    steps: str = ""
    """The same where each step stands for itself."""

    @property
    def reference(self) -> DataSourceRef:
        """The data source that was chosen on the page."""
        return reference(self.plugin)


def reference(plugin: str) -> DataSourceRef:
    """The chosen data source, of this type."""
    return DataSourceRef(type_val=plugin, uid=DATA_SOURCE)


def chooser(plugin: str, name: str, query: str | dict[str, object], all_value: str) -> dashboard.QueryVariable:
    """A variable of which one, several or all values can be chosen."""
    return (
        dashboard.QueryVariable(name)
        .label(name.capitalize())
        .datasource(reference(plugin))
        .query(query)
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.NATURAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(all_value)
        .current(VariableOption(selected=True, text=["All"], value=["$__all"]))
    )


def merged() -> DataTransformerConfig:
    """One table of several, by the columns that they have in common."""
    return DataTransformerConfig(id_val="merge", options={})


def organized(names: Mapping[str, str], dropped: Sequence[str] = ()) -> DataTransformerConfig:
    """Rename columns, in this order, and drop others."""
    return DataTransformerConfig(
        id_val="organize",
        options={
            "renameByName": dict(names),
            "indexByName": {name: index for index, name in enumerate(names)},
            "excludeByName": dict.fromkeys(dropped, True),
        },
    )


def only_with(column: str) -> DataTransformerConfig:
    """Leave out rows that have no value there."""
    has_value = {"fieldName": column, "config": {"id": "isNotNull", "options": {}}}
    return DataTransformerConfig(
        id_val="filterByValue", options={"type": "include", "match": "any", "filters": [has_value]}
    )
