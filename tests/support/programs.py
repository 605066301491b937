"""Programs that the tests and benchmarks run against Warren: made or fetched once, kept in the cache with Kafka's jars.

Telegraf is built from its Go module with the few plugins that are needed, InfluxDB 1.8 for its v2 API, and a Collector
of OpenTelemetry; the others come out of the distribution's packages, which are unpacked and not installed. Nothing is
there but what was complete and answered.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from warren.embedded.jars import Printer, fetch_jars
from warren.errors import SetupError
from warren.machine.cache import cache_dir, locked

TELEGRAF_VERSION = "1.39.3"
MODULE = "github.com/influxdata/telegraf"
PLUGINS = ("inputs.burrow", "outputs.file", "serializers.influx")
GO_MOD = f"""\
module warren.test/programs

go 1.26.0

require {MODULE} v{TELEGRAF_VERSION}
"""

INFLUXDB_VERSION = "1.8.10"
INFLUXDB_MODULE = "github.com/influxdata/influxdb"

COLLECTOR_VERSION = "0.118.0"
COLLECTOR_MODULE = "go.opentelemetry.io/collector"
COLLECTOR_GO_MOD = f"""\
module warren.test/collector

go 1.26.0

require (
    {COLLECTOR_MODULE}/confmap/provider/fileprovider v1.24.0
    {COLLECTOR_MODULE}/exporter/debugexporter v{COLLECTOR_VERSION}
    {COLLECTOR_MODULE}/otelcol v{COLLECTOR_VERSION}
    {COLLECTOR_MODULE}/receiver/otlpreceiver v{COLLECTOR_VERSION}
)
"""

Report = Callable[[str], None]


class Program(NamedTuple):
    """Something with executables in `usr/bin` of a directory that `make` fills."""

    name: str
    doing: str
    make: Callable[[Path], None]
    executables: tuple[str, ...]
    version: str = ""
    """If it is always the same one; the distribution's packages have their own."""
    question: str = "--version"
    answers_as: str = ""
    """How the answer begins, where that is not the name of the executable."""

    @property
    def home(self) -> Path:
        """Where the cache keeps it."""
        return cache_dir() / "programs" / f"{self.name}-{self.version}".rstrip("-")

    def path(self, executable: str = "") -> Path:
        """One of its executables, or the one of its own name; `SetupError` if it was never provided."""
        path = _executable(self.home, executable or self.name)
        if not path.exists():
            message = f"{path.name} is not there."
            raise SetupError(message, hint="`make test` and `make bench` provide what they need.")
        return path

    def environment(self) -> dict[str, str]:
        """In which it finds the libraries that came along with it."""
        return _environment(self.home)


def _executable(home: Path, name: str) -> Path:
    return home / "usr" / "bin" / name


def _environment(home: Path) -> dict[str, str]:
    libraries = [str(path) for path in (home / "usr" / "lib").glob("*-linux-*")]
    return {**os.environ, **({"LD_LIBRARY_PATH": ":".join(libraries)} if libraries else {})}


def _build_telegraf(target: Path) -> None:
    go = _tool("go", "telegraf cannot be built: there is no `go`.", "Install Go 1.26 or newer.")
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "go.mod").write_text(GO_MOD)
        options = [
            *("-trimpath", "-ldflags", f"-s -w -X {MODULE}/internal.Version={TELEGRAF_VERSION}"),
            *("-tags", ",".join(("custom", *PLUGINS)), "-o", f"{target}/usr/bin/"),
        ]
        # The module has replacements that only count where it is the main one, so `go install` refuses it; and there
        # is no list of checksums here for the same reason: `-mod=mod` makes one, against the public one.
        environment = {**os.environ, "GOFLAGS": "-mod=mod -buildvcs=false", "GOWORK": "off"}
        _run([go, "build", *options, f"{MODULE}/cmd/telegraf"], Path(scratch), "telegraf cannot be built", environment)


def _build_collector(target: Path) -> None:
    """Collectors are put together by those who want one: ours takes OTLP, and prints what it was sent."""
    go = _tool("go", "The Collector cannot be built: there is no `go`.", "Install Go 1.26 or newer.")
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "go.mod").write_text(COLLECTOR_GO_MOD)
        shutil.copy(Path(__file__).parents[1] / "go" / "collector.go", scratch)
        flags = ["-trimpath", "-ldflags", f"-s -w -X main.version={COLLECTOR_VERSION}"]
        environment = {**os.environ, "GOFLAGS": "-mod=mod -buildvcs=false", "GOWORK": "off"}
        command = [go, "build", *flags, "-o", f"{target}/usr/bin/otel-collector", "."]
        _run(command, Path(scratch), "The Collector cannot be built", environment)


