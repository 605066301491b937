"""Child processes of the tests."""

from __future__ import annotations

import ctypes
import signal
import sys

import psutil

from tests.support.waiting import eventually

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Have the kernel kill this child when the test run dies (on Linux; elsewhere nothing happens)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def has_ended(process: psutil.Process) -> bool:
    """Whether it runs no more; whoever should collect its exit code may not have done so."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def assert_gone(processes: list[psutil.Process], within_s: float) -> None:
    """All of them have ended, or do so in time."""
    eventually(lambda: all(map(has_ended, processes)), within_s, saw=lambda: processes)
