"""The dashboards that are shipped: that they are those of the code, whole, and can be read by anybody."""

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
"""What Grafana calls a panel, and where its types are."""
SCHEMA_CHECK = """
import type { Dashboard } from '@grafana/schema';
type Json<T> = T extends string ? `${T}` : T extends (infer U)[] ? Json<U>[]
  : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
"""


def dashboard_of(source: str, name: str) -> dict[str, Any]:
    return dashboards(source)[name]


def test_they_are_what_the_code_makes() -> None:
    made = dict(built())
    shipped = {str(path.relative_to(SHIPPED)): path.read_text() for path in SHIPPED.rglob("*.json")}

    assert shipped.keys() == made.keys()
    assert [name for name in made if shipped[name] != made[name]] == [], "run `make dashboards`"


@pytest.mark.parametrize("source", SOURCES)
def test_there_are_four_for_each_data_source(source: str) -> None:
    assert sorted(dashboards(source)) == ["group", "overview", "topic", "warren"]


def test_a_dashboard_needs_something_in_its_first_row_and_rows_without_anything_are_left_out() -> None:
    plot = influxdb.SOURCE.asked["leader"]

    def made(*known: str) -> Source:
        return influxdb.SOURCE._replace(asked=dict.fromkeys(known, plot))

    assert not has_enough(WARREN, made("memory"))
    assert has_enough(WARREN, made("leader", "memory"))
    titles = [one.title for one in make(WARREN, made("leader", "memory")).panels or []]
    assert titles == ["Now", "Sends alerts", "Process", "Memory"]


# -- grafana's own types ---------------------------------------------------------------------------------------------


def complaints(directory: Path, declarations: Sequence[str]) -> str:
    """What TypeScript has to say about declarations, by Grafana's own types."""
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


def test_grafanas_own_types_accept_them(tmp_path: Path) -> None:
    assert complaints(tmp_path, declared([path.read_text() for path in sorted(SHIPPED.rglob("*.json"))])) == ""


def test_grafanas_own_types_would_not_accept_anything(tmp_path: Path) -> None:
    text = (SHIPPED / "prometheus" / "overview.json").read_text()

    assert "headline" in complaints(tmp_path, declared([text.replace('"title"', '"headline"', 1)]))


def test_the_types_of_each_kind_of_panel_accept_its_options(tmp_path: Path) -> None:
    """In a dashboard they may be anything."""
    declarations = []
    for at, panel in enumerate(one for source, name in ALL for one in panels(dashboard_of(source, name))):
        kind, drawn = TYPES_OF_PANELS[panel["type"]], panel["fieldConfig"]["defaults"].get("custom", {})
        declarations.append(f"export const o{at}: Json<{kind}.Options> = {json.dumps(panel['options'])};")
        if kind != "stat":  # which has nothing to draw
            declarations.append(f"export const f{at}: Partial<Json<{kind}.FieldConfig>> = {json.dumps(drawn)};")

    assert complaints(tmp_path, declarations) == ""


# -- whole -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "name"), ALL)
def test_every_panel_says_what_it_shows(source: str, name: str) -> None:
    for panel in panels(dashboard_of(source, name)):
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["targets"]


@pytest.mark.parametrize(("source", "name"), ALL)
def test_every_panel_has_a_number_and_a_place_of_its_own(source: str, name: str) -> None:
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
def test_no_data_source_of_one_grafana_is_in_it(source: str, name: str) -> None:
    uids = {one["uid"] for one in values_of(dashboard_of(source, name), "datasource") if isinstance(one, dict)}

    assert uids == {"${datasource}"}


@pytest.mark.parametrize(("source", "name"), ALL)
def test_links_lead_to_dashboards_that_are_there(source: str, name: str) -> None:
    uids = {one["uid"] for one in dashboards(source).values()}
    linked = set(re.findall(r"/d/([\w-]+)", json.dumps(dashboard_of(source, name))))

    assert linked <= uids


