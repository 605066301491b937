"""Delivery: what is sent together, how often, and what is written down about it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.support.receivers.samples import CLOSED, MAKERS, OPENED, OTHER, REMINDER, REPORT, SECRETS
from tests.support.receivers.web_server import Reply, wait_for, web_server
from tests.support.waiting import eventually_equal
from warren.notify.batches import GROUP_BY, Grouping
from warren.notify.database import Database
from warren.notify.delivery import Courier, Delivery, Notifier
from warren.notify.events import Event
from warren.notify.outbox import Outbox
from warren.notify.pace import Pace, TokenBucket
from warren.notify.receivers.contract import DELIVERED, Outcome, Receiver, permanent, retry
from warren.webclient.client import DEFAULTS

START_MS = 1_000_000
EACH = Grouping()
FAST = Pace(per_minute=1e9, burst=1_000_000)


class Scripted(Receiver[list[Event]]):
    """Answers as it is told, and remembers."""

    def __init__(self, *outcomes: Outcome | Exception, most_events: int = 10) -> None:
        self.outcomes = list(outcomes) or [DELIVERED]
        self.most_events = most_events
        self.got: list[tuple[str, list[str]]] = []
        self.is_closed = False

    def build(self, events: Sequence[Event], *, now_ms: int) -> list[Event]:
        return list(events)

    def send(self, message: list[Event], key: str) -> Outcome:
        self.got.append((key, [event.key for event in message]))
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def close(self) -> None:
        self.is_closed = True

    @property
    def keys(self) -> list[list[str]]:
        return [keys for _, keys in self.got]


class World:
    """An outbox, a courier, and a clock that a test moves."""

    def __init__(self, outbox: Outbox, receiver: Scripted, grouping: Grouping, pace: Pace) -> None:
        self.outbox = outbox
        self.receiver = receiver
        self.now_ms = START_MS
        notifier = Notifier(receiver, grouping, pace)
        self.courier = Courier("chat", notifier, outbox, lambda: self.now_ms, lambda: 0.5)

    def put(self, *events: Event) -> None:
        for event in events:
            self.outbox.put("chat", event, self.now_ms)

    def run(self, seconds: float = 0.0, tick_s: float = 0.0) -> None:
        """Do everything that there is to do until then; it is looked for at least every `tick_s`."""
        end_ms = self.now_ms + int(seconds * 1000)
        while True:
            wait_s = self.courier.step()
            if wait_s:
                if self.now_ms >= end_ms:
                    return
                self.now_ms = min(self.now_ms + max(int(max(wait_s, tick_s) * 1000), 1), end_ms)

    def state(self, event: Event) -> str:
        found = self.outbox._database.read("SELECT state FROM outbox WHERE key = ?", (event.key,))
        return str(found[0][0])


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    database = Database(tmp_path / "warren.db")
    yield Outbox(database)
    database.close()


@pytest.fixture
def world(outbox: Outbox) -> World:
    return make_world(outbox)


def make_world(
    outbox: Outbox, *outcomes: Outcome | Exception, grouping: Grouping = EACH, pace: Pace = FAST, most: int = 10
) -> World:
    return World(outbox, Scripted(*outcomes, most_events=most), grouping, pace)


# -- one after another -------------------------------------------------------------------------------------------


def test_an_event_that_the_receiver_took_is_sent(world: World) -> None:
    world.put(OPENED)
    world.run()

    assert world.receiver.keys == [[OPENED.key]]
    assert world.state(OPENED) == "sent"


def test_an_event_is_not_sent_twice(world: World) -> None:
    world.put(OPENED)
    world.run()
    world.put(OPENED)
    world.run(3600)

    assert world.receiver.keys == [[OPENED.key]]


def test_a_failure_is_not_counted_as_sent_and_is_tried_again(outbox: Outbox) -> None:
    world = make_world(outbox, retry("busy"), DELIVERED)
    world.put(OPENED)
    world.run()
    assert (world.state(OPENED), outbox.results("chat").sent) == ("waiting", 0)

    world.run(1)
    assert (world.state(OPENED), outbox.results("chat").sent, len(world.receiver.got)) == ("sent", 1, 2)


def test_the_same_message_has_the_same_key_each_time(outbox: Outbox) -> None:
    world = make_world(outbox, retry("busy"), retry("busy"), DELIVERED)
    world.put(OPENED)
    world.run(10)
    world.put(OTHER)
    world.run()

    first, second, third, other = (key for key, _ in world.receiver.got)
    assert first == second == third != other


def test_an_event_that_was_refused_for_good_is_not_tried_again(outbox: Outbox) -> None:
    world = make_world(outbox, permanent("no such channel"))
    world.put(OPENED)
    with capture_logs() as logs:
        world.run(3600)

    assert (world.state(OPENED), len(world.receiver.got)) == ("failed", 1)
    assert [(one["log_level"], one["reason"]) for one in logs] == [("error", "no such channel")]


def test_an_event_that_is_refused_does_not_keep_others_from_being_sent(outbox: Outbox) -> None:
    world = make_world(outbox, permanent("no"), DELIVERED)
    world.put(OPENED, OTHER)
    world.run()

    assert (world.state(OPENED), world.state(OTHER)) == ("failed", "sent")


def test_the_end_of_an_incident_never_overtakes_its_beginning(outbox: Outbox) -> None:
    world = make_world(outbox, retry("busy"), DELIVERED)
    world.put(OPENED, OTHER, CLOSED)
    world.run(10)

    assert world.receiver.keys == [[OPENED.key], [OTHER.key], [OPENED.key], [CLOSED.key]]


def test_a_mistake_of_ours_loses_no_event_and_tells_no_secret(outbox: Outbox) -> None:
    world = make_world(outbox, RuntimeError("https://hooks.example/secret"), DELIVERED)
    world.put(OPENED)
    with capture_logs() as logs:
        world.run(2)

    assert world.state(OPENED) == "sent"
    assert [one["reason"] for one in logs] == ["Warren itself failed (RuntimeError)"]


def test_after_a_crash_in_the_middle_of_sending_the_same_message_is_sent_again(outbox: Outbox) -> None:
    grouping = Grouping(lambda event: event.cluster)
    before = make_world(outbox, grouping=grouping)
    before.put(OPENED, OTHER)
    outbox.take(outbox.due("chat", START_MS, 10), "message-1")  # and then it ended: nothing more was written down

    after = make_world(outbox, grouping=grouping)
    after.put(REPORT)
    after.run()
    assert after.receiver.got[0] == ("message-1", [OPENED.key, OTHER.key])
    assert after.receiver.keys[1:] == [[REPORT.key]]


# -- time --------------------------------------------------------------------------------------------------------


def test_waits_double_from_a_second_to_five_minutes() -> None:
    waits = [Pace().backoff.wait_s(attempt, 0.5) for attempt in range(1, 12)]

    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


def test_waits_are_spread_by_a_quarter() -> None:
    wait_s = Pace().backoff.wait_s

    assert (wait_s(1, 0.0), wait_s(1, 1.0), wait_s(5000, 1.0)) == (0.75, 1.25, 375)


def test_attempts_are_made_at_growing_intervals(outbox: Outbox) -> None:
    world = make_world(outbox, retry("busy"))
    world.put(OPENED)
    world.run(14)

    assert len(world.receiver.got) == 4  # after 0, 1, 3 and 7 s; the next one is due after 15 s


def test_the_wish_of_the_receiver_wins(outbox: Outbox) -> None:
    world = make_world(outbox, retry("slow down", after_s=100), DELIVERED)
    world.put(OPENED)
    world.run(99)
    assert len(world.receiver.got) == 1

    world.run(2)
    assert len(world.receiver.got) == 2


def test_a_receiver_that_asks_for_peace_gets_no_other_message_either(outbox: Outbox) -> None:
    world = make_world(outbox, retry("slow down", after_s=100), DELIVERED)
    world.put(OPENED, OTHER)
    world.run(99)

    assert world.receiver.keys == [[OPENED.key]]


def test_a_clock_that_goes_back_does_not_prolong_the_peace(outbox: Outbox) -> None:
    world = make_world(outbox, retry("slow down", after_s=100), DELIVERED)
    world.put(OPENED)
    world.run()
    world.now_ms -= 86_400_000
    world.outbox.put("chat", OTHER, world.now_ms)
    world.run()

    assert world.receiver.keys == [[OPENED.key], [OTHER.key]]


def test_attempts_end_after_a_day(outbox: Outbox) -> None:
    world = make_world(outbox, retry("busy"))
    world.put(OPENED)
    with capture_logs() as logs:
        world.run(86_399, tick_s=100)
        assert world.state(OPENED) == "waiting"
        world.run(301, tick_s=100)

    assert world.state(OPENED) == "failed"
    assert logs[-1]["log_level"] == "error"
    assert logs[-1]["reason"].startswith("given up after ")
    assert world.now_ms - START_MS >= 86_400_000


def test_a_notifier_may_give_up_earlier(outbox: Outbox) -> None:
    world = make_world(outbox, retry("busy"), pace=FAST._replace(give_up_after_s=5))
    world.put(OPENED)
    world.run(10)

    assert (world.state(OPENED), len(world.receiver.got)) == ("failed", 4)  # after 0, 1, 3 and, for the last time, 5 s


def test_the_first_attempt_is_made_however_late_it_is(world: World) -> None:
    world.put(OPENED)
    world.now_ms += 10 * 86_400_000
    world.run()

    assert world.state(OPENED) == "sent"


def test_messages_are_held_back_when_there_are_too_many(outbox: Outbox) -> None:
    world = make_world(outbox, pace=Pace(per_minute=60, burst=3))
    world.put(*(OPENED._replace(key=str(number), incident=str(number)) for number in range(10)))
    world.run()
    assert len(world.receiver.got) == 3

    world.run(4)
    assert len(world.receiver.got) == 7


def test_a_clock_that_goes_back_gives_no_messages_away() -> None:
    bucket = TokenBucket(Pace(per_minute=60, burst=1))
    bucket.spend(100_000)

    assert bucket.wait_s(50_000) == 1
    assert bucket.wait_s(51_000) == 0


# -- together ----------------------------------------------------------------------------------------------------

BY_CLUSTER = Grouping(lambda event: event.cluster, wait_s=5)


def test_events_of_one_value_within_the_wait_become_one_message(outbox: Outbox) -> None:
    world = make_world(outbox, grouping=BY_CLUSTER)
    world.put(OPENED)
    world.run(3)
    world.put(OTHER)
    world.run(1.9)
    assert world.receiver.got == []

    world.run(0.2)
    assert world.receiver.keys == [[OPENED.key, OTHER.key]]


def test_events_of_other_values_are_another_message(outbox: Outbox) -> None:
    world = make_world(outbox, grouping=BY_CLUSTER)
    world.put(OPENED, OTHER._replace(cluster="test"))
    world.run(6)

    assert world.receiver.keys == [[OPENED.key], [OTHER.key]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("", "b7c1-opened-1"),
        ("incident", "b7c1"),
        ("cluster", "prod"),
        ("group", "prod/payments_v2"),
        ("topic", "prod/orders"),
        ("owner", "10.0.0.7"),
    ],
)
def test_events_are_told_together_by_what_they_have_in_common(name: str, value: str) -> None:
    assert GROUP_BY[name](OPENED) == value


def test_reports_have_no_incident_in_common() -> None:
    assert GROUP_BY["incident"](REPORT) == REPORT.key


def test_a_message_that_is_full_goes_at_once(outbox: Outbox) -> None:
    world = make_world(outbox, grouping=BY_CLUSTER, most=2)
    world.put(OPENED, OTHER, REPORT)
    world.run()

    assert world.receiver.keys == [[OPENED.key, OTHER.key]]


def test_without_a_value_each_event_is_a_message(world: World) -> None:
    world.put(OPENED, OTHER)
    world.run()

    assert world.receiver.keys == [[OPENED.key], [OTHER.key]]


def test_what_failed_together_is_tried_again_together_without_others(outbox: Outbox) -> None:
    world = make_world(outbox, retry("busy"), DELIVERED, grouping=BY_CLUSTER._replace(wait_s=0))
    world.put(OPENED, OTHER)
    world.run()
    world.put(REPORT)
    world.run(3)

    assert world.receiver.keys == [[OPENED.key, OTHER.key], [REPORT.key], [OPENED.key, OTHER.key]]


def test_no_event_overtakes_one_of_its_incident_that_waits_for_others(outbox: Outbox) -> None:
    grouping = Grouping(lambda event: "quick" if event.turn is REMINDER.turn else "slow", wait_s=5)
    world = make_world(outbox, grouping=grouping)
    world.outbox.put("chat", OPENED, START_MS)
    world.outbox.put("chat", REMINDER, START_MS - 60_000)
    world.run(6)

    assert world.receiver.keys == [[OPENED.key], [REMINDER.key]]


# -- threads -----------------------------------------------------------------------------------------------------


HANG_S = 120.0
"""How long a receiver hangs: much longer than a test waits for the others."""


def clock() -> int:
    return int(time.time() * 1000)


def test_a_receiver_that_hangs_keeps_no_other_one_waiting(outbox: Outbox) -> None:
    going = threading.Event()

    class Hanging(Scripted):
        def send(self, message: list[Event], key: str) -> Outcome:
            going.wait(HANG_S)
            return super().send(message, key)

    slow, quick = Hanging(), Scripted()
    delivery = Delivery(outbox, {"slow": Notifier(slow), "quick": Notifier(quick)}, clock)
    delivery.start()
    for name in ("slow", "quick"):
        outbox.put(name, OPENED, clock())
    delivery.wake()
    eventually_equal(lambda: quick.keys, [[OPENED.key]], HANG_S / 2)

    assert slow.got == []
    going.set()
    delivery.stop(HANG_S)
    assert slow.is_closed
    assert quick.is_closed


def test_a_receiver_that_hangs_keeps_nobody_from_stopping(outbox: Outbox) -> None:
    begun, going, done = threading.Event(), threading.Event(), threading.Event()

    class Hanging(Scripted):
        def send(self, message: list[Event], key: str) -> Outcome:
            begun.set()
            going.wait(HANG_S)
            done.set()
            return DELIVERED

    delivery = Delivery(outbox, {"slow": Notifier(Hanging())}, clock)
    outbox.put("slow", OPENED, clock())
    delivery.start()
    assert begun.wait(HANG_S)
    delivery.stop(limit_s=0.1)

    assert not done.is_set()
    assert [row.attempts for row in outbox.due("slow", clock(), 1)] == [1]
    going.set()
    delivery.stop(HANG_S)


def test_delivery_tells_how_each_notifier_is_doing(outbox: Outbox) -> None:
    with web_server(Reply(503, {"Retry-After": "600"}, b"maintenance")) as server:
        notifiers = {"slack": Notifier(MAKERS["slack"](server.url, DEFAULTS)), "idle": Notifier(Scripted())}
        delivery = Delivery(outbox, notifiers, clock)
        outbox.put("slack", OPENED, clock())
        delivery.start()
        wait_for(server, 1)
        delivery.stop()
        health = delivery.health()

    assert health["slack"].waiting == health["slack"].retried == 1
    assert health["slack"].last_error == "answered 503 Service Unavailable: maintenance"
    assert health["slack"].last_failed_ms is not None
    assert health["idle"].waiting == 0


def test_no_secret_is_logged_by_delivery(outbox: Outbox) -> None:
    with web_server(Reply(400, echoes=True)) as server, capture_logs() as logs:
        receivers = {name: make(server.url, DEFAULTS) for name, make in MAKERS.items()}
        for name, receiver in receivers.items():
            outbox.put(name, OPENED, START_MS)
            Courier(name, Notifier(receiver), outbox, lambda: START_MS).step()
            receiver.close()

    assert len(logs) == len(MAKERS)
    told = f"{logs} {[outbox.results(name) for name in MAKERS]}"
    assert not [secret for secrets in SECRETS.values() for secret in secrets if secret in told]


def test_a_disk_that_is_full_ends_no_thread(outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    receiver, fails = Scripted(), [True]
    original = outbox.due

    def due(*arguments: int) -> list[object]:
        if fails.pop() if fails else False:
            raise OSError(28, "No space left on device")
        return original(*arguments)  # type: ignore[arg-type, return-value]

    monkeypatch.setattr(outbox, "due", due)
    delivery = Delivery(outbox, {"chat": Notifier(receiver)}, clock)
    outbox.put("chat", OPENED, clock())
    with capture_logs() as logs:
        delivery.start()
        eventually_equal(lambda: delivery.wake() or receiver.keys, [[OPENED.key]])
        delivery.stop()

    assert logs[0]["log_level"] == "error"
