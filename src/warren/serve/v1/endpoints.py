"""How an endpoint becomes a route of API v1: its answer in JSON, its model and its errors in the document."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, get_type_hints

from fastapi import FastAPI
from pydantic import TypeAdapter
from starlette.responses import Response

from warren.serve.v1.errors import documented_errors


def add_get(app: FastAPI, path: str, endpoint: Callable[..., Any], summary: str) -> None:
    """Something to read."""
    add_route(app, "GET", path, endpoint, summary)


def add_route(
    app: FastAPI,
    method: str,
    path: str,
    endpoint: Callable[..., Any],
    summary: str,
    *,
    status: HTTPStatus = HTTPStatus.OK,
) -> None:
    """Something to read or to change; `status` is that of a good answer."""
    model = get_type_hints(endpoint, include_extras=True)["return"]
    app.add_api_route(
        path,
        _written(endpoint, TypeAdapter(model), status),
        methods=[method],
        response_model=model,
        status_code=status,
        summary=summary,
        responses=documented_errors(path),
    )


def _written(endpoint: Callable[..., Any], adapter: TypeAdapter[Any], status: HTTPStatus) -> Callable[..., Response]:
    """The endpoint with its answer in JSON; FastAPI itself would check every item of it first."""

    @wraps(endpoint)
    def respond(*args: Any, **parameters: Any) -> Response:
        return Response(adapter.dump_json(endpoint(*args, **parameters)), int(status), media_type="application/json")

    return respond
