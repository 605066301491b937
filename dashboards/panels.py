"""Panels: how each kind of plot is drawn."""

from __future__ import annotations

from collections.abc import Callable

from grafana_foundation_sdk.builders import common, heatmap, stat, statetimeline, table, timeseries
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.common import (
    BigValueColorMode,
    BigValueGraphMode,
    BigValueTextMode,
    GraphDrawStyle,
    LegendDisplayMode,
    LegendPlacement,
    ScaleDistribution,
    SortOrder,
    StackingMode,
    TooltipDisplayMode,
    VisibilityMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardLink,
    DynamicConfigValue,
    FieldColorModeId,
    MatcherConfig,
    Panel,
    Threshold,
    ThresholdsMode,
    ValueMapping,
)
from grafana_foundation_sdk.models.heatmap import HeatmapColorMode, HeatmapColorScale

from dashboards.layout import Kind, Plot
from dashboards.links import Links
from dashboards.looks import COLOURS, status_mappings, yes_no_mappings
from dashboards.source import Source

STATUS_NAMES = ("OK", "WARN", "ERR")
BLOCKS = (Kind.TIMELINE, Kind.HEAT_MAP, Kind.STACKED, Kind.NUMBERS)
"""Where a step in which nobody has written yet would look as if there was nothing."""
GAP_MS = 180_000
"""Lines go on over a gap as long as this: telegraf may look once a minute only."""
PanelBuilder = timeseries.Panel | statetimeline.Panel | stat.Panel | table.Panel | heatmap.Panel


def panel(plot: Plot, source: Source, links: Links) -> Builder[Panel]:
    """The panel of a plot, with the queries of the source."""
    asked = source.asked[plot.query]
    made = MAKERS[plot.kind](plot, source, links)
    made.title(plot.title).description(_says(plot, source)).datasource(source.reference)
    made.span(plot.width).height(plot.height).targets(list(asked.queries))
    if interval := source.steps if plot.kind in BLOCKS else source.interval:
        made.interval(interval)
    if asked.transformations:
        made.transformations(list(asked.transformations))
    return made


def _says(plot: Plot, source: Source) -> str:
    return f"{plot.says} {source.notes.get(plot.query, '')}".rstrip()


# -- over time -------------------------------------------------------------------------------------------------------


def _lines(plot: Plot, source: Source, links: Links) -> timeseries.Panel:
    made = (
        timeseries.Panel()
        .unit(plot.unit)
        .min(0)
        .line_width(1)
        .fill_opacity(8)
        .span_nulls(GAP_MS)
        .show_points(VisibilityMode.NEVER)
        .legend(_legend())
        .tooltip(common.VizTooltipOptions().mode(TooltipDisplayMode.MULTI).sort(SortOrder.DESCENDING))
    )
    return made.data_links(_opens(plot, source, links))


def _stacked(plot: Plot, source: Source, links: Links) -> timeseries.Panel:
    made = _lines(plot, source, links).draw_style(GraphDrawStyle.LINE).fill_opacity(60)
    made.stacking(common.StackingConfig().mode(StackingMode.NORMAL).group("A"))
    for status in STATUS_NAMES:
        made.with_override(*_coloured(status))
    return made


def _legend() -> common.VizLegendOptions:
    return (
        common.VizLegendOptions()
        .display_mode(LegendDisplayMode.TABLE)
        .placement(LegendPlacement.BOTTOM)
        .show_legend(True)
        .calcs(["lastNotNull", "max"])
        .sort_by("Max")
        .sort_desc(True)
    )


def _timeline(plot: Plot, source: Source, links: Links) -> statetimeline.Panel:
    return _states(status_mappings(source.status_codes)).data_links(_opens(plot, source, links))


def _yes_no_timeline(plot: Plot, source: Source, links: Links) -> statetimeline.Panel:
    return _states(yes_no_mappings())


def _states(mappings: list[ValueMapping]) -> statetimeline.Panel:
    return (
        statetimeline.Panel()
        .mappings(mappings)
        .color_scheme(builders.FieldColor().mode(FieldColorModeId.THRESHOLDS))
        .thresholds(_no_thresholds())
        .show_value(VisibilityMode.AUTO)
        .merge_values(True)
        .row_height(0.85)
        .fill_opacity(85)
        .legend(common.VizLegendOptions().show_legend(True).placement(LegendPlacement.BOTTOM).calcs([]))
    )


