"""Lines, documents and messages that are made of points: whatever the names, a reader finds them again."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from tests.support.example_cluster import filled_state, ms
from tests.support.process_health import health_table
from tests.support.sink_rows import (
    CLUSTER_ROW,
    PROCESS_ROW,
    TIME_MS,
    TOPIC_ROW,
    batch,
    group_row,
    health_batch,
    partition_row,
)
from warren.sinks.columns import Runs, lines, rfc3339
from warren.sinks.documents import documents_of, flat_documents_of, ids_of
from warren.sinks.families import FAMILIES
from warren.sinks.health_points import CLUSTER, PROCESS
from warren.sinks.kafka import keys_of
from warren.sinks.line_protocol import escaped, lines_of
from warren.sinks.otlp import Gauges
from warren.sinks.points import GROUP, PARTITION, TOPIC
from warren.sinks.remote_write import series_of

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


# -- line protocol ---------------------------------------------------------------------------------------------------


def test_a_line_for_each_kind_of_point() -> None:
    assert lines_of(batch(group_row(), partition_row(), TOPIC_ROW)).to_pylist() == [
        'burrow_group,cluster=prod,group=billing offset=50i,status="ERR",status_code=4i,partition_count=2i,'
        f'total_lag=20i,lag=15i,timestamp=7i,reason="stopped" {TIME_MS}',
        'burrow_partition,cluster=prod,group=billing,owner=/10.0.0.1,partition=3,topic=orders offset=5i,status="STOP",'
        f'status_code=5i,lag=15i,timestamp=1699999999000i,lag_seconds=2.5,reason="stopped" {TIME_MS}',
        f"burrow_topic,cluster=prod,partition=3,topic=orders offset=20i {TIME_MS}",
    ]


def test_a_line_for_each_kind_of_point_about_warren_itself() -> None:
    assert lines_of(health_batch(CLUSTER_ROW, PROCESS_ROW)).to_pylist() == [
        "warren_cluster,cluster=prod,instance=warren-1:8000 ready=1i,reachable=0i,groups_ok=7i,groups_warn=1i,"
        f"groups_err=0i,delay_seconds=2.0,behind_records=3i {TIME_MS}",
        "warren_process,instance=warren-1:8000 leader=0i,notifier_failed=2i,memory_bytes=100000000i,cpu_seconds=1.5 "
        f"{TIME_MS}",
    ]


def test_an_empty_owner_is_no_tag() -> None:
    [line] = lines_of(batch(partition_row(owner=""))).to_pylist()

    assert "owner" not in line


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("late night", r"late\ night"),
        ("a,b=c", r"a\,b\=c"),
        ('say "so"', r"say\ \"so\"".replace('\\"', '"')),
        ("back\\slash", "back\\slash"),
        ("two\nlines", r"two\nlines"),
        ("ends\\", "ends%5C"),
        ("ends\\\\", "ends%5C%5C"),
        ("주문", "주문"),
    ],
)
def test_names_are_escaped(name: str, written: str) -> None:
    assert escaped(name) == written


def tags_as_influxdb_reads_them(line: str) -> dict[str, str]:
    """Its parser ends a tag at a comma or a space that has no backslash just before it."""
    pieces, current = [], ""
    for at, letter in enumerate(line):
        if letter in ", " and line[at - 1] != "\\":
            pieces.append(current)
            current = ""
            if letter == " ":
                break
        else:
            current += letter
    found = {}
    for piece in pieces[1:]:
        at = next(i for i, letter in enumerate(piece) if letter == "=" and piece[i - 1] != "\\")
        found[piece[:at]] = _unescaped(piece[at + 1 :])
    return found


def _unescaped(text: str) -> str:
    for letter in ", =":
        text = text.replace(f"\\{letter}", letter)
    return text


@given(group=NAMES, topic=NAMES)
def test_whatever_the_names_the_tags_are_read_back(group: str, topic: str) -> None:
    [line] = lines_of(batch(partition_row(group, topic))).to_pylist()

    assert "\n" not in line
    found = tags_as_influxdb_reads_them(line)
    assert set(found) == {"cluster", "group", "owner", "partition", "topic"}
    for name, tag in ((group, found["group"]), (topic, found["topic"])):
        if not set(name) & set("\n\r\t\f") and not name.endswith("\\"):
            assert tag == name


# -- documents -------------------------------------------------------------------------------------------------------


def test_documents_are_those_of_telegraf() -> None:
    group, partition, topic = map(json.loads, documents_of(batch(group_row(), partition_row(), TOPIC_ROW)).to_pylist())

    assert group == {
        "@timestamp": "2023-11-14T22:13:20.123Z",
        "measurement_name": "burrow_group",
        "tag": {"cluster": "prod", "group": "billing"},
        "burrow_group": {
            "status": "ERR", "status_code": 4, "partition_count": 2, "total_lag": 20, "lag": 15, "offset": 50,
            "timestamp": 7, "reason": "stopped",
        },
    }  # fmt: skip
    assert partition["tag"] == {
        "cluster": "prod", "group": "billing", "topic": "orders", "partition": "3", "owner": "/10.0.0.1",
    }  # fmt: skip
    assert partition["burrow_partition"]["lag_seconds"] == 2.5
    assert topic["burrow_topic"] == {"offset": 20}


def test_documents_about_warren_itself_tell_which_one_it_is() -> None:
    cluster, process = map(json.loads, documents_of(health_batch(CLUSTER_ROW, PROCESS_ROW)).to_pylist())

    assert cluster["tag"] == {"cluster": "prod", "instance": "warren-1:8000"}
    assert cluster["warren_cluster"] == {
        "ready": 1, "reachable": 0, "groups_ok": 7, "groups_warn": 1, "groups_err": 0, "delay_seconds": 2.0,
        "behind_records": 3,
    }  # fmt: skip
    assert process == {
        "@timestamp": "2023-11-14T22:13:20.123Z",
        "measurement_name": "warren_process",
        "tag": {"instance": "warren-1:8000"},
        "warren_process": {"leader": 0, "notifier_failed": 2, "memory_bytes": 100_000_000, "cpu_seconds": 1.5},
    }


def test_flat_documents_about_warren_itself() -> None:
    _, process = map(json.loads, flat_documents_of(health_batch(CLUSTER_ROW, PROCESS_ROW)).to_pylist())

    assert process == {
        "measurement": "warren_process", "time": TIME_MS, "instance": "warren-1:8000", "leader": 0,
        "notifier_failed": 2, "memory_bytes": 100_000_000, "cpu_seconds": 1.5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("time_ms", "text"),
    [(0, "1970-01-01T00:00:00Z"), (1_500, "1970-01-01T00:00:01.5Z"), (TIME_MS, "2023-11-14T22:13:20.123Z")],
)
def test_times_have_no_more_digits_than_they_need(time_ms: int, text: str) -> None:
    assert rfc3339(time_ms) == text


@given(group=NAMES, topic=NAMES)
def test_whatever_the_names_documents_are_json(group: str, topic: str) -> None:
    points = batch(partition_row(group, topic))
    [document], [flat] = (list(map(json.loads, made(points).to_pylist())) for made in (documents_of, flat_documents_of))

    assert (document["tag"]["group"], document["tag"]["topic"]) == (group, topic)
    assert (flat["group"], flat["topic"], flat["partition"], flat["time"]) == (group, topic, 3, TIME_MS)


def test_seconds_always_have_a_point_so_that_no_index_takes_them_for_whole_numbers() -> None:
    [document] = documents_of(batch(partition_row(lag_seconds=2.0))).to_pylist()

    assert '"lag_seconds":2.0' in document


def test_an_id_is_that_of_the_point_and_not_of_its_values() -> None:
    [one, same] = ids_of(batch(partition_row(), partition_row(lag=99, status="OK")))
    others = ids_of(batch(partition_row(group="b"), partition_row(partition=4), partition_row(time_ms=1), group_row()))

    assert one == same
    assert len({one, *others}) == 5


# -- keys ------------------------------------------------------------------------------------------------------------


def test_keys_are_of_series_and_slashes_in_names_do_not_mix_them_up() -> None:
    rows = batch(group_row(), group_row("a/b%"), partition_row(), TOPIC_ROW)

    assert keys_of(rows).to_pylist() == [
        "prod/billing",
        "prod/a%2Fb%25",
        "prod/billing/orders/3",
        "prod//orders/3",
    ]


def test_keys_of_warren_itself_are_like_no_other() -> None:
    rows = health_batch(CLUSTER_ROW, CLUSTER_ROW | {"cluster": "a/b", "instance": "c/d:1"}, PROCESS_ROW)

    assert keys_of(rows).to_pylist() == ["prod///warren-1:8000", "a%2Fb///c%2Fd:1", "///warren-1:8000"]


# -- remote write ----------------------------------------------------------------------------------------------------


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    """A protobuf message, by the number of each field."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 2:
            length, at = varint(data, at)
            yield number, data[at : at + length]
            at += length
        elif kind == 1:
            yield number, data[at : at + 8]
            at += 8
        else:
            value, at = varint(data, at)
            yield number, value


