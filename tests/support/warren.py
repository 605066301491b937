"""A real Warren to test against: in a process of its own, or in this one on a Spark session that is already up.

Both take a directory and the text of a configuration; `config` makes the usual one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import psutil
import structlog

from tests.support.processes import assert_gone, die_with_parent
from tests.support.waiting import eventually
from warren.embedded.broker import free_port

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

READY_S = 120.0
STOP_S = 30.0

CONFIG = """
[warren]
{warren}

[httpserver.default]
address = "127.0.0.1:0"

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

QUICK: Mapping[str, float] = MappingProxyType(
    {
        "trigger": 1,
        "snapshot-interval": 0.5,
        "evaluate-interval": 0.5,
        "stale-after": 8,
        "log-probe-interval": 1,
        "retry-max": 2,
    }
)
"""Keys of `[warren]` that keep tests from waiting."""


def config(
    bootstrap: str, *, intervals: int = 10, offsets_topic: str = "__consumer_offsets", more: str = "", **warren: float
) -> str:
    """A configuration of one cluster called `test`; `warren` are keys of `[warren]`, with underscores."""
    keys = {**QUICK, **{name.replace("_", "-"): value for name, value in warren.items()}}
    lines = "\n".join(f"{name} = {value}" for name, value in keys.items())
    return CONFIG.format(warren=lines, intervals=intervals, bootstrap=bootstrap, offsets_topic=offsets_topic) + more


class Warren:
    """What can be asked of a Warren, whatever it runs in."""

    address: str

    def status(self, path: str) -> int:
        """The HTTP status; 0 if there is no answer."""
        try:
            with urllib.request.urlopen(f"http://{self.address}{path}", timeout=5) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def read(self, path: str) -> bytes:
        """The body of a good answer."""
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=20) as answer:
            content: bytes = answer.read()
        return content

    def get(self, path: str, method: str = "GET") -> dict[str, Any]:
        """The JSON body, also of an error."""
        request = urllib.request.Request(f"http://{self.address}{path}", method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                body = answer.read()
        except urllib.error.HTTPError as error:
            body = error.read()
        found: dict[str, Any] = json.loads(body)
        return found

    @property
    def is_ready(self) -> bool:
        return self.status("/burrow/admin/ready") == 200

    def groups(self, cluster: str = "test") -> list[str]:
        """The groups that v3 lists; none while the cluster is not known."""
        found: list[str] = self.get(f"/v3/kafka/{cluster}/consumer").get("consumers", [])
        return found

    def lag(self, group: str, cluster: str = "test") -> dict[str, Any]:
        """The group as v3 tells it; empty if it is not known."""
        found: dict[str, Any] = self.get(f"/v3/kafka/{cluster}/consumer/{quote(group)}/lag").get("status", {})
        return found

    def partitions(self, group: str, cluster: str = "test") -> dict[tuple[str, int], dict[str, Any]]:
        """The partitions of a group in v3, by topic and number."""
        return {(one["topic"], one["partition"]): one for one in self.lag(group, cluster).get("partitions", ())}

    def committed(self, group: str, cluster: str = "test") -> dict[tuple[str, int], int]:
        """The newest offset of each partition that a group has committed."""
        return {at: one["end"]["offset"] for at, one in self.partitions(group, cluster).items() if one["end"]}

    def window(self, group: str, cluster: str = "test") -> dict[tuple[str, int], list[int]]:
        """The offsets in the window of each partition, oldest first."""
        topics = self.get(f"/v3/kafka/{cluster}/consumer/{quote(group)}").get("topics", {})
        return {
            (topic, number): [one["offset"] for one in partition["offsets"] if one]
            for topic, partitions in topics.items()
            for number, partition in enumerate(partitions)
        }


class WarrenProcess(Warren):
    """`warren run --config-dir` on a free port; the block ends it in good order, or with force when a test fails.

    The address comes from the environment, as Burrow's users may set it: published files stay as they are.
    """

    def __init__(
        self,
        directory: Path,
        config: str,
        *,
        file: str = "warren.toml",
        listener: str = "default",
        environ: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory, self.config_path = directory, directory / file
        self.address = f"127.0.0.1:{free_port()}"
        self.log_path = directory / "warren.out"
        self.config_path.write_text(config)
        address = {f"BURROW_HTTPSERVER_{listener.upper()}_ADDRESS": self.address}
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "warren.cli", "run", "--config-dir", str(directory)],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=directory,
                env={**os.environ, "WARREN_HOME": str(directory / "home"), **address, **environ},
                preexec_fn=die_with_parent,  # noqa: PLW1509  # no thread of ours holds a lock that it needs
            )

    def wait_until_ready(self, deadline_s: float = READY_S) -> Self:
        """Wait for every cluster to be caught up; an assertion error shows the log."""
        try:
            eventually(lambda: self.process.poll() is not None or self.is_ready, deadline_s)
        except AssertionError as error:
            raise AssertionError(f"not ready: {error}\n{self.log()}") from None
        assert self.process.poll() is None, self.log()
        return self

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def reload(self, config: str) -> None:
        """Write another configuration and send SIGHUP."""
        self.config_path.write_text(config)
        self.process.send_signal(signal.SIGHUP)

    def stop(self, number: int = signal.SIGTERM, limit_s: float = STOP_S) -> tuple[int, float]:
        """Send a signal; exit code, and how many seconds it took."""
        started_s = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(limit_s)
        return code, time.monotonic() - started_s

    def kill(self) -> int:
        """End it at once, as a crash does; return when that was, in milliseconds.

        Nothing that it has started outlives it.
        """
        started = self.children()
        self.process.kill()
        self.process.wait()
        killed_ms = time.time_ns() // 1_000_000
        assert_gone(started, within_s=15)
        return killed_ms

    def children(self) -> list[psutil.Process]:
        """Every process that it has started, directly or not."""
        try:
            return list(psutil.Process(self.process.pid).children(recursive=True))
        except psutil.NoSuchProcess:
            return []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.process.poll() is not None:
            return
        if kind is not None:
            self.process.kill()
            self.process.wait()
            return
        started = self.children()
        code, _ = self.stop()
        assert code == 0, f"exit code {code}\n{self.log()}"
        assert not [sign for sign in ("Traceback", "StackOverflowError") if sign in self.log()], self.log()
        assert_gone(started, within_s=5)


