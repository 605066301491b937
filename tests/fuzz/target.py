"""What must hold for any bytes in the offsets topic: they become rows, or they are counted, and nothing fails.

An input is a recipe: it is cut into a few records, most of them sound ones that were damaged a little, for bytes drawn
at random do not come far. `run` takes the records all the way that Warren takes them, and looks at each step.
"""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tests.fuzz.samples import NOW_MS, ORDERS_ID, sound_values
from tests.support.scenario import head_table
from warren.clusters.snapshots import Header
from warren.clusters.state import ClusterState
from warren.codec.commits import decode_offset_commit
from warren.codec.group_records import check_group_version, decode_group_record, not_decoded
from warren.codec.groups import GroupMetadata, assigned_partitions
from warren.codec.keys import GroupRecordType, GroupWideKey, MemberKey, OffsetKey, OtherKey, RegexKey, decode_key
from warren.codec.primitives import Writer
from warren.errors import DecodeError
from warren.groups.records import VIEWED
from warren.rules.listing import Selection, SortKey
from warren.rules.rule import Settings
from warren.sources.folding import CURRENT, LEGACY, NEWEST_RECORDS, BatchProgress, Folder, FoldSettings
from warren.sources.reading import Records
from warren.windows.rows import CommitBatch, commit_batch
from warren.windows.store import Limits

MOST_RECORDS = 8
LONGEST_INPUT = 4_096
LONGEST_S = 1.0

