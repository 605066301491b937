"""Another configuration while Warren runs: which clusters it concerns, and what must wait."""

from __future__ import annotations

from typing import Any

from warren.config.changes import Changes, changes
from warren.config.load import parse
from warren.config.model import Config


def config(**sections: Any) -> Config:
    values = {
        "cluster": {"a": {"servers": ["a:1"]}, "b": {"servers": ["b:1"]}},
        "consumer": {"a": {"cluster": "a"}, "b": {"cluster": "b"}},
    }
    return parse({**values, **sections}, "a test")


def test_the_same_configuration_changes_nothing() -> None:
    assert changes(config(), config()) == Changes([], [], [], [])


def test_clusters_come_and_go() -> None:
    only_a = config(cluster={"a": {"servers": ["a:1"]}}, consumer={"a": {"cluster": "a"}})

    assert changes(config(), only_a).removed == ["b"]
    assert changes(only_a, config()).added == ["b"]


def test_a_list_of_groups_concerns_the_clusters_that_it_filters() -> None:
    of_b = config(consumer={"a": {"cluster": "a"}, "b": {"cluster": "b", "group-denylist": "x"}})
    of_all = config(storage={"default": {"group-denylist": "x"}})

    assert changes(config(), of_b).changed == ["b"]
    assert changes(config(), of_all).changed == ["a", "b"]


def test_a_profile_concerns_the_clusters_that_name_it() -> None:
    def with_client_id(text: str) -> Config:
        cluster = {"a": {"servers": ["a:1"], "client-profile": "P"}, "b": {"servers": ["b:1"]}}
        return config(cluster=cluster, **{"client-profile": {"p": {"client-id": text}}})

    assert changes(with_client_id("x"), with_client_id("y")).changed == ["a"]


def test_rules_thresholds_and_the_level_concern_no_cluster_and_need_no_restart() -> None:
    new = config(rules={"x": {"use": "warren"}}, threshold={"x": {"records": 5}}, logging={"level": "debug"})

    assert changes(config(), new) == Changes([], [], [], [])


def test_what_needs_a_restart_is_told() -> None:
    new = config(httpserver={"x": {"address": ":1"}}, warren={"trigger": 2.0}, logging={"filename": "a.log"})

    assert changes(config(), new).later == ["logging", "httpserver", "warren"]
