"""Sources: a real broker read by a real Spark session; the same range gives the same rows, wherever it is cut."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from confluent_kafka import Producer, TopicCollection, TopicPartition
from pyspark.sql import DataFrame, SparkSession

from tests.support.kafka import Cluster, unique
from tests.support.waiting import eventually, eventually_equal
from warren.codec.commits import OffsetCommit, encode_offset_commit
from warren.codec.keys import encode_offset_key
from warren.embedded.broker import Broker
from warren.errors import SourceError
from warren.kafka.clients import topic_id_of, topic_ids_of
from warren.sources.commits import CommitsOptions
from warren.sources.folding import FoldSettings
from warren.sources.heads import HeadsOptions
from warren.sources.observing import KafkaBrokers, Observer
from warren.sources.planning import Range
from warren.sources.reading import RangeReader
from warren.windows.rows import CommitBatch, commit_batch, head_rows

RunStream = Callable[..., list[pa.Table]]


@pytest.fixture
def run_stream(spark: SparkSession, tmp_path: Path) -> RunStream:
    """Run a source until it has nothing more, and give its batches."""

    def run(source: str, options: str) -> list[pa.Table]:
        tables: list[pa.Table] = []

        def take(batch: DataFrame, batch_id: int) -> None:
            tables.append(batch.toArrow())

        stream = spark.readStream.format(source).option("secret_options", options).load()
        checkpoint = tmp_path / unique("checkpoint")
        query = stream.writeStream.foreachBatch(take).option("checkpointLocation", str(checkpoint)).start()
        try:
            query.processAllAvailable()
        finally:
            query.stop()
        return tables

    return run


@pytest.fixture(scope="module")
def cluster(broker: Broker) -> Cluster:
    return Cluster(broker.bootstrap)


@pytest.fixture(scope="module")
def offsets_topic(cluster: Cluster) -> str:
    """A topic like the offsets topic, with records of our own: 4 partitions, 3 groups, 40 commits each."""
    topic = cluster.make_topic(4, "offsets")
    producer = Producer({"bootstrap.servers": cluster.bootstrap})
    for number in range(40):
        for group in range(3):
            value = encode_offset_commit(OffsetCommit(number, -1, "", number * 1000, -1, None), 4)
            producer.produce(
                topic, key=encode_offset_key(f"g{group}", "orders", number % 2), value=value, partition=group
            )
    assert producer.flush(30) == 0
    return topic


def options(cluster: Cluster, topic: str, **changes: Any) -> CommitsOptions:
    client = {"bootstrap.servers": cluster.bootstrap}
    return CommitsOptions(client, topic, FoldSettings(100, 0))._replace(**changes)


def batches(run_stream: RunStream, of: CommitsOptions) -> list[CommitBatch]:
    return [commit_batch(table, {}) for table in run_stream("warren-commits", of.to_json())]


def rows(batch_list: list[CommitBatch]) -> list[tuple[str, int, int, int]]:
    return sorted(
        (batch.commits.pairs[pair][0], partition, offset, order)
        for batch in batch_list
        for pair, partition, offset, order in zip(
            batch.commits.pair.tolist(),
            batch.commits.partition.tolist(),
            batch.commits.offset.tolist(),
            batch.commits.order.tolist(),
            strict=True,
        )
    )


EVERYTHING = sorted((f"g{group}", number % 2, number, number) for group in range(3) for number in range(40))


def test_every_record_is_read_and_the_positions_are_told(
    run_stream: RunStream, cluster: Cluster, offsets_topic: str
) -> None:
    read = batches(run_stream, options(cluster, offsets_topic))

    assert rows(read) == EVERYTHING
    assert read[0].positions == {0: 40, 1: 40, 2: 40, 3: 0}
    assert read[-1].ends == {}


@pytest.mark.parametrize("max_records", [1, 7, 40, 64])
def test_a_backlog_read_in_pieces_gives_the_same_rows(
    run_stream: RunStream, cluster: Cluster, offsets_topic: str, max_records: int
) -> None:
    read = batches(run_stream, options(cluster, offsets_topic, max_records=max_records * 10))

    assert rows(read) == EVERYTHING
    assert [not batch.ends and batch.is_settled for batch in read].index(True) == len(read) - 1


def test_reading_goes_on_from_a_position(run_stream: RunStream, cluster: Cluster, offsets_topic: str) -> None:
    read = batches(run_stream, options(cluster, offsets_topic, positions={0: 38, 1: 40, 2: 39, 3: 0}))

    assert rows(read) == [("g0", 0, 38, 38), ("g0", 1, 39, 39), ("g2", 1, 39, 39)]


def test_start_latest_reads_nothing_old_and_says_that_it_is_caught_up(
    run_stream: RunStream, cluster: Cluster, offsets_topic: str
) -> None:
    read = batches(run_stream, options(cluster, offsets_topic, start_latest=True))

    assert rows(read) == []
    assert read[0].positions == {0: 40, 1: 40, 2: 40, 3: 0}
    assert read[0].ends == {}


def test_a_topic_that_does_not_exist_is_caught_up(run_stream: RunStream, cluster: Cluster) -> None:
    read = batches(run_stream, options(cluster, unique("absent")))

    told = [(rows([batch]), batch.positions, batch.ends, batch.is_settled) for batch in read]
    assert told == [([], {}, {}, False), ([], {}, {}, True)]


def test_a_range_that_ends_with_a_transaction_marker_ends(cluster: Cluster) -> None:
    """Its last offset holds no record, and an aborted transaction leaves none at all."""
    topic = cluster.make_topic(1, "transactions")
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": unique("tx")})
    producer.init_transactions(30)
    reader = RangeReader({"bootstrap.servers": cluster.bootstrap}, topic)

    def transaction(commit: bool) -> None:
        producer.begin_transaction()
        producer.produce(topic, value=b"x")
        producer.flush(30)
        producer.commit_transaction(30) if commit else producer.abort_transaction(30)

    def read(start: int, end: int) -> list[int]:
        return [offset for records in reader.read([Range(0, start, end)]) for offset in records.offset.tolist()]

    transaction(commit=True)
    assert read(0, 2) == [0]
    transaction(commit=False)
    assert read(2, 4) == [], "aborted"
    transaction(commit=True)
    assert read(4, 6) == [4]
    assert read(0, 6) == [0, 4], "the same range again"
    assert read(1, 5) == [4]


def test_a_range_over_compacted_records_ends(cluster: Cluster) -> None:
    """Where records are gone, a record beyond the range says that it is done."""
    topic = cluster.make_topic(1, "compacted", **{"cleanup.policy": "delete", "retention.ms": "-1"})
    cluster.produce(topic, 10)
    cluster.admin.delete_records([TopicPartition(topic, 0, 6)])[TopicPartition(topic, 0)].result(30)
    reader = RangeReader({"bootstrap.servers": cluster.bootstrap}, topic)

    def read(start: int, end: int) -> list[int]:
        return [offset for records in reader.read([Range(0, start, end)]) for offset in records.offset.tolist()]

    assert read(0, 4) == []
    assert read(4, 8) == [6, 7]
    assert read(8, 10) == [8, 9]


def test_a_reader_goes_back_and_forth_between_ranges(cluster: Cluster) -> None:
    topic = cluster.make_topic(2)
    for partition in (0, 1):
        cluster.produce(topic, 100, partition)
    reader = RangeReader({"bootstrap.servers": cluster.bootstrap}, topic)

    def read(*ranges: Range) -> list[tuple[int, int]]:
        found = [
            pair
            for records in reader.read(list(ranges))
            for pair in zip(records.partition.tolist(), records.offset.tolist(), strict=True)
        ]
        return sorted(found)

    assert read(Range(0, 0, 50)) == [(0, i) for i in range(50)]
    assert read(Range(0, 50, 100), Range(1, 90, 100)) == [(0, i) for i in range(50, 100)] + [
        (1, i) for i in range(90, 100)
    ]
    assert read(Range(0, 10, 12), Range(1, 0, 3)) == [(0, 10), (0, 11), (1, 0), (1, 1), (1, 2)]


def test_records_that_come_together_with_the_end_of_their_partition_are_not_lost(cluster: Cluster) -> None:
    topic = cluster.make_topic(3)
    for partition, records in ((0, 5), (1, 20_000), (2, 3)):
        cluster.produce(topic, records, partition)
    reader = RangeReader({"bootstrap.servers": cluster.bootstrap}, topic)
    read = list(reader.read([Range(0, 0, 5), Range(1, 0, 20_000), Range(2, 0, 3)]))

    found = np.concatenate([records.partition for records in read])
    assert np.bincount(found).tolist() == [5, 20_000, 3]


def test_heads_tell_the_end_and_the_log_start_of_every_partition(run_stream: RunStream, cluster: Cluster) -> None:
    topic = cluster.make_topic(3)
    cluster.produce(topic, 7, partition=1)
    cluster.admin.delete_records([TopicPartition(topic, 1, 2)])[TopicPartition(topic, 1)].result(30)
    table = run_stream("warren-heads", HeadsOptions({"bootstrap.servers": cluster.bootstrap}, 3600, 0).to_json())[0]
    heads = head_rows(table)

    mine = [i for i, code in enumerate(heads.topic.tolist()) if heads.topics[code] == topic]
    assert heads.partition[mine].tolist() == [0, 1, 2]
    assert heads.end[mine].tolist() == [0, 7, 0]
    assert heads.log_start[mine].tolist() == [0, 2, 0]
    assert "__consumer_offsets" in heads.topics


def heads_of(run_stream: RunStream, cluster: Cluster, topic: str) -> list[dict[str, Any]]:
    """What a new observation tells of a topic."""
    client = {"bootstrap.servers": cluster.bootstrap}
    (table,) = run_stream("warren-heads", HeadsOptions(client, 3600, 0).to_json())
    return [row for row in table.to_pylist() if row["topic"] == topic]


def test_an_open_transaction_holds_the_last_stable_offset(run_stream: RunStream, cluster: Cluster) -> None:
    topic = cluster.make_topic(2)
    cluster.produce(topic, 3)
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": unique("tx")})
    producer.init_transactions(30)
    producer.begin_transaction()
    for number in range(5):
        producer.produce(topic, value=str(number), partition=0)
    assert producer.flush(30) == 0

    def told() -> list[tuple[int, int, bool]]:
        return [(row["end"], row["last_stable"], row["has_leader"]) for row in heads_of(run_stream, cluster, topic)]

    assert told() == [(8, 3, True), (0, 0, True)]
    producer.commit_transaction(30)
    eventually_equal(told, [(9, 9, True), (0, 0, True)])  # the marker of the transaction is the ninth


def test_a_recreated_topic_has_another_id(run_stream: RunStream, cluster: Cluster) -> None:
    topic = cluster.make_topic(1)
    cluster.produce(topic, 3)
    (before,) = heads_of(run_stream, cluster, topic)
    cluster.recreate_topic(topic)
    (after,) = eventually(lambda: heads_of(run_stream, cluster, topic))

    described = cluster.admin.describe_topics(TopicCollection([topic]))[topic].result(30)
    assert (before["end"], after["end"]) == (3, 0)
    assert before["topic_id"] not in ("", None, after["topic_id"])
    assert after["topic_id"] == str(described.topic_id)


def test_a_topic_recreated_between_two_lists_of_topics_is_noticed_at_once(cluster: Cluster) -> None:
    topic = cluster.make_topic(1)
    cluster.produce(topic, 3)
    observer = Observer(KafkaBrokers({"bootstrap.servers": cluster.bootstrap}), 3600)

    def told() -> list[tuple[int, str | None]]:
        rows = observer.observe().to_pylist()
        return [(row["end"], row["topic_id"]) for row in rows if row["topic"] == topic]

    ((_, before),) = told()
    assert told() == [(3, None)], "the topics are not listed again"
    cluster.recreate_topic(topic)
    cluster.produce(topic, 1)
    ((end, after),) = told()

    assert end == 1
    assert after not in (None, before)


def test_a_topic_that_is_not_there_has_no_id_and_the_others_have(cluster: Cluster) -> None:
    topic, client = cluster.make_topic(1), {"bootstrap.servers": cluster.bootstrap}

    assert topic_ids_of(client, [unique("absent"), topic]).keys() == {topic}
    assert topic_id_of(client, unique("absent")) == ""
    assert topic_ids_of(client, []) == {}


def test_topics_are_described_in_pieces(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warren.kafka.clients.TOPICS_AT_ONCE", 2)
    topics, client = [cluster.make_topic(1) for _ in range(3)], {"bootstrap.servers": cluster.bootstrap}

    assert topic_ids_of(client, topics).keys() == set(topics)


def test_brokers_that_do_not_answer_fail_the_observation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warren.sources.observing.REQUEST_TIMEOUT_S", 0.5)
    nobody = Observer(KafkaBrokers({"bootstrap.servers": "127.0.0.1:1", "log_level": 0}), 60)

    with pytest.raises(SourceError, match="listing topics failed"):
        nobody.observe()


def test_commits_of_open_and_aborted_transactions_are_not_read(run_stream: RunStream, cluster: Cluster) -> None:
    """D7: Burrow counts them."""
    topic, group = cluster.make_topic(1), unique("eos")
    cluster.produce(topic, 10)
    consumer = cluster.member(group, topic)
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": unique("tx")})
    producer.init_transactions(30)

    def commit_in_transaction(offset: int, commit: bool) -> None:
        producer.begin_transaction()
        producer.send_offsets_to_transaction([TopicPartition(topic, 0, offset)], consumer.consumer_group_metadata(), 30)
        producer.commit_transaction(30) if commit else producer.abort_transaction(30)

    commit_in_transaction(4, commit=True)
    commit_in_transaction(9, commit=False)
    read = batches(run_stream, options(cluster, "__consumer_offsets"))
    consumer.close()

    assert [offset for name, _, offset, _ in rows(read) if name == group] == [4]
