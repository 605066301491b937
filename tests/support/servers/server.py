"""A third-party server in a process of its own: what all of them have in common."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from tests.support.processes import die_with_parent
from tests.support.waiting import FIRST_PAUSE_S
from warren.embedded.broker import free_port

START_SECONDS = 90.0
STOP_SECONDS = 20.0


class Answer(NamedTuple):
    """HTTP response; status 0 means no response."""

    status: int
    body: bytes

    def json(self) -> Any:
        """Decode the body."""
        return json.loads(self.body)


class Server(ABC):
    """One server on a free port of 127.0.0.1, with its data and its log in a directory; a block starts and stops it."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory.absolute()
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.address}"
        self.log_path = self.directory / "log"
        self.process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def command(self) -> list[str]:
        """Return the command line; it runs in `working_directory`."""

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return type(self).__name__

    @property
    def working_directory(self) -> Path:
        """The directory of the data, unless the program needs another one."""
        return self.directory

    @abstractmethod
    def answers(self) -> bool:
        """Return whether the server is ready for requests."""

    def start(self) -> Self:
        """Start the server, or restart it on the same port with the same data.

        The thread that calls this must outlive the server: the kernel kills the server when that thread ends.
        """
        self.launch()
        try:
            return self.wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def launch(self) -> None:
        """Start the process without waiting, to start several servers at once."""
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                cwd=self.working_directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,  # noqa: PLW1509  # no thread of ours holds a lock that it needs
            )

    def wait_until_ready(self) -> Self:
        """Wait for the launched server; the assertion error shows its log if it dies or takes too long."""
        end_s = time.monotonic() + START_SECONDS
        while not self.answers():
            self.check_is_alive()
            assert time.monotonic() < end_s, f"{self.name} is not ready after {START_SECONDS:g} s:\n{self.log()}"
            time.sleep(FIRST_PAUSE_S)
        return self

    def stop(self) -> None:
        """Terminate the server; its data stays."""
        process, self.process = self.process, None
        if process is not None:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def log(self) -> str:
        """Return everything that the server has printed."""
        return self.log_path.read_text(errors="replace")

    def ask(
        self, path: str, body: bytes | None = None, *, method: str = "", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send an HTTP request and return the response, whatever its status."""
        request = urllib.request.Request(
            self.url + path,
            data=body,
            method=method or ("GET" if body is None else "POST"),
            headers=dict(headers or {}),
        )
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return Answer(answer.status, answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read())
        except OSError:
            self.check_is_alive()
            return Answer(0, b"")

    def check_is_alive(self) -> None:
        """Fail with the log if the server has died; one that a test has stopped has not."""
        if self.process is not None and (code := self.process.poll()) is not None:
            raise AssertionError(f"{self.name} ended with exit code {code}:\n{self.log()}")

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


def with_query(path: str, **parameters: str) -> str:
    """Return a path with a query string."""
    return f"{path}?{urllib.parse.urlencode(parameters)}"
