"""Real producers and consumers whose health is known, a process of its own.

    python -m tests.support.consumer_fleet --bootstrap HOST:PORT --prefix NAME --trouble-after SECONDS

Each topic is written in another pattern. Most groups keep up. Those of `TROUBLES` do until the given second, when a
line is printed. It ends with its standard input.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, NoReturn

from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from warren.embedded import lifeline

POLL_S = 0.05
REBALANCE_S = 7.0
BACK_BY = 500
"""A group that rewinds goes back by so many records."""

# -- producers -------------------------------------------------------------------------------------------------------

Pause = tuple[int, float]
"""So many records at once, and the seconds until the next ones."""


def pulse() -> Iterator[Pause]:
    while True:
        yield 5, 1.0


def steady() -> Iterator[Pause]:
    while True:
        yield 1, 0.05


def jittery() -> Iterator[Pause]:
    while True:
        for gap_s in (0.02, 0.31, 0.11, 0.74, 0.05, 0.23, 0.47, 0.16):
            yield 1, gap_s


def bursty() -> Iterator[Pause]:
    while True:
        for _ in range(20):
            yield 5, 0.1
        yield 0, 6.0


def fast() -> Iterator[Pause]:
    while True:
        yield 20, 0.04


def nearly_idle() -> Iterator[Pause]:
    while True:
        yield 1, 11.0


PATTERNS: dict[str, Callable[[], Iterator[Pause]]] = {
    "pulse": pulse, "steady": steady, "jittery": jittery, "bursty": bursty, "fast": fast, "idle": nearly_idle,
}  # fmt: skip
TRANSACTIONS = "transactions"
"""Written in transactions of five records, one a second: each leaves a marker in the log."""
SHARED = "shared"
"""Two partitions, written as `pulse`."""


def write(bootstrap: str, topic: str, pattern: Iterator[Pause], partitions: int = 1) -> NoReturn:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, "log_level": 0})
    due_s = time.monotonic()
    for records, pause_s in pattern:
        for number in range(records):
            producer.produce(topic, f"record {number}", partition=number % partitions)
        producer.flush()
        due_s += pause_s
        time.sleep(max(due_s - time.monotonic(), 0))
    raise AssertionError


def write_transactions(bootstrap: str, topic: str) -> NoReturn:
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic, "log_level": 0})
    producer.init_transactions()
    while True:
        producer.begin_transaction()
        for number in range(5):
            producer.produce(topic, f"record {number}", partition=0)
        producer.commit_transaction()
        time.sleep(1.0)


# -- consumers -------------------------------------------------------------------------------------------------------


class Reader(NamedTuple):
    """How a group reads its topic."""

    name: str
    commit_s: float
    behind: int = 0
    """So many records before the next one lies the offset that it commits."""
    is_automatic: bool = False
    trouble: str = ""


HEALTHY = (
    Reader("auto-1", 1.0, is_automatic=True),
    Reader("auto-5", 5.0, is_automatic=True),
    Reader("manual-1", 1.0),
    Reader("manual-6", 6.0),
)
"""A minute between commits is six seconds here."""
OFF_BY_ONE = Reader("off-by-one", 1.0, behind=1)
TROUBLES = ("slow", "stalled", "stopped", "rewound")


def group_of(prefix: str, topic: str, reader: str) -> str:
    """Return the name of the group that reads a topic in one way."""
    return f"{prefix}-{topic}-{reader}"


class Trouble:
    """Whether the time of trouble has come."""

    def __init__(self, after_s: float) -> None:
        self._at_s = time.monotonic() + after_s

    def has_begun(self) -> bool:
        return time.monotonic() >= self._at_s


class Member:
    """The only member of a group of one partition."""

    def __init__(self, bootstrap: str, prefix: str, topic: str, reader: Reader, trouble: Trouble) -> None:
        self._group, self._topic = group_of(prefix, topic, reader.name), f"{prefix}-{topic}"
        self._reader, self._trouble = reader, trouble
        self._settings = settings(bootstrap, self._group) | {
            "enable.auto.commit": reader.is_automatic,
            "auto.commit.interval.ms": int(reader.commit_s * 1000),
        }
        self._next: int | None = None
        """The offset after the last record that was read."""
        self._began_at: int | None = None
        """That, when the trouble began."""

    def run(self) -> None:
        consumer = Consumer(self._settings)
        consumer.subscribe([self._topic])
        due_s = time.monotonic() + self._reader.commit_s
        while not (self._reader.trouble == "stopped" and self._trouble.has_begun()):
            self._read(consumer.poll(POLL_S))
            if time.monotonic() >= due_s:
                due_s += self._reader.commit_s
                self._commit(consumer)
        consumer.close()

    def _read(self, message: Message | None) -> None:
        if message is not None and message.error() is None:
            offset = message.offset()
            assert offset is not None
            self._next = offset + 1

    def _commit(self, consumer: Consumer) -> None:
        if self._next is None or self._reader.is_automatic:
            return
        offset = self._offset(self._next)
        if offset >= 0:
            consumer.commit(offsets=[TopicPartition(self._topic, 0, offset)], asynchronous=False)

    def _offset(self, read_to: int) -> int:
        if not self._reader.trouble or not self._trouble.has_begun():
            return read_to - self._reader.behind
        self._began_at = self._began_at or read_to
        match self._reader.trouble:
            case "slow":
                return self._began_at + (read_to - self._began_at) // 2
            case "stalled":
                return self._began_at
            case _:
                return read_to - BACK_BY


def settings(bootstrap: str, group: str) -> dict[str, str | int | bool]:
    return {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "client.id": group,
        "auto.offset.reset": "earliest",
        "log_level": 0,
    }


def rebalance(bootstrap: str, prefix: str) -> NoReturn:
    """Read with one member all the time, and with another one that comes and goes."""
    group, topic = group_of(prefix, SHARED, "rebalanced"), f"{prefix}-{SHARED}"

    def member(until_s: float) -> None:
        consumer = Consumer(settings(bootstrap, group) | {"auto.commit.interval.ms": 1_000})
        consumer.subscribe([topic])
        while time.monotonic() < until_s:
            consumer.poll(POLL_S)
        consumer.close()

    threading.Thread(target=member, args=[float("inf")], daemon=True).start()
    while True:
        time.sleep(REBALANCE_S)
        member(time.monotonic() + REBALANCE_S)


# -- all of it -------------------------------------------------------------------------------------------------------


def run(bootstrap: str, prefix: str, trouble_after_s: float) -> NoReturn:
    topics = {**dict.fromkeys([*PATTERNS, TRANSACTIONS], 1), SHARED: 2}
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    made = admin.create_topics([NewTopic(f"{prefix}-{topic}", count, 1) for topic, count in topics.items()])
    for future in made.values():
        future.result(30)
    trouble = Trouble(trouble_after_s)
    for topic in [*PATTERNS, TRANSACTIONS]:
        for reader in (*HEALTHY, OFF_BY_ONE):
            begin(Member(bootstrap, prefix, topic, reader, trouble).run)
    for name in TROUBLES:
        begin(Member(bootstrap, prefix, "steady", Reader(name, 1.0, trouble=name), trouble).run)
    for topic, pattern in PATTERNS.items():
        begin(write, bootstrap, f"{prefix}-{topic}", pattern())
    begin(write, bootstrap, f"{prefix}-{SHARED}", pulse(), 2)
    begin(write_transactions, bootstrap, f"{prefix}-{TRANSACTIONS}")
    begin(rebalance, bootstrap, prefix)
    while not trouble.has_begun():
        time.sleep(POLL_S)
    print("trouble", flush=True)
    threading.Event().wait()
    raise AssertionError


def begin(work: Callable[..., object], *arguments: object) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()


if __name__ == "__main__":
    lifeline.watch_parent()
    parser = argparse.ArgumentParser()
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--trouble-after", type=float, required=True)
    given = parser.parse_args()
    run(given.bootstrap, given.prefix, given.trouble_after)
