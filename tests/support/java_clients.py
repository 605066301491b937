"""Java programs for tests: a Kafka Streams application, and Kafka's own Admin client as the judge of what is true.

Both are single source files in `tests/java`. They are compiled when a test first needs them, which takes a JDK.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NoReturn, Self

from tests.support.waiting import eventually
from warren.embedded.jars import fetch_jars, fetch_kafka
from warren.errors import SetupError
from warren.machine.cache import cache_dir
from warren.machine.java import Java, find_java

SOURCES = Path(__file__).parents[1] / "java"
VERSION = "4.3.1"  # of the clients; they speak to older brokers too
JVM_OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlog4j2.level=WARN")
START_SECONDS = 60.0
ANSWER_SECONDS = 60.0  # the Admin client gives up after 20 on each of its requests
STOP_SECONDS = 15.0
GOOD_ENDS = (0, 128 + signal.SIGTERM, -signal.SIGKILL)  # by itself, or as a test wanted it


def java_command(name: str, jars: Sequence[Path], options: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """The command that runs a source file of `tests/java`."""
    java, libraries = find_java(), [f"{one}/*" for one in jars]
    class_path = os.pathsep.join([str(_compiled(name, java, libraries)), *libraries])
    return [str(java.path), *options, "-cp", class_path, name, *arguments]


def _compiled(name: str, java: Java, libraries: Sequence[str]) -> Path:
    """The classes of a source file, kept for the next run."""
    source = SOURCES / f"{name}.java"
    fits = hashlib.sha256(f"{java.version} {libraries} {source.read_text()}".encode()).hexdigest()[:16]
    classes = cache_dir() / "test-classes" / f"{name}-{fits}"
    if not classes.exists():
        classes.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=classes.parent) as scratch:
            _compile(source, java, libraries, Path(scratch) / name)
            with suppress(OSError):  # the other lane was quicker
                (Path(scratch) / name).rename(classes)
    return classes


def _compile(source: Path, java: Java, libraries: Sequence[str], classes: Path) -> None:
    compiler = java.home / "bin" / "javac"
    if not compiler.exists():  # a test that cannot run must not be skipped
        message = f"The tests with Java clients need a JDK, and Java {java.version} in {java.home} has no compiler."
        raise SetupError(message, hint="Install a JDK and set JAVA_HOME to it.")
    subprocess.run([compiler, "-d", classes, "-cp", os.pathsep.join(libraries), source], check=True)


class JavaProgram:
    """One source file of `tests/java` in a process of its own, which ends when its standard input does."""

    def __init__(
        self, directory: Path, name: str, jars: Sequence[Path], arguments: Sequence[str], *, merge: bool
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.log_path = directory / f"{name}.out"  # all that it says, but for answers on its standard output
        options = [*JVM_OPTIONS, f"-Djava.io.tmpdir={directory}"]
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(
                java_command(name, jars, options, arguments),
                stdin=subprocess.PIPE,
                stdout=log if merge else subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # a Ctrl-C in our terminal is ours: it ends when our pipe does
            )

    def stop(self) -> None:
        """Let it end in good order, with force when that takes too long."""
        with self.process:  # closes its pipes
            self._stdin().close()
            try:
                code = self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise AssertionError(f"it did not end within {STOP_SECONDS:g} s: {self.said()}") from None
        assert code in GOOD_ENDS, f"it ended with exit code {code}: {self.said()}"

    def kill(self) -> None:
        """End it at once, without a word to Kafka."""
        with self.process:
            self.process.kill()

    def said(self) -> str:
        return self.log_path.read_text(errors="replace")

    def _stdin(self) -> IO[str]:
        assert self.process.stdin is not None
        return self.process.stdin

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class StreamsApp(JavaProgram):
    """A Kafka Streams application whose group speaks the streams protocol, running when the block begins.

    It copies `source` to `sink` over a repartition topic, so it has two subtopologies: "0" reads `source`, "1" reads
    `<application>-by-value-repartition`, which has as many partitions. Settings of Streams go by their own names:
    `StreamsApp(..., **{"processing.guarantee": "exactly_once_v2"})`.
    """

    def __init__(
        self,
        directory: Path,
        bootstrap: str,
        application: str,
        source: str,
        sink: str,
        *,
        client: str = "",
        **settings: object,
    ) -> None:
        jars = [fetch_kafka(VERSION, print), fetch_jars(SOURCES / f"streams-{VERSION}.txt", print)]
        named = [bootstrap, application, client or f"{application}-client", source, sink]
        more = [f"{name}={value}" for name, value in settings.items()]
        super().__init__(directory / application, "StreamsApp", jars, [*named, *more], merge=True)

    def wait_until_ready(self) -> Self:
        """Return when its threads have their tasks."""
        eventually(lambda: self.process.poll() is not None or "READY" in self.said().splitlines(), START_SECONDS)
        assert self.process.poll() is None, self.said()
        return self

    def __enter__(self) -> Self:
        try:
            return self.wait_until_ready()
        except BaseException:
            self.kill()
            raise


class JavaMember(JavaProgram):
    """A member of a group by Kafka's own consumer of one version; it commits what it has read.

    librdkafka speaks the consumer protocol to brokers from Kafka 4 on only.
    """

    def __init__(
        self, directory: Path, bootstrap: str, group: str, topic: str, *, client: str, version: str, **settings: object
    ) -> None:
        more = [f"{name}={value}" for name, value in settings.items()]
        jars = [fetch_kafka(version, print)]
        super().__init__(directory / client, "GroupMember", jars, [bootstrap, group, client, topic, *more], merge=True)


class GroupOracle(JavaProgram):
    """What Kafka's own Admin client says about the groups of a cluster; one Java for many questions.

    A group is a dict with `group`, `type`, `protocol`, `state`, `members` (each `member_id`, `client_id`, `host`,
    `instance_id`, and `assignment`, or for streams groups `active_tasks`), `offsets`, for share groups `share_offsets`
    instead, and for streams groups `topology`. What the broker could not answer is told in `error`, its field missing.
    """

    def __init__(self, directory: Path, bootstrap: str) -> None:
        super().__init__(directory, "GroupOracle", [fetch_kafka(VERSION, print)], [bootstrap], merge=False)

    def groups(self) -> dict[str, dict[str, Any]]:
        """All groups of the cluster by their names."""
        return {group["group"]: group for group in self._ask_for("groups")["groups"]}

    def group(self, name: str) -> dict[str, Any]:
        """One group; only `group` and `error` when the cluster does not list it."""
        return self._ask("group", name)

    def committed(self, name: str) -> dict[tuple[str, int], int]:
        """The committed offsets of a group, by topic and partition; none for a group that is not there."""
        rows = self.group(name).get("offsets", [])
        return {(row["topic"], row["partition"]): row["offset"] for row in rows if row["offset"] is not None}

    def delete_offsets(self, group: str, topic: str, partition: int = 0) -> None:
        """Delete one committed offset; librdkafka cannot."""
        self._ask_for("delete-offsets", group, topic, str(partition))

    def _ask_for(self, *question: str) -> dict[str, Any]:
        """An answer that is of no use when it has an error."""
        answer = self._ask(*question)
        assert "error" not in answer, f"{question}: {answer['error']}"
        return answer

    def _ask(self, *question: str) -> dict[str, Any]:
        try:
            os.write(self._stdin().fileno(), json.dumps(question).encode() + b"\n")
        except BrokenPipeError:
            self._fail(question)
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], ANSWER_SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self._fail(question)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _fail(self, question: Sequence[str]) -> NoReturn:
        time.sleep(0.1)  # its last words may come after the end of its output
        code = self.process.poll()
        raise AssertionError(f"no answer to {question}; exit code {code}; Java said: {self.said()}")
