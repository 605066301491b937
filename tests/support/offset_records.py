"""Values of records in `__consumer_offsets`, as Kafka encodes them."""

from __future__ import annotations

from tests.support.scenario import classic_group
from warren.codec.commits import OffsetCommit, encode_offset_commit


def commit_value(offset: int, timestamp_ms: int, topic_id: bytes | None = None) -> bytes:
    """Return an offset commit value of version 4."""
    return encode_offset_commit(OffsetCommit(offset, -1, "", timestamp_ms, -1, topic_id), 4)


def group_value(*assigned: tuple[str, list[int]]) -> bytes:
    """Return the metadata value of a classic group whose one member has these topics and partitions."""
    return classic_group(("/10.0.0.7", "app", list(assigned)))
