"""A real ZooKeeper for tests, from the jars that PySpark brings along."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import Self

import pyspark

from tests.support.waiting import eventually
from tests.support.warren_process import die_with_parent
from warren.embedded.broker import free_port
from warren.machine.java import find_java

JARS = Path(pyspark.__file__).parent / "jars"


class ZooKeeper:
    """One server on loopback while the block runs."""

    def __init__(self, directory: Path) -> None:
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        (directory / "zoo.cfg").write_text(
            f"tickTime=500\ndataDir={directory / 'data'}\nclientPort={self.port}\nclientPortAddress=127.0.0.1\n"
            "admin.enableServer=false\n4lw.commands.whitelist=*\n"
        )

    def start(self) -> Self:
        """Start it, or start it again."""
        command = [
            str(find_java().path), "-Xmx128m", "-Dlog4j2.level=WARN", "-cp", f"{JARS}/*",
            "org.apache.zookeeper.server.ZooKeeperServerMain", str(self._directory / "zoo.cfg"),
        ]  # fmt: skip
        with (self._directory / "zookeeper.out").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=die_with_parent)  # noqa: PLW1509
        eventually(self._answers, 30)
        return self

    def stop(self) -> None:
        """End it."""
        with self.process:
            self.process.kill()

    def _answers(self) -> bool:
        assert self.process.poll() is None, (self._directory / "zookeeper.out").read_text()
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"ruok")
                return connection.recv(4) == b"imok"
        except OSError:
            return False

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
