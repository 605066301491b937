"""API v1 about alerts: incidents, silences and notifiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Annotated
from urllib.parse import unquote, urlencode
from uuid import uuid4

from fastapi import Body, FastAPI, Path, Query, Request
from pydantic import AfterValidator

from warren.clusters.state import ClusterState
from warren.config.model import Config
from warren.notify.book import Wanted
from warren.notify.incidents import Incident
from warren.notify.service import Alerts
from warren.notify.silences import Scope, Silence
from warren.patterns import PatternError, compile_pattern
from warren.serve.v1 import alert_answers, answers
from warren.serve.v1 import alert_models as models
from warren.serve.v1.alert_models import IncidentQuery, IncidentState, NewSilence
from warren.serve.v1.endpoints import add_get, add_route
from warren.serve.v1.errors import (
    RequestError,
    cluster_not_found,
    incident_not_found,
    invalid_body,
    notifier_not_found,
    silence_not_found,
)

ConfigNow = Callable[[], Config]

DAY_MS = 86_400_000
LONGEST_SILENCE_DAYS = 30
FARTHEST_SILENCE_DAYS = 365

IncidentId = Annotated[str, AfterValidator(unquote), Path(description="An incident, as `/incidents` lists it.")]
NotifierName = Annotated[str, AfterValidator(unquote), Path(description="A notifier, as `/notifiers` lists it.")]
SilenceId = Annotated[str, AfterValidator(unquote), Path(description="A silence, as `/silences` lists it.")]


def add_alert_routes(app: FastAPI, api: AlertsApi) -> None:
    """Everything below."""
    add_get(app, "/incidents", api.list_incidents, "Incidents of all clusters, newest first")
    add_get(app, "/incidents/{incident}", api.get_incident, "One incident")
    add_get(app, "/silences", api.list_silences, "All silences")
    add_route(app, "POST", "/silences", api.add_silence, "Set a silence", status=HTTPStatus.CREATED)
    add_route(app, "DELETE", "/silences/{silence}", api.remove_silence, "Remove a silence")
    add_get(app, "/notifiers", api.list_notifiers, "How the notifiers are doing")
    add_route(app, "POST", "/notifiers/{notifier}/test", api.try_notifier, "Try a notifier out")


class AlertsApi:
    """One method for each route; plain functions, so that a thread waits for the database and not the server."""

    def __init__(
        self, alerts: Alerts, clusters: Mapping[str, ClusterState], config: ConfigNow, now_ms: Callable[[], int]
    ) -> None:
        self._alerts = alerts
        self._clusters = clusters
        self._config = config
        self._now_ms = now_ms

    def list_incidents(self, request: Request, query: Annotated[IncidentQuery, Query()]) -> models.IncidentList:
        """Incidents that fit all filters, each with everything that happened to it."""
        more = query.model_copy(update={"limit": query.limit + 1})  # one more tells whether there is another page
        found = self._alerts.incidents.find(self._wanted(more))
        if not found and query.cluster and query.cluster not in self._clusters:
            raise cluster_not_found(query.cluster, sorted(self._clusters))
        shown = found[: query.limit]
        next_page = _next_page(request, shown[-1]) if len(found) > query.limit else None
        return {"incidents": [alert_answers.incident(one) for one in shown], "next": next_page}

    def get_incident(self, incident: IncidentId) -> models.Incident:
        """One incident with everything that happened to it."""
        return alert_answers.incident(self._incident(incident))

    def list_silences(self) -> models.SilenceList:
        """Those that hold, will hold, and have held lately."""
        now_ms = self._now_ms()
        return {"silences": [alert_answers.silence(one, now_ms=now_ms) for one in self._alerts.silences.all()]}

    def add_silence(self, silence: Annotated[NewSilence, Body()]) -> models.Silence:
        """Nobody is told of the groups that fit all its patterns while it holds, at most 30 days.

        The end of what was told before is told all the same.
        """
        now_ms = self._now_ms()
        added = new_silence(silence, str(uuid4()), now_ms)
        self._alerts.silences.add(added)
        return alert_answers.silence(added, now_ms=now_ms)

    def remove_silence(self, silence: SilenceId) -> models.Silence:
        """It is gone at once. The answer is what it was."""
        known = next((one for one in self._alerts.silences.all() if one.id == silence), None)
        if known is None or not self._alerts.silences.remove(silence):
            raise silence_not_found(silence)
        return alert_answers.silence(known, now_ms=self._now_ms())

    def list_notifiers(self) -> models.NotifierList:
        """What waits for each notifier, what became of the rest, and whether this Warren is the one that sends."""
        leader, configured = self._alerts.leader, self._config().notifier
        found = [
            alert_answers.notifier(name, configured[name].class_name, results)
            for name, results in sorted(self._alerts.health().items())
            if name in configured  # for a moment of a reload it may not be
        ]
        return {"leader": leader.is_leader, "leader_state": leader.says, "notifiers": found}

    def try_notifier(self, notifier: NotifierName) -> models.Trial:
        """Send one message that says it is a test, and tell what became of it; it is not tried again."""
        try:
            outcome = self._alerts.try_out(notifier)
        except KeyError as error:
            raise notifier_not_found(notifier, sorted(self._config().notifier)) from error
        result = models.TrialResult(outcome.result.value)
        return {"notifier": notifier, "result": result, "reason": outcome.reason or None}

    def _incident(self, incident_id: str) -> Incident:
        found = self._alerts.incidents.get(incident_id)
        if found is None:
            raise incident_not_found(incident_id)
        return found

    def _wanted(self, query: IncidentQuery) -> Wanted:
        return Wanted(
            cluster=query.cluster,
            group=query.group,
            is_open=query.state is IncidentState.OPEN if query.state else None,
            limit=query.limit,
            before_ms=answers.milliseconds(query.before) if query.before else None,
            after=self._incident(query.after) if query.after else None,
        )


def _next_page(request: Request, last: Incident) -> str:
    """Goes on from an incident and not from a number: new ones come in at the front."""
    others = [(name, value) for name, value in request.query_params.multi_items() if name != "after"]
    return f"?{urlencode([*others, ('after', last.id)])}"


# -- what a silence must be ------------------------------------------------------------------------------------------


def new_silence(asked: NewSilence, silence_id: str, now_ms: int) -> Silence:
    """The silence that somebody asks for; `RequestError` with what is wrong with it."""
    scope = Scope(asked.cluster, asked.group, asked.topic)
    if not any(scope):
        message, hint = "The silence is for everything.", "Give at least one of `cluster`, `group` and `topic`."
        raise invalid_body(message, f"{hint} The pattern `.` finds all names.")
    for field, pattern in zip(scope._fields, scope, strict=True):
        _check_pattern(field, pattern)
    from_ms = answers.milliseconds(asked.from_) if asked.from_ else now_ms
    until_ms = _until_ms(asked, from_ms)
    problem = _time_problem(from_ms, until_ms, now_ms)
    if problem is not None:
        raise problem
    return Silence(silence_id, scope, from_ms, until_ms, asked.by, asked.comment)


def _check_pattern(field: str, pattern: str) -> None:
    try:
        compile_pattern(pattern)
    except PatternError as error:
        message = f"Field `{field}` is {pattern!r}: it is not a regular expression ({error})."
        raise invalid_body(message, "It must be one of RE2, which has no look-around.") from error


def _until_ms(asked: NewSilence, from_ms: int) -> int:
    if asked.until is not None and asked.duration_s is None:
        return answers.milliseconds(asked.until)
    if asked.duration_s is not None and asked.until is None:
        return from_ms + asked.duration_s * 1000
    message = "The end of the silence is told twice." if asked.until else "It is not told when the silence ends."
    raise invalid_body(message, "Give either `until`, a time, or `duration_s`, a number of seconds.")


def _time_problem(from_ms: int, until_ms: int, now_ms: int) -> RequestError | None:
    if until_ms <= from_ms:
        return invalid_body("The silence ends before it begins.", "`until` must be later than `from`.")
    if until_ms <= now_ms:
        return invalid_body("The silence would be over already.", "`until` must be later than now.")
    if until_ms - from_ms > LONGEST_SILENCE_DAYS * DAY_MS:
        hint = "For what is never to be told there are `group-denylist` of the notifiers and `[maintenance.*]`."
        return invalid_body(f"The silence is longer than {LONGEST_SILENCE_DAYS} days.", hint)
    if from_ms - now_ms > FARTHEST_SILENCE_DAYS * DAY_MS:
        return invalid_body("The silence begins in more than a year.", "`from` must be earlier.")
    return None
