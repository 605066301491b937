"""Asks a running Warren over HTTP; whatever goes wrong is one sentence."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Collection
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from typing import Any, NamedTuple
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from warren.errors import WarrenError

TIMEOUT_S = 10.0


class ClientError(WarrenError):
    """A running Warren could not be asked, or said no."""

    def __init__(self, message: str, *, hint: str = "", status: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        """Of the answer; 0 if there was none."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Warren sends nobody elsewhere with these requests, and elsewhere is nobody's business what the token is."""

    def redirect_request(self, *args: object, **more: object) -> None:
        return None


class Client(NamedTuple):
    """Where Warren is, and what to show it."""

    url: str
    token: str = ""

    def ask(self, method: str, path: str, body: object = None, *, has: Collection[str]) -> dict[str, Any]:
        """The object that it answers with, which has these fields; `ClientError` if that is no good answer."""
        request = self._request(method, path, body)
        try:
            with self._opener().open(request, timeout=TIMEOUT_S) as answer:
                return self._parsed(answer.read(), has)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error) from error
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            message = f"Warren is not reachable at {self.url}: {reason}."
            raise ClientError(message, hint="--url or WARREN_URL tells where it is.") from error

    def _request(self, method: str, path: str, body: object) -> urllib.request.Request:
        headers = {"Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {_checked_token(self.token)}"
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        base = _checked_url(self.url).geturl().rstrip("/")
        return urllib.request.Request(base + path, data, headers, method=method)

    def _opener(self) -> urllib.request.OpenerDirector:
        """A proxy of the environment is not for this machine."""
        is_here = _checked_url(self.url).hostname in ("127.0.0.1", "::1", "localhost")
        proxies = urllib.request.ProxyHandler({} if is_here else None)
        return urllib.request.build_opener(_NoRedirects, proxies)

    def _parsed(self, content: bytes, has: Collection[str]) -> dict[str, Any]:
        try:
            found = json.loads(content)
        except ValueError as error:
            why = "it speaks no JSON"
            raise self._stranger(why) from error
        if not isinstance(found, dict) or not found.keys() >= set(has):
            why = "its answer has another form"
            raise self._stranger(why)
        return found

    def _stranger(self, why: str) -> ClientError:
        message = f"What answers at {self.url} is not Warren: {why}."
        return ClientError(message, hint="--url or WARREN_URL tells where Warren is.")

    def _refused(self, error: urllib.error.HTTPError) -> ClientError:
        told, hint = _told(error.fp)
        if error.code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            given = "The token of --token or WARREN_TOKEN" if self.token else "Without --token or WARREN_TOKEN this"
            told = f"{given} is not accepted: {told or error.reason}"
        message = told or f"Warren at {self.url} answers {error.code} {error.reason}"
        return ClientError(f"{message.rstrip('.')}.", hint=hint, status=error.code)


def in_path(name: str) -> str:
    """A name as a part of a path, whatever is in it."""
    return quote(name.encode("utf-8", "surrogateescape"), safe="")


def in_query(**wanted: object) -> str:
    """What is wanted, where it is not empty, as the end of an address."""
    given = {name: value for name, value in wanted.items() if value}
    return f"?{urlencode(given, doseq=True, errors='surrogateescape')}"


def _checked_url(url: str) -> SplitResult:
    """Its parts; what is in a wrong one is not repeated, it may be a password."""
    hint = "It should be like http://127.0.0.1:8000."
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or not url.isascii() or not url.isprintable() or " " in url:
        message = "The URL of Warren is wrong."
        raise ClientError(message, hint=hint)
    if "@" in parts.netloc or parts.query or parts.fragment:
        message = "The URL of Warren must have neither a password nor anything after its path."
        raise ClientError(message, hint=f"{hint} A token is given with --token or WARREN_TOKEN.")
    return parts


def _checked_token(token: str) -> str:
    """It goes into a header; what cannot be there would be shown by others in their messages."""
    if not token.isascii() or not token.isprintable() or " " in token:
        message = "The token has letters in it that no token has."
        raise ClientError(message, hint="`warren hash-token` makes good ones.")
    return token


def _told(answer: HTTPResponse | Any) -> tuple[str, str]:
    """Message and hint of an answer that says no, in the shape of API v1 or in Burrow's; "" where there is none."""
    try:
        body = json.loads(answer.read())
    except (OSError, HTTPException, ValueError):
        return "", ""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        return str(error.get("message", "")), str(error.get("hint", ""))
    return (str(body["message"]).capitalize(), "") if error and "message" in body else ("", "")
