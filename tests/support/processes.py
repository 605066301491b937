"""Child processes of the tests."""

from __future__ import annotations

import ctypes
import signal
import sys

import psutil

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Have the kernel kill this child when the test run dies (on Linux; elsewhere nothing happens)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def assert_gone(processes: list[psutil.Process], within_s: float) -> None:
    """All of them have ended, or do so in time."""
    _, alive = psutil.wait_procs(processes, within_s)
    assert not [one for one in alive if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
