"""Fetches the jars of one Kafka version, once, through the Ivy that comes inside PySpark.

Comes in: a version, or another list of jars. Goes out: a directory of jars in the cache, complete and with the right
content.

Which jars a version needs is written down beside this file (`kafka-<version>.txt`, with checksums) and not resolved
again on every machine: it is the same everywhere, and three times quicker because no POM has to be read.
Where artifacts come from is Ivy's own default; `WARREN_IVY_SETTINGS` names an Ivy settings file for another place.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from xml.sax.saxutils import quoteattr

from warren.embedded.trust import trust_options
from warren.errors import SetupError
from warren.machine.cache import cache_dir, locked
from warren.machine.java import find_java

Report = Callable[[str], None]

MANIFEST = "manifest.json"
LISTS = Path(__file__).parent
ENOUGH_FAILURES = 3  # after so many unanswered requests the rest would only make the reader wait longer
NO_ANSWER = re.compile(r"Server access error|Host \S+ not found|Connection (?:refused|timed out|reset)|UnknownHost")
UNTRUSTED = "PKIX path"
TIMEOUTS = ("-Dsun.net.client.defaultConnectTimeout=10000", "-Dsun.net.client.defaultReadTimeout=60000")
JVM_OPTIONS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", *TIMEOUTS)

SETTINGS = """\
<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true" usepoms="false" useMavenMetadata="false"/></resolvers>
</ivysettings>
"""
MODULE = """\
<ivy-module version="2.0">
  <info organisation="warren" module="embedded-kafka"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""


@dataclass(frozen=True)
class Jar:
    """One jar as a list names it: `coordinates` are group:artifact:revision."""

    coordinates: str
    sha256: str

    @property
    def name(self) -> str:
        _, artifact, revision = self.coordinates.split(":")
        return f"{artifact}-{revision}.jar"

    def as_dependency(self) -> str:
        group, artifact, revision = map(quoteattr, self.coordinates.split(":"))
        return f'<dependency org={group} name={artifact} rev={revision} transitive="false" conf="default->default"/>'


class BrokenCopyError(Exception):
    """What Ivy delivered is not what the list asks for; its cache is not to be trusted."""


def versions() -> list[str]:
    """The Kafka versions that can be fetched."""
    return sorted(path.stem.removeprefix("kafka-") for path in LISTS.glob("kafka-*.txt"))


def list_jars(version: str) -> list[Jar]:
    """The jars that `version` is made of."""
    if version not in versions():
        message = f"There is no embedded Kafka {version}; there is {' and '.join(versions())}."
        raise SetupError(message)
    return read_list(LISTS / f"kafka-{version}.txt")


