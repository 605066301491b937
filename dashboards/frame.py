"""A dashboard of a layout and a data source: variables, links, rows of panels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import (
    Dashboard,
    DashboardCursorSync,
    DashboardLink,
    Panel,
    VariableModel,
    VariableOption,
)
from grafana_foundation_sdk.models.table import Options as TableOptions

from dashboards.layout import Layout, Plot, Row
from dashboards.links import Links
from dashboards.panels import panel
from dashboards.source import Source

WARREN_URL = "http://127.0.0.1:8000"
"""Until somebody says otherwise: `warren dashboards export --url` does."""
REFRESH = "30s"
PAGE_WIDTH = 24
TOP = ("10", "20", "50", "100")


def make(layout: Layout, source: Source) -> Dashboard:
    """The dashboard; its panels have numbers in their order."""
    links = Links(source.name)
    made = (
        builders.Dashboard(layout.title)
        .uid(links.uid(layout.name))
        .description(layout.says)
        .tags(["warren", "kafka", links.tag])
        .timezone("browser")
        .time("now-3h", "now")
        .refresh(REFRESH)
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .editable()
        .variables(list(_variables(layout, source)))
        .links(links.of_dashboard())
    )
    for row in _rows(layout, source):
        made.with_row(builders.Row(row.title))
        for plot in fitted(row.plots):
            made.with_panel(panel(plot, source, links))
    return _finished(made.build())


def has_enough(layout: Layout, source: Source) -> bool:
    """Whether the source knows enough for the dashboard: something of its first row, which is what people look for."""
    return any(one.query in source.asked for one in layout.rows[0].plots)


def _rows(layout: Layout, source: Source) -> list[Row]:
    rows = [row._replace(plots=tuple(one for one in row.plots if one.query in source.asked)) for row in layout.rows]
    return [row for row in rows if row.plots]


def fitted(plots: Sequence[Plot]) -> Iterator[Plot]:
    """Plots side by side as long as there is room, each line made as wide as the page."""
    lines: list[list[Plot]] = [[]]
    for plot in plots:
        if sum(one.width for one in lines[-1]) + plot.width > PAGE_WIDTH:
            lines.append([])
        lines[-1].append(plot)
    for line in lines:
        used = sum(one.width for one in line)
        wider = [one._replace(width=one.width * PAGE_WIDTH // used) for one in line]
        spare = PAGE_WIDTH - sum(one.width for one in wider)
        yield from [*wider[:-1], wider[-1]._replace(width=wider[-1].width + spare)]


def _variables(layout: Layout, source: Source) -> Iterator[Builder[VariableModel]]:
    yield builders.DatasourceVariable("datasource").label("Data source").type(source.plugin)
    for at, name in enumerate(layout.variables):
        yield source.variable(name, layout.variables[:at])
    if layout.name == "overview":
        yield _top(TOP)
    yield from source.extras
    yield (
        builders.TextBoxVariable("warren")
        .label("Warren")
        .description("The address of Warren, for links to its page.")
        .default_value(WARREN_URL)
        .current(VariableOption(text=WARREN_URL, value=WARREN_URL))
    )


def _top(counts: Sequence[str]) -> builders.CustomVariable:
    return (
        builders.CustomVariable("top")
        .label("Show")
        .description("How many groups are drawn, those furthest behind.")
        .values(",".join(counts))
        .current(VariableOption(text=counts[0], value=counts[0]))
        .options([VariableOption(selected=one == counts[0], text=one, value=one) for one in counts])
    )


def _finished(dashboard: Dashboard) -> Dashboard:
    """Number the panels, and take away what the SDK says unasked."""
    for number, one in enumerate(dashboard.panels or [], 1):
        one.id_val = number
        if isinstance(one, Panel) and isinstance(one.options, TableOptions):
            one.options.footer = None  # Grafana 13 has none any more
    for link in _all_links(dashboard):
        link.placement = None  # type: ignore[assignment]  # its default is a menu that nobody opens at night
    for variable in dashboard.templating.list_val or []:
        variable.auto = variable.auto_min = variable.auto_count = None  # of intervals alone
    return dashboard


def _all_links(dashboard: Dashboard) -> Iterator[DashboardLink]:
    yield from dashboard.links or []
    for one in dashboard.panels or []:
        if isinstance(one, Panel) and one.field_config is not None:
            yield from one.field_config.defaults.links or []