NO_KEY, ANY_KEY = 24, 25
SOURCE_PARTITION = 7
NAMES = ("g", "", "g\0", "orders", "later", "m", "é" * 40, "x" * 300)
PARTITIONS = (0, 1, 2, 3, 999, 20_000, 2**31 - 1, -1)
LENGTHS = (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\0\x01\x86\xa0")
EDGES = (b"\x7f" + b"\xff" * 7, b"\x80" + bytes(7), b"\xff" * 8, bytes(8))
"""The greatest int64, the least, -1 and 0."""
VALUES = sound_values()
SORT_KEYS = list(SortKey)
GONE = -1

Record = tuple[bytes | None, bytes | None]


class Recipe:
    """Reads an input; behind its end there are only zeros."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def number(self) -> int:
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]


def records_of(data: bytes) -> list[Record]:
    """The records that an input stands for."""
    recipe, records = Recipe(data), []
    while recipe and len(records) < MOST_RECORDS:
        kind = recipe.number() % 26
        records.append((_key(recipe, kind), _value(recipe, kind)))
    return records


def recipe_of(kind: int) -> bytes:
    """An input that stands for the most telling sound record of a type, of group and topic or member alike."""
    sound = VALUES.get(kind, [b""])
    whole = next(choice for choice in range(64, 240) if choice % len(sound) == 0)
    topic = NAMES.index("orders" if kind < 2 else "m")
    return bytes([kind, topic << 3, 0, whole, 0])


def _key(recipe: Recipe, kind: int) -> bytes | None:
    if kind == NO_KEY:
        return None
    if kind == ANY_KEY:
        return recipe.take(recipe.number())
    names, place = recipe.number(), recipe.number()
    writer = Writer()
    writer.int16(kind)
    writer.string(NAMES[names & 7])
    writer.string(NAMES[names >> 3 & 7])
    writer.int32(PARTITIONS[place & 7])
    return _damaged(recipe, writer.done(), 1) if place & 0x80 else writer.done()


def _value(recipe: Recipe, kind: int) -> bytes | None:
    choice = recipe.number()
    if choice < 4:
        return (None, b"", b"\0", b"\0\0")[choice]
    if choice < 24:
        return recipe.take(recipe.number() * 4)
    if choice < 64:
        return b"\0" + bytes([choice % 5]) + recipe.take(recipe.number() * 4)
    sound = VALUES.get(choice % 24 if choice >= 240 else kind, [b"\0\0"])
    return _damaged(recipe, sound[choice % len(sound)], recipe.number() % 4)


def _damaged(recipe: Recipe, sound: bytes, times: int) -> bytes:
    data = bytearray(sound)
    for _ in range(times):
        how, at = recipe.number(), recipe.number() % (len(data) + 1)
        match how % 7:
            case 0:
                data[at : at + 1] = recipe.take(1)
            case 1:
                del data[at:]
            case 2:
                data += recipe.take(recipe.number())
            case 3:
                data[at : at + 4] = LENGTHS[recipe.number() % len(LENGTHS)]
            case 4:
                data[at : at + 8] = EDGES[recipe.number() % len(EDGES)]
            case 5:
                data[at:at] = recipe.take(recipe.number())
            case _:
                data[at:] = data[at:] * (1 + recipe.number() % 8)
    return bytes(data)


def run(data: bytes) -> None:
    """Fail if anything is lost, raised, or takes too much."""
    took_s = _check(data)
    if took_s >= LONGEST_S and len(data) <= LONGEST_INPUT:
        # Slow input is slow every time; collecting the garbage of earlier tests is not.
        took_s = _check(data)
        assert took_s < LONGEST_S, f"{took_s:.1f} s"


def _check(data: bytes) -> float:
    """Fail if anything is lost or raised; return the seconds of CPU time that it took."""
    began_s = time.thread_time()
    records = records_of(data)
    tables = [_told(at, part) for at, part in enumerate((records[:4], records[4:])) if part]
    if any(table.num_rows for table in tables):
        _check_state(tables, SORT_KEYS[len(data) % len(SORT_KEYS)])
    return time.thread_time() - began_s


def _told(number: int, records: list[Record]) -> pa.Table:
    """The rows of a batch; none if nothing in it could be decoded, for then there is nothing more to see."""
    table = _batch(number, records)
    batch = commit_batch(table, {})
    _check_batch(records, batch)
    return table if len(batch.commits.offset) or batch.group_records else table.slice(0, 0)


def _check_state(tables: list[pa.Table], sort: SortKey) -> None:
    state = new_state()
    for at, table in enumerate(tables):
        state.apply_commit_rows("c", table, now_ms=NOW_MS + at * 1000)
    state.apply_head_rows(HEADS[-1], now_ms=NOW_MS + 5_000)
    shown = _shown(state)
    _look_at_the_rest(state, sort)
    other, memory = empty_state(), Memory(state.header(NOW_MS))
    state.save(memory)  # type: ignore[arg-type]  # as much of a file as it needs
    other.restore(memory)  # type: ignore[arg-type]
    assert _shown(other) == shown, "a snapshot tells another story"


def _heads(observed_ms: int, **more: list[int]) -> pa.Table:
    ends = {"__consumer_offsets": [1] * 8, "orders": [100, 50], "": [3], **more}
    topic_id = urlsafe_b64encode(ORDERS_ID).decode().rstrip("=")
    return head_table(ends, observed_ms, orders=topic_id)


HEADS = (_heads(NOW_MS - 30_000), _heads(NOW_MS), _heads(NOW_MS + 5_000, later=[7] * 6))


def new_state() -> ClusterState:
    """A small cluster with a few topics."""
    state = empty_state()
    for table in HEADS[:2]:
        state.apply_head_rows(table, now_ms=NOW_MS)
    return state


def empty_state() -> ClusterState:
    return ClusterState("fuzz", Limits(intervals=3), Settings(), {"c": "__consumer_offsets"})


def _batch(number: int, records: list[Record]) -> pa.Table:
    """A micro-batch as a worker makes it."""
    first, folder = number * MOST_RECORDS, Folder(FoldSettings(3, 0))
    offsets = np.arange(first, first + len(records))
    keys, values = [key for key, _ in records], [value for _, value in records]
    folder.add(Records(np.full(len(records), SOURCE_PARTITION), offsets, keys, values, NOW_MS))
    return pa.Table.from_batches(folder.rows(BatchProgress({SOURCE_PARTITION: first + len(records)}, {})))


class Expected(NamedTuple):
    """What must become of records, as the decoders say that take them one at a time."""

    skipped: Counter[str]
    newest: dict[bytes, bytes]
    """By key the last value that is sound: tombstones are b""."""


def expected_of(records: list[Record]) -> Expected:
    expected = Expected(Counter(), {})
    of_groups: defaultdict[bytes, deque[bytes | None]] = defaultdict(lambda: deque(maxlen=NEWEST_RECORDS))
    for key, value in records:
        try:
            match decode_key(key):
                case OffsetKey():
                    if value:
                        decode_offset_commit(value)
                    expected.newest[CURRENT + (key or b"")[len(LEGACY) :]] = value or b""
                case OtherKey(number):
                    raise not_decoded(number)
                case GroupWideKey(kind) | MemberKey(kind) | RegexKey(kind):
                    if value:
                        check_group_version(kind, value)
                    of_groups[key or b""].append(value)
        except DecodeError as error:
            expected.skipped[error.kind] += 1
    for group_key, values in of_groups.items():
        _expect_newest(expected, group_key, values)
    return expected


def _expect_newest(expected: Expected, key: bytes, values: deque[bytes | None]) -> None:
    """Of what is said about a group the newest sound value counts; the unsound ones after it are counted."""
    for value in reversed(values):
        try:
            expected.skipped["member assignment"] += check_group_record(key, value)
        except DecodeError as error:
            expected.skipped[error.kind] += 1
        else:
            expected.newest[key] = value or b""
            return


def check_group_record(key: bytes, value: bytes | None) -> int:
    """How many members have an assignment that cannot be read."""
    decoded = decode_group_record(key, value).value
    assert all(len(one) <= len(value or b"") for one in _lists(decoded)), "more items than bytes"
    return assigned_partitions(decoded).malformed_members if isinstance(decoded, GroupMetadata) else 0


def _lists(value: object) -> Iterator[list[object]]:
    if isinstance(value, list):
        yield value
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _lists(one)


def _check_batch(records: list[Record], batch: CommitBatch) -> None:
    """Every record is told, replaced by a newer one of its key, or counted."""
    expected = expected_of(records)
    assert batch.skipped == +expected.skipped
    commits = batch.commits
    offsets = np.where(commits.tombstone, GONE, commits.offset).tolist()
    places = [commits.pairs[pair] for pair in commits.pair.tolist()]
    told = {(*pair, at, offset) for pair, at, offset in zip(places, commits.partition.tolist(), offsets, strict=True)}
    group_records = {one.key: one.value or b"" for one in batch.group_records}
    for key, value in expected.newest.items():
        decoded = decode_key(key)
        if isinstance(decoded, OffsetKey):
            assert (*decoded, decode_offset_commit(value).offset if value else GONE) in told
        elif GroupRecordType(key[1]) in VIEWED:
            assert group_records[key] == value


def _shown(state: ClusterState) -> list[object]:
    """Groups, members and windows."""
    names = sorted({*state.groups(), *state.groups_without_offsets()})
    shown: list[object] = [names, state.groups_by_type()]
    for name in names:
        shown += [state.group_view(name), state.group_brief(name)]
        for rule_set in ("burrow", "warren"):
            verdict = state.judge(name, now_ms=NOW_MS + 60_000, rule_set=rule_set)
            partitions = verdict.partitions if verdict else []
            shown.append([(one.topic, one.partition, one.owner, one.entries) for one in partitions])
    return shown


def _look_at_the_rest(state: ClusterState, sort: SortKey) -> None:
    """What is worked out anew each time; nothing in it may fail."""
    now_ms = NOW_MS + 60_000
    state.list_groups(Selection(sort=sort), now_ms=now_ms)
    state.evaluate(now_ms=now_ms)
    for topic in state.topics():
        state.readers_of(topic, now_ms=now_ms)


class Memory:
    """A snapshot file that is none: streams of Arrow, written and read in the same order."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self._streams: list[pa.Buffer] = []

    def write(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, schema) as stream:
            for batch in batches:
                stream.write_batch(batch)
        self._streams.append(sink.getvalue())

    def batches(self) -> Iterator[pa.RecordBatch]:
        yield from pa.ipc.open_stream(self._streams.pop(0))

    def table(self) -> pa.Table:
        return pa.ipc.open_stream(self._streams.pop(0)).read_all()
