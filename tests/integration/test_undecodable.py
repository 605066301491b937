"""Undecodable records in the offsets topic: Kafka accepts them from any client with the id of its admin client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Producer

from tests.support.kafka import OFFSETS_PARTITIONS, Cluster, unique
from tests.support.waiting import eventually_equal
from tests.support.warren import StartWarren, config
from warren.codec.keys import encode_offset_key, offsets_partition
from warren.embedded.broker import Broker

DAMAGED = 0
"""The partition of the offsets topic that gets the records: its coordinator fails for good."""


@pytest.fixture(params=["4.3.1", pytest.param("3.9.2", marks=pytest.mark.long)])
def broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Broker]:
    """One that no other test has to live with."""
    with Broker(tmp_path / "kafka", str(request.param)) as running:
        running.prepare_groups()
        yield running


def test_records_that_cannot_be_decoded_stop_nothing_and_are_told(
    broker: Broker, start_warren: StartWarren, tmp_path: Path
) -> None:
    kafka = Cluster(broker.bootstrap)
    group, topic = unique_outside(DAMAGED), kafka.make_topic(1)
    with start_warren(tmp_path / "warren", config(broker.bootstrap)) as warren:
        warren.wait_until_ready()
        write_damage(broker, group, topic)
        kafka.commit(group, topic, 5)
        eventually_equal(lambda: warren.committed(group), {(topic, 0): 5})
        counted = warren.get("/api/v1/clusters/test")["undecodable_records"]
        assert counted["record type 99"] >= 1
        assert counted["offset commit value version 9"] >= 1
        examples = warren.get("/api/v1/clusters/test")["undecodable_examples"]
        kinds = {(one["partition"], one["record_type"], one["kind"]) for one in examples}
        assert (DAMAGED, 99, "record type 99") in kinds
        assert (DAMAGED, 1, "offset commit value version 9") in kinds
        assert "records could not be decoded" in warren.log()


def unique_outside(partition: int) -> str:
    """A group whose commits go to another partition of the offsets topic."""
    while offsets_partition(name := unique("decoded"), OFFSETS_PARTITIONS) == partition:
        pass
    return name


def write_damage(broker: Broker, group: str, topic: str) -> None:
    """Records of an unknown type, of an unknown version, and of nothing at all."""
    producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0, "client.id": "__admin_client"})
    for key, value in [
        (b"\x00\x63abc", b"\x00\x01"),
        (b"\xff", b"\xff"),
        (encode_offset_key(group, topic, 0), b"\x00\x09\x00\x00"),
    ]:
        producer.produce("__consumer_offsets", key=key, value=value, partition=DAMAGED, on_delivery=_must_arrive)
    assert producer.flush(30) == 0


def _must_arrive(error: KafkaError | None, _: object) -> None:
    assert error is None, error
