"""Shipped dashboards and alert rules: up to date, complete, valid for Grafana, and readable for everybody."""

from __future__ import annotations

import itertools
import json
import math
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from dashboards import influxdb
from dashboards.__main__ import SHIPPED, built
from dashboards.frame import has_enough, make
from dashboards.layout import WARREN
from dashboards.looks import COLOURS
from dashboards.source import Source
from tests.support.grafana import dashboards, panels, targets
from warren.sinks.health_points import CLUSTER_FIELDS, PROCESS_FIELDS

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
RULES = ROOT / "src" / "warren" / "dashboards" / "prometheus"
METRICS_CODE = ROOT / "src" / "warren" / "serve" / "metrics"
ALERT_TESTS = ROOT / "tests" / "rules" / "alerts.yml"
SOURCES = ("prometheus", "influxdb", "elasticsearch")
ALL = [(source, name) for source in SOURCES for name in dashboards(source)]
COLUMNS = 24

TYPES_OF_PANELS = {
    "timeseries": "timeseries",
    "state-timeline": "statetimeline",
    "stat": "stat",
    "heatmap": "heatmap",
    "table": "table",
}
"""Type of a panel in a dashboard, and the directory of its schema."""
SCHEMA_CHECK = """
import type { Dashboard } from '@grafana/schema';
type Json<T> = T extends string ? `${T}` : T extends (infer U)[] ? Json<U>[]
  : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
"""


def dashboard_of(source: str, name: str) -> dict[str, Any]:
    return dashboards(source)[name]


def test_shipped_dashboards_are_what_the_code_builds() -> None:
    made = dict(built())
    shipped = {str(path.relative_to(SHIPPED)): path.read_text() for path in SHIPPED.rglob("*.json")}

    assert shipped.keys() == made.keys()
    assert [name for name in made if shipped[name] != made[name]] == [], "run `make dashboards`"


@pytest.mark.parametrize("source", SOURCES)
def test_each_data_source_has_four_dashboards(source: str) -> None:
    assert sorted(dashboards(source)) == ["group", "overview", "topic", "warren"]


def test_a_dashboard_needs_panels_in_its_first_row_and_leaves_out_empty_rows() -> None:
    plot = influxdb.SOURCE.asked["leader"]

    def made(*known: str) -> Source:
        return influxdb.SOURCE._replace(asked=dict.fromkeys(known, plot))

    assert not has_enough(WARREN, made("memory"))
    assert has_enough(WARREN, made("leader", "memory"))
    titles = [one.title for one in make(WARREN, made("leader", "memory")).panels or []]
    assert titles == ["Now", "Sends alerts", "Process", "Memory"]


# -- grafana's own types ---------------------------------------------------------------------------------------------


