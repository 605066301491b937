"""The tables of a history: one Arrow schema each, and what a row says. Pure.

What enters the windows of a cluster, and every evaluation, is an event with a number: `epoch_ms` says which run of
Warren, `seq` which step of it. Whoever takes the same steps again, from the same keyframe on, comes to the same
windows and the same verdicts. Columns that are new since an old file was written are null there.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

import pyarrow as pa

_STEP = [("epoch_ms", pa.int64()), ("seq", pa.int64()), ("at_ms", pa.int64())]


class Kind(StrEnum):
    """What an event says."""

    BATCH = "batch"  # consumer, topic, text (its id): commits came from there; partition, start, end: what was read
    LOOK = "look"  # consumer: commits came from a place that is looked at; they carry the event's number
    OBSERVED = "observed"  # all topics were observed: `heads` has what changed, names those that are gone; text: below
    ASSIGNED = "assigned"  # group: `owners` has who owns its partitions now
    EXPIRED = "expired"  # groups that were silent for too long were forgotten
    FORGOTTEN = "forgotten"  # group, maybe topic: forgotten
    STARTED_OVER = "started_over"  # consumer: it reads everything again
    READABLE = "readable"  # topic, partition, start, end: from start to end there are no records
    EVALUATED = "evaluated"  # all groups were judged; names, start: those that were judged as of an earlier moment
    SETTINGS = "settings"  # text: how groups are judged from now on
    KEYFRAME = (
        "keyframe"  # `windows` and `topics` have everything; names, start, end: statuses since when; text: as SETTINGS
    )


IDS_OF_ALL = "ids"
"""The text of an observation that told the ids of all topics, also of those that did not change."""


class Recorded(NamedTuple):
    """How far the commits that a consumer module reads are written down."""

    topic_id: str
    """Of the offsets topic; "" if it is not known."""
    positions: Mapping[int, int]
    """By partition: what lies before is written down."""


COMMITS = pa.schema(
    [
        *_STEP,
        ("source", pa.string()),  # the consumer module
        ("source_partition", pa.int32()),  # of the offsets topic, -1 for a place that is looked at
        ("order", pa.int64()),  # the record's offset there
        ("group", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),  # -1: the committed offset was removed
        ("timestamp_ms", pa.int64()),
        ("incarnation", pa.int32()),  # stands for the id of the topic, 0 if it was not told
    ]
)

EVENTS = pa.schema(
    [
        *_STEP,
        ("kind", pa.string()),
        ("consumer", pa.string()),
        ("topic", pa.string()),
        ("group", pa.string()),
        ("clock_skew_ms", pa.int64()),
        ("partition", pa.list_(pa.int32())),
        ("start", pa.list_(pa.int64())),
        ("end", pa.list_(pa.int64())),
        ("names", pa.list_(pa.string())),
        ("text", pa.string()),
    ]
)

HEADS = pa.schema(
    [
        *_STEP,
        ("topic", pa.string()),
        ("topic_id", pa.string()),  # null if it was not asked for yet
        ("end", pa.list_(pa.int64())),  # by partition; -1 was not to be had
        ("log_start", pa.list_(pa.int64())),
        ("last_stable", pa.list_(pa.int64())),
        ("leaderless", pa.list_(pa.int32())),
    ]
)

OWNERS = pa.schema(
    [
        *_STEP,
        ("group", pa.string()),
        ("members", pa.int32()),
        ("topic", pa.list_(pa.string())),
        ("partition", pa.list_(pa.int32())),
        ("owner", pa.list_(pa.string())),
    ]
)

VERDICTS = pa.schema(
    [
        *_STEP,
        ("group", pa.string()),
        ("topic", pa.string()),  # of a group's own verdict: of the partition that made it so; null if the group is gone
        ("partition", pa.int32()),
        ("is_group", pa.bool_()),
        ("was", pa.string()),
        ("now", pa.string()),
        ("rule", pa.string()),
        ("reason", pa.string()),  # of groups only
        ("lag", pa.int64()),
    ]
)

INCIDENTS = pa.schema(
    [
        *_STEP,
        ("id", pa.string()),
        ("group", pa.string()),
        ("opened_ms", pa.int64()),
        ("turn", pa.string()),
        ("status", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("rule", pa.string()),
        ("reason", pa.string()),
        ("total_lag", pa.int64()),
    ]
)

SAMPLES = pa.schema(
    [
        *_STEP,
        ("group", pa.string()),
        ("status", pa.string()),
        ("total_lag", pa.int64()),
        ("lag_s", pa.float32()),  # null where it is not known
    ]
)

TABLES: dict[str, pa.Schema] = {
    "commits": COMMITS,
    "events": EVENTS,
    "heads": HEADS,
    "owners": OWNERS,
    "verdicts": VERDICTS,
    "incidents": INCIDENTS,
    "samples": SAMPLES,
}
"""What is written all the time; the columns of keyframes depend on the size of windows, see `keyframes.py`."""

WINDOWS = "windows"
TOPICS = "topics"
KEYFRAMES = (WINDOWS, TOPICS)

ORDER = {"commits": ["group", "topic", "partition", "order"], "heads": ["topic", "seq"], "samples": ["group", "at_ms"]}
"""By which rows of a table are sorted in its files: neighbours that are alike take little room."""
