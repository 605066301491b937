"""A `warren` command in a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from select import select
from time import monotonic


class Terminal:
    """Run `warren ARGUMENTS...` in a terminal of 100 columns and 30 lines; close it after use."""

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "", "LINES": ""}
        command = [sys.executable, "-m", "warren.cli", *arguments]
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)

    def press(self, keys: str) -> None:
        """Type `keys`."""
        os.write(self._ours, keys.encode())

    def read_until(self, *texts: str, deadline_s: float = 60) -> str:
        """Return the output up to the moment when it contains all `texts`."""
        seen, end_s = "", monotonic() + deadline_s
        while not all(text in seen for text in texts):
            assert monotonic() < end_s, seen
            if select([self._ours], [], [], 0.1)[0]:
                seen += os.read(self._ours, 65_536).decode("utf-8", "replace")
        return seen

    def close(self) -> None:
        """Kill the command if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._ours)