class WarrenInProcess(Warren):
    """An `App` in this process: no JVM of its own, so it is up in seconds."""

    def __init__(self, directory: Path, config: str, spark: SparkSession) -> None:
        from warren.app import App

        directory.mkdir(parents=True, exist_ok=True)
        self.directory, self.config_path = directory, directory / "warren.toml"
        self.log_path = directory / "warren.out"
        self.config_path.write_text(config)
        self._log = self.log_path.open("w")
        self._structlog = structlog.get_config()
        structlog.configure(
            processors=[structlog.processors.add_log_level, structlog.processors.JSONRenderer()],
            logger_factory=structlog.WriteLoggerFactory(self._log),
        )
        self.app = App(self._load(), directory / "home", spark=spark)
        self.app.start()
        self.address = f"127.0.0.1:{self.app.listeners[0].port}"

    def _load(self) -> Any:
        from warren.config.load import load_directory

        return load_directory(self.directory, {}).config

    def wait_until_ready(self, deadline_s: float = READY_S) -> Self:
        """Wait for every cluster to be caught up."""
        eventually(lambda: self.is_ready, deadline_s, saw=self.log)
        return self

    def log(self) -> str:
        self._log.flush()
        return self.log_path.read_text()

    def reload(self, config: str) -> None:
        """Write another configuration and do what SIGHUP does."""
        self.config_path.write_text(config)
        self.app.reload_from(self._load)

    def stop(self) -> None:
        """Stop in good order; the Spark session stays."""
        self.app.stop()
        structlog.configure(**self._structlog)
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def run_warren(*arguments: str, cwd: Path | None = None, timeout_s: float = 170) -> subprocess.CompletedProcess[str]:
    """`warren ARGUMENTS` to its end, as somebody types it."""
    command = [sys.executable, "-m", "warren.cli", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=timeout_s, cwd=cwd)


StartWarren = Callable[..., WarrenInProcess]
"""Starts a Warren in this process: directory, configuration."""
