"""The queue of a sink, the one who empties it, and when points are taken."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from tests.support.sink_rows import batch, partition_row
from tests.support.waiting import eventually, eventually_equal
from warren.machine.backoff import Backoff
from warren.sinks import courier
from warren.sinks.contract import Sent
from warren.sinks.courier import PIECE_POINTS, Courier, Turns, next_batch, pieces
from warren.sinks.line_protocol import lines_of
from warren.sinks.moments import moments_due, next_moment
from warren.sinks.points import POINTS
from warren.sinks.spool import BrokenError, Spool, Waiting, read

NOW_MS = 1_700_000_000_000
HANG_S = 120.0
"""How long a receiver hangs: much longer than a test waits for the others."""


def table(points: int = 3, mark: int = 0) -> pa.Table:
    rows = [partition_row(partition=number, offset=mark) for number in range(points)]
    return pa.Table.from_batches([batch(*rows)], POINTS)


def marks(found: pa.Table) -> set[int]:
    return set(found.column("offset").to_pylist())


# -- the queue -------------------------------------------------------------------------------------------------------


def test_what_waits_is_read_as_it_was(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 1_000_000)
    spool.add(table(), NOW_MS)

    [one] = spool.waiting()
    assert (one.at_ms, one.points) == (NOW_MS, 3)
    assert read(one).to_pylist() == table().to_pylist()


def test_what_waits_is_there_after_a_restart_in_its_order(tmp_path: Path) -> None:
    for mark in range(3):
        Spool(tmp_path, 1_000_000).add(table(mark=mark), NOW_MS + mark)

    assert [marks(read(one)) for one in Spool(tmp_path, 1_000_000).waiting()] == [{0}, {1}, {2}]


def test_a_file_that_cannot_be_had_for_now_is_not_taken_for_a_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path, 1_000_000)
    spool.add(table(), NOW_MS)

    def too_many_files(path: Path) -> bytes:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(Path, "read_bytes", too_many_files)
    with pytest.raises(OSError, match="Too many open files"):
        read(spool.waiting()[0])


def test_what_cannot_be_written_takes_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_full(path: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "rename", is_full)
    with pytest.raises(OSError, match="No space"):
        Spool(tmp_path, 1_000_000).add(table(), NOW_MS)

    assert not list(tmp_path.iterdir())


def test_a_file_that_was_not_finished_is_none(tmp_path: Path) -> None:
    (tmp_path / f"{NOW_MS}-000001-3.unfinished").write_bytes(b"half")
    (tmp_path / "of somebody else").write_bytes(b"")

    assert Spool(tmp_path, 1_000_000).waiting() == []
    assert [path.name for path in tmp_path.iterdir()] == ["of somebody else"]


def test_when_it_is_full_the_oldest_go(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 1_000_000)
    spool.add(table(mark=0), NOW_MS)
    size_bytes = spool.waiting()[0].size_bytes
    spool = Spool(tmp_path, int(2.5 * size_bytes))
    dropped = [spool.add(table(mark=mark), NOW_MS + mark) for mark in (1, 2, 3)]

    assert dropped == [0, 3, 3]
    assert [marks(read(one)) for one in spool.waiting()] == [{2}, {3}]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 1_000_000)
    spool.add(table(), NOW_MS)
    [one] = spool.waiting()
    for content in (b"", b"nonsense", one.path.read_bytes()[:-200]):
        one.path.write_bytes(content)
        with pytest.raises(BrokenError):
            read(one)


def test_a_file_that_had_to_go_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(Waiting(0, 1, 1, 1, tmp_path / "gone.arrow"))


# -- the one who empties it ------------------------------------------------------------------------------------------


class Receiver:
    """Takes points, or fails as often as it is told to."""

    def __init__(self) -> None:
        self.failures = 0
        self.taken: list[int] = []
        self.refuses = 0

    def __call__(self, tables: list[pa.Table]) -> Sent:
        if self.failures:
            self.failures -= 1
            raise ConnectionError
        self.taken += [one for points in tables for one in points.column("offset").to_pylist()]
        return Sent(
            sum(points.num_rows for points in tables) - self.refuses, self.refuses, "too old" if self.refuses else ""
        )


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courier, "BACKOFF", Backoff(0.01, 0.05))


Make = Callable[[], Courier]


@pytest.fixture
def make(tmp_path: Path, receiver: Receiver) -> Make:
    def made() -> Courier:
        return Courier(
            "test", Spool(tmp_path, 1_000_000), receiver, lambda _: "it is away", lambda: NOW_MS, turns=Turns()
        )

    return made


def stop(one: Courier) -> None:
    one.tell_to_stop(60)
    one.wait(60)


def test_points_arrive_in_order_and_wait_no_longer(make: Make, receiver: Receiver) -> None:
    one = make()
    one.start()
    for mark in range(5):
        one.add(table(1, mark), NOW_MS + mark)
    one.wake()
    eventually_equal(lambda: receiver.taken, [0, 1, 2, 3, 4])
    stop(one)

    health = one.health()
    assert (health.sent_points, health.waiting_points, health.is_failing) == (5, 0, False)
    assert health.oldest_ms is None


@pytest.mark.usefixtures("quick")
def test_a_receiver_that_is_away_is_tried_until_it_is_back(make: Make, receiver: Receiver) -> None:
    receiver.failures = 4
    one = make()
    one.start()
    for mark in range(3):
        one.add(table(1, mark), NOW_MS + mark)
    eventually_equal(lambda: receiver.taken, [0, 1, 2])
    stop(one)

    health = one.health()
    assert (health.failed_attempts, health.last_error, health.is_failing) == (4, "it is away", False)
    assert health.dropped_points == 0


def test_what_could_not_be_sent_before_the_end_is_sent_after_the_next_start(make: Make, receiver: Receiver) -> None:
    receiver.failures = 1_000
    one = make()
    one.add(table(1, 7), NOW_MS)
    one.start()
    eventually(lambda: one.health().is_failing)
    stop(one)
    assert one.health().waiting_points == 1

    receiver.failures = 0
    another = make()
    another.start()
    eventually_equal(lambda: receiver.taken, [7])
    stop(another)


def test_receivers_that_hang_do_not_keep_good_ones_waiting(tmp_path: Path, receiver: Receiver) -> None:
    released, turns = threading.Event(), Turns()

    def hang(_: list[pa.Table]) -> Sent:
        released.wait(HANG_S)
        raise TimeoutError

    def made(name: str, write: Callable[[list[pa.Table]], Sent]) -> Courier:
        return Courier(name, Spool(tmp_path / name, 1_000_000), write, str, lambda: NOW_MS, turns=turns)

    hanging = [made(f"bad-{number}", hang) for number in range(3)]
    good = made("good", receiver)
    for one in (*hanging, good):
        one.add(table(1), NOW_MS)
        one.start()
    eventually_equal(lambda: receiver.taken, [0], HANG_S / 2)
    released.set()
    for one in (*hanging, good):
        stop(one)


class LongBackoff:
    """A wait before the next attempt that outlasts any test."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()

    def wait_s(self, attempt: int, chance: float) -> float:
        self.has_begun.set()
        return 3_600.0


