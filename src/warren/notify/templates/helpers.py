"""The functions that Burrow adds for templates of messages; those for URLs have none of them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from warren.notify.templates import layouts, times
from warren.notify.templates.data import PARTITION_STATUS
from warren.notify.templates.encoding import encode
from warren.notify.templates.errors import Failure, Problem
from warren.notify.templates.methods import status_name
from warren.notify.templates.values import (
    INT,
    INT64,
    STRING,
    UINT64,
    Function,
    Integer,
    List,
    Parameter,
    Pointer,
    Struct,
    Table,
    Text,
    Value,
    Zone,
    map_of,
    pointed_at,
    pointer_to,
    slice_of,
    wrapped,
)

PARTITIONS = slice_of(pointer_to(PARTITION_STATUS))
_COUNTED = ("warn", "stop", "stall", "rewind", "unknown")


def helper_functions(zone: Zone) -> dict[str, Function]:
    """The helpers; times are shown in that zone."""
    return {
        "jsonencoder": Function((Parameter.ANY,), lambda given: Text(encode(given[0]))),
        "topicsbystatus": Function((PARTITIONS,), lambda given: _topics_by_status(given[0])),
        "partitioncounts": Function((PARTITIONS,), lambda given: _partition_counts(given[0])),
        "add": _calculating(lambda first, second: first + second),
        "minus": _calculating(lambda first, second: first - second),
        "multiply": _calculating(lambda first, second: first * second),
        "divide": _calculating(_divided),
        "maxlag": Function((pointer_to(PARTITION_STATUS),), lambda given: _max_lag(given[0])),
        "formattimestamp": Function((INT64, STRING), lambda given: _format_timestamp(given, zone)),
    }


def _calculating(calculate: Callable[[int, int], int]) -> Function:
    def run(given: Sequence[Value | None]) -> Value:
        first, second = given
        assert isinstance(first, Integer)  # the parameters say so
        assert isinstance(second, Integer)
        return wrapped(calculate(first.value, second.value))

    return Function((INT, INT), run)


def _divided(first: int, second: int) -> int:
    """Divided towards zero."""
    if second == 0:
        raise Failure(Problem.DATA, "division by zero")
    quotient = abs(first) // abs(second)
    return quotient if (first < 0) == (second < 0) else -quotient


def _partitions(value: Value | None) -> list[tuple[str, bytes]]:
    """Status and topic of each partition."""
    assert isinstance(value, List | None)  # the parameter says so
    found = [pointed_at(one) for one in value.items] if value else []
    return [(_status_of(one), _topic_of(one)) for one in found if isinstance(one, Struct)]


def _status_of(partition: Struct) -> str:
    status = field(partition, "Status")
    return status_name(status.value) if isinstance(status, Integer) else ""


def _topic_of(partition: Struct) -> bytes:
    topic = field(partition, "Topic")
    return topic.value if isinstance(topic, Text) else b""


def field(struct: Struct, name: str) -> Value:
    """A field that is there."""
    return struct.values[[one.name for one in struct.type.fields].index(name)]


def _topics_by_status(value: Value | None) -> Value:
    topics: dict[str, set[bytes]] = {}
    for status, topic in _partitions(value):
        topics.setdefault(status, set()).add(topic)
    lists: dict[bytes, Value] = {
        status.encode(): List(tuple(Text(topic) for topic in sorted(names)), slice_of(STRING))
        for status, names in topics.items()
    }
    return Table(lists, map_of(slice_of(STRING)))


def _partition_counts(value: Value | None) -> Value:
    counts = dict.fromkeys(_COUNTED, 0)
    for status, _ in _partitions(value):
        if status != "OK":
            counts[status.lower() if status.lower() in counts else "unknown"] += 1
    return Table({key.encode(): Integer(count) for key, count in counts.items()}, map_of(INT))


def _max_lag(value: Value | None) -> Value:
    partition = value.target if isinstance(value, Pointer) else None
    return field(partition, "CurrentLag") if isinstance(partition, Struct) else Integer(0, UINT64)


def _format_timestamp(given: Sequence[Value | None], zone: Zone) -> Value:
    milliseconds, pattern = given
    assert isinstance(milliseconds, Integer)  # the parameters say so
    assert isinstance(pattern, Text)
    nanos = wrapped(milliseconds.value * 1_000_000, INT64).value
    return Text(layouts.layout(times.at_ms(nanos // 1_000_000, zone), pattern.value))
