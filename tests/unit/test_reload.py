"""Another configuration while Warren runs: nobody who asks meanwhile finds less than there was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.scenario import commit_table, head_table
from warren.app import App
from warren.clusters.state import ClusterState
from warren.config.load import parse


def config(clusters: tuple[str, ...] = ("prod",), **consumer: str) -> Any:
    return parse(
        {
            "cluster": {name: {"servers": ["127.0.0.1:1"]} for name in clusters},
            "consumer": {name: {"cluster": name, **consumer} for name in clusters},
            "httpserver": {"default": {"address": "127.0.0.1:0"}},
        },
        "a test",
    )


@pytest.fixture
def app(tmp_path: Path) -> App:
    """One that knows two groups, and whose pipeline is not up yet."""
    app = App(config(), tmp_path)
    for listener in app.listeners:
        listener.stop()
    state = app.clusters["prod"]
    state.apply_head_rows(head_table({"orders": [10]}, 9_000), now_ms=9_000)
    commits = [(name, "orders", 0, 5, 15_000) for name in ("billing", "shipping")]
    state.apply_commit_rows("prod", commit_table(*commits), now_ms=16_000)
    return app


def told_while_changing(app: App, monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], bool]]:
    """Which groups are told of, and whether they are judged, before and after the new state is filled."""
    told: list[tuple[list[str], bool]] = []

    def look_around(restore: Callable[[ClusterState], None]) -> Callable[[ClusterState], None]:
        def restored(state: ClusterState) -> None:
            told.append((app.clusters["prod"].groups(), app.clusters["prod"].is_ready))
            restore(state)
            told.append((app.clusters["prod"].groups(), app.clusters["prod"].is_ready))

        return restored

    monkeypatch.setattr(app._keeper, "restore_one", look_around(app._keeper.restore_one))
    return told


def test_a_cluster_that_changes_is_answered_as_it_was_until_the_new_one_is_there(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert app.clusters["prod"].is_ready
    told = told_while_changing(app, monkeypatch)

    app.reload(config(**{"group-denylist": "^ship"}))

    assert told == [(["billing", "shipping"], False)] * 2
    assert app.clusters["prod"].groups() == ["billing"]


def test_a_cluster_that_is_gone_from_the_configuration_is_gone(app: App) -> None:
    app.reload(config(("other",)))

    assert list(app.clusters) == ["other"]


def test_a_cluster_that_comes_back_knows_what_it_knew(app: App) -> None:
    app.reload(config(("other",)))
    app.reload(config(("other", "prod")))

    assert app.clusters["prod"].groups() == ["billing", "shipping"]
