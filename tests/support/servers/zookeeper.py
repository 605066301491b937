"""ZooKeeper, from the jars that PySpark brings along."""

from __future__ import annotations

import socket
from pathlib import Path

import pyspark

from tests.support.servers.server import Server
from warren.machine.java import find_java

JARS = Path(pyspark.__file__).parent / "jars"
CONFIG = """
tickTime=500
dataDir={directory}/data
clientPort={port}
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=*
"""


class ZooKeeper(Server):
    """A single node."""

    def command(self) -> list[str]:
        (self.directory / "zoo.cfg").write_text(CONFIG.format(directory=self.directory, port=self.port))
        options = ["-Xmx128m", "-Dlog4j2.level=WARN", "-cp", f"{JARS}/*"]
        return [str(find_java().path), *options, "org.apache.zookeeper.server.ZooKeeperServerMain", "zoo.cfg"]

    def answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"ruok")
                return connection.recv(4) == b"imok"
        except OSError:
            return False
