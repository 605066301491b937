"""Everything the demo starts, and how it is stopped: Kafka, the workload, and Warren in this process."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from warren.app import App, now_ms
from warren.config.load import parse
from warren.config.model import Config
from warren.demo.behaviours import GROUPS
from warren.demo.screen import Verdicts
from warren.embedded.broker import HOST, Broker, free_port, last_words
from warren.embedded.jars import Printer, fetch_kafka
from warren.errors import WarrenError
from warren.machine.java import find_java
from warren.machine.parallel import run_in_parallel

CLUSTER = "demo"
HISTORY = "parquet"
STOP_S = 3.0
KILL_S = 0.5
BROKER_SETTINGS = {"offsets.topic.segment.bytes": str(16 << 20)}  # cleaned often: it stays small however long we run


class Stage:
    """The demo's processes. `directory` is all its own; the HTTP address is taken when the stage is made."""

    def __init__(self, directory: Path, http: str) -> None:
        self._directory = directory
        self._workload_log = directory / "workload.log"
        for kept in ("snapshots", "history", HISTORY):  # of another Kafka: this one will be new
            shutil.rmtree(directory / kept, ignore_errors=True)
        self._port = free_port()  # known before the broker is, so that Warren can start beside it
        self._app = App(make_config(http, f"{HOST}:{self._port}", self.history), directory)
        self._broker: Broker | None = None
        self._java: psutil.Process | None = None
        self._workload: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where Warren answers."""
        return self._app.listeners[0].url

    @property
    def history(self) -> Path:
        """Where what happens is kept."""
        return self._directory / HISTORY

    @property
    def is_ready(self) -> bool:
        """Whether Warren has read everything there is."""
        return self._app.is_ready

    def start_kafka_and_warren(self) -> str:
        """Start both side by side and return Kafka's address once it answers."""
        find_java()  # the one thing that cannot be fetched
        broker = Broker(fresh_directory(self._directory), port=self._port, overrides=BROKER_SETTINGS)
        fetch_kafka(broker.version, Printer("  "))
        self._app.start()
        broker.start()
        self._broker, self._java = broker, psutil.Process(broker.pid)
        return broker.bootstrap

    def start_workload(self, bootstrap: str) -> None:
        """Start the workload, with a lifeline to us as its standard input."""
        # -P: whatever lies in the working directory is not taken for a module
        command = [sys.executable, "-P", "-m", "warren.demo.workload", "--bootstrap", bootstrap]
        with self._workload_log.open("wb") as output:
            self._workload = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )

    def check(self) -> None:
        """Raise if anything that should run does not."""
        if self._app.failure is not None:
            raise self._app.failure
        for what, log in self._gone():
            raise ended(what, log)

    def _gone(self) -> Iterator[tuple[str, Path]]:
        """What was started and has ended, and where it logs."""
        if self._broker is not None and self._java is not None and not self._java.is_running():
            yield "Kafka", self._broker.log_path
        if self._workload is not None and self._workload.poll() is not None:
            yield "The workload", self._workload_log

    def verdicts(self) -> Verdicts:
        """What Warren says about each group of the workload."""
        cluster = self._app.clusters[CLUSTER]
        return {group.name: cluster.judge(group.name, now_ms=now_ms()) for group in GROUPS}

    def stop(self) -> None:
        """Stop everything at once; what is not gone in time is killed."""
        started = psutil.Process().children(recursive=True)
        run_in_parallel([self._app.stop, self._stop_workload_and_broker], limit_s=STOP_S)
        for process in started:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(started, KILL_S)

    def _stop_workload_and_broker(self) -> None:
        if self._workload is not None:
            self._workload.terminate()
            self._workload.wait()
        if self._broker is not None:
            self._broker.stop()


def make_config(http: str, bootstrap: str, history: Path) -> Config:
    """The demo's configuration: Burrow's defaults, looked at every second, and a history that is soon there."""
    raw = {
        "httpserver": {"default": {"address": http}},
        "storage": {"default": {"intervals": 10, "min-distance": 0}},
        "cluster": {CLUSTER: {"servers": [bootstrap], "offset-refresh": 1, "topic-refresh": 2}},
        "consumer": {CLUSTER: {"cluster": CLUSTER}},
        "history": {"path": str(history.absolute()), "flush-interval": 15, "sample-interval": 5},
    }
    return parse(raw, "the demo's settings")


def fresh_directory(directory: Path) -> Path:
    """An empty directory for Kafka.

    Those of earlier demos go, except what cannot: a broker whose demo was killed needs some seconds to end.
    """
    for old in directory.glob("kafka-*"):
        shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix="kafka-", dir=directory))


def ended(what: str, log: Path) -> WarrenError:
    """That something is gone which should not be, with the last error it told, if any."""
    lines = log.read_text(errors="replace").splitlines()
    errors = [line for line in lines if re.search(r"ERROR|FATAL|Error: |Exception: ", line)]
    reason = f": {last_words(errors, 1)}" if errors else ""
    return WarrenError(f"{what} ended unexpectedly{reason} (see {log}).")
