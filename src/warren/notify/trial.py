"""The event that a notifier is tried out with. Pure."""

from __future__ import annotations

from warren.model import Status
from warren.notify.events import Cause, Event, Turn
from warren.notify.templates.samples import in_trouble

CLUSTER, GROUP = "test", "warren-test"
REASON = "this is a test of the notifier, no group is in trouble"


def trial_event(now_ms: int) -> Event:
    """An incident that says it is none; all of them have the same identity, so that receivers show only one."""
    cause = Cause("warren-test", 0, "test", REASON, now_ms, 0, 0.0)
    return Event(
        key=f"test-{now_ms}",
        turn=Turn.OPENED,
        at_ms=now_ms,
        cluster=CLUSTER,
        group=GROUP,
        incident="test",
        opened_ms=now_ms,
        was=Status.OK,
        now=Status.WARN,
        cause=cause,
        owners=[],
        topics=["warren-test"],
        total_lag=0,
        status_body=in_trouble() | {"cluster": CLUSTER, "group": GROUP},
        link="",
    )
