"""API v1 about sinks: how each one is doing."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from warren.serve.v1 import answers
from warren.serve.v1.endpoints import add_get
from warren.serve.v1.models import Time, says
from warren.sinks.courier import SinkHealth
from warren.sinks.service import Sinks

_Classed = TypedDict("_Classed", {"class": Annotated[str, says("`class-name` of its configuration.")]})


class SinkAnswer(_Classed):
    """How a sink is doing since the start."""

    name: str
    failing: Annotated[bool, says("Whether the last attempt has failed; points are kept and tried again.")]
    sent: Annotated[int, says("Points that were written.")]
    refused: Annotated[int, says("Points that the receiver did not want, which are lost.")]
    dropped: Annotated[int, says("Points that were lost since too many waited.")]
    failed_attempts: int
    waiting: Annotated[int, says("Points that are not written yet.")]
    waiting_bytes: int
    oldest_waiting_at: Annotated[Time | None, says("The moment that the oldest of them are of.")]
    last_sent_at: Time | None
    last_failed_at: Time | None
    last_error: Annotated[str | None, says("Why the last attempt that failed did, or why points were refused.")]


class SinkList(TypedDict):
    """All sinks, by name."""

    sinks: list[SinkAnswer]


def add_sink_routes(app: FastAPI, sinks: Sinks) -> None:
    """Everything below."""
    add_get(app, "/sinks", SinksApi(sinks).list_sinks, "Sinks and how they are doing")


class SinksApi:
    """One method for each route."""

    def __init__(self, sinks: Sinks) -> None:
        self._sinks = sinks

    def list_sinks(self) -> SinkList:
        """Tells of each sink what was written, what waits, and what went wrong."""
        health = self._sinks.health()
        return {
            "sinks": [_sink(name, of, health.get(name, SinkHealth())) for name, of in self._sinks.classes().items()]
        }


def _sink(name: str, class_name: str, health: SinkHealth) -> SinkAnswer:
    return {
        "name": name,
        "class": class_name,
        "failing": health.is_failing,
        "sent": health.sent_points,
        "refused": health.refused_points,
        "dropped": health.dropped_points,
        "failed_attempts": health.failed_attempts,
        "waiting": health.waiting_points,
        "waiting_bytes": health.waiting_bytes,
        "oldest_waiting_at": _time(health.oldest_ms or 0),
        "last_sent_at": _time(health.last_sent_ms),
        "last_failed_at": _time(health.last_error_ms),
        "last_error": health.last_error or None,
    }


def _time(at_ms: int) -> str | None:
    return answers.time(at_ms) if at_ms else None
