"""Exit codes: 2 for a command line that makes no sense, 1 for what could not be done."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.running import Command
from warren.commands import doctor
from warren.commands.past import cluster_of, write_report
from warren.errors import HistoryError, SetupError


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("silence add --group a --for abc", "--for 'abc' is no duration"),
        ("replay --from nonsense", "--from 'nonsense' is no moment"),
        ("replay --from 10m --to 20m", "is empty. --from must be before --to."),
        ("replay --group (", "--group '(' is no regular expression"),
        ("replay", "Where is the history?"),
        ("replay --sink s", "Where is the sink s configured?"),
        ("replay --sink s --html report.html", "--html is a report of alerts, and --sink looks for none."),
        ("plan --headroom 200", "--headroom 200 is no share"),
        ("plan --drain soon", "--drain 'soon' is no duration"),
        ("explain g --at yesterday", "--at 'yesterday' is no moment"),
        ("describe --bootstrap b:1 --group g --property x", "--property 'x' has no value"),
        ("doctor", "Give --bootstrap HOST:PORT or --config-dir DIR."),
        ("run --config-dir d --bootstrap b:1", "Give --config-dir DIR or --bootstrap HOST:PORT."),
    ],
)
def test_a_command_line_that_makes_no_sense_is_told(warren: Command, command: str, says: str) -> None:
    said = warren(*command.split())

    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert says in said.err


def test_a_configuration_that_is_not_there_is_no_matter_of_the_command_line(warren: Command, tmp_path: Path) -> None:
    assert warren("check-config", str(tmp_path)).code == 1


def test_a_report_that_cannot_be_written_is_no_matter_of_the_command_line(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"The report cannot be written to .*: No such file or directory."):
        write_report(tmp_path / "nowhere" / "report.html", "")


def test_several_clusters_are_told_like_those_of_a_running_warren() -> None:
    reader = SimpleNamespace(catalog=SimpleNamespace(clusters=lambda: ["a", "b"]))
    with pytest.raises(HistoryError, match=r"several clusters: a, b. Name one with --cluster"):
        cluster_of(reader, "")


def test_a_disk_without_room_is_not_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=5_000_000))
    with pytest.raises(doctor.UnwellError, match="Only 5 MB are free at "):
        doctor._disk()


def test_brokers_that_are_ahead_are_not_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_newest", lambda client: [-30.0, 4.0])
    with pytest.raises(doctor.UnwellError, match="clock is 30 s ahead of this machine"):
        doctor._clocks({})
