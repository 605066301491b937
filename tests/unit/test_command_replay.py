"""`warren replay` where Spark or a receiver fails, without Spark."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import PySparkRuntimeError, PythonException

from tests.support.running import Command, CommandResult
from warren.commands import past
from warren.errors import HistoryError
from warren.history.reader import Span
from warren.sinks.contract import Sent

CONFIG = """
[cluster.local]
class-name = "kafka"
servers = ["127.0.0.1:1"]

[sink.lake]
class-name = "influxdb"
url = "http://127.0.0.1:1"
database = "d"
username = "warren"
password = "s3cret"
"""

FAILED = """An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "writers.py", line 1, in write
warren.errors.SinkError: 127.0.0.1:1 is not reachable: Connection refused
"""

Written = Callable[..., Sent]


class Reader:
    """A history that has everything."""

    spark = None
    catalog = SimpleNamespace(clusters=lambda: ["local"])

    def checked(self, span: Span) -> Span:
        return span


@pytest.fixture
def replay(warren: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., CommandResult]:
    """`warren replay --sink lake`, with something else in the place of Spark's writing."""
    (tmp_path / "warren.toml").write_text(CONFIG)

    @contextmanager
    def history(*args: object, **more: object) -> Iterator[Reader]:
        yield Reader()

    def run(written: Written, *options: str) -> CommandResult:
        monkeypatch.setattr(past, "history", history)
        monkeypatch.setattr("warren.replay.points.replayed_points", lambda *args: None)
        monkeypatch.setattr("warren.sinks.writers.write_points", written)
        where = ("--history", "h", "--config-dir", str(tmp_path), "--cluster", "local")
        return warren("replay", *where, "--sink", "lake", *options)

    return run


def failing(*args: object) -> Sent:
    raise PythonException(FAILED)


def test_a_receiver_that_is_away_is_told_in_a_sentence(replay: Callable[..., CommandResult]) -> None:
    said = replay(failing)

    assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
    assert said.err.startswith(
        "warren: Not all points could be written to lake: 127.0.0.1:1 is not reachable: Connection refused. "
    )
    assert "s3cret" not in said.err


def test_points_that_were_written_are_counted(replay: Callable[..., CommandResult]) -> None:
    said = replay(lambda *args: Sent(1_200))

    assert said == (0, "1,200 points were written to lake, 0 were refused.\n", "")


def test_points_that_were_refused_are_a_failure(replay: Callable[..., CommandResult]) -> None:
    said = replay(lambda *args: Sent(7, 3, "partial write: too old"))

    assert said == (1, "7 points were written to lake, 3 were refused: partial write: too old.\n", "")


@pytest.mark.parametrize(("sent", "code", "reason"), [(Sent(7), 0, None), (Sent(7, 3, "too old"), 1, "too old")])
def test_programs_learn_what_became_of_the_points(
    replay: Callable[..., CommandResult], sent: Sent, code: int, reason: str | None
) -> None:
    said = replay(lambda *args: sent, "--json")

    assert said.code == code
    told = {"sink": "lake", "points": sent.points, "refused": sent.refused, "reason": reason}
    assert json.loads(said.out) == told


def test_a_sink_that_is_not_there_is_told_before_spark_is_started(
    warren: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(past, "history", None)
    (tmp_path / "warren.toml").write_text(CONFIG)
    said = warren("replay", "--history", "h", "--config-dir", str(tmp_path), "--sink", "pond")

    assert said == (1, "", "warren: There is no [sink.pond] in the configuration. There is lake.\n")


# -- Spark itself ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("replay",), ("plan",), ("explain", "g", "--at", "1h")], ids=" ".join)
def test_a_spark_that_does_not_start_is_told_in_a_sentence(
    warren: Command, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    def broken(*args: Any) -> None:
        raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})

    monkeypatch.setattr("warren.machine.logs.configure_logging", lambda *args: None)
    monkeypatch.setattr("warren.pipeline.session.start_session", broken)
    said = warren(*command, "--history", "h")

    assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
    assert said.err.startswith("warren: Spark cannot be started: [JAVA_GATEWAY_EXITED] Java gateway process exited")


def test_a_spark_that_fails_at_the_history_is_told_and_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[str] = []
    monkeypatch.setattr("warren.machine.logs.configure_logging", lambda *args: None)
    monkeypatch.setattr("warren.pipeline.session.start_session", lambda *args: "spark")
    monkeypatch.setattr("warren.pipeline.session.stop_session", stopped.append)
    monkeypatch.setattr("warren.history.reader.HistoryReader", lambda *args, **more: None)

    with pytest.raises(HistoryError) as told, past.history("h", None, ""):
        raise PythonException("java.io.IOException: No space left on device")
    assert str(told.value) == "The history in h cannot be read: IOException: No space left on device."
    assert stopped == ["spark"]
