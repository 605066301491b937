"""What API v1 says when it cannot answer: one shape, whatever went wrong."""

from __future__ import annotations

from bisect import bisect
from difflib import get_close_matches
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import structlog
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from warren.errors import WarrenError
from warren.serve.v1.models import ErrorAnswer

log = structlog.get_logger()

COMPARED_NAMES = 1_000
"""To either side of where a name would be: similar names mostly begin alike, and to compare all takes too long."""
METHODS = ("GET", "HEAD", "POST", "DELETE")
"""All that there are, in the order in which they are told."""
SHOWN_LETTERS = 200
"""Of a wrong value."""


class RequestError(WarrenError):
    """A request that cannot be answered; `code` is for programs."""

    def __init__(self, status: HTTPStatus, code: str, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code


def cluster_not_found(name: str, known: list[str]) -> RequestError:
    """No such cluster."""
    return _not_found("cluster", f"There is no cluster `{name}`.", f"Known are {_quoted(known)}.")


def group_not_found(cluster: str, name: str, known: list[str]) -> RequestError:
    """No such group."""
    hint = _similar(name, known) or f"/api/v1/clusters/{cluster}/groups lists the known ones."
    return _not_found("group", f"The cluster `{cluster}` has no group `{name}`.", hint)


def topic_not_found(cluster: str, name: str, known: list[str]) -> RequestError:
    """No such topic."""
    hint = _similar(name, known) or f"/api/v1/clusters/{cluster}/topics lists the known ones."
    return _not_found("topic", f"The cluster `{cluster}` has no topic `{name}`.", hint)


def topic_not_used(group: str, name: str, used: list[str]) -> RequestError:
    """A group does not use a topic."""
    return _not_found("topic", f"The group `{group}` does not use the topic `{name}`.", f"It uses {_quoted(used)}.")


def partition_not_found(topic: str, partition: int, partitions: int) -> RequestError:
    """No such partition."""
    message, hint = f"The topic `{topic}` has no partition {partition}.", f"It has {partitions}, counted from 0."
    return _not_found("partition", message, hint)


def incident_not_found(incident_id: str) -> RequestError:
    """No such incident."""
    return _not_found("incident", f"There is no incident `{incident_id}`.", "/api/v1/incidents lists the known ones.")


def silence_not_found(silence_id: str) -> RequestError:
    """No such silence."""
    return _not_found("silence", f"There is no silence `{silence_id}`.", "/api/v1/silences lists the known ones.")


def notifier_not_found(name: str, known: list[str]) -> RequestError:
    """No such notifier."""
    there = f"There is {', '.join(known)}." if known else "None is configured."
    return _not_found("notifier", f"There is no notifier `{name}`.", there)


def invalid_body(message: str, hint: str) -> RequestError:
    """What is to be set cannot be."""
    return RequestError(HTTPStatus.BAD_REQUEST, "invalid_body", message, hint=hint)


NO_JSON = invalid_body(
    "The body is not a JSON object.",
    "Send one with `Content-Type: application/json`; /api/v1/openapi.json tells what may be in it.",
)


def _not_found(kind: str, message: str, hint: str) -> RequestError:
    return RequestError(HTTPStatus.NOT_FOUND, f"{kind}_not_found", message, hint=hint)


def _similar(name: str, known: list[str]) -> str:
    """Which of the sorted `known` names could have been meant."""
    place = bisect(known, name)
    near = known[max(place - COMPARED_NAMES, 0) : place + COMPARED_NAMES]
    found = get_close_matches(name, near, n=3)
    return f"Did you mean {' or '.join(f'`{one}`' for one in found)}?" if found else ""


def _quoted(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


async def refuse_unknown_parameters(request: Request) -> None:
    """A parameter that is only mistyped must not be left out silently: the answer would be of something else."""
    known = [name for name, one in _parameters(request).items() if one["in"] == "query"]
    for name in request.query_params:
        if name not in known:
            message = f"There is no parameter `{name}` here."
            hint = f"Parameters here are {_quoted(known)}." if known else "No parameters are taken here."
            raise _wrong_parameter(message, hint)


def _parameters(request: Request) -> dict[str, Any]:
    """What the OpenAPI document says about the parameters of the route that was found, by name."""
    route = request.app.openapi()["paths"][request.scope["route"].path][request.method.lower()]
    return {one["name"]: one for one in route.get("parameters", [])}


def _wrong_parameter(message: str, hint: str) -> RequestError:
    return RequestError(HTTPStatus.BAD_REQUEST, "invalid_parameter", message, hint=hint)


# -- errors become answers -------------------------------------------------------------------------------------------


async def _on_request_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return _answer(error)


async def _on_wrong_parameter(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    wrong, documented = error.errors(), _parameters(request)
    in_body = [one for one in wrong if one["loc"][0] == "body"]
    if in_body:
        return _answer(_wrong_body(in_body))
    message = " ".join(_what_is_wrong(one) for one in wrong)
    hints = {name: documented[name]["description"] for name in map(_name_of, wrong)}
    return _answer(_wrong_parameter(message, " ".join(f"`{name}`: {text}" for name, text in hints.items())))


def _wrong_body(wrong: list[Any]) -> RequestError:
    """`loc` of a mistake in a field is (body, its name), of a body that is no object (body), or where JSON ends."""
    if any(len(one["loc"]) < 2 or one["type"] == "json_invalid" for one in wrong):
        return NO_JSON
    message = " ".join(_what_is_wrong(one, "Field") for one in wrong)
    return invalid_body(message, "/api/v1/openapi.json tells what may be in it.")


def _what_is_wrong(error: Any, kind: str = "Parameter") -> str:
    if error["type"] == "extra_forbidden":
        return f"There is no field `{_name_of(error)}`."
    told = error["msg"].replace("Input should", "it should", 1).replace("String should", "it should", 1)
    return f"{kind} `{_name_of(error)}` is {_shortened(repr(error['input']))}: {told}."


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN_LETTERS else f"{text[:SHOWN_LETTERS]}..."


def _name_of(error: Any) -> str:
    """`loc` is (query or path, the name, and the place in a list)."""
    return str(error["loc"][1])


async def _on_http_error(request: Request, error: Exception) -> Response:
    """Raised by the router."""
    assert isinstance(error, HTTPException)
    status, path = HTTPStatus(error.status_code), request.scope["path"]
    if status is HTTPStatus.NOT_FOUND:
        hint = "A `/` in a name is written as %2F, and no path ends with one. /api/v1/openapi.json tells all paths."
        return _answer(_not_found("path", f"There is nothing at {path}.", hint))
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        message = f"{request.method} is not possible at {path}."
        methods = _methods_at(request)
        only_read = methods == ["GET", "HEAD"]
        hint = "Everything here is read with GET." if only_read else f"Possible here: {', '.join(methods)}."
        refused = RequestError(status, "method_not_allowed", message, hint=hint)
        return _answer(refused, {"Allow": ", ".join(methods)})
    if status is HTTPStatus.BAD_REQUEST:  # not even UTF-8, or nested too deeply
        return _answer(NO_JSON)
    code = status.phrase.lower().replace(" ", "_")
    return _answer(RequestError(status, code, f"{error.detail}.", hint="/api/v1/openapi.json tells what is possible."))


def _methods_at(request: Request) -> list[str]:
    """What can be done at the path; the router itself tells of one route only, and several may have the path."""
    routes = [one for one in request.app.routes if isinstance(one, Route)]
    found = {
        method for one in routes if one.matches(request.scope)[0] is not Match.NONE for method in one.methods or ()
    }
    return sorted(found | ({"HEAD"} if "GET" in found else set()), key=METHODS.index)


HANDLERS: dict[Any, Any] = {
    RequestError: _on_request_error,
    RequestValidationError: _on_wrong_parameter,
    HTTPException: _on_http_error,
}


def _answer(error: RequestError, headers: dict[str, str] | None = None) -> Response:
    body: ErrorAnswer = {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
    return Response(to_json(body), int(error.status), headers, media_type="application/json")


INTERNAL = RequestError(
    HTTPStatus.INTERNAL_SERVER_ERROR,
    "internal_error",
    "Warren failed to answer this.",
    hint="Its log tells why. Please report it.",
)


def documented_errors(path: str) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says about errors; `default` keeps FastAPI from telling of a shape of its own."""
    told: dict[int | str, str] = {400: "A parameter or the body is wrong, or there is no such parameter."}
    if "{" in path:
        told[404] = "Something in the path is not known."
    told |= {500: "Warren failed; its log tells why.", "default": "Anything else."}
    return {status: {"model": ErrorAnswer, "description": text} for status, text in told.items()}


# -- around all routes -----------------------------------------------------------------------------------------------


class Edge:
    """Around all routes: names keep their slashes, nothing is cached, what fails is logged and has the one shape."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        has_started = False

        async def send_uncached(message: Message) -> None:
            nonlocal has_started
            if message["type"] == "http.response.start":
                has_started = True
                MutableHeaders(scope=message)["Cache-Control"] = "no-store"
            await send(message)

        try:
            await self._app(_as_it_came(scope), receive, send_uncached)
        except Exception as error:  # whatever it is, the client gets an answer and the log gets the rest
            log.error("a request failed", method=scope.get("method"), path=scope["path"], exc_info=error)
            if has_started:
                raise
            await _answer(INTERNAL)(scope, receive, send_uncached)


def _as_it_came(scope: Scope) -> Scope:
    """The request with its path still percent-encoded; the parameters are decoded one by one, after routing.

    Servers decode the whole path, and then a slash inside a name looks like one between names. A HEAD is a GET whose
    body the server leaves out.
    """
    path = scope.get("raw_path") or quote(scope["path"]).encode()
    method = "GET" if scope.get("method") == "HEAD" else scope.get("method")
    return {**scope, "path": path.decode("ascii"), "method": method}
