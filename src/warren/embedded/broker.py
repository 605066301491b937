"""One real Kafka broker in KRaft mode on 127.0.0.1, for the demo and the tests.

    with Broker(Path("data")) as broker:
        AdminClient({"bootstrap.servers": broker.bootstrap})

Everything lies in its data directory: the logs of the topics (`data/`), the settings, and the broker's own log. A
directory that was used before is used again, with the topics in it.
"""

from __future__ import annotations

import base64
import os
import random
import re
import signal
import socket
import subprocess
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import psutil

from warren.embedded import lifeline
from warren.embedded.jars import fetch_kafka
from warren.errors import SetupError
from warren.machine.cache import locked
from warren.machine.java import find_java

HOST = "127.0.0.1"
PORTS = range(20_000, 32_000)  # below the ephemeral range, where an outgoing connection may take any port at any time
START_SECONDS = 60.0
STOP_SECONDS = 15.0
ATTEMPTS = 3  # a port that was free a moment ago may be taken when the broker asks for it
TAKEN = "Address already in use"

# A small heap and the quick compiler: half the start time of the defaults, and a demo is not a load test.
JVM_OPTIONS = ("-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true")

SETTINGS: Mapping[str, str] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "log.dirs": "data",  # relative to the data directory, whose name may hold commas and blanks
    "offsets.topic.num.partitions": "50",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "log.cleaner.dedupe.buffer.size": "2097152",
    # A monitor must never make a topic by asking about it, and a mistyped name in a test must fail.
    "auto.create.topics.enable": "false",
}

LOG4J = """\
status = error
appender.file.type = File
appender.file.name = file
appender.file.fileName = ${sys:warren.broker.log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{ISO8601} %-5p %c{1}: %m%n
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
"""


