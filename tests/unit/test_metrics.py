"""`/metrics`: what Prometheus is told."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from tests.unit.test_v1 import filled_state, ms
from warren.config.load import for_bootstrap
from warren.serve.app import make_app


@pytest.fixture
def samples() -> dict[tuple[str, ...], float]:
    """Each sample by its name and the values of its labels."""
    app = make_app({"local": filled_state()}, lambda: for_bootstrap("127.0.0.1:1", "127.0.0.1:0"), lambda: ms(31))
    answer = TestClient(app, "http://warren").get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    families = list(text_string_to_metric_families(answer.text))
    assert all(family.documentation for family in families)
    return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}


def test_records_that_could_not_be_decoded_are_counted_by_kind(samples: dict[tuple[str, ...], float]) -> None:
    assert samples["warren_undecodable_records_total", "local", "unknown key type"] == 3


def test_groups_are_counted_by_status(samples: dict[tuple[str, ...], float]) -> None:
    counted = {name[2]: value for name, value in samples.items() if name[0] == "warren_groups"}
    assert counted == {"OK": 2, "WARN": 1, "ERR": 3}


def test_how_well_a_cluster_is_known_is_told(samples: dict[tuple[str, ...], float]) -> None:
    assert samples["warren_cluster_ready", "local"] == 1
    assert samples["warren_offsets_behind_records", "local"] == 0
    assert samples["warren_offsets_stale_partitions", "local", "transaction"] == 0