def _build_influxdb(target: Path) -> None:
    go = _tool("go", "InfluxDB cannot be built: there is no `go`.", "Install Go 1.26 or newer.")
    with tempfile.TemporaryDirectory() as scratch:
        flags = ["-trimpath", "-ldflags", f"-s -w -X main.version={INFLUXDB_VERSION}"]
        environment = {**os.environ, "GOBIN": f"{target}/usr/bin", "GOFLAGS": "", "GOWORK": "off"}
        command = [go, "install", *flags, f"{INFLUXDB_MODULE}/cmd/influxd@v{INFLUXDB_VERSION}"]
        _run(command, Path(scratch), "InfluxDB cannot be built", environment)


def _debian_tools(program: str) -> tuple[str, str]:
    """Return the paths of `apt-get` and `dpkg-deb`; `SetupError` on other distributions."""
    hint = "It takes a Debian or one of its kind."
    apt = _tool("apt-get", f"{program} cannot be fetched: there is no `apt-get`.", hint)
    dpkg = _tool("dpkg-deb", f"{program} cannot be unpacked: there is no `dpkg-deb`.", hint)
    return apt, dpkg


def _unpack(*packages: str) -> Callable[[Path], None]:
    """Make a program of the distribution's packages."""

    def make(target: Path) -> None:
        program = packages[0]
        apt, dpkg = _debian_tools(program)
        with tempfile.TemporaryDirectory() as scratch:
            _download(apt, packages, Path(scratch))
            for package in sorted(Path(scratch).glob("*.deb")):
                _run([dpkg, "-x", str(package), str(target)], Path(scratch), f"{program} cannot be unpacked")

    return make


def _download(apt: str, packages: Sequence[str], into: Path) -> None:
    """Fetch packages; a machine that has no list of them yet, or an old one, gets one that is only ours."""
    what = f"{packages[0]} cannot be fetched"
    try:
        _run([apt, "download", "-qq", *packages], into, what)
    except SetupError:
        lists = into / "lists"
        (lists / "partial").mkdir(parents=True)
        ours = ["-qq", "-o", f"Dir::State::Lists={lists}", "-o", f"Dir::Cache={into / 'cache'}"]
        _run([apt, *ours, "update"], into, what)
        _run([apt, *ours, "download", *packages], into, what)


def _unpack_alertmanager(target: Path) -> None:
    """Debian's looks for its templates where it would be installed; ours looks beside where it is started."""
    _unpack("prometheus-alertmanager")(target)
    installed, beside = b"/usr/share/prometheus/alertmanager", b"usr/share/prometheus//alertmanager"
    binary = _executable(target, "prometheus-alertmanager").read_bytes()
    patched = _executable(target, "alertmanager")
    patched.write_bytes(binary.replace(installed, beside))  # of the same length, and the same place in its directory
    patched.chmod(0o755)


def _unpack_chromium(target: Path) -> None:
    """The browser without its windows, and dozens of libraries: those that the machine does not have come along."""
    apt, dpkg = _debian_tools("chromium")
    with tempfile.TemporaryDirectory() as scratch:
        for package in _download_all(apt, HEADLESS_SHELL, Path(scratch)):
            _run([dpkg, "-x", str(package), str(target)], Path(scratch), "chromium cannot be unpacked")
    started = _executable(target, HEADLESS_SHELL)  # Debian's looks for the real one where it would be installed
    started.parent.mkdir(parents=True, exist_ok=True)
    started.unlink(missing_ok=True)
    started.write_text(UNPACKED if (target / "usr" / "lib" / "chromium").exists() else INSTALLED)
    started.chmod(0o755)


HEADLESS_SHELL = "chromium-headless-shell"
UNPACKED = f"""#!/bin/sh
root=$(cd "$(dirname "$0")/../.." && pwd)
for each in "$root"/usr/lib/*-linux-* "$root"/usr/lib/*-linux-*/pulseaudio "$root"/lib/*-linux-*; do
  LD_LIBRARY_PATH="$each:$LD_LIBRARY_PATH"
done
export LD_LIBRARY_PATH
exec "$root/usr/lib/chromium/{HEADLESS_SHELL}" "$@"
"""
INSTALLED = f"""#!/bin/sh
exec /usr/bin/{HEADLESS_SHELL} "$@"
"""
"""Where the machine has it already there is nothing to fetch."""


def _download_all(apt: str, package: str, into: Path) -> list[Path]:
    """Fetch a package with everything that it needs and this machine has not; nothing is installed."""
    lists, archives = into / "lists", into / "archives"
    (lists / "partial").mkdir(parents=True)
    (archives / "partial").mkdir(parents=True)
    ours = ["-qq", "-o", f"Dir::State::Lists={lists}", "-o", f"Dir::Cache={into}", "-o", "Debug::NoLocking=1"]
    what = f"{package} cannot be fetched"
    _run([apt, *ours, "update"], into, what)
    _run([apt, *ours, "install", "-y", "--download-only", "--no-install-recommends", package], into, what)
    return sorted(archives.glob("*.deb"))