def complaints(directory: Path, declarations: Sequence[str]) -> str:
    """Return what TypeScript finds wrong with declarations of Grafana's own types."""
    schema = WEB / "node_modules" / "@grafana" / "schema"
    panels_at = schema / "dist" / "types" / "raw" / "composable"
    imports = [
        f"import type * as {one} from '{panels_at}/{one}/panelcfg/x/types.gen';" for one in TYPES_OF_PANELS.values()
    ]
    (directory / "check.ts").write_text("\n".join([*imports, SCHEMA_CHECK, *declarations]))
    options = {"noEmit": True, "strict": True, "skipLibCheck": True, "module": "nodenext", "target": "es2022"}
    found = {"types": [], "paths": {"@grafana/schema": [str(schema)]}}
    (directory / "tsconfig.json").write_text(json.dumps({"compilerOptions": options | found, "files": ["check.ts"]}))
    command = [str(WEB / "node_modules" / ".bin" / "tsc"), "-p", str(directory)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout


def declared(texts: Sequence[str]) -> list[str]:
    return [f"export const d{at}: Json<Dashboard> = {text};" for at, text in enumerate(texts)]


def test_grafanas_own_types_accept_all_dashboards(tmp_path: Path) -> None:
    assert complaints(tmp_path, declared([path.read_text() for path in sorted(SHIPPED.rglob("*.json"))])) == ""


def test_grafanas_own_types_reject_an_unknown_field(tmp_path: Path) -> None:
    text = (SHIPPED / "prometheus" / "overview.json").read_text()

    assert "headline" in complaints(tmp_path, declared([text.replace('"title"', '"headline"', 1)]))


def test_the_types_of_each_panel_plugin_accept_its_options(tmp_path: Path) -> None:
    """The schema of a dashboard accepts any options."""
    declarations = []
    for at, panel in enumerate(one for source, name in ALL for one in panels(dashboard_of(source, name))):
        kind, drawn = TYPES_OF_PANELS[panel["type"]], panel["fieldConfig"]["defaults"].get("custom", {})
        declarations.append(f"export const o{at}: Json<{kind}.Options> = {json.dumps(panel['options'])};")
        if kind != "stat":  # which has nothing to draw
            declarations.append(f"export const f{at}: Partial<Json<{kind}.FieldConfig>> = {json.dumps(drawn)};")

    assert complaints(tmp_path, declarations) == ""


# -- whole -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "name"), ALL)
def test_every_panel_has_a_title_a_description_and_queries(source: str, name: str) -> None:
    for panel in panels(dashboard_of(source, name)):
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["targets"]


@pytest.mark.parametrize(("source", "name"), ALL)
def test_every_panel_has_an_id_and_a_place_of_its_own(source: str, name: str) -> None:
    found = dashboard_of(source, name)["panels"]
    assert len({one["id"] for one in found}) == len(found)

    taken: set[tuple[int, int]] = set()
    for place in (one["gridPos"] for one in found):
        cells = set(
            itertools.product(range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"]))
        )
        assert place["x"] + place["w"] <= COLUMNS
        assert not cells & taken
        taken |= cells


@pytest.mark.parametrize(("source", "name"), ALL)
def test_every_query_uses_the_data_source_variable(source: str, name: str) -> None:
    uids = {one["uid"] for one in values_of(dashboard_of(source, name), "datasource") if isinstance(one, dict)}

    assert uids == {"${datasource}"}


@pytest.mark.parametrize(("source", "name"), ALL)
def test_links_lead_to_shipped_dashboards(source: str, name: str) -> None:
    uids = {one["uid"] for one in dashboards(source).values()}
    linked = set(re.findall(r"/d/([\w-]+)", json.dumps(dashboard_of(source, name))))

    assert linked <= uids


@pytest.mark.parametrize(("source", "name"), ALL)
def test_a_dashboard_has_filters_and_a_link_to_warren(source: str, name: str) -> None:
    dashboard = dashboard_of(source, name)

    by_name = {one["name"]: one for one in dashboard["templating"]["list"]}
    assert by_name["datasource"]["type"] == "datasource"
    for one in by_name.keys() & {"instance", "cluster", "group", "topic"}:
        assert by_name[one]["multi"]
        assert by_name[one]["includeAll"]
    assert "${warren}" in [one.get("url") for one in dashboard["links"]]


def test_uids_are_unique_and_short_enough_for_grafana() -> None:
    uids = [dashboard_of(source, name)["uid"] for source, name in ALL]

    assert len(set(uids)) == len(uids)
    assert max(map(len, uids)) <= 40


def test_aliases_for_influxdb_use_tags_that_the_query_groups_by() -> None:
    for one in targets("influxdb"):
        named = set(re.findall(r"\$tag_(\w+)", one.target["alias"]))
        assert named <= set(re.findall(r'"(\w+)"', one.target["query"].rpartition("GROUP BY")[2])), str(one)


def test_aliases_for_elasticsearch_use_fields_that_the_query_groups_by() -> None:
    for one in targets("elasticsearch"):
        named = set(re.findall(r"\{\{(.+?\$\{suffix\})\}\}", one.target["alias"]))
        assert named <= {bucket["field"] for bucket in one.target["bucketAggs"]}, str(one)


OWN_FIELDS = {"warren_cluster": dict(CLUSTER_FIELDS), "warren_process": dict(PROCESS_FIELDS)}


def test_queries_for_influxdb_use_health_fields_that_warren_writes() -> None:
    measurements = set()
    for target in targets("influxdb"):
        for measurement in re.findall(r'FROM "(warren_\w+)"', target.target["query"]):
            fields = set(re.findall(r'(?:max|last)\("(\w+)"\)', target.target["query"])) - {"i"}
            assert fields, str(target)
            assert fields <= OWN_FIELDS[measurement].keys(), str(target)
            measurements.add(measurement)

    assert measurements == OWN_FIELDS.keys()


def test_queries_for_elasticsearch_use_health_fields_that_warren_writes() -> None:
    asked = {metric["field"] for one in targets("elasticsearch") for metric in one.target["metrics"]}
    own = {field for field in asked if field.startswith("warren_")}

    assert own
    assert own <= {f"{measurement}.{field}" for measurement, of in OWN_FIELDS.items() for field in of}


def values_of(tree: object, key: str) -> Iterator[Any]:
    """Yield every value of a key at any depth."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if name == key:
                yield value
            yield from values_of(value, key)
    elif isinstance(tree, list):
        for one in tree:
            yield from values_of(one, key)


# -- colours ---------------------------------------------------------------------------------------------------------

SEEN_BY = {
    "most people": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopes": ((0.1523, 1.0526, -0.2049), (0.1145, 0.7863, 0.0992), (-0.0039, -0.0481, 1.0520)),
    "deuteranopes": ((0.3673, 0.8606, -0.2280), (0.2801, 0.6725, 0.0474), (-0.0118, 0.0429, 0.9689)),
    "tritanopes": ((1.2555, -0.0767, -0.1788), (-0.0784, 0.9308, 0.1476), (0.0047, 0.6914, 0.3039)),
}
"""Colour vision deficiencies as matrices on linear RGB (the model of Machado and others)."""
FAR_ENOUGH = 25.0
"""Distance in CIE Lab; about 2 is the smallest that an eye can see."""


@pytest.mark.parametrize("people", SEEN_BY)
def test_colours_of_statuses_are_distinct_for(people: str) -> None:
    colours = {COLOURS[status] for status in ("OK", "WARN", "STOP", "STALL", "REWIND")}
    seen = [lab(colour, SEEN_BY[people]) for colour in colours]

    assert min(math.dist(*pair) for pair in itertools.combinations(seen, 2)) > FAR_ENOUGH


def lab(colour: str, through: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """Return a colour as these people see it, in CIE Lab."""
    linear = [to_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5)]
    red, green, blue = (min(1.0, max(0.0, sum(map(math.prod, zip(row, linear, strict=True))))) for row in through)
    x = cube_root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505)
    y = cube_root(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    z = cube_root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def to_linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def cube_root(value: float) -> float:
    return value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116


# -- rules -----------------------------------------------------------------------------------------------------------


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((RULES / "alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_every_alert_has_a_severity_and_annotations() -> None:
    for one in alerts():
        assert one["labels"]["severity"] in ("warning", "critical"), one
        assert one["annotations"].keys() == {"summary", "description", "runbook_url"}, one


def test_every_alert_links_to_its_section_in_the_docs() -> None:
    headings = re.findall(r"^## (\w+)$", (ROOT / "docs" / "alerts.md").read_text(), re.MULTILINE)

    assert headings == [one["alert"] for one in alerts()]
    for one in alerts():
        assert one["annotations"]["runbook_url"] == f"docs/alerts.md#{one['alert'].lower()}"


def test_every_alert_is_tested_to_fire_and_not_to_fire() -> None:
    tests = [
        one for test in yaml.safe_load(ALERT_TESTS.read_text())["tests"] for one in test.get("alert_rule_test", [])
    ]
    firing = {one["alertname"] for one in tests if one["exp_alerts"]}
    quiet = {one["alertname"] for one in tests if not one["exp_alerts"]}

    assert firing == quiet == {one["alert"] for one in alerts()}


def documented_metrics() -> set[str]:
    return set(re.findall(r"`((?:burrow_kafka|warren)_\w+)`", (ROOT / "docs" / "metrics.md").read_text()))


def test_dashboards_and_rules_use_documented_metrics_only() -> None:
    texts = [target.target["expr"] for target in targets("prometheus")]
    texts += [path.read_text() for path in RULES.glob("*.yml")]
    used = {name for text in texts for name in re.findall(r"(?<![\w:])((?:burrow_kafka|warren)_\w+)\b(?!:)", text)}

    assert any(name.startswith("warren_sink_") for name in used)
    assert used - documented_metrics() == set()


def test_exactly_the_metrics_in_the_code_are_documented() -> None:
    code = "".join(path.read_text() for path in METRICS_CODE.glob("*.py"))
    names = set(re.findall(r'"((?:burrow_kafka|warren)_\w+)"', code))
    counters = set(re.findall(r'_counter\(\s*"(\w+)"', code))

    assert documented_metrics() == (names - counters) | {f"{name}_total" for name in counters}
