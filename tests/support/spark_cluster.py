"""A real Spark cluster on this machine: one master and some workers, each with two cores, out of PySpark's own jars."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import psutil
import pyspark

from tests.support.processes import die_with_parent
from tests.support.waiting import eventually
from warren.embedded.broker import free_port
from warren.machine.java import find_java

SPARK_HOME = Path(pyspark.__file__).parent


class SparkCluster:
    """Everything listens on loopback. Executors are told nothing of our packages but what Spark brings them."""

    def __init__(self, directory: Path, workers: int = 2) -> None:
        self.directory = directory
        port, self._web = free_port(), free_port()
        self.master = f"spark://127.0.0.1:{port}"
        self._processes = {
            "master": self._start("master", "master.Master", ["--port", port, "--webui-port", self._web])
        }
        eventually(lambda: self._state() is not None, 60)
        self.workers = [f"worker{i}" for i in range(workers)]
        self._ports: dict[str, int] = {}
        for name in self.workers:
            self.start_worker(name)
        eventually(lambda: self.alive_workers() == workers, 60)

    def start_worker(self, name: str) -> None:
        """One with two cores."""
        self._ports[name] = free_port()
        where = ["--port", self._ports[name], "--webui-port", free_port(), "--cores", 2, "--memory", "2g"]
        where += ["--work-dir", self.directory / name]
        self._processes[name] = self._start(name, "worker.Worker", [*where, self.master])

    def kill_worker(self, name: str) -> None:
        """A machine is lost: the worker with its executor and their processes, all at once."""
        process = self._processes.pop(name)
        for one in [*psutil.Process(process.pid).children(recursive=True), process]:
            try:
                one.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                continue
        process.wait(10)

    def alive_workers(self) -> int:
        """How many the master knows as alive."""
        return sum(one["state"] == "ALIVE" for one in (self._state() or {}).get("workers", ()))

    def executors(self, name: str) -> int:
        """How many executors run on a worker: each has one core."""
        workers = (self._state() or {}).get("workers", ())
        return sum(one["coresused"] for one in workers if one["state"] == "ALIVE" and one["port"] == self._ports[name])

    def stop(self) -> None:
        """End everything that was started."""
        for name in list(self._processes):
            self.kill_worker(name)

    def _state(self) -> dict[str, Any] | None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._web}/json/", timeout=5) as answer:
                state: dict[str, Any] = json.load(answer)
                return state
        except OSError:
            return None

    def _start(self, name: str, kind: str, arguments: list[object]) -> subprocess.Popen[bytes]:
        java = find_java()
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYSPARK", "PYTHON"))}
        environment |= {
            "SPARK_HOME": str(SPARK_HOME),
            "JAVA_HOME": str(java.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            # the machine's own Python, without our packages; its directory stands for a machine that has nothing else
            "PATH": f"{Path(sys.base_prefix) / 'bin'}:/usr/bin:/bin",
        }
        command = [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1"]
        command += map(str, arguments)
        with (self.directory / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                command,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
                env=environment,
                preexec_fn=die_with_parent,  # noqa: PLW1509  # no thread of ours holds a lock that it needs
            )
