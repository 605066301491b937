"""What is out of the ordinary with a partition, beside its status: each with a name and a sentence.

Nothing here changes a verdict.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from warren.windows.columns import UNKNOWN
from warren.windows.views import GroupWindows


class ConditionName(StrEnum):
    """For programs; these names do not change."""

    NO_LEADER = "no_leader"
    OPEN_TRANSACTION = "open_transaction"
    ONLY_MARKS = "only_marks"
    OTHER_TOPIC = "other_topic"
    BEYOND_END = "beyond_end"
    BEFORE_LOG_START = "before_log_start"


class Condition(NamedTuple):
    """Something that is out of the ordinary."""

    name: ConditionName
    says: str


def conditions_of(windows: GroupWindows, i: int, now_ms: int) -> list[Condition]:
    """The conditions of one partition of a group."""
    found = [_no_leader(windows, i), _open_transaction(windows, i, now_ms)]
    if windows.length[i] and windows.head[i] != UNKNOWN:
        found += [_only_marks(windows, i), _other_topic(windows, i), _beyond_end(windows, i), _before_start(windows, i)]
    return [one for one in found if one]


def _no_leader(windows: GroupWindows, i: int) -> Condition | None:
    if windows.has_leader[i]:
        return None
    says = "the partition has no leader: nobody can read or write it, and its end is the last one that was seen"
    return Condition(ConditionName.NO_LEADER, says)


def _open_transaction(windows: GroupWindows, i: int, now_ms: int) -> Condition | None:
    since_ms, offset = int(windows.held_since_ms[i]), int(windows.last_stable[i])
    if not since_ms:
        return None
    open_s = max(now_ms - since_ms, 0) // 1000
    says = f"a transaction at offset {offset:,} has been open for at least {open_s:,} s"
    if windows.length[i] and windows.newest_offset[i] == offset:
        says += "; readers of committed records are blocked there, and this group has come so far"
    return Condition(ConditionName.OPEN_TRANSACTION, says)


def _only_marks(windows: GroupWindows, i: int) -> Condition | None:
    if not windows.readable_end[i] <= windows.newest_offset[i] < windows.head[i]:
        return None
    offsets = int(windows.head[i] - windows.newest_offset[i])
    return Condition(ConditionName.ONLY_MARKS, f"the {offsets:,} offsets up to the end are marks of transactions")


def _other_topic(windows: GroupWindows, i: int) -> Condition | None:
    if not windows.is_of_another[i]:
        return None
    says = "it was committed to another topic of this name: the topic was deleted and made anew"
    return Condition(ConditionName.OTHER_TOPIC, says)


def _beyond_end(windows: GroupWindows, i: int) -> Condition | None:
    beyond = int(windows.newest_offset[i] - windows.head[i])
    if beyond <= 0:
        return None
    says = (
        f"the committed offset is {beyond:,} beyond the end: the topic was made anew or has lost records, "
        "or its end has grown since it was seen last"
    )
    return Condition(ConditionName.BEYOND_END, says)


def _before_start(windows: GroupWindows, i: int) -> Condition | None:
    lost = int(windows.log_start[i] - windows.newest_offset[i])
    if windows.log_start[i] == UNKNOWN or lost <= 0:
        return None
    says = f"{lost:,} records after the committed offset were deleted before they were read"
    return Condition(ConditionName.BEFORE_LOG_START, says)