@pytest.mark.parametrize(("source", "name"), ALL)
def test_it_can_be_filtered_and_leads_to_warren(source: str, name: str) -> None:
    dashboard = dashboard_of(source, name)

    by_name = {one["name"]: one for one in dashboard["templating"]["list"]}
    assert by_name["datasource"]["type"] == "datasource"
    for one in by_name.keys() & {"instance", "cluster", "group", "topic"}:
        assert by_name[one]["multi"]
        assert by_name[one]["includeAll"]
    assert "${warren}" in [one.get("url") for one in dashboard["links"]]


def test_uids_are_different_and_not_too_long_for_grafana() -> None:
    uids = [dashboard_of(source, name)["uid"] for source, name in ALL]

    assert len(set(uids)) == len(uids)
    assert max(map(len, uids)) <= 40


def test_every_series_of_influxdb_is_named_by_tags_that_its_query_has() -> None:
    for one in targets("influxdb"):
        named = set(re.findall(r"\$tag_(\w+)", one.target["alias"]))
        assert named <= set(re.findall(r'"(\w+)"', one.target["query"].rpartition("GROUP BY")[2])), str(one)


def test_every_series_of_elasticsearch_is_named_by_fields_that_its_query_has() -> None:
    for one in targets("elasticsearch"):
        named = set(re.findall(r"\{\{(.+?\$\{suffix\})\}\}", one.target["alias"]))
        assert named <= {bucket["field"] for bucket in one.target["bucketAggs"]}, str(one)


OWN_FIELDS = {"warren_cluster": dict(CLUSTER_FIELDS), "warren_process": dict(PROCESS_FIELDS)}


def test_influxdb_is_asked_for_fields_that_warren_writes_of_itself() -> None:
    for one in targets("influxdb"):
        for measurement in re.findall(r'FROM "(warren_\w+)"', one.target["query"]):
            asked = set(re.findall(r'(?:max|last)\("(\w+)"\)', one.target["query"])) - {"i"}
            assert asked <= OWN_FIELDS[measurement].keys(), str(one)


def test_elasticsearch_is_asked_for_fields_that_warren_writes_of_itself() -> None:
    asked = {metric["field"] for one in targets("elasticsearch") for metric in one.target["metrics"]}
    own = {field for field in asked if field.startswith("warren_")}

    assert own
    assert own <= {f"{measurement}.{field}" for measurement, of in OWN_FIELDS.items() for field in of}


def values_of(tree: object, key: str) -> Iterator[Any]:
    """Every value of a key, however deep."""
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
"""How colours come through, on linear RGB (the model of Machado and others)."""
FAR_ENOUGH = 25.0
"""In CIE Lab; about 2 is the least that an eye can tell."""


@pytest.mark.parametrize("people", SEEN_BY)
def test_statuses_can_be_told_apart_by(people: str) -> None:
    colours = {COLOURS[status] for status in ("OK", "WARN", "STOP", "STALL", "REWIND")}
    seen = [lab(colour, SEEN_BY[people]) for colour in colours]

    assert min(math.dist(*pair) for pair in itertools.combinations(seen, 2)) > FAR_ENOUGH


def lab(colour: str, through: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """A colour as these people see it, in CIE Lab."""
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


def test_every_alert_says_how_bad_it_is_and_what_it_is_about() -> None:
    for one in alerts():
        assert one["labels"]["severity"] in ("warning", "critical"), one
        assert one["annotations"].keys() == {"summary", "description", "runbook_url"}, one


def test_every_alert_leads_to_its_section_in_the_docs() -> None:
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


def test_dashboards_and_rules_ask_for_documented_metrics_only() -> None:
    documented = (ROOT / "docs" / "metrics.md").read_text()
    texts = [one.target["expr"] for one in targets("prometheus")]
    texts += [path.read_text() for path in RULES.glob("*.yml")]
    used = {name for text in texts for name in re.findall(r"(?<![\w:])((?:burrow_kafka|warren)_\w+)\b(?!:)", text)}

    of_sinks = {name for name in used if name.startswith("warren_sink_")}  # told with the sinks themselves
    assert {name for name in used - of_sinks if f"`{name}`" not in documented} == set()
