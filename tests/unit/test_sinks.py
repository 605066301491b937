"""Sinks, put together: which points are taken when, for whom, and what a reload changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from tests.support.example_cluster import filled_state, ms, new_state
from tests.support.process_health import PROCESS_HEALTH
from tests.support.waiting import eventually
from warren.clusters.state import ClusterState
from warren.config.load import parse
from warren.config.model import Config
from warren.errors import ConfigError
from warren.serve.app import make_app
from warren.sinks import writers
from warren.sinks.contract import Sent
from warren.sinks.service import READING_FIRST_MS, Sinks
from warren.sinks.sink import Sink

INFLUX = {"class-name": "influxdb", "url": "http://influx:8086", "database": "lag"}


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now_ms = ms(31)

    def __call__(self) -> int:
        return self.now_ms


class Written:
    """What Spark would have written, by sink."""

    def __init__(self) -> None:
        self.tables: dict[str, list[pa.Table]] = {}
        self.is_away = False

    def __call__(self, spark: object, sink: Sink, tables: list[pa.Table]) -> Sent:
        if self.is_away:
            raise ConnectionError
        self.tables.setdefault(sink.name, []).extend(tables)
        return Sent(sum(one.num_rows for one in tables))

    def rows(self, sink: str) -> list[dict[str, Any]]:
        return [row for one in self.tables.get(sink, []) for row in one.to_pylist()]

    def moments(self, sink: str) -> list[int]:
        return sorted({at for one in self.tables.get(sink, []) for at in one.column("time_ms").to_pylist()})


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Written:
    found = Written()
    monkeypatch.setattr(writers, "register", lambda spark, sink: None)
    monkeypatch.setattr(writers, "write_tables", found)
    return found


@pytest.fixture
def running() -> Iterator[list[Sinks]]:
    found: list[Sinks] = []
    yield found
    for one in found:
        one.stop()


def config(**sinks: dict[str, Any]) -> Config:
    return parse({"sink": {name: {**INFLUX, **more} for name, more in sinks.items()}}, "a test")


class Service:
    """A service whose thread is never started: the test takes its steps."""

    def __init__(self, made: Config, home: Path, clock: Clock, running: list[Sinks], **clusters: ClusterState) -> None:
        self.sinks = Sinks(made, clusters or {"local": filled_state()}, home, clock, lambda: PROCESS_HEALTH)
        self.sinks._thread.start = lambda: None  # type: ignore[method-assign]
        self.sinks.start(object())  # type: ignore[arg-type]  # nothing is asked of Spark here
        running.append(self.sinks)
        self._clock = clock

    def at(self, now_ms: int) -> Service:
        self._clock.now_ms = now_ms
        self.sinks.step()
        return self


def test_points_are_taken_at_whole_multiples_of_each_interval(
    tmp_path: Path, clock: Clock, written: Written, running: list[Sinks]
) -> None:
    start = clock.now_ms // 60_000 * 60_000 + 1
    clock.now_ms = start
    service = Service(config(often={"interval": 10}, seldom={"interval": 30}), tmp_path, clock, running)
    for seconds in range(1, 62, 3):
        service.at(start + 1000 * seconds)
    eventually(lambda: len(written.moments("often")) == 6 and len(written.moments("seldom")) == 2)

    assert written.moments("often") == [start - 1 + 10_000 * number for number in range(1, 7)]
    assert written.moments("seldom") == [start - 1 + 30_000, start - 1 + 60_000]


def test_a_cluster_that_is_not_ready_has_no_points_but_the_one_that_says_so(
    tmp_path: Path, clock: Clock, written: Written, running: list[Sinks]
) -> None:
    other = new_state()
    other.note_failure("heads", "no broker answers", now_ms=clock.now_ms)
    service = Service(config(one={}), tmp_path, clock, running, local=filled_state(), other=other)
    service.at(clock.now_ms + 10_000)
    eventually(lambda: written.tables)
    service.sinks.stop()

    [of_other] = [row for row in written.rows("one") if row["cluster"] == "other"]
    assert (of_other["measurement"], of_other["ready"], of_other["reachable"]) == ("warren_cluster", 0, 0)
    assert of_other["groups_ok"] is None
    expected = filled_state().points(now_ms=ms(40)).as_table().num_rows
    assert [one.num_rows for one in written.tables["one"]] == [expected, 3]


def test_a_cluster_whose_points_cannot_be_taken_keeps_no_other_from_being_written(
    tmp_path: Path, clock: Clock, written: Written, running: list[Sinks], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = filled_state()
    monkeypatch.setattr(broken, "points", lambda *, now_ms: 1 / 0)
    service = Service(config(one={}), tmp_path, clock, running, broken=broken, local=filled_state())
    service.at(clock.now_ms + 10_000)
    eventually(lambda: written.tables)
    service.sinks.stop()

    assert {"burrow_group", "warren_cluster"} <= {row["measurement"] for row in written.rows("one")}


def test_nothing_is_sent_before_reading_has_begun_unless_that_takes_too_long(
    tmp_path: Path, clock: Clock, written: Written, running: list[Sinks]
) -> None:
    began_ms = clock.now_ms
    service = Service(config(one={}), tmp_path, clock, running, local=new_state())
    service.at(began_ms + 10_000).at(began_ms + 20_000)
    assert not service.sinks._is_sending
    assert service.sinks.health()["one"].waiting_moments == 2

    service.at(began_ms + READING_FIRST_MS)
    eventually(lambda: len(written.moments("one")) == 3)


def test_points_of_a_moment_are_written_together(
    tmp_path: Path, clock: Clock, written: Written, running: list[Sinks], monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[int] = []

    def write(spark: object, sink: Sink, tables: list[pa.Table]) -> Sent:
        writes.append(len(tables))
        return written(spark, sink, tables)

    monkeypatch.setattr(writers, "write_tables", write)
    service = Service(config(one={}), tmp_path, clock, running, **{str(at): filled_state() for at in range(3)})
    service.at(clock.now_ms + 10_000)
    eventually(lambda: written.tables)
    service.sinks.stop()

    assert writes == [2]  # those of all clusters, and those about Warren itself


def test_what_is_said_of_warren_itself_is_of_wanted_clusters_only_or_nothing(
    tmp_path: Path, clock: Clock, written: Written, running: list[Sinks]
) -> None:
    made = config(one={"cluster": "^prod"}, none={"warren": False})
    service = Service(made, tmp_path, clock, running, prod=filled_state(), test=filled_state())
    service.at(clock.now_ms + 10_000)
    eventually(lambda: written.tables.keys() == {"one", "none"})
    service.sinks.stop()

    own = [row for row in written.rows("one") if row["measurement"].startswith("warren_")]
    assert [(row["measurement"], row["cluster"]) for row in own] == [
        ("warren_cluster", "prod"),
        ("warren_process", None),
    ]
    assert {row["instance"] for row in own} == {"warren-1:8000"}
    assert {row["measurement"].partition("_")[0] for row in written.rows("none")} == {"burrow"}


def test_a_receiver_that_is_away_keeps_no_other_one_waiting(
    tmp_path: Path, clock: Clock, written: Written, running: list[Sinks]
) -> None:
    written.is_away = True
    service = Service(config(one={}), tmp_path, clock, running)
    for _ in range(3):
        service.at(clock.now_ms + 10_000)
    eventually(lambda: service.sinks.health()["one"].failed_attempts)

    assert service.sinks.health()["one"].waiting_moments == 3 * 2
    written.is_away = False
    eventually(lambda: len(written.moments("one")) == 3)


def test_what_waited_is_sent_after_a_restart(
    tmp_path: Path, clock: Clock, written: Written, running: list[Sinks]
) -> None:
    written.is_away = True
    service = Service(config(one={}), tmp_path, clock, running).at(clock.now_ms + 10_000)
    service.sinks.stop()
    written.is_away = False
    Service(config(one={}), tmp_path, clock, running).at(clock.now_ms)

    eventually(lambda: len(written.moments("one")) == 1)


def test_a_sink_keeps_its_points_in_the_directory_of_sinks_whatever_it_is_called(
    tmp_path: Path, clock: Clock, written: Written, running: list[Sinks]
) -> None:
    written.is_away = True
    Service(config(**{"../../x/y": {}}), tmp_path / "home", clock, running).at(clock.now_ms + 10_000)

    assert [path.name for path in (tmp_path / "home" / "sinks").iterdir()] == ["%2E.%2F..%2Fx%2Fy"]
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_a_reload_takes_on_new_sinks_and_leaves_the_others_alone(
    tmp_path: Path, clock: Clock, written: Written, running: list[Sinks]
) -> None:
    service = Service(config(same={}, old={}), tmp_path, clock, running)
    before = service.sinks._couriers["same"]
    service.sinks.reload(config(same={}, new={"topics": False}))
    service.at(clock.now_ms + 10_000)
    eventually(lambda: written.moments("new") and written.moments("same"))

    assert service.sinks._couriers["same"] is before
    assert written.moments("old") == []
    assert list(service.sinks.health()) == ["new", "same"]


def test_a_sink_that_is_changed_goes_on_with_what_waits_for_it(
    tmp_path: Path, clock: Clock, written: Written, running: list[Sinks]
) -> None:
    written.is_away = True
    service = Service(config(one={}), tmp_path, clock, running).at(clock.now_ms + 10_000)
    before = service.sinks._couriers["one"]
    service.sinks.reload(config(one={"password": "another", "username": "u"}))
    before.add(filled_state().points(now_ms=ms(50)).as_table(), ms(50))  # it was just being added to
    written.is_away = False
    eventually(lambda: ms(50) in written.moments("one"))

    assert len(written.moments("one")) == 2


def test_a_reload_with_a_wrong_sink_changes_nothing(
    tmp_path: Path, clock: Clock, written: Written, running: list[Sinks]
) -> None:
    service = Service(config(one={}), tmp_path, clock, running)
    with pytest.raises(ConfigError):
        service.sinks.reload(config(two={"extra-ca": "/nowhere.pem"}))

    assert list(service.sinks.health()) == ["one"]


def test_api_and_metrics_tell_how_sinks_are_doing(
    tmp_path: Path, clock: Clock, written: Written, running: list[Sinks]
) -> None:
    made = config(one={"password": "hunter2", "username": "u"})
    service = Service(made, tmp_path, clock, running).at(clock.now_ms + 10_000)
    eventually(lambda: service.sinks.health()["one"].sent_points)
    clusters = {"local": filled_state()}
    with TestClient(make_app(clusters, lambda: made, clock, sinks=service.sinks)) as client:
        [told] = client.get("/api/v1/sinks").json()["sinks"]
        page = client.get("/metrics").text
        document = client.get("/api/v1/openapi.json").json()

    assert (told["name"], told["class"], told["failing"], told["waiting"]) == ("one", "influxdb", False, 0)
    assert told["sent"] == service.sinks.health()["one"].sent_points
    assert 'warren_sink_up{sink="one"} 1.0' in page
    assert f'warren_sink_points_total{{result="sent",sink="one"}} {float(told["sent"])}' in page
    assert "/sinks" in document["paths"]
    assert "hunter2" not in str(told) + page