TELEGRAF = Program(
    name="telegraf",
    doing="building telegraf, which takes some minutes",
    make=_build_telegraf,
    executables=("telegraf",),
    version=TELEGRAF_VERSION,
)
PROMETHEUS = Program("prometheus", "fetching Prometheus", _unpack("prometheus"), ("prometheus", "promtool"))
ALERTMANAGER = Program("alertmanager", "fetching Alertmanager", _unpack_alertmanager, ("alertmanager",))
"""It must be started in its own directory, `home`."""
CHROMIUM = Program(HEADLESS_SHELL, "fetching Chromium", _unpack_chromium, (HEADLESS_SHELL,), answers_as="Chromium")
INFLUXDB = Program(
    "influxdb", "fetching InfluxDB", _unpack("influxdb"), ("influxd",), question="version", answers_as="InfluxDB"
)
INFLUXDB_18 = Program(
    name="influxdb-1.8",
    doing="building InfluxDB 1.8, which takes some minutes",
    make=_build_influxdb,
    executables=("influxd",),
    version=INFLUXDB_VERSION,
    question="version",
    answers_as="InfluxDB",
)
"""The oldest one with the v2 API."""
VICTORIA_METRICS = Program(
    "victoria-metrics",
    "fetching VictoriaMetrics",
    _unpack("victoria-metrics"),
    ("victoria-metrics",),
    question="--help",  # to --version Debian's says nothing
)
OTEL_COLLECTOR = Program(
    name="otel-collector",
    doing="building an OpenTelemetry Collector, which takes some minutes",
    make=_build_collector,
    executables=("otel-collector",),
    version=COLLECTOR_VERSION,
)
WRK = Program("wrk", "fetching wrk", _unpack("wrk", "libluajit-5.1-2"), ("wrk",))
PROGRAMS = {
    one.name: one
    for one in (
        TELEGRAF,
        PROMETHEUS,
        ALERTMANAGER,
        CHROMIUM,
        INFLUXDB,
        INFLUXDB_18,
        VICTORIA_METRICS,
        OTEL_COLLECTOR,
        WRK,
    )
}


JARS = {"opensearch": Path(__file__).parents[1] / "java" / "opensearch-2.19.0.txt"}
"""Programs that are nothing but jars; what starts them is in `tests/java`."""


def provide(program: Program, report: Report) -> Path:
    """The program's directory, made first when the cache does not have it; `SetupError` says why it cannot be had."""
    if program.home.exists():
        return program.home
    try:
        with locked(program.home.parent / ".lock"):
            if not program.home.exists():  # another process may have made it while we waited
                report(program.doing)
                _make(program)
    except OSError as error:
        message = f"{program.name} cannot be kept in {program.home.parent}: {error.strerror}."
        raise SetupError(message, hint="Free some space, or point WARREN_CACHE to another place.") from error
    return program.home


def _make(program: Program) -> None:
    """Make it beside its place and move it there in one step, once it has answered."""
    with tempfile.TemporaryDirectory(prefix=f".{program.name}.", dir=program.home.parent) as scratch:
        fresh = Path(scratch) / program.name
        fresh.mkdir()
        program.make(fresh)
        for name in program.executables:
            _check(program, _executable(fresh, name), _environment(fresh))
        fresh.rename(program.home)


def _check(program: Program, executable: Path, environment: dict[str, str]) -> None:
    """It must say who it is."""
    command = [str(executable), program.question]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=False)
        said = (done.stdout + done.stderr).lstrip()
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    name = program.answers_as or executable.name
    if not re.match(rf"{name}\b.*{re.escape(program.version)}", said, re.IGNORECASE):
        message = f"{executable.name} was made, but does not run; it says {said.strip()[:200]!r}."
        raise SetupError(message)


def _tool(name: str, message: str, hint: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise SetupError(message, hint=hint)
    return found


def _run(command: list[str], directory: Path, failure: str, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()] or ["nothing"]
        told = [line for line in said if not line.startswith(("go: downloading", "W: "))] or said
        reason = re.sub(r"\w+://\S+", "…", told[-1])  # addresses of places it asked are nobody's business
        message = f"{failure}: {Path(command[0]).name} says {reason!r}."
        raise SetupError(message, hint="Check the network, and for packages the lists (`apt-get update`).")


def main() -> int:
    """Provide the programs named on the command line."""
    parser = argparse.ArgumentParser(description="Provide programs that tests and benchmarks need.")
    parser.add_argument("--label", default="", help="printed before every line of progress")
    parser.add_argument("names", nargs="*", choices=[*PROGRAMS, *JARS])
    options = parser.parse_args()
    try:
        for name in options.names:
            if name in JARS:
                fetch_jars(JARS[name], Printer(f"{options.label} "))
            else:
                provide(PROGRAMS[name], lambda text: print(f"{options.label} {text}".strip(), flush=True))
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
