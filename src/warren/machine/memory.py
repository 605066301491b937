"""Giving memory back to the system after much was used for a short time."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from contextlib import suppress
from functools import cache

import pyarrow as pa


def give_back() -> None:
    """Return what the allocators keep for themselves; nothing happens where they cannot."""
    pa.default_memory_pool().release_unused()
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """glibc's malloc_trim; other C libraries have none."""
    with suppress(OSError, AttributeError):
        return ctypes.CDLL(ctypes.util.find_library("c")).malloc_trim
    return None