class Broker:
    """A broker process; start and stop it by hand or as a context manager.

    `port` 0 takes a free one at every start. `overrides` are settings of server.properties; they win over ours.
    """

    def __init__(
        self,
        data_dir: Path | str,
        version: str = "4.3.1",
        port: int = 0,
        overrides: Mapping[str, str] | None = None,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.data_dir = Path(data_dir).absolute()
        self.version = version
        self.log_path = self.data_dir / "broker.log"
        self._output_path = self.data_dir / "broker.out"  # what Java itself says: options, crashes
        self._wanted_port = port
        self._overrides = dict(overrides or {})
        self._report = report
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._held = ExitStack()  # the lock on the data directory

    @property
    def bootstrap(self) -> str:
        """What clients take as `bootstrap.servers`."""
        self._running()
        return f"{HOST}:{self._port}"

    @property
    def pid(self) -> int:
        """The process id of the broker's Java."""
        return int(psutil.Process(self._running().pid).children()[0].pid)

    def start(self) -> None:
        """Fetch and format where needed, start, and return when the broker answers; else `SetupError`."""
        if self._process is not None:
            return
        self._lock_directory()
        try:
            self._start_on_some_port()
        except BaseException:
            self._held.close()
            raise

    def prepare_groups(self) -> None:
        """Have `__consumer_offsets` made now and return when groups can commit.

        Kafka makes it for the first group that asks; commits that come in the second that this takes fail.
        """
        self._wait_for(lambda: _coordinates(self.bootstrap), "coordinating groups")

    def stop(self) -> None:
        """Stop the broker in good order, with force when it takes too long; nothing happens when it does not run."""
        process, self._process = self._process, None
        if process is None:
            return
        with self._held:
            _end(process)

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _lock_directory(self) -> None:
        """Two brokers in one directory would overwrite each other's settings before Kafka finds out."""
        try:
            self._held.enter_context(locked(self.data_dir / "lock", wait=False))
        except BlockingIOError as error:
            message = f"Another Kafka is running in {self.data_dir}."
            raise SetupError(message, hint="Stop it, or choose another directory.") from error
        except OSError as error:
            message = f"Cannot write to {self.data_dir}: {error.strerror}."
            raise SetupError(message) from error

    def _start_on_some_port(self) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._start_once()
            except SetupError as error:
                if self._wanted_port or attempt == ATTEMPTS or TAKEN not in str(error):
                    raise

    def _start_once(self) -> None:
        java = [str(find_java().path), *JVM_OPTIONS, *self._log_options(), "-cp", self._class_path()]
        self._port = self._wanted_port or free_port()
        if not is_free(self._port):  # else the ready check would greet whoever is there
            message = f"Port {self._port} of {HOST} is in use."
            raise SetupError(message, hint="Choose another one, or 0 for a free one.")
        self._write_files(controller_port=free_port())
        self._format(java)
        self._process = self._launch([*java, "kafka.Kafka", "server.properties"])
        try:
            self._wait_until_ready()
        except BaseException:
            _end(self._process)
            self._process = None
            raise

    def _class_path(self) -> str:
        return os.pathsep.join(str(jar) for jar in sorted(fetch_kafka(self.version, self._report).glob("*.jar")))

    def _log_options(self) -> list[str]:
        return ["-Dlog4j2.configurationFile=log4j2.properties", f"-Dwarren.broker.log={self.log_path}"]

    def _write_files(self, controller_port: int) -> None:
        listeners = f"PLAINTEXT://{HOST}:{self._port},CONTROLLER://{HOST}:{controller_port}"
        # A voter named in the settings, not in the metadata, lets a directory be used again on other ports.
        ports = {"listeners": listeners, "controller.quorum.voters": f"1@{HOST}:{controller_port}"}
        settings = {**SETTINGS, **ports, **self._overrides}
        try:
            (self.data_dir / "log4j2.properties").write_text(LOG4J)
            (self.data_dir / "server.properties").write_text("".join(f"{k}={v}\n" for k, v in settings.items()))
            for log in (self.log_path, self._output_path):
                log.unlink(missing_ok=True)  # an old error must not explain a new failure
        except OSError as error:
            message = f"Cannot write to {self.data_dir}: {error.strerror}."
            raise SetupError(message) from error

    def _format(self, java: Sequence[str]) -> None:
        """Give a new directory its cluster id; an old one keeps its own, and its data."""
        if (self.data_dir / "data" / "meta.properties").exists():
            return
        # An id that starts with "-" would be taken for an option.
        tool = ["kafka.tools.StorageTool", "format", "-c", "server.properties", f"--cluster-id={self._cluster_id()}"]
        done = subprocess.run([*java, *tool], cwd=self.data_dir, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = last_words((done.stdout + done.stderr).splitlines())
            message = f"Kafka {self.version} cannot format {self.data_dir}: {reason}"
            raise SetupError(message)

    def _cluster_id(self) -> str:
        return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")

    def _launch(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with self._output_path.open("wb") as output:
            return subprocess.Popen(
                lifeline.wrap(command),
                cwd=self.data_dir,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _wait_until_ready(self) -> None:
        self._wait_for(lambda: _accepts(self._port) and _answers(self.bootstrap), "ready")

    def _wait_for(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not condition():
            if self._running().poll() is not None:
                message = f"Kafka {self.version} ended while starting: {self._explain()}"
                raise SetupError(message)
            if time.monotonic() > deadline:
                message = f"Kafka {self.version} was not {what} after {START_SECONDS:g} s: {self._explain()}"
                raise SetupError(message)
            time.sleep(0.05)

    def _explain(self) -> str:
        lines = [line for path in (self._output_path, self.log_path) for line in _tail(path)]
        return f"{last_words(lines)} (see {self.log_path})"

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            message = "The embedded Kafka does not run."
            raise SetupError(message, hint="Call start() first.")
        return self._process


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now, outside the ephemeral range."""
    for port in random.sample(PORTS, 200):
        if is_free(port):
            return port
    message = f"No free port was found on {HOST} between {PORTS.start} and {PORTS.stop}."
    raise SetupError(message)


def is_free(port: int) -> bool:
    """Could a server take this port of 127.0.0.1 now?"""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Java does: closed connections do not count
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def last_words(lines: Sequence[str], count: int = 3) -> str:
    """The lines that tell why a Java program ended: its last errors and their causes, else just its last lines."""
    lines = [
        line.strip().removeprefix('Exception in thread "main" ')
        for line in lines
        if line.strip() and not re.match(r"\s+at |\s*\.\.\. \d+ more", line)
    ]
    telling = [line for line in lines if re.search(r"ERROR|FATAL|Exception|Caused by|Error:|rror occurred", line)]
    return " | ".join(dict.fromkeys((telling or lines)[-count:])) or "it said nothing"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the guard and its Java, with force when they take too long."""
    assert process.stdin is not None
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the guard leads its own session: this is it and its Java
        process.wait()
    process.stdin.close()


def _tail(path: Path, count: int = 200) -> list[str]:
    try:
        with path.open(errors="replace") as file:
            return list(deque(file, count))
    except FileNotFoundError:
        return []


def _accepts(port: int) -> bool:
    """Cheap, and asked first: librdkafka complains on its own about every refused connection."""
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False


def _answers(bootstrap: str) -> bool:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    try:
        brokers = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0}).list_topics(timeout=5).brokers
    except KafkaException:
        return False
    return bool(brokers)


def _coordinates(bootstrap: str) -> bool:
    """Does a group find its coordinator, and is no coordinator still loading?

    A consumer asks, not AdminClient.list_consumer_group_offsets: in confluent-kafka 2.16.1 that one crashes the process
    when there is no coordinator yet.
    """
    from confluent_kafka import Consumer, KafkaException, TopicPartition
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    consumer = Consumer({"bootstrap.servers": bootstrap, "log_level": 0, "group.id": "warren-probe"})
    try:
        consumer.committed([TopicPartition("warren-probe", 0)], timeout=5)
        return not admin.list_consumer_groups().result(10).errors
    except KafkaException:
        return False
    finally:
        consumer.close()
