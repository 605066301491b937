"""CPU and memory of a whole process tree."""

from __future__ import annotations

from typing import NamedTuple

import psutil


class Usage(NamedTuple):
    """Memory is the proportional set size: shared pages count once."""

    cpu_s: float
    pss_mb: float
    processes: int


def usage_of(pid: int) -> Usage:
    """What a process and all its children use now, and the CPU time of those that live."""
    cpu_s = pss = 0.0
    processes = 0
    root = psutil.Process(pid)
    for process in [root, *root.children(recursive=True)]:
        try:
            times = process.cpu_times()
            pss += process.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue
        cpu_s += times.user + times.system
        processes += 1
    return Usage(cpu_s, pss / 1e6, processes)
