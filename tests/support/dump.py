"""Records of a real offsets topic, kept with what Kafka itself said they mean.

Written by `WARREN_TEST_DUMP=1 pytest tests/live/test_kafka_today.py`, read by `tests/unit/test_dump.py`.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import Consumer, TopicPartition

DIRECTORY = Path(__file__).parents[1] / "data"
OFFSETS_TOPIC = "__consumer_offsets"


class DumpedRecord(NamedTuple):
    """One record of the offsets topic."""

    partition: int
    offset: int
    key: bytes
    value: bytes | None


class Dump(NamedTuple):
    """The records of some groups in the order in which each partition holds them, and what they mean."""

    records: list[DumpedRecord]
    topics: dict[str, dict[str, Any]]
    """By name: `topic_id` and the number of `partitions`."""
    groups: dict[str, dict[str, Any]]
    """By name: type, state, members and offsets; a group that is gone is not here."""


def path_of(version: str) -> Path:
    return DIRECTORY / f"offsets-topic-{version}.json"


def save(version: str, dump: Dump) -> None:
    records = [
        [one.partition, one.offset, _text(one.key), None if one.value is None else _text(one.value)]
        for one in dump.records
    ]
    content = {"topics": dump.topics, "groups": dump.groups, "records": records}
    lines = json.dumps(content, sort_keys=True).replace("], [", "],\n[")
    path_of(version).write_text(f"{lines}\n")


def load(version: str) -> Dump:
    content = json.loads(path_of(version).read_text())
    records = [
        DumpedRecord(partition, offset, b64decode(key), None if value is None else b64decode(value))
        for partition, offset, key, value in content["records"]
    ]
    return Dump(records, content["topics"], content["groups"])


def read_records(bootstrap: str, names: set[bytes]) -> list[DumpedRecord]:
    """All records whose key has one of the names in it, as a reader of committed records gets them."""
    settings = {"bootstrap.servers": bootstrap, "group.id": "dump", "enable.partition.eof": True, "log_level": 0}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest", "isolation.level": "read_committed"})
    partitions = sorted(consumer.list_topics(OFFSETS_TOPIC, timeout=10).topics[OFFSETS_TOPIC].partitions)
    consumer.assign([TopicPartition(OFFSETS_TOPIC, number, 0) for number in partitions])
    found, ended = [], 0
    while ended < len(partitions):
        message = consumer.poll(10)
        assert message is not None, "the topic does not end"
        if message.error() is not None:
            ended += 1
            continue
        key = message.key()
        if isinstance(key, bytes) and any(name in key for name in names):
            value = message.value()
            assert value is None or isinstance(value, bytes)
            found.append(DumpedRecord(int(message.partition() or 0), int(message.offset() or 0), key, value))
    consumer.close()
    return sorted(found, key=lambda one: (one.partition, one.offset))


def _text(data: bytes) -> str:
    return b64encode(data).decode()
