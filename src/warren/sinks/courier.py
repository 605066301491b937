"""Takes what waits for one sink to it, in order, by Spark, and goes on trying while the receiver is away."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
import structlog

from warren.machine.backoff import Backoff
from warren.sinks.contract import Sent
from warren.sinks.spool import BrokenError, Spool, Waiting, read

log = structlog.get_logger()

PIECE_POINTS = 100_000
"""So many points go through Spark at once, which bounds its memory."""
LOOK_S = 1.0
TELL_AGAIN_S = 60.0
"""What has been told is not told again before."""
BACKOFF = Backoff(1.0, 30.0)

Write = Callable[[list[pa.Table]], Sent]
Explain = Callable[[BaseException], str]


class Turns:
    """How many sinks are written to at once: for each Spark has processes of its own, of some dozen megabytes.

    Those whose last attempt has failed have turns of their own, so that they keep no other one waiting.
    """

    def __init__(self) -> None:
        self._good = threading.Semaphore(4)
        self._failing = threading.Semaphore(2)

    def turn(self, *, is_failing: bool) -> threading.Semaphore:
        """To be held while points are written."""
        return self._failing if is_failing else self._good


@dataclass(frozen=True)
class SinkHealth:
    """How a sink is doing since the start; texts are without secrets."""

    sent_points: int = 0
    refused_points: int = 0
    dropped_points: int = 0
    """They had to make room, or could not be read again."""
    failed_attempts: int = 0
    is_failing: bool = False
    """Whether the last attempt has failed."""
    last_error: str = ""
    """Of the last attempt that has failed, or of the last points that were refused."""
    last_error_ms: int = 0
    last_sent_ms: int = 0
    waiting_moments: int = 0
    waiting_points: int = 0
    waiting_bytes: int = 0
    oldest_ms: int | None = None
    """The moment of the oldest points that wait."""


class Courier:
    """A thread for one sink."""

    def __init__(
        self,
        name: str,
        spool: Spool,
        write: Write,
        explain: Explain,
        now_ms: Callable[[], int],
        *,
        turns: Turns,
        is_in_order: bool = False,
    ) -> None:
        self.name = name
        self._turns = turns
        self._is_in_order = is_in_order
        self._spool = spool
        self._write = write
        self._explain = explain
        self._now_ms = now_ms
        self._health = SinkHealth()
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._stop_at_s: float | None = None
        self._told: tuple[str, float] = ("", 0.0)
        self._thread = threading.Thread(target=self._run, name=f"sink-{name}", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def add(self, table: pa.Table, at_ms: int) -> None:
        """Let points of a moment wait until somebody wakes the courier, which may be after some more."""
        try:
            if dropped := self._spool.add(table, at_ms):
                self._note(dropped_points=dropped)
                self._tell("the queue of a sink is full, the oldest points go", f"{dropped} points")
        except OSError as error:
            reason = f"points cannot be kept on disk: {error.strerror or error}"
            self._note(dropped_points=table.num_rows, last_error=reason)
            self._tell("points are lost", reason)

    def wake(self) -> None:
        """Send what waits, all that goes together at once."""
        self._woken.set()

    def tell_to_stop(self, limit_s: float) -> None:
        """Go on with what waits for so long, or until an attempt fails; the rest stays on disk."""
        self._stop_at_s = time.monotonic() + limit_s
        self._woken.set()

    def wait(self, limit_s: float) -> None:
        """Until it has stopped."""
        if self._thread.ident is not None:
            self._thread.join(limit_s)

    def health(self) -> SinkHealth:
        """Now."""
        waiting = self._spool.waiting()
        return replace(
            self._health,
            waiting_moments=len(waiting),
            waiting_points=sum(one.points for one in waiting),
            waiting_bytes=sum(one.size_bytes for one in waiting),
            oldest_ms=waiting[0].at_ms if waiting else None,
        )

    def _run(self) -> None:
        failures = 0
        while not self._is_over():
            batch = next_batch(self._spool.waiting(), is_in_order=self._is_in_order)
            if not batch:
                if self._stop_at_s is not None:
                    return
                self._woken.wait(LOOK_S)
                self._woken.clear()
            elif self._is_sent(batch):
                failures = 0
            else:
                failures += 1
                if self._stop_at_s is not None:
                    return
                self._rest(BACKOFF.wait_s(failures, random.random()))

    def _is_over(self) -> bool:
        return self._stop_at_s is not None and time.monotonic() >= self._stop_at_s

    def _rest(self, seconds: float) -> None:
        """Unless it is time to stop; new points are no reason to hurry."""
        end_s = time.monotonic() + seconds
        while self._stop_at_s is None and (left_s := end_s - time.monotonic()) > 0:
            self._woken.wait(left_s)
            self._woken.clear()

    def _is_sent(self, batch: list[Waiting]) -> bool:
        try:
            with self._turns.turn(is_failing=self._health.is_failing):
                for piece in pieces(list(self._tables(batch))):
                    self._count(self._write(piece))
        except Exception as error:  # whatever Spark or a receiver comes up with: the points are kept and sent later
            reason = self._explain(error)
            self._note(failed_attempts=1, last_error=reason)
            if self._stop_at_s is None:  # else Spark may have been stopped under it
                self._tell("points are not written, to be tried again", reason)
            return False
        self._spool.remove(batch)
        return True

    def _tables(self, batch: list[Waiting]) -> Iterator[pa.Table]:
        for one in batch:
            try:
                yield read(one)
            except FileNotFoundError:  # it had to make room meanwhile
                continue
            except BrokenError:
                self._spool.remove([one])
                self._note(dropped_points=one.points)
                log.error("points that waited cannot be read any more", sink=self.name, file=one.path.name)

    def _count(self, sent: Sent) -> None:
        error = sent.reason if sent.refused else ""
        self._note(sent_points=sent.points, refused_points=sent.refused, last_error=error)
        if sent.refused:
            self._tell("points are refused and lost", f"{sent.refused} points: {sent.reason}")

    def _note(
        self,
        *,
        sent_points: int = 0,
        refused_points: int = 0,
        dropped_points: int = 0,
        failed_attempts: int = 0,
        last_error: str = "",
    ) -> None:
        with self._lock:
            was = self._health
            is_attempt = bool(failed_attempts or sent_points or refused_points)
            self._health = replace(
                was,
                sent_points=was.sent_points + sent_points,
                refused_points=was.refused_points + refused_points,
                dropped_points=was.dropped_points + dropped_points,
                failed_attempts=was.failed_attempts + failed_attempts,
                is_failing=bool(failed_attempts) if is_attempt else was.is_failing,
                last_error=last_error or was.last_error,
                last_error_ms=self._now_ms() if last_error else was.last_error_ms,
                last_sent_ms=self._now_ms() if sent_points else was.last_sent_ms,
            )

    def _tell(self, what: str, reason: str) -> None:
        """Once in a while if it is the same again and again."""
        said, at_s = self._told
        if said == what and time.monotonic() - at_s < TELL_AGAIN_S:
            return
        self._told = (what, time.monotonic())
        log.warning(what, sink=self.name, reason=reason)


def next_batch(waiting: list[Waiting], *, is_in_order: bool = False) -> list[Waiting]:
    """As many of the oldest as go through Spark together, but at least one.

    Where samples must come in the order of time these are of one moment: if only some arrive and all are sent again, no
    receiver has had later ones meanwhile, and it knows the newest ones when it sees them.
    """
    batch: list[Waiting] = []
    points = 0
    for one in waiting:
        points += one.points
        if batch and (points > PIECE_POINTS or (is_in_order and one.at_ms != batch[0].at_ms)):
            break
        batch.append(one)
    return batch


def pieces(tables: list[pa.Table]) -> Iterator[list[pa.Table]]:
    """All of them together, cut to what goes through Spark at once."""
    piece: list[pa.Table] = []
    room = PIECE_POINTS
    for table in _joined(tables):
        rest = table
        while rest.num_rows:
            part, rest = rest.slice(0, room), rest.slice(room)
            piece.append(part)
            room -= part.num_rows
            if not room:
                yield piece
                piece, room = [], PIECE_POINTS
    if piece:
        yield piece


def _joined(tables: list[pa.Table]) -> Iterator[pa.Table]:
    """Those that have the same columns as one; an older version may have let points wait that have others."""
    alike: dict[tuple[str, ...], list[pa.Table]] = {}
    for one in tables:
        alike.setdefault(tuple(one.column_names), []).append(one)
    return (pa.concat_tables(some) for some in alike.values())
