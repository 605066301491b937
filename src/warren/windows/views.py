"""What the store shows: partitions of groups as columns, for the rules and for people."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warren.windows.columns import Bool, Int64
from warren.windows.labels import Owner
from warren.windows.rings import WholeWindow, Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """Partitions of groups as columns, without their windows: enough to judge most of them."""

    length: NDArray[np.integer[Any]]
    owned: Bool
    head_row: Int64
    head: Int64
    newest_offset: Int64
    current_lag: Int64

    def take(self, at: Int64) -> Outline:
        """Only some of the partitions."""
        return Outline(**{one.name: getattr(self, one.name)[at] for one in fields(Outline)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions(Outline):
    """Partitions of groups as columns: what the rules judge."""

    window: Window
    lowest_head: Int64
    log_start: Int64
    last_stable: Int64
    """How far readers of committed records come; UNKNOWN where it was not to be had."""
    held_since_ms: Int64
    """Since when an open transaction keeps that before the end; 0 where none does."""
    readable_end: Int64
    """Behind it lie no records, only marks of transactions; the end where that is not known."""
    usual_lag: Int64
    """The lag that the group always leaves unread; 0 if none or not established."""

    def take(self, at: Int64) -> Partitions:
        """Only some of the partitions."""
        columns = {one.name: getattr(self, one.name)[at] for one in fields(Partitions) if one.name != "window"}
        return Partitions(window=self.window.take(at), **columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWindows(Partitions):
    """All partitions of one group, with their names. Topics sorted, partitions ascending."""

    window: WholeWindow
    topics: list[str]
    topic: Int64
    partition: Int64
    owners: list[Owner]
    last_status: NDArray[np.int8]
    """What was said at the last evaluation of all groups, and since when; 0 before the first one."""
    since_s: Int64
    has_leader: Bool
    is_of_another: Bool
    """Whether it was committed to another incarnation of the topic than the brokers have, as far as it is known."""