def read_list(path: Path) -> list[Jar]:
    """The jars that a file names, one `group:artifact:revision sha256` a line."""
    pairs = (line.split() for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return [Jar(coordinates, sha256) for coordinates, sha256 in pairs]


def fetch_kafka(version: str, report: Report) -> Path:
    """The directory with the jars of Kafka `version`; fetched first when the cache has no complete copy."""
    return _fetch(list_jars(version), version, f"Kafka {version}", report)


def fetch_jars(list_path: Path, report: Report) -> Path:
    """The same for the jars that a list from elsewhere names; the cache keeps them under the list's own name."""
    return _fetch(read_list(list_path), list_path.stem, list_path.stem, report)


def _fetch(jars: Sequence[Jar], name: str, title: str, report: Report) -> Path:
    target = cache_dir() / "kafka" / name
    if is_complete(target):
        return target
    with _told_as_setup_error(), locked(target.parent / ".lock"):
        if not is_complete(target):  # another process may have fetched it while we waited
            _fetch_into(target, jars, title, report)
    return target


def is_complete(directory: Path) -> bool:
    """Does the directory hold what its manifest says? Names and sizes only: this runs at every start."""
    try:
        entries = json.loads((directory / MANIFEST).read_text())
        return all((directory / entry["name"]).stat().st_size == entry["size"] for entry in entries)
    except (OSError, ValueError, TypeError, KeyError):
        return False


def _fetch_into(target: Path, jars: Sequence[Jar], title: str, report: Report) -> None:
    """Fetch beside the final place and move there in one step, so that a copy is either whole or not there."""
    for leftover in target.parent.glob(f".{target.name}.*"):  # of a process that was killed: we hold the lock
        shutil.rmtree(leftover)
    fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        _download_checked(fresh, jars, title, report)
        _write_manifest(fresh, jars)
        shutil.rmtree(target, ignore_errors=True)
        fresh.chmod(0o755)
        fresh.rename(target)
        report(f"fetched {title}: {len(jars)} jars")
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _download_checked(fresh: Path, jars: Sequence[Jar], title: str, report: Report) -> None:
    """Download all; when Ivy's cache turns out to be damaged, once more with an empty one."""
    ivy_cache = cache_dir() / "ivy"
    try:
        _download(fresh, ivy_cache, jars, title, report)
    except BrokenCopyError:
        report(f"fetching {title}: the download cache is damaged, starting again")
        shutil.rmtree(ivy_cache, ignore_errors=True)
        for jar in fresh.glob("*.jar"):  # Ivy does not replace a file that is newer than its own
            jar.unlink()
        try:
            _download(fresh, ivy_cache, jars, title, report)
        except BrokenCopyError as error:
            message = f"{title} cannot be fetched: {error}."
            raise SetupError(message, hint="Try again later.") from error


def _download(fresh: Path, ivy_cache: Path, jars: Sequence[Jar], title: str, report: Report) -> None:
    with tempfile.TemporaryDirectory(dir=fresh) as name:
        scratch = Path(name)
        arguments = _ivy_arguments(scratch, ivy_cache, fresh, jars)
        code, output = _run_ivy(arguments, len(jars), title, report)
        if code and UNTRUSTED in "\n".join(output):  # this Java has its own list of authorities: lend it the machine's
            code, output = _run_ivy([*trust_options(scratch / "trust.jks"), *arguments], len(jars), title, report)
    if code:
        raise _failure(title, output)
    for jar in jars:
        if _sha256(fresh / jar.name) != jar.sha256:
            message = f"{jar.name} does not have the content it should have"
            raise BrokenCopyError(message)


def _ivy_arguments(scratch: Path, ivy_cache: Path, fresh: Path, jars: Iterable[Jar]) -> list[str]:
    module, settings = scratch / "ivy.xml", scratch / "settings.xml"
    module.write_text(MODULE.format(dependencies="\n".join(jar.as_dependency() for jar in jars)))
    settings.write_text(SETTINGS)
    where = ["-settings", os.environ.get("WARREN_IVY_SETTINGS") or str(settings), "-cache", str(ivy_cache)]
    # "bundle" is how some POMs call their jar; without it those would silently be left out.
    what = ["-ivy", str(module), "-confs", "default", "-types", "jar", "bundle"]
    return ["-jar", str(_ivy_jar()), *where, *what, "-retrieve", f"{fresh}/[artifact]-[revision].[ext]"]


def _ivy_jar() -> Path:
    spec = find_spec("pyspark")
    folders = spec.submodule_search_locations if spec else None
    found = [path for folder in folders or [] for path in sorted(Path(folder, "jars").glob("ivy-*.jar"))]
    if not found:
        message = "PySpark is not installed completely: it has no Ivy."
        raise SetupError(message, hint="Install pyspark again.")
    return found[-1]


def _run_ivy(arguments: Sequence[str], total: int, title: str, report: Report) -> tuple[int, list[str]]:
    """Run Ivy, tell its progress, and end it when its requests go unanswered; returns its exit code and output."""
    report(f"fetching {title}: 0 of {total} jars")
    command = [str(find_java().path), *JVM_OPTIONS, *arguments]
    lines: list[str] = []
    done = failures = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as ivy:
        assert ivy.stdout is not None
        for line in ivy.stdout:
            lines.append(line.strip())
            if "[SUCCESSFUL ]" in line:
                done += 1
                report(f"fetching {title}: {done} of {total} jars")
            failures += bool(NO_ANSWER.search(line))
            if failures >= ENOUGH_FAILURES:
                ivy.kill()
    return ivy.returncode, lines


def _failure(title: str, output: Sequence[str]) -> Exception:
    """What Ivy's output means to the reader; its addresses are nobody's business."""
    text = "\n".join(output)
    if "No space left on device" in text:
        return OSError(errno.ENOSPC, title)
    if UNTRUSTED in text:
        hint = "Give Java the certificate of your network's proxy, or name it in SSL_CERT_FILE."
        message = f"{title} cannot be fetched: Java does not trust the artifact registry's certificate."
        return SetupError(message, hint=hint)
    if NO_ANSWER.search(text):
        hint = "Check the network or the proxy and try again; what was fetched is kept."
        return SetupError(f"{title} cannot be fetched: the artifact registry cannot be reached.", hint=hint)
    complaints = [line for line in output if re.search(r"not found|FAILED|rror|xception", line)]
    reason = re.sub(r"\w+://\S+", "…", (complaints or list(output) or ["no output"])[-1])
    return BrokenCopyError(f"Ivy says: {reason}")


def _write_manifest(directory: Path, jars: Iterable[Jar]) -> None:
    entries = [{"name": j.name, "size": (directory / j.name).stat().st_size, "sha256": j.sha256} for j in jars]
    (directory / MANIFEST).write_text(json.dumps(entries, indent=1))


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""


@contextmanager
def _told_as_setup_error() -> Iterator[None]:
    """Turn what the disk may answer into one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            message = f"There is no space left on the device that holds {cache_dir()}; Kafka needs about 150 MB."
            raise SetupError(message, hint="Free some, or point WARREN_CACHE to another place.") from error
        message = f"Cannot write to {cache_dir()}: {error.strerror}."
        raise SetupError(message, hint="Set WARREN_CACHE.") from error


class Printer:
    """Prints progress: one line that changes in a terminal, a line every few seconds anywhere else."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._terminal = sys.stdout.isatty()
        self._next_s = 0.0

    def __call__(self, text: str) -> None:
        now_s = time.monotonic()
        if self._terminal:
            print(f"\r{self._label}{text}\x1b[K", end="\n" if text.startswith("fetched") else "", flush=True)
        elif now_s >= self._next_s or text.startswith("fetched"):
            print(f"{self._label}{text}", flush=True)
            self._next_s = now_s + 3


def main() -> int:
    """Fetch the versions named on the command line."""
    parser = argparse.ArgumentParser(description="Fetch the jars of embedded Kafka versions.")
    parser.add_argument("--label", default="", help="printed before every line of progress")
    parser.add_argument("versions", nargs="*", metavar="VERSION")
    options = parser.parse_args()
    try:
        for version in options.versions:
            fetch_kafka(version, Printer(f"{options.label} " if options.label else ""))
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
