"""The words of API v1: what a field or a parameter may be."""

from __future__ import annotations

from enum import StrEnum


class GroupStatus(StrEnum):
    """Of a group, as in Burrow: WARN is falling behind, ERR is stopped, stalled or gone back."""

    OK = "OK"
    WARN = "WARN"
    ERR = "ERR"


class PartitionStatus(StrEnum):
    """Of one partition, as in Burrow. WARN: falling behind. STOP: no commits. STALL: the same offset again and again.

    REWIND: the offset went back.
    """

    OK = "OK"
    WARN = "WARN"
    STOP = "STOP"
    STALL = "STALL"
    REWIND = "REWIND"


class ChangeStatus(StrEnum):
    """Of a group before or after a change; NOTFOUND is a group that was not there yet, or is gone."""

    NOTFOUND = "NOTFOUND"
    OK = "OK"
    WARN = "WARN"
    ERR = "ERR"


class RuleSetName(StrEnum):
    """Who judges: Burrow's rules to the letter, or Warren's own."""

    BURROW = "burrow"
    WARREN = "warren"


class GroupTypeName(StrEnum):
    """Which protocol a group speaks: `consumer` is that of KIP-848, a `simple` one has no members and only commits."""

    CLASSIC = "classic"
    SIMPLE = "simple"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class Only(StrEnum):
    """Which partitions are shown."""

    TROUBLE = "trouble"