def decoded(message: bytes) -> list[tuple[list[tuple[str, str]], float, int]]:
    """Of each series its labels in their order, and its sample."""
    found = []
    for number, series in fields(message):
        assert (number, type(series)) == (1, bytes)
        parts = list(fields(bytes(series)))  # type: ignore[arg-type]
        labels = [dict(fields(bytes(one))) for kind, one in parts if kind == 1]  # type: ignore[arg-type]
        [sample] = [dict(fields(bytes(one))) for kind, one in parts if kind == 2]  # type: ignore[arg-type]
        names = [(bytes(one[1]).decode(), bytes(one[2]).decode()) for one in labels]  # type: ignore[arg-type]
        found.append((names, struct.unpack("<d", bytes(sample[1]))[0], int(sample[2])))  # type: ignore[arg-type]
    return found


def message_of(points: pa.RecordBatch) -> bytes:
    runs = Runs(series_of(points))
    return runs.between(0, len(runs))


def test_a_partition_becomes_the_series_of_the_page() -> None:
    labels = [("cluster", "prod"), ("consumer_group", "billing"), ("partition", "3"), ("topic", "orders")]

    assert decoded(message_of(batch(partition_row()))) == [
        ([("__name__", "burrow_kafka_consumer_current_offset"), *labels], 5.0, TIME_MS),
        ([("__name__", "burrow_kafka_consumer_partition_lag"), *labels], 15.0, TIME_MS),
        ([("__name__", "burrow_kafka_topic_partition_status"), *labels], 4.0, TIME_MS),
        ([("__name__", "warren_partition_lag_seconds"), *labels], 2.5, TIME_MS),
    ]


