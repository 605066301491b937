"""`python -m dashboards`: write the JSON of all dashboards to where Warren ships it from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from dashboards import elasticsearch, influxdb, prometheus
from dashboards.frame import has_enough, make
from dashboards.layout import LAYOUTS

SHIPPED = Path(__file__).parents[1] / "src" / "warren" / "dashboards" / "grafana"
SOURCES = (prometheus.SOURCE, influxdb.SOURCE, elasticsearch.SOURCE)


def built() -> Iterator[tuple[str, str]]:
    """Every dashboard: its path below `grafana/` and its JSON."""
    for source in SOURCES:
        for layout in LAYOUTS:
            if has_enough(layout, source):
                text = json.dumps(make(layout, source), cls=JSONEncoder, indent=2, sort_keys=True)
                yield f"{source.name}/{layout.name}.json", f"{text}\n"


def main() -> None:
    """Write them all."""
    for name, text in built():
        path = SHIPPED / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
