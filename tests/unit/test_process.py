"""PID file, output file, rotated log files and the level, as users of Burrow know them."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
import structlog

from warren.config.model import Logging
from warren.errors import ConfigError, SetupError
from warren.machine.logs import LogLevel, configure_logging, log_stream
from warren.machine.process import pid_file
from warren.machine.rotating import RotatingFile

A_DAY_S = 86_400


# -- PID file --------------------------------------------------------------------------------------------------------


def test_the_pid_file_holds_our_id_while_we_run(tmp_path: Path) -> None:
    path = tmp_path / "burrow.pid"
    with pid_file(str(path)):
        assert path.read_text() == str(os.getpid())
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert not path.exists()


def test_no_name_means_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pid_file(""):
        assert list(tmp_path.iterdir()) == []


def test_the_pid_of_a_running_process_is_respected(tmp_path: Path) -> None:
    path = tmp_path / "burrow.pid"
    path.write_text(str(os.getppid()))

    with pytest.raises(SetupError, match=f"Existing process running on PID {os.getppid()}"), pid_file(str(path)):
        pass
    assert path.read_text() == str(os.getppid())


def test_the_pid_of_a_process_that_is_gone_is_replaced_whole(tmp_path: Path) -> None:
    """D61: Burrow leaves the end of a longer number there."""
    path = tmp_path / "burrow.pid"
    path.write_text("99999999\n")
    with pid_file(str(path)):
        assert path.read_text() == str(os.getpid())


def test_a_pid_file_that_holds_something_else_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "burrow.pid"
    path.write_text("precious")

    with pytest.raises(SetupError, match="holds something else than a process id"), pid_file(str(path)):
        pass
    assert path.read_text() == "precious"


# -- standard output -------------------------------------------------------------------------------------------------

PRINTING = """
import os, sys
from warren.machine.process import redirect_output
redirect_output(sys.argv[1])
print("out"); print("err", file=sys.stderr); sys.stdout.flush(); os.system("echo child")
"""


def test_what_is_printed_goes_to_the_file_and_an_older_one_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "burrow.out"
    path.write_text("older")
    answer = subprocess.run([sys.executable, "-c", PRINTING, path], capture_output=True, text=True, check=True)

    assert (answer.stdout, answer.stderr) == ("", "")
    assert sorted(path.read_text().split()) == ["child", "err", "out"]
    [kept] = tmp_path.glob("burrow.out.????-??-??_??:??:??")
    assert kept.read_text() == "older"


# -- log files -------------------------------------------------------------------------------------------------------


def rotating(path: Path, now_s: float = 0.0, **settings: int) -> RotatingFile:
    """A log file of ten bytes; a second passes whenever it asks for the time."""
    clock, chosen = count(now_s), {"max_bytes": 10, "max_backups": 0, "max_age_days": 0, **settings}
    return RotatingFile(path, now_s=lambda: next(clock), **chosen)  # type: ignore[arg-type]


def test_a_full_file_is_put_aside_under_the_time(tmp_path: Path) -> None:
    file = rotating(tmp_path / "logs" / "burrow.log", now_s=1_700_000_000.25)
    for line in ("one\n", "two\n", "three\n"):
        file.write(line)

    aside = tmp_path / "logs" / "burrow-2023-11-14T22-13-20.250.log"
    assert (aside.read_text(), file.path.read_text()) == ("one\ntwo\n", "three\n")
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_two_files_of_one_moment_have_two_names(tmp_path: Path) -> None:
    file = RotatingFile(tmp_path / "a.log", max_bytes=10, max_backups=0, max_age_days=0, now_s=lambda: 0.0)
    for _ in range(4):
        file.write("123456789\n")

    assert len(list(tmp_path.glob("a-*.log"))) == 3


def test_files_put_aside_are_compressed(tmp_path: Path) -> None:
    file = rotating(tmp_path / "a.log", is_compressed=True)
    file.write("123456789\n")
    file.write("next\n")

    [aside] = tmp_path.glob("a-*")
    assert gzip.decompress(aside.read_bytes()) == b"123456789\n"
    assert aside.name == "a-1970-01-01T00-00-00.000.log.gz"


def test_only_so_many_are_kept(tmp_path: Path) -> None:
    file = rotating(tmp_path / "a.log", max_backups=2)
    (tmp_path / "a-notes.log").write_text("not ours")
    for number in range(6):
        file.write(f"line {number}\n--")

    kept = sorted(path.read_text() for path in tmp_path.glob("a-1970*"))
    assert kept == ["line 3\n--", "line 4\n--"]
    assert (tmp_path / "a-notes.log").exists()


def test_only_those_that_are_young_enough_are_kept(tmp_path: Path) -> None:
    old = tmp_path / "a-2020-01-01T00-00-00.000.log.gz"
    old.write_bytes(b"")
    os.utime(old, (0, 0))
    file = rotating(tmp_path / "a.log", now_s=3 * A_DAY_S, max_age_days=2)
    file.write("123456789\n")
    file.write("next\n")

    assert not old.exists()


def test_a_file_that_is_there_goes_on(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("before\n")
    rotating(tmp_path / "a.log", max_bytes=1_000).write("after\n")

    assert (tmp_path / "a.log").read_text() == "before\nafter\n"


def test_a_log_file_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = Logging(filename=str(tmp_path / "file" / "a.log"))

    with pytest.raises(ConfigError, match=r"The log file .* cannot be opened"):
        log_stream(settings)


# -- what is logged --------------------------------------------------------------------------------------------------


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def test_a_line_has_the_names_that_burrow_gives(stream: io.StringIO) -> None:
    configure_logging(stream=stream)
    structlog.get_logger().warning("group changed", group="a")
    line = json.loads(stream.getvalue())

    assert list(line) == ["level", "ts", "msg", "group"]
    assert (line["level"], line["msg"]) == ("warn", "group changed")
    assert isinstance(line["ts"], float)


def test_the_level_can_change_at_run_time(stream: io.StringIO) -> None:
    level = LogLevel("error")
    configure_logging(level, stream)
    log = structlog.get_logger()
    log.warning("not this")
    level.set("debug")
    log.debug("this")
    level.set("fatal")
    log.error("not this")

    assert [json.loads(line)["msg"] for line in stream.getvalue().splitlines()] == ["this"]