def test_what_is_not_known_has_no_sample() -> None:
    rows = batch(group_row(), partition_row(timestamp=0, offset=0), TOPIC_ROW)

    assert [dict(labels)["__name__"] for labels, _, _ in decoded(message_of(rows))] == [
        "burrow_kafka_consumer_lag_total",
        "burrow_kafka_consumer_status",
        "burrow_kafka_consumer_partition_lag",
        "burrow_kafka_topic_partition_status",
        "warren_partition_lag_seconds",
        "burrow_kafka_topic_partition_offset",
    ]


def test_points_about_warren_itself_become_the_series_of_the_page() -> None:
    process = [("instance", "warren-1:8000")]
    cluster = [("cluster", "prod"), *process]

    assert decoded(message_of(health_batch(CLUSTER_ROW, PROCESS_ROW))) == [
        ([("__name__", "warren_cluster_ready"), *cluster], 1.0, TIME_MS),
        ([("__name__", "warren_cluster_reachable"), *cluster], 0.0, TIME_MS),
        ([("__name__", "warren_groups"), *cluster, ("status", "OK")], 7.0, TIME_MS),
        ([("__name__", "warren_groups"), *cluster, ("status", "WARN")], 1.0, TIME_MS),
        ([("__name__", "warren_groups"), *cluster, ("status", "ERR")], 0.0, TIME_MS),
        ([("__name__", "warren_offsets_delay_seconds"), *cluster], 2.0, TIME_MS),
        ([("__name__", "warren_offsets_behind_records"), *cluster], 3.0, TIME_MS),
        ([("__name__", "warren_leader"), *process], 0.0, TIME_MS),
        ([("__name__", "warren_notifier_messages_total"), *process, ("result", "failed")], 2.0, TIME_MS),
        ([("__name__", "process_resident_memory_bytes"), *process], 100e6, TIME_MS),
        ([("__name__", "process_cpu_seconds_total"), *process], 1.5, TIME_MS),
    ]


@given(group=NAMES, topic=NAMES)
def test_whatever_the_names_samples_are_read_back(group: str, topic: str) -> None:
    for labels, _, _ in decoded(message_of(batch(partition_row(group, topic)))):
        assert (dict(labels)["consumer_group"], dict(labels)["topic"]) == (group, topic)
        assert [name for name, _ in labels] == sorted(name for name, _ in labels)


# -- OpenTelemetry ---------------------------------------------------------------------------------------------------


