"""A server in a process of its own: what all of them have in common."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from tests.support.waiting import eventually
from tests.support.warren_process import die_with_parent
from warren.embedded.broker import free_port

START_SECONDS = 90.0
STOP_SECONDS = 20.0


class Answer(NamedTuple):
    """Status 0 means that nobody answered."""

    status: int
    body: bytes

    def json(self) -> Any:
        """The body, which must be JSON."""
        return json.loads(self.body)


class Server(ABC):
    """One server on a free port, with its data in a directory; it is up when the block begins."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory.absolute()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log_path = self.directory / "log"
        self.process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def command(self) -> list[str]:
        """How it is started."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether it does what it is there for."""

    def start(self) -> Self:
        """Start it, or start it again on the same port with the same data; never in a thread that ends before it."""
        self.launch()
        return self.wait_until_ready()

    def launch(self) -> None:
        """Begin to start it, for those who start several."""
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,  # noqa: PLW1509  # no thread of ours holds a lock that it needs
            )

    def wait_until_ready(self) -> Self:
        """Return when it does what it is there for."""
        eventually(self._answers_or_is_dead, START_SECONDS)
        assert self.process is not None
        assert self.process.poll() is None, self.said()
        return self

    def stop(self) -> None:
        """End it in good order; what it has confirmed it keeps."""
        process, self.process = self.process, None
        if process is not None:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def said(self) -> str:
        """Its log."""
        return self.log_path.read_text(errors="replace")

    def ask(
        self, path: str, body: bytes | None = None, *, method: str = "", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """A request, and whatever comes of it."""
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
            return Answer(0, b"")

    def _answers_or_is_dead(self) -> bool:
        return (self.process is not None and self.process.poll() is not None) or self.answers()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


def with_query(path: str, **parameters: str) -> str:
    """A path with a query string."""
    return f"{path}?{urllib.parse.urlencode(parameters)}"