def test_it_ends_also_while_it_waits_for_the_next_attempt(
    make: Make, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    backoff = LongBackoff()
    monkeypatch.setattr(courier, "BACKOFF", backoff)
    receiver.failures = 1_000
    one = make()
    one.add(table(1), NOW_MS)
    one.start()
    assert backoff.has_begun.wait(60)
    stop(one)

    assert not one._thread.is_alive()
    assert one.health().waiting_points == 1


def test_refused_points_are_counted_and_do_not_come_again(make: Make, receiver: Receiver) -> None:
    receiver.refuses = 1
    one = make()
    one.start()
    one.add(table(3), NOW_MS)
    eventually_equal(lambda: one.health().refused_points, 1)
    stop(one)

    health = one.health()
    assert (health.sent_points, health.waiting_points, health.last_error) == (2, 0, "too old")


def test_a_damaged_file_is_counted_and_the_next_one_goes_on(make: Make, receiver: Receiver, tmp_path: Path) -> None:
    one = make()
    one.add(table(2, 1), NOW_MS)
    [path] = tmp_path.iterdir()
    path.write_bytes(b"broken")
    one.add(table(1, 2), NOW_MS + 1)
    one.start()
    eventually_equal(lambda: receiver.taken, [2])
    stop(one)

    assert one.health().dropped_points == 2
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_costs_points_and_is_told(make: Make, tmp_path: Path) -> None:
    one = make()
    tmp_path.rename(tmp_path.with_name("elsewhere"))
    tmp_path.write_text("no directory can be made here")
    one.add(table(3), NOW_MS)

    health = one.health()
    assert health.dropped_points == 3
    assert "cannot be kept on disk" in health.last_error


def waiting(*points: int) -> list[Waiting]:
    return [Waiting(at, at, count, 1, Path(str(at))) for at, count in enumerate(points)]


def test_as_many_go_together_as_spark_takes_at_once() -> None:
    half = PIECE_POINTS // 2

    assert len(next_batch(waiting(half, half, half))) == 2
    assert len(next_batch(waiting(3 * PIECE_POINTS, 1))) == 1
    assert next_batch([]) == []


def test_where_the_order_of_time_matters_only_points_of_one_moment_go_together(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 1_000_000)
    for mark, at_ms in enumerate((NOW_MS, NOW_MS, NOW_MS + 10_000)):
        spool.add(table(mark=mark), at_ms)

    assert [one.at_ms for one in next_batch(spool.waiting(), is_in_order=True)] == [NOW_MS, NOW_MS]
    assert len(next_batch(spool.waiting())) == 3


def test_what_is_too_much_for_spark_is_cut() -> None:
    many = pa.table({"offset": range(2 * PIECE_POINTS + 5)})

    assert [[one.num_rows for one in piece] for piece in pieces([many])] == [[PIECE_POINTS], [PIECE_POINTS], [5]]
    assert list(pieces([])) == []


def test_tables_with_the_same_columns_are_one_in_the_order_of_time() -> None:
    some = [pa.table({"offset": [at]}) if at % 2 else pa.table({"ready": [at]}) for at in range(4)]
    [piece] = pieces(some)

    assert [one.to_pydict() for one in piece] == [{"ready": [0, 2]}, {"offset": [1, 3]}]


def test_the_last_of_one_kind_and_the_first_of_another_go_together() -> None:
    many, few = pa.table({"offset": range(PIECE_POINTS + 2)}), pa.table({"ready": range(3)})

    assert [[one.num_rows for one in piece] for piece in pieces([many, few])] == [[PIECE_POINTS], [2, 3]]


def test_points_that_waited_from_before_are_sent_with_the_columns_that_they_had(
    make: Make, receiver: Receiver, tmp_path: Path
) -> None:
    before = table(2, 7).drop_columns(["lag_seconds", "reason"])
    Spool(tmp_path, 1_000_000).add(before, NOW_MS)
    one = make()
    one.add(table(1, 8), NOW_MS + 1)
    one.start()
    eventually_equal(lambda: receiver.taken, [7, 7, 8])
    stop(one)

    assert one.health().dropped_points == 0
    assert [line.count(",reason=") for line in lines_of(before).to_pylist()] == [0, 0]


# -- moments ---------------------------------------------------------------------------------------------------------


def test_moments_are_whole_multiples() -> None:
    assert moments_due(10_001, 20_000, 10_000) == [20_000]
    assert moments_due(10_001, 19_999, 10_000) == []
    assert moments_due(20_000, 29_000, 10_000) == []
    assert next_moment(20_000, 10_000) == 30_000
    assert next_moment(19_999, 10_000) == 20_000


def test_a_few_missed_moments_are_made_up_for() -> None:
    assert moments_due(10_000, 30_500, 10_000) == [20_000, 30_000]


def test_a_machine_that_slept_does_not_make_up_for_all_of_it() -> None:
    assert moments_due(0, 3_600_000, 10_000) == [3_580_000, 3_590_000, 3_600_000]
