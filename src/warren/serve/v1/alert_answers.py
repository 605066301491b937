"""From what is written down about incidents, silences and notifiers to what API v1 answers. Pure."""

from __future__ import annotations

from warren.notify.events import Cause
from warren.notify.incidents import Incident, Step
from warren.notify.outbox import Results
from warren.notify.silences import Silence
from warren.serve.v1 import alert_models as models
from warren.serve.v1.alert_models import IncidentState, SilenceState
from warren.serve.v1.answers import rounded, time, time_or_null
from warren.serve.v1.words import ChangeStatus, GroupStatus


def incident(one: Incident) -> models.Incident:
    """One incident with its steps."""
    return {
        "id": one.id,
        "cluster": one.cluster,
        "group": one.group,
        "state": IncidentState.OPEN if one.closed_ms is None else IncidentState.CLOSED,
        "opened_at": time(one.opened_ms),
        "closed_at": time_or_null(one.closed_ms),
        "status": ChangeStatus[one.steps[-1].status.name],
        "worst": GroupStatus[one.worst.name],
        "steps": [_step(step) for step in one.steps],
    }


def _step(one: Step) -> models.IncidentStep:
    return {
        "at": time(one.at_ms),
        "turn": one.turn,
        "status": ChangeStatus[one.status.name],
        "total_lag": one.total_lag,
        "cause": _cause(one.cause) if one.cause else None,
    }


def _cause(one: Cause) -> models.IncidentCause:
    return {
        "topic": one.topic,
        "partition": one.partition,
        "rule": one.rule,
        "reason": one.reason,
        "since": time_or_null(one.since_ms),
        "lag": one.lag_records,
        "lag_seconds": rounded(one.lag_seconds),
    }


def silence(one: Silence, *, now_ms: int) -> models.Silence:
    """One silence, and whether it holds."""
    return {
        "id": one.id,
        "state": _state(one, now_ms),
        "cluster": one.scope.cluster,
        "group": one.scope.group,
        "topic": one.scope.topic,
        "from": time(one.from_ms),
        "until": time(one.until_ms),
        "by": one.by,
        "comment": one.comment,
    }


def _state(one: Silence, now_ms: int) -> SilenceState:
    if one.is_active(now_ms):
        return SilenceState.ACTIVE
    return SilenceState.PENDING if now_ms < one.from_ms else SilenceState.ENDED


def notifier(name: str, class_name: str, results: Results) -> models.Notifier:
    """How one notifier is doing."""
    return {
        "name": name,
        "class": class_name,
        "waiting": results.waiting,
        "oldest_waiting_since": time_or_null(results.oldest_waiting_ms),
        "sent": results.sent,
        "retried": results.retried,
        "failed": results.failed,
        "last_sent_at": time_or_null(results.last_sent_ms),
        "last_failed_at": time_or_null(results.last_failed_ms),
        "last_error": results.last_error or None,
    }