def metrics_of(points: pa.RecordBatch) -> dict[str, list[Any]]:
    """Data points by the name of their metric, as OpenTelemetry's own library reads them."""
    [resource] = ExportMetricsServiceRequest.FromString(Gauges(points).between(0, points.num_rows)).resource_metrics
    assert [(one.key, one.value.string_value) for one in resource.resource.attributes] == [("service.name", "warren")]
    [scope] = resource.scope_metrics
    return {metric.name: list(metric.gauge.data_points) for metric in scope.metrics}


def test_a_partition_becomes_the_gauges_of_the_page() -> None:
    found = metrics_of(batch(partition_row(), partition_row("other", offset=2**62)))

    assert {name: [one.as_int or one.as_double for one in of] for name, of in found.items()} == {
        "burrow_kafka_consumer_current_offset": [5, 2**62],
        "burrow_kafka_consumer_partition_lag": [15, 15],
        "burrow_kafka_topic_partition_status": [4, 4],
        "warren_partition_lag_seconds": [2.5, 2.5],
    }
    assert {one.time_unix_nano for of in found.values() for one in of} == {TIME_MS * 1_000_000}


def test_a_family_of_several_fields_is_one_metric_with_a_data_point_for_each() -> None:
    found = metrics_of(health_batch(CLUSTER_ROW, CLUSTER_ROW | {"cluster": "other"}))["warren_groups"]

    told = {
        tuple(attribute.value.string_value for attribute in one.attributes): one.as_int  # in their order
        for one in found
    }
    assert told == {
        (cluster, "warren-1:8000", status): count
        for cluster in ("prod", "other")
        for status, count in (("OK", 7), ("WARN", 1), ("ERR", 0))
    }


def test_what_is_not_known_has_no_data_point() -> None:
    found = metrics_of(batch(group_row(), partition_row(timestamp=0, offset=0), TOPIC_ROW))

    assert "burrow_kafka_consumer_current_offset" not in found
    assert "warren_group_lag_seconds" not in found
    assert {len(of) for of in found.values()} == {1}


@given(group=NAMES, topic=NAMES)
def test_whatever_the_names_attributes_are_read_back(group: str, topic: str) -> None:
    for [point] in metrics_of(batch(partition_row(group, topic))).values():
        assert {one.key: one.value.string_value for one in point.attributes} == {
            "cluster": "prod",
            "consumer_group": group,
            "topic": topic,
            "partition": "3",
        }


def test_any_run_of_points_is_a_request() -> None:
    gauges = Gauges(batch(group_row("a"), group_row("b"), group_row("c")))

    request = ExportMetricsServiceRequest.FromString(gauges.between(1, 3))
    [lag, _] = request.resource_metrics[0].scope_metrics[0].metrics
    names = [one.value.string_value for point in lag.gauge.data_points for one in point.attributes]
    assert names == ["prod", "b", "prod", "c"]


def test_all_points_of_a_cluster_can_be_written_every_way() -> None:
    points = filled_state().points(now_ms=ms(31)).as_table().to_batches()[0]

    for made in (lines_of, documents_of, flat_documents_of, keys_of):
        assert len(made(points)) == points.num_rows
    names = {dict(labels)["__name__"] for labels, _, _ in decoded(message_of(points))}
    assert names == {FAMILIES[kind][field] for kind in (GROUP, PARTITION, TOPIC) for field in FAMILIES[kind]}
    assert names == set(metrics_of(points))


def test_all_points_about_warren_itself_can_be_written_every_way() -> None:
    points = health_table(filled_state()).to_batches()[0]

    for made in (lines_of, documents_of, flat_documents_of, keys_of):
        assert len(made(points)) == points.num_rows == 2
    unknown = {"warren_offsets_delay_seconds", "warren_snapshot_age_seconds"}
    names = {dict(labels)["__name__"] for labels, _, _ in decoded(message_of(points))}
    assert names == {FAMILIES[kind][field] for kind in (CLUSTER, PROCESS) for field in FAMILIES[kind]} - unknown
    assert names == set(metrics_of(points))


# -- runs ------------------------------------------------------------------------------------------------------------


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5)), st.data())
def test_a_run_of_lines_is_what_stands_between(texts: list[str], data: st.DataObject) -> None:
    found = lines(pa.array(texts, pa.string()))
    stop = data.draw(st.integers(0, len(texts)))
    start = data.draw(st.integers(0, stop))

    assert len(found) == len(texts)
    assert found.between(start, stop) == "".join(f"{text}\n" for text in texts[start:stop]).encode()
