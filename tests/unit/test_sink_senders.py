"""What sinks make of answers: points arrive, are refused and counted, or are sent again."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsPartialSuccess,
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

from tests.support.certificates import Authority
from tests.support.receivers.web_server import Reply, WebServer, web_server
from tests.support.sink_rows import batch, group_row, partition_row
from warren.errors import SinkError
from warren.sinks.contract import Sender, Sent
from warren.sinks.elasticsearch import Search, SearchOptions, template_name, template_of
from warren.sinks.http import Web
from warren.sinks.influxdb import Influx, InfluxOptions
from warren.sinks.otlp import Otlp, OtlpOptions
from warren.sinks.remote_write import RemoteWrite, RemoteWriteOptions

SENDER = TypeVar("SENDER", bound=Sender)
SECRET = "hunter2-and-more"


def points(count: int = 4) -> pa.RecordBatch:
    return batch(*(partition_row(partition=number) for number in range(count)))


OPENED: list[Sender] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


def opened(sender: SENDER) -> SENDER:
    """A sender that is closed after the test."""
    OPENED.append(sender)
    return sender


def influx(server: WebServer, **more: object) -> Influx:
    web = Web(server.url, username="warren", password=SECRET, patience_s=0.0)
    return opened(Influx(InfluxOptions(web, "lag")._replace(**more)))  # type: ignore[arg-type]


def search(server: WebServer, **more: object) -> Search:
    options = SearchOptions(Web(server.url, patience_s=0.0), manage_template=False)
    return opened(Search(options._replace(**more)))  # type: ignore[arg-type]


def lines(server: WebServer) -> list[list[str]]:
    return [gzip.decompress(one.body).decode().splitlines() for one in server.asked]


# -- InfluxDB --------------------------------------------------------------------------------------------------------


def test_version_1_has_a_database_and_a_login() -> None:
    with web_server(Reply(204)) as server:
        assert influx(server, retention_policy="a week").send(points()) == Sent(4)

    [asked] = server.asked
    assert asked.path == "/write?db=lag&rp=a+week&precision=ms"
    assert asked.headers["authorization"] == "Basic " + b64encode(f"warren:{SECRET}".encode()).decode()
    assert asked.headers["content-encoding"] == "gzip"


def test_version_2_has_a_bucket_and_a_token() -> None:
    with web_server(Reply(204)) as server:
        sender = opened(Influx(InfluxOptions(Web(server.url), org="ops", bucket="burrow", token=SECRET)))
        assert sender.send(points()) == Sent(4)

    [asked] = server.asked
    assert asked.path == "/api/v2/write?org=ops&bucket=burrow&precision=ms"
    assert asked.headers["authorization"] == f"Token {SECRET}"


def test_many_points_go_in_several_requests() -> None:
    with web_server(Reply(204)) as server:
        assert influx(server, batch_points=3).send(points(7)) == Sent(7)

    assert [len(one) for one in lines(server)] == [3, 3, 1]


def test_a_partial_write_is_told_and_the_rest_goes_on() -> None:
    said = b'{"error":"partial write: field type conflict: input field \\"lag\\" is type integer dropped=1"}'
    with web_server(Reply(400, body=said), Reply(204)) as server:
        sent = influx(server, batch_points=3).send(points(5))

    assert (sent.points, sent.refused) == (4, 1)
    assert "field type conflict" in sent.reason


def test_how_many_were_dropped_is_found_at_the_end_of_a_long_answer() -> None:
    said = f'{{"error":"partial write: points beyond retention policy {"x" * 400} dropped=2"}}'.encode()
    with web_server(Reply(400, body=said)) as server:
        sent = influx(server).send(points(5))

    assert (sent.points, sent.refused) == (3, 2)


def test_lines_that_cannot_be_read_are_looked_for_though_none_are_said_to_be_dropped() -> None:
    said = Reply(400, body=b'{"error":"partial write: unable to parse \'x\': missing fields dropped=0"}')
    with web_server(said, said, Reply(204)) as server:
        sent = influx(server).send(points(2))

    assert (sent.points, sent.refused) == (1, 1)


@pytest.mark.parametrize("status", [301, 302, 303])
def test_an_answer_that_leads_to_a_login_page_is_no_confirmation(status: int) -> None:
    reply = Reply(status, headers={"Location": "/login"})
    with web_server(reply, Reply(200)) as server, pytest.raises(SinkError, match=f"answered {status}"):
        influx(server).send(points())


def test_points_follow_their_receiver_to_another_address() -> None:
    with web_server(Reply(307, headers={"Location": "/elsewhere"}), Reply(204)) as server:
        assert influx(server).send(points()) == Sent(4)

    first, second = server.asked
    assert (second.method, second.path, second.body) == ("POST", "/elsewhere", first.body)


def test_a_batch_that_is_refused_is_cut_until_the_bad_point_is_found() -> None:
    refused, taken = Reply(400, body=b'{"error":"unable to parse"}'), Reply(204)
    with web_server(refused, refused, refused, taken, taken) as server:  # all, the first two, the first
        sent = influx(server).send(points(4))

    assert (sent.points, sent.refused) == (3, 1)
    assert [len(one) for one in lines(server)] == [4, 2, 1, 1, 2]


def test_if_everything_is_refused_it_ends_all_the_same() -> None:
    with web_server(Reply(400)) as server:
        sent = influx(server).send(points(1_000))

    assert (sent.points, sent.refused) == (0, 1_000)
    assert len(server.asked) < 600


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
def test_what_is_not_about_the_points_is_an_error_to_try_again(status: int) -> None:
    with web_server(Reply(status, body=b'{"error":"no way"}')) as server, pytest.raises(SinkError) as raised:
        influx(server).send(points())

    assert f"answered {status}" in str(raised.value)
    assert str(raised.value).endswith(": no way")


def test_a_server_that_is_busy_for_a_moment_is_asked_again_by_the_task() -> None:
    with web_server(Reply(503), Reply(429), Reply(204)) as server:
        sender = opened(Influx(InfluxOptions(Web(server.url, patience_s=10.0), "lag")))
        assert sender.send(points()) == Sent(4)


def test_nobody_there_is_told_in_a_sentence() -> None:
    with web_server() as server:
        pass
    with pytest.raises(SinkError, match=r"127.0.0.1:\d+: connection refused"):
        influx(server).send(points())


def test_no_secret_is_in_an_error_even_if_the_answer_repeats_it() -> None:
    with web_server(Reply(401, echoes=True)) as server, pytest.raises(SinkError) as raised:
        influx(server, token="another-secret").send(points())  # not a real one

    assert SECRET not in str(raised.value)
    assert "another-secret" not in str(raised.value)
    assert "\n" not in str(raised.value)


# -- Elasticsearch ---------------------------------------------------------------------------------------------------


def answered(*statuses: int, kind: str = "mapper_parsing_exception") -> Reply:
    error = {"error": {"type": kind, "reason": "so it is"}}
    items = [{"index": {"_index": "burrow-x", "status": one, **(error if one > 299 else {})}} for one in statuses]
    return Reply(200, body=json.dumps({"errors": any(one > 299 for one in statuses), "items": items}).encode())


def test_documents_go_to_the_index_of_their_day_with_an_id() -> None:
    with web_server(answered(201, 201)) as server:
        sent = search(server).send(batch(partition_row(), group_row(time_ms=1_700_086_400_000)))

    assert sent == Sent(2)
    first, _, second, _ = map(json.loads, lines(server)[0])
    assert first["index"]["_index"] == "burrow-2023.11.14"
    assert second["index"]["_index"] == "burrow-2023.11.15"
    assert len(first["index"]["_id"]) == 32


def test_documents_of_a_data_stream_are_created_and_may_be_there_already() -> None:
    with web_server(answered(201, 409)) as server:
        sent = search(server, data_stream="lag").send(points(2))

    assert sent == Sent(2)
    assert json.loads(lines(server)[0][0])["create"]["_index"] == "lag"


def test_a_bad_document_is_told_with_its_index_and_the_others_go_on() -> None:
    with web_server(answered(201, 400, 201)) as server:
        sent = search(server).send(points(3))

    assert sent == Sent(2, 1, "burrow-x: so it is")


@pytest.mark.parametrize("status", [403, 404, 429, 500, 503])
def test_documents_that_could_not_be_taken_now_are_sent_again(status: int) -> None:
    with web_server(answered(201, status)) as server, pytest.raises(SinkError, match="burrow-x: so it is"):
        search(server).send(points(2))


@pytest.mark.parametrize("kind", ["validation_exception", "index_closed_exception"])
def test_an_index_that_cannot_be_made_or_is_closed_loses_no_document(kind: str) -> None:
    with web_server(answered(400, kind=kind)) as server, pytest.raises(SinkError, match="burrow-x: so it is"):
        search(server).send(points(1))


def test_documents_that_are_too_many_for_a_moment_are_sent_again_by_the_task() -> None:
    with web_server(answered(201, 429), answered(200, 201)) as server:
        sender = search(server, web=Web(server.url, patience_s=10.0))
        assert sender.send(points(2)) == Sent(2)


@pytest.mark.parametrize("body", [b"", b"[]", b"<html>", b'{"errors":true,"items":[{}]}', b'{"errors":true,"items":3}'])
def test_an_answer_that_makes_no_sense_is_an_error_to_try_again(body: bytes) -> None:
    with web_server(Reply(200, body=body)) as server, pytest.raises(SinkError, match="cannot be read"):
        search(server).send(points(1))


def test_the_template_is_put_once_and_before_the_documents() -> None:
    with web_server(Reply(200, body=b"{}")) as server:
        sender = search(server, manage_template=True, api_key=SECRET)
        for _ in range(2):
            sender.send(points(1))

    assert [(one.method, one.path.partition("?")[0]) for one in server.asked] == [
        ("PUT", "/_index_template/warren-burrow"),
        ("POST", "/_bulk"),
        ("POST", "/_bulk"),
    ]
    assert server.asked[0].json["index_patterns"] == ["burrow-*.*.*"]
    assert {one.headers["authorization"] for one in server.asked} == {f"ApiKey {SECRET}"}


def test_the_template_knows_the_type_of_every_number_about_warren_itself() -> None:
    found = template_of(SearchOptions(Web("")))["template"]["mappings"]["properties"]

    assert found["warren_cluster"]["properties"]["delay_seconds"] == {"type": "double"}
    assert found["warren_cluster"]["properties"]["ready"] == {"type": "long"}
    assert found["warren_process"]["properties"]["cpu_seconds"] == {"type": "double"}
    kinds = {one["type"] for name in ("warren_cluster", "warren_process") for one in found[name]["properties"].values()}
    assert kinds == {"double", "long"}


def test_a_template_that_is_refused_is_told_with_what_to_do() -> None:
    reply, told = Reply(400, body=b'{"error":{"reason":"conflicts"}}'), r"conflicts.*manage-template = false"
    with web_server(reply) as server, pytest.raises(SinkError, match=told):
        search(server, manage_template=True).send(points(1))


def test_templates_of_different_indices_have_different_names() -> None:
    options = SearchOptions(Web(""))

    assert template_name(options) != template_name(options._replace(daily_index="other-%Y"))
    assert template_of(options._replace(data_stream="lag"))["data_stream"] == {}


# -- remote write ----------------------------------------------------------------------------------------------------


def test_samples_are_compressed_with_snappy() -> None:
    with web_server(Reply(204)) as server:
        web = Web(f"{server.url}/api/v1/write", patience_s=0.0)
        assert opened(RemoteWrite(RemoteWriteOptions(web, token=SECRET))).send(points(2)) == Sent(2)

    [asked] = server.asked
    assert asked.path == "/api/v1/write"
    assert asked.headers["content-encoding"] == "snappy"
    assert asked.headers["x-prometheus-remote-write-version"] == "0.1.0"
    assert asked.headers["authorization"] == f"Bearer {SECRET}"


def test_an_offset_that_no_double_has_room_for_keeps_nobody_waiting() -> None:
    with web_server(Reply(204)) as server:
        sender = opened(RemoteWrite(RemoteWriteOptions(Web(server.url, patience_s=0.0))))
        assert sender.send(batch(partition_row(offset=2**63 - 1))) == Sent(1)


def test_samples_that_are_too_old_are_refused_and_the_others_go_on() -> None:
    replies = [Reply(400, body=b"out of order sample"), Reply(400, body=b"out of order sample"), Reply(204)]
    with web_server(*replies) as server:
        sent = opened(RemoteWrite(RemoteWriteOptions(Web(server.url, patience_s=0.0)))).send(points(2))

    assert (sent.points, sent.refused) == (1, 1)
    assert "out of order sample" in sent.reason


# -- TLS -------------------------------------------------------------------------------------------------------------


def test_a_receiver_whose_certificate_nobody_knows_is_not_trusted(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    with web_server(Reply(204), certificate=authority.sign("server")) as server:
        with pytest.raises(SinkError, match="its certificate is not trusted"):
            opened(Search(SearchOptions(Web(server.url, patience_s=0.0)))).send(points())

        for trusting in ({"extra_ca": str(authority.pem)}, {"noverify": True}):
            web = Web(server.url, patience_s=0.0)._replace(**trusting)  # type: ignore[arg-type]
            assert opened(Influx(InfluxOptions(web, "lag"))).send(points()) == Sent(4)


# -- OpenTelemetry ---------------------------------------------------------------------------------------------------


def otlp(server: WebServer, **options: Any) -> Otlp:
    return opened(Otlp(OtlpOptions(Web(f"{server.url}/v1/metrics", patience_s=0.0), **options)))


def test_gauges_are_compressed_with_gzip() -> None:
    with web_server(Reply(200)) as server:
        assert otlp(server, token=SECRET).send(points(2)) == Sent(2)

    [asked] = server.asked
    assert (asked.path, asked.headers["content-type"]) == ("/v1/metrics", "application/x-protobuf")
    assert asked.headers["content-encoding"] == "gzip"
    assert asked.headers["authorization"] == f"Bearer {SECRET}"
    assert ExportMetricsServiceRequest.FromString(gzip.decompress(asked.body)).resource_metrics


def test_data_points_that_were_thrown_away_are_refused() -> None:
    told = ExportMetricsPartialSuccess(rejected_data_points=1, error_message="too old")
    answer = ExportMetricsServiceResponse(partial_success=told).SerializeToString()
    with web_server(Reply(200, body=answer)) as server:
        assert otlp(server).send(points(2)) == Sent(1, 1, "too old")


@pytest.mark.parametrize("body", [b"{}", b"ok", b"\x0a\xff", b"\x08\x01", b"\x0a\x02\x08", b"\xff" * 20])
def test_a_good_answer_is_good_whatever_it_says(body: bytes) -> None:
    with web_server(Reply(200, body=body)) as server:
        assert otlp(server).send(points(2)) == Sent(2)


def test_points_that_are_refused_are_found_by_cutting_the_request() -> None:
    with web_server(Reply(400, body=b"bad"), Reply(400, body=b"bad"), Reply(200)) as server:
        sent = otlp(server).send(points(2))

    assert (sent.points, sent.refused) == (1, 1)
