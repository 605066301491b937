"""A real Warren in a process of its own, as a user starts it."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, ClassVar

from tests.support.waiting import eventually
from warren.embedded.broker import free_port

PR_SET_PDEATHSIG = 1

CONFIG = """
[warren]
trigger = 0.5
snapshot-interval = 0.5

[httpserver.default]
address = "{address}"

[storage.default]
class-name = "inmemory"
intervals = {intervals}

[cluster.test]
class-name = "kafka"
servers = ["{bootstrap}"]
offset-refresh = 1
topic-refresh = 1

[consumer.test]
class-name = "kafka"
cluster = "test"
offsets-topic = "{offsets_topic}"
"""


def die_with_parent() -> None:
    """A test run that is killed leaves no Warren behind (on Linux; elsewhere it does nothing)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class WarrenProcess:
    """`warren run --config-dir` against one broker, on a free port."""

    started: ClassVar[set[subprocess.Popen[bytes]]] = set()
    """All of them, so that a test that fails leaves none behind to slow down the others."""

    def __init__(
        self,
        directory: Path,
        bootstrap: str,
        intervals: int = 10,
        offsets_topic: str = "__consumer_offsets",
        more: str = "",
    ) -> None:
        address = f"127.0.0.1:{free_port()}"
        config = CONFIG.format(address=address, bootstrap=bootstrap, intervals=intervals, offsets_topic=offsets_topic)
        (directory / "warren.toml").write_text(config + more)
        self._start(directory, address, {})

    @classmethod
    def with_burrow_file(cls, directory: Path, text: str, listener: str, **environ: str) -> WarrenProcess:
        """Of a `burrow.toml`; the address of its `listener` comes from the environment, so that its port is free."""
        warren = cls.__new__(cls)
        address = f"127.0.0.1:{free_port()}"
        (directory / "burrow.toml").write_text(text)
        warren._start(directory, address, {f"BURROW_HTTPSERVER_{listener.upper()}_ADDRESS": address, **environ})
        return warren

    def _start(self, directory: Path, address: str, environ: dict[str, str]) -> None:
        self.address = address
        self.log_path = directory / "warren.out"
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "warren.cli", "run", "--config-dir", str(directory)],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=directory,
                env={**os.environ, "WARREN_HOME": str(directory / "home"), **environ},
                preexec_fn=die_with_parent,  # noqa: PLW1509  # no thread of ours holds a lock that it needs
            )

        self.started.add(self.process)

    def wait_until_ready(self) -> WarrenProcess:
        eventually(self._is_ready_or_dead, 120)
        assert self.process.poll() is None, self.log_path.read_text()
        return self

    def _is_ready_or_dead(self) -> bool:
        return self.process.poll() is not None or self.status("/burrow/admin/ready") == 200

    def status(self, path: str) -> int:
        try:
            with urllib.request.urlopen(f"http://{self.address}{path}", timeout=5) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def read(self, path: str) -> bytes:
        """Any body, as it is."""
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=20) as answer:
            content: bytes = answer.read()
        return content

    def get(self, path: str, method: str = "GET") -> dict[str, Any]:
        """The JSON body, of a 404 too."""
        request = urllib.request.Request(f"http://{self.address}{path}", method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                body = answer.read()
        except urllib.error.HTTPError as error:
            body = error.read()
        found: dict[str, Any] = json.loads(body)
        return found

    def stop(self, number: int = signal.SIGTERM, limit_s: float = 30) -> tuple[int, float]:
        """Send a signal; exit code, and how many seconds it took."""
        started = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(limit_s)
        return code, time.monotonic() - started
