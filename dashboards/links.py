"""Ways from one dashboard to another, and to Warren's own page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from grafana_foundation_sdk.builders.dashboard import DashboardLink
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.dashboard import DashboardLinkType

PAGE = "${warren}"
"""The variable with the address of Warren."""
KEEP_TIME = "${__url_time_range}"
KEEP_SOURCE = "${datasource:queryparam}"


class Links(NamedTuple):
    """Those of the dashboards for one data source."""

    source: str

    def uid(self, layout: str) -> str:
        """By which Grafana knows a dashboard, wherever it is."""
        return f"warren-{self.source}-{layout}"

    @property
    def tag(self) -> str:
        """What all dashboards for the source have."""
        return f"warren-{self.source}"

    def of_rows(self, column: str) -> list[dict[str, object]]:
        """From a row of a table to what the column names."""
        fields = {one: f"${{__data.fields.{one}:percentencode}}" for one in ("cluster", column)}
        return [
            {"title": f"Open the {column}", "url": self._dashboard(column, fields)},
            {"title": "Open in Warren", "url": _page(column, fields), "targetBlank": True},
        ]

    def of_series(self, labels: Mapping[str, str]) -> list[Builder[models.DashboardLink]]:
        """From a series to its group, where its labels can be told."""
        if not labels:
            return []
        fields = {one: f"${{__field.labels.{label}:percentencode}}" for one, label in labels.items()}
        return [
            DashboardLink("Open the group").url(self._dashboard("group", fields)),
            DashboardLink("Open in Warren").url(_page("group", fields)).target_blank(True),
        ]

    def of_dashboard(self) -> list[Builder[models.DashboardLink]]:
        """To all dashboards for the source, with the time and whatever is chosen; and to Warren."""
        others = DashboardLink("Dashboards").type(DashboardLinkType.DASHBOARDS).tags([self.tag])
        others.as_dropdown(False).include_vars(True).keep_time(True)
        page = DashboardLink("Warren").type(DashboardLinkType.LINK).url(PAGE).icon("external link").target_blank(True)
        return [others, page.tooltip("The page of Warren itself, with the reason of each verdict")]

    def _dashboard(self, layout: str, fields: Mapping[str, str]) -> str:
        chosen = "&".join(f"var-{name}={value}" for name, value in fields.items())
        return f"/d/{self.uid(layout)}?{chosen}&{KEEP_SOURCE}&{KEEP_TIME}"


def _page(column: str, fields: Mapping[str, str]) -> str:
    return f"{PAGE}/ui/clusters/{fields['cluster']}/{column}s/{fields[column]}"
