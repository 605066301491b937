"""Ends our children when we are gone, even when we were killed with SIGKILL.

A child holds the read end of a pipe as its standard input and we hold the write end. Nobody ever writes: when we are
gone, for whatever reason, the system closes our end and the child reads an end of file. This works on every Unix.

- A foreign program (Java) is started as `wrap(["java", ...])`: this file run as a small guard process around it.
- A Python child of ours calls `watch_parent()`.

This file runs by its path, without site-packages, so that the guard starts in milliseconds: standard library only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

GRACE_SECONDS = 10.0


def wrap(command: Sequence[str], grace_seconds: float = GRACE_SECONDS) -> list[str]:
    """The command line that runs `command` under a guard.

    Start it with `stdin=PIPE` and keep that pipe open as long as the child may live; `start_new_session=True` keeps a
    Ctrl-C in our terminal away from it. The guard passes SIGTERM on, kills a child that is still there
    `grace_seconds` later, and exits with its exit code.
    """
    return [sys.executable, "-I", "-S", __file__, str(grace_seconds), "--", *command]


def watch_parent(grace_seconds: float = GRACE_SECONDS) -> None:
    """Let this process end when its standard input does: SIGTERM to itself, and a hard exit when that does not help."""

    def end_with_parent() -> None:
        _wait_for_end_of_file()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(grace_seconds)
        os._exit(1)

    threading.Thread(target=end_with_parent, name="lifeline", daemon=True).start()


class Guard:
    """Runs one child and stops it on SIGTERM, SIGHUP or the end of our standard input."""

    def __init__(self, command: Sequence[str], grace_seconds: float) -> None:
        self._command = command
        self._grace_seconds = grace_seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._stopping = False

    def run(self) -> int:
        """Start the child, wait for it and return its exit code (128 + signal, as a shell does)."""
        for number in (signal.SIGTERM, signal.SIGHUP):  # before the child is there: no signal may fall between
            signal.signal(number, lambda *_: self.stop())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._child = subprocess.Popen(self._command, stdin=subprocess.DEVNULL)
        if self._stopping:
            self.stop()
        threading.Thread(target=self._stop_at_end_of_file, daemon=True).start()
        code = self._child.wait()
        return code if code >= 0 else 128 - code

    def stop(self) -> None:
        """Ask the child to end, and make it end when it does not."""
        self._stopping = True
        if self._child is None:
            return
        self._child.terminate()
        killer = threading.Timer(self._grace_seconds, self._child.kill)
        killer.daemon = True
        killer.start()

    def _stop_at_end_of_file(self) -> None:
        _wait_for_end_of_file()
        self.stop()


def _wait_for_end_of_file() -> None:
    while os.read(0, 4096):
        pass


def main(arguments: Sequence[str]) -> int:
    """Run `GRACE_SECONDS -- COMMAND...`."""
    grace_seconds, _, *command = arguments
    try:
        return Guard(command, float(grace_seconds)).run()
    except OSError as error:
        print(f"cannot start {command[0]}: {error.strerror}", file=sys.stderr)
        return 127


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
