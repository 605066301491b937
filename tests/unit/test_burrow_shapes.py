"""Golden answers of v3 and v2 against facts about Burrow that Warren did not write.

The shapes, messages and sums below come from two references: clients.md, which was read in the sources of Burrow 1.9.5
and of its clients, and burrow.md, which was run. A golden file that Warren wrote wrongly fails here, even if it still
agrees with Warren. What stays unproved is in tests/golden/README.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.golden.files import FILES
from tests.support.wire import NO_NEWLINE, Case, cases_of

# -- shapes: a type of Go, an object with its fields in order, a list, or one of the two below ------------------------


class Nullable(NamedTuple):
    """A Go pointer: null, or this."""

    shape: Any


class MapOf(NamedTuple):
    """A Go map: keys sorted, each value of this shape."""

    shape: Any


class Decimal(str):
    """A number that was written with a fraction or an exponent."""


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_float32(value: object) -> bool:
    if not isinstance(value, Decimal):
        return _is_int(value)
    return np.format_float_positional(np.float32(value), trim="-") == value


GO_TYPES: dict[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str) and not isinstance(value, Decimal),
    "bool": lambda value: isinstance(value, bool),
    "int": _is_int,
    "uint": lambda value: _is_int(value) and value >= 0,  # type: ignore[operator]
    "float32": _is_float32,
}


def problems(shape: Any, value: Any, path: str = "") -> Iterator[str]:
    """Yield where a value is not of a shape."""
    match shape:
        case str():
            if not GO_TYPES[shape](value):
                yield f"{path} is no {shape}: {value!r}"
        case Nullable(inner):
            if value is not None:
                yield from problems(inner, value, path)
        case MapOf(inner) if isinstance(value, dict):
            if list(value) != sorted(value):
                yield f"{path} has unsorted keys: {list(value)}"
            for name, item in value.items():
                yield from problems(inner, item, f"{path}.{name}")
        case [inner] if isinstance(value, list):
            for index, item in enumerate(value):
                yield from problems(inner, item, f"{path}[{index}]")
        case dict() if isinstance(value, dict):
            if list(shape) != list(value):
                yield f"{path} has the fields {list(value)}, not {list(shape)}"
            for name in shape.keys() & value.keys():
                yield from problems(shape[name], value[name], f"{path}.{name}")
        case _:
            yield f"{path} is another kind of value: {value!r}"


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        ("int", True),
        ("int", Decimal("5.0")),
        ("uint", -1),
        ("float32", Decimal("1.0")),
        ("float32", Decimal("0.3333333333")),
        ("string", None),
        (["int"], None),
        ({"a": "int", "b": "int"}, {"b": 1, "a": 1}),
        ({"a": "int"}, {"a": 1, "b": 1}),
        (MapOf("int"), {"b": 1, "a": 1}),
        (Nullable("int"), "1"),
    ],
)
def test_a_value_of_another_shape_is_found(shape: object, value: object) -> None:
    assert list(problems(shape, value))


# -- the references ---------------------------------------------------------------------------------------------------

REQUEST = {"url": "string", "host": "string"}
OFFSET = {"offset": "int", "timestamp": "int", "observedAt": "int", "lag": Nullable("uint")}
PARTITION = {
    "topic": "string",
    "partition": "int",
    "owner": "string",
    "client_id": "string",
    "status": "string",
    "start": Nullable(OFFSET),
    "end": Nullable(OFFSET),
    "current_lag": "uint",
    "complete": "float32",
}
STATUS = {
    "cluster": "string",
    "group": "string",
    "status": "string",
    "complete": "float32",
    "partitions": [PARTITION],
    "partition_count": "int",
    "maxlag": Nullable(PARTITION),
    "totallag": "uint",
}
WINDOW = {"offsets": [Nullable(OFFSET)], "owner": "string", "client_id": "string", "current-lag": "uint"}
PROFILE = {
    "name": "string",
    "client-id": "string",
    "kafka-version": "string",
    "tls": Nullable(
        {"name": "string", "noverify": "bool", "certfile": "string", "keyfile": "string", "cafile": "string"}
    ),
    "sasl": Nullable({"name": "string", "handshake-first": "bool", "username": "string"}),
}
CLUSTER = {
    "class-name": "string",
    "servers": ["string"],
    "client-profile": PROFILE,
    "topic-refresh": "int",
    "offset-refresh": "int",
}
STORAGE = {
    "class-name": "string",
    "intervals": "int",
    "min-distance": "int",
    "group-allowlist": "string",
    "expire-group": "int",
}
EVALUATOR = {"class-name": "string", "expire-cache": "int"}
CONSUMER = {
    "class-name": "string",
    "cluster": "string",
    "servers": ["string"],
    "group-allowlist": "string",
    "zookeeper-path": "string",
    "zookeeper-timeout": "int",
    "client-profile": PROFILE,
    "offsets-topic": "string",
    "start-latest": "bool",
}
NOTIFIER = {"class-name": "string", "group-allowlist": "string", "interval": "int", "threshold": "int"}
TEMPLATES = {
    "template-open": "string",
    "template-close": "string",
    "extra": MapOf("string"),
    "send-close": "bool",
}
NOTIFIERS = {
    "null": NOTIFIER | TEMPLATES,
    "http": NOTIFIER
    | {"timeout": "int", "keepalive": "int", "url-open": "string", "url-close": "string"}
    | {"method-open": "string", "method-close": "string"}
    | TEMPLATES
    | {"extra-ca": "string", "noverify": "string"},
    "email": NOTIFIER
    | TEMPLATES
    | {"server": "string", "port": "int", "auth-type": "string", "username": "string", "from": "string", "to": "string"}
    | {"extra-ca": "string", "noverify": "string"},
}
MAIN_CONFIG = {
    "error": "bool",
    "message": "string",
    "request": REQUEST,
    "general": {"pidfile": "string", "stdout-logfile": "string", "access-control-allow-origin": "string"},
    "logging": {
        "filename": "string",
        "max-size": "int",
        "max-backups": "int",
        "max-age": "int",
        "use-local-time": "bool",
        "use-compression": "bool",
        "level": "string",
    },
    "zookeeper": {"servers": Nullable(["string"]), "timeout": "int", "root-path": "string"},
    "httpserver": MapOf({"address": "string", "tls": "string", "timeout": "int"}),
}
MODULES = {
    "error": "bool", "message": "string", "request": REQUEST, "coordinator": "string", "modules": ["string"],
}  # fmt: skip
ERROR = {"error": "bool", "message": "string", "request": REQUEST}


def found(**fields: object) -> dict[str, object]:
    """Success envelope: the fields stand between message and request."""
    return {"error": "bool", "message": "string", **fields, "request": REQUEST}


class Endpoint(NamedTuple):
    """What the references say of one path."""

    path: str
    """A regular expression over the decoded path; names may contain anything."""
    message: str
    shape: dict[str, Any]
    not_found: str = ""


KAFKA = "/v3/kafka/[^/]*"
V3 = [
    Endpoint("/v3/kafka", "cluster list returned", found(clusters=["string"])),
    Endpoint(f"{KAFKA}/topic", "topic list returned", found(topics=["string"]), "cluster not found"),
    Endpoint(
        f"{KAFKA}/topic/.*/consumers", "consumers of topic returned", found(consumers=["string"]), "cluster not found"
    ),
    Endpoint(f"{KAFKA}/topic/.*", "topic offsets returned", found(offsets=["int"]), "cluster or topic not found"),
    Endpoint(f"{KAFKA}/consumer", "consumer list returned", found(consumers=["string"]), "cluster not found"),
    Endpoint(f"{KAFKA}/consumer/.*/(status|lag)", "consumer status returned", found(status=STATUS)),
    Endpoint(
        f"{KAFKA}/consumer/.*",
        "consumer detail returned",
        found(topics=MapOf([WINDOW])),
        "cluster or consumer not found",
    ),
    Endpoint(KAFKA, "cluster module detail returned", found(module=CLUSTER), "cluster module not found"),
    Endpoint("/v3/config", "main config returned", MAIN_CONFIG),
    Endpoint("/v3/config/[a-z]*", "module list returned", MODULES),
    *(
        Endpoint(
            f"/v3/config/{name}/.*", f"{name} module detail returned", found(module=shape), f"{name} module not found"
        )
        for name, shape in (
            ("storage", STORAGE),
            ("evaluator", EVALUATOR),
            ("cluster", CLUSTER),
            ("consumer", CONSUMER),
        )
    ),
    Endpoint("/v3/admin/loglevel", "log level returned", found(level="string")),
]
NOTIFIER_PATH = re.compile("/v3/config/notifier/.+")
DELETED = Endpoint(f"{KAFKA}/consumer/.*", "consumer group removed", found())


# -- the golden files -------------------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """A golden answer with a JSON body."""

    name: str
    case: Case
    status: int
    body: dict[str, Any]

    @property
    def path(self) -> str:
        return str(self.body["request"]["url"])


def answers(folder: str) -> list[Answer]:
    """Return the JSON answers of one folder that Burrow could have given: not those about tokens."""
    return [
        Answer(f"{path.stem} {case.sent.method} {case.sent.target} {number}", case, *_status_and_body(case))
        for path in FILES
        if path.parent.name == folder
        for number, case in enumerate(cases_of(path))
        if "Content-Type: application/json" in case.answer
        and not case.sent.target.startswith("/api/v1")
        and not re.match(r"HTTP/1.1 40[13] ", case.answer)
    ]


def _status_and_body(case: Case) -> tuple[int, dict[str, Any]]:
    head, _, body = case.answer.partition("\n\n")
    return int(head.split()[1]), json.loads(body.removesuffix(f"{NO_NEWLINE}\n"), parse_float=Decimal)


V3_ANSWERS = answers("v3")
by_name = partial(pytest.mark.parametrize, "answer", ids=lambda answer: answer.name)


def is_about_a_group(answer: Answer) -> bool:
    return "status" in answer.body


def endpoint_of(answer: Answer) -> Endpoint:
    if answer.case.sent.method == "DELETE":
        return DELETED
    return next(endpoint for endpoint in V3 if re.fullmatch(endpoint.path, answer.path))


def test_most_golden_answers_are_compared() -> None:
    assert len(V3_ANSWERS) >= 90
    assert len(list(filter(is_about_a_group, V3_ANSWERS))) >= 15


@by_name([one for one in V3_ANSWERS if one.status == 200 and not NOTIFIER_PATH.fullmatch(one.path)])
def test_a_successful_answer_has_burrows_message_and_fields_in_burrows_order(answer: Answer) -> None:
    endpoint = endpoint_of(answer)
    if answer.case.sent.method == "POST":
        endpoint = Endpoint("", "set log level", found())

    assert list(problems(endpoint.shape, answer.body)) == []
    assert (answer.body["error"], answer.body["message"]) == (False, endpoint.message)


@by_name([one for one in V3_ANSWERS if one.status == 200 and NOTIFIER_PATH.fullmatch(one.path)])
def test_a_notifier_has_the_fields_of_its_class(answer: Answer) -> None:
    shape = found(module=NOTIFIERS[answer.body["module"]["class-name"]])

    assert list(problems(shape, answer.body)) == []
    assert answer.body["message"] == "notifier module detail returned"


@by_name([one for one in V3_ANSWERS if one.status >= 400 and not is_about_a_group(one)])
def test_an_error_has_burrows_message(answer: Answer) -> None:
    assert list(problems(ERROR, answer.body)) == []
    assert answer.body["error"] is True
    match answer.status, answer.case.sent.method:
        case 400, "POST":
            assert answer.body["message"] == "could not decode message body"
        case 404, "POST":
            assert answer.body["message"] == "unknown log level"
        case _ if NOTIFIER_PATH.fullmatch(answer.path):
            assert (answer.status, answer.body["message"]) == (404, "notifier module not found")
        case _:
            assert (answer.status, answer.body["message"]) == (404, endpoint_of(answer).not_found)


@by_name([one for one in V3_ANSWERS if one.status == 404 and is_about_a_group(one)])
def test_the_status_of_an_unknown_group_is_a_404_that_exporters_can_read(answer: Answer) -> None:
    assert list(problems(found(status=STATUS), answer.body)) == []
    assert answer.body["error"] is False
    assert {name: value for name, value in answer.body["status"].items() if name not in ("cluster", "group")} == {
        "status": "NOTFOUND",
        "complete": 1,
        "partitions": [],
        "partition_count": 0,
        "maxlag": None,
        "totallag": 0,
    }
    assert answer.path.split("/")[3] == answer.body["status"]["cluster"]


@by_name(V3_ANSWERS)
def test_a_json_body_has_no_newline_and_tells_its_length_up_to_2_kib(answer: Answer) -> None:
    head, _, body = answer.case.answer.partition("\n\n")

    assert body.endswith(f"\n{NO_NEWLINE}\n")
    assert ("Content-Length: " in head) == (len(body.encode()) - len(f"\n{NO_NEWLINE}\n") <= 2048)
    assert "Server: " not in head
    assert "Content-Type: application/json\n" in head


# -- what the numbers of a status must add up to (burrow.md, section 6.3) ---------------------------------------------

KNOWN = [one for one in V3_ANSWERS if one.status == 200 and is_about_a_group(one)]
WHOLE = [one for one in KNOWN if one.path.endswith("/lag")]
SEVERITY = ["NOTFOUND", "OK", "WARN", "ERR", "STOP", "STALL", "REWIND"]


@by_name(WHOLE)
def test_the_sums_of_a_group_are_those_of_its_partitions(answer: Answer) -> None:
    status = answer.body["status"]
    partitions = status["partitions"]
    worst = max((SEVERITY.index(one["status"]) for one in partitions), default=1)
    complete = np.float32(sum(one["complete"] == 1 for one in partitions)) / np.float32(max(len(partitions), 1))

    assert status["partition_count"] == len(partitions)
    assert status["totallag"] == sum(one["current_lag"] for one in partitions)
    assert status["status"] == SEVERITY[min(worst, SEVERITY.index("ERR"))]
    assert np.float32(status["complete"]) == complete
    highest = max(one["current_lag"] for one in partitions)
    assert status["maxlag"] == next(one for one in partitions if one["current_lag"] == highest)


@by_name([one for one in KNOWN if one.path.endswith("/status")])
def test_status_lists_only_partitions_in_trouble(answer: Answer) -> None:
    status = answer.body["status"]

    assert all(SEVERITY.index(one["status"]) > SEVERITY.index("OK") for one in status["partitions"])
    assert status["partition_count"] >= len(status["partitions"])
    assert status["maxlag"] is not None


@by_name(WHOLE)
def test_a_partition_without_commits_is_listed_with_zeros(answer: Answer) -> None:
    for partition in answer.body["status"]["partitions"]:
        if partition["start"] is None:
            assert partition["end"] is None
            assert (partition["status"], partition["current_lag"]) == ("OK", 0)


@by_name([one for one in V3_ANSWERS if "topics" in one.body and isinstance(one.body["topics"], dict)])
def test_a_window_has_as_many_slots_as_intervals_and_empty_ones_come_first(answer: Answer) -> None:
    for windows in answer.body["topics"].values():
        for window in windows:
            slots = [slot is not None for slot in window["offsets"]]
            assert len(slots) in (0, 3)
            assert slots == sorted(slots)


# -- answers that are no JSON -----------------------------------------------------------------------------------------


def plain_answers() -> list[Case]:
    cases = [case for path in FILES if path.parent.name == "v3" for case in cases_of(path)]
    return [case for case in cases if "Content-Type: application/json" not in case.answer]


UNKNOWN_PATH = '{"error":true,"message":"invalid request type","result":{}}\n'


@pytest.mark.parametrize("case", plain_answers(), ids=lambda case: f"{case.sent.method} {case.sent.target}")
def test_any_other_answer_is_one_that_burrows_router_or_probes_give(case: Case) -> None:
    head, _, body = case.answer.partition("\n\n")
    body = body.removesuffix(f"\n{NO_NEWLINE}\n")
    match int(head.split()[1]):
        case 404:
            assert body == UNKNOWN_PATH
            assert "Content-Type: text/plain; charset=utf-8\nX-Content-Type-Options: nosniff" in head
        case 405:
            assert body == ("" if case.sent.method == "HEAD" else "Method Not Allowed\n")
            allowed = re.search("^Allow: (.*)$", head, re.M)
            assert allowed
            assert allowed[1].split(", ") == sorted({*allowed[1].split(", "), "OPTIONS"})
        case 301 | 307 as status:
            assert status == (301 if case.sent.method == "GET" else 307)
            assert "\nLocation: /" in head
        case 400:
            assert body == "400 Bad Request"
        case status if case.sent.method == "OPTIONS":
            assert (status, body) == (200, "")
        case status:
            probe = {"/burrow/admin": (200, "GOOD"), "/burrow/admin/ready": (200, "READY")}
            starting = {"/burrow/admin/ready": (503, "STARTING")}
            assert (status, body) in (probe.get(case.sent.target), starting.get(case.sent.target))


# -- v2 (clients.md, section 1.5) -------------------------------------------------------------------------------------

V2_REQUEST = {"url": "string", "host": "string", "cluster": "string", "group": "string", "topic": "string"}
V2_OFFSET = {"offset": "int", "timestamp": "int", "lag": "int", "max_offset": "int"}
V2_PARTITION = {"topic": "string", "partition": "int", "status": "string", "start": V2_OFFSET, "end": V2_OFFSET}
V2_STATUS = {
    "cluster": "string",
    "group": "string",
    "status": "string",
    "complete": "bool",
    "partitions": [V2_PARTITION],
    "partition_count": "int",
    "maxlag": Nullable(V2_PARTITION),
    "totallag": "int",
}
V2_CLUSTER = {
    "zookeepers": ["string"],
    "zookeeper_port": "int",
    "zookeeper_path": "string",
    "brokers": ["string"],
    "broker_port": "int",
    "offsets_topic": "string",
}
V2_FIELDS: dict[str, dict[str, Any]] = {
    "cluster list returned": {"clusters": ["string"]},
    "cluster detail returned": {"cluster": V2_CLUSTER},
    "broker topic list returned": {"topics": ["string"]},
    "broker topic offsets returned": {"offsets": ["int"]},
    "consumer list returned": {"consumers": ["string"]},
    "consumer topic list returned": {"topics": ["string"]},
    "consumer group topic offsets returned": {"offsets": ["int"]},
    "consumer group status returned": {"status": V2_STATUS},
    "consumer group removed": {},
}
V2_ANSWERS = [one for one in answers("v2") if one.path.startswith("/v2")]


def without_current_lag(value: Any) -> Any:
    """Leave out the one field that Warren adds to v2 (docs/compatibility.md)."""
    match value:
        case dict():
            return {name: without_current_lag(item) for name, item in value.items() if name != "current_lag"}
        case list():
            return [without_current_lag(item) for item in value]
    return value


@by_name(V2_ANSWERS)
def test_an_answer_of_v2_has_the_fields_that_old_clients_read(answer: Answer) -> None:
    if answer.body["error"]:
        shape = {"error": "bool", "message": "string", "result": Nullable({}), "request": V2_REQUEST}
        assert not answer.case.answer.endswith(f"{NO_NEWLINE}\n")
    else:
        shape = {"error": "bool", "message": "string", **V2_FIELDS[answer.body["message"]], "request": V2_REQUEST}

    assert answer.status == 200
    assert list(problems(shape, without_current_lag(answer.body))) == []


def test_the_golden_file_of_v2_has_every_message() -> None:
    assert {one.body["message"] for one in V2_ANSWERS if not one.body["error"]} == V2_FIELDS.keys()