def _heat_map(plot: Plot, source: Source, links: Links) -> heatmap.Panel:
    colours = heatmap.HeatmapColorOptions().mode(HeatmapColorMode.SCHEME).scheme("Cividis").steps(64)
    return (
        heatmap.Panel()
        .calculate(False)
        .color(colours.scale(HeatmapColorScale.EXPONENTIAL).exponent(0.5).reverse(False).min(0))
        .cell_gap(1)
        .cell_values(heatmap.CellValues().unit(plot.unit))
        .show_legend()
        .filter_values(heatmap.FilterValueRange())
        .scale_distribution(common.ScaleDistributionConfig().type(ScaleDistribution.LINEAR))
    )


# -- now -------------------------------------------------------------------------------------------------------------


def _numbers(plot: Plot, source: Source, links: Links) -> stat.Panel:
    made = _figures(BigValueColorMode.VALUE, BigValueTextMode.AUTO).unit(plot.unit).no_value("-")
    for status in STATUS_NAMES:
        made.with_override(*_coloured(status))
    return made


def _names(plot: Plot, source: Source, links: Links) -> stat.Panel:
    return _figures(BigValueColorMode.NONE, BigValueTextMode.NAME)


def _status_numbers(plot: Plot, source: Source, links: Links) -> stat.Panel:
    made = _figures(BigValueColorMode.BACKGROUND, BigValueTextMode.VALUE_AND_NAME)
    return made.mappings(status_mappings(source.status_codes)).data_links(_opens(plot, source, links))


def _yes_no_numbers(plot: Plot, source: Source, links: Links) -> stat.Panel:
    return _figures(BigValueColorMode.BACKGROUND, BigValueTextMode.VALUE_AND_NAME).mappings(yes_no_mappings())


def _figures(colour: BigValueColorMode, text: BigValueTextMode) -> stat.Panel:
    return (
        stat.Panel()
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
        .graph_mode(BigValueGraphMode.NONE)
        .color_mode(colour)
        .text_mode(text)
        .thresholds(_no_thresholds())
    )


def _table(plot: Plot, source: Source, links: Links) -> table.Panel:
    made = table.Panel().unit("short").filterable(True).no_value("").thresholds(_no_thresholds())
    made.override_by_name("status", _status_cells(source)).override_by_name("seconds", [_property("unit", "s")])
    made.override_by_name("offset", [_property("unit", "none")])  # to be copied, so not rounded
    made.override_by_name("last OK", [_property("unit", "dateTimeFromNow")])
    made.override_by_name("group", [_property("links", links.of_rows("group"))])
    made.override_by_name("topic", [_property("links", links.of_rows("topic"))])
    return made.sort_by([_descending("status"), _descending("lag")])


def _status_cells(source: Source) -> list[DynamicConfigValue]:
    background = {"type": "color-background", "mode": "basic"}
    return [
        _property("mappings", status_mappings(source.status_codes)),
        _property("custom.cellOptions", background),
        _property("unit", "none"),
    ]


def _descending(column: str) -> common.TableSortByFieldState:
    return common.TableSortByFieldState().display_name(column).desc(True)


# -- of all ----------------------------------------------------------------------------------------------------------


def _opens(plot: Plot, source: Source, links: Links) -> list[Builder[DashboardLink]]:
    return links.of_series(source.labels) if plot.of_groups else []


def _coloured(status: str) -> tuple[MatcherConfig, list[DynamicConfigValue]]:
    """Series that end with the word of a status have its colour."""
    matcher = MatcherConfig(id_val="byRegexp", options=f"/(^| ){status}$/")
    return matcher, [_property("color", {"mode": "fixed", "fixedColor": COLOURS[status]})]


def _property(name: str, value: object) -> DynamicConfigValue:
    return DynamicConfigValue(id_val=name, value=value)


def _no_thresholds() -> builders.ThresholdsConfig:
    """Colours come from words alone: Warren has no thresholds."""
    return builders.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps([Threshold(value=None, color="text")])


MAKERS: dict[Kind, Callable[[Plot, Source, Links], PanelBuilder]] = {
    Kind.LINES: _lines,
    Kind.STACKED: _stacked,
    Kind.TIMELINE: _timeline,
    Kind.YES_NO_TIMELINE: _yes_no_timeline,
    Kind.HEAT_MAP: _heat_map,
    Kind.NUMBERS: _numbers,
    Kind.NAMES: _names,
    Kind.STATUS_NUMBERS: _status_numbers,
    Kind.YES_NO_NUMBERS: _yes_no_numbers,
    Kind.TABLE: _table,
}
