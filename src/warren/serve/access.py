"""Who may do what: tokens, and clients on this machine. Pure but for `new_token`."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from base64 import b64decode
from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlsplit

from warren.config.model import Security

CHANGES = frozenset({"DELETE", "POST", "PUT", "PATCH"})
FOR_PROBES = frozenset({"/burrow/admin", "/burrow/admin/ready"})
"""Asked by those who start and stop machines, who have no token, and tell nothing."""
BEHIND_A_PROXY = ("forwarded", "x-forwarded-for", "x-real-ip")
"""With one of these headers the client is not the one that the connection comes from."""

PREFIX = "sha256:"
SHOWN_DIGITS = 8
_BASIC = re.compile(r"basic +(\S+) *", re.IGNORECASE)
_BEARER = re.compile(r"bearer +(\S+) *", re.IGNORECASE)


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """What the configuration has of a token. A token is too long to be guessed, so no slow hash is needed."""
    return PREFIX + hashlib.sha256(token.encode()).hexdigest()


class Client(NamedTuple):
    """Who asks."""

    address: str
    headers: Mapping[str, str]
    """By their names in lower case."""


class Permit(NamedTuple):
    """The client may."""

    token: str = ""
    """The first digits of the hash of its token; "" if it needed none."""


class Refusal(NamedTuple):
    """The client may not."""

    status: HTTPStatus
    code: str
    """For programs."""
    message: str
    hint: str


NO_TOKEN = Refusal(
    HTTPStatus.UNAUTHORIZED,
    "unauthorized",
    "a token is needed",
    "Send it as `Authorization: Bearer TOKEN`, or as the password of basic authentication.",
)
WRONG_TOKEN = Refusal(
    HTTPStatus.UNAUTHORIZED,
    "unauthorized",
    "the token is not known",
    "`[security]` must have the hash that `warren hash-token` makes.",
)
MAY_ONLY_READ = Refusal(
    HTTPStatus.FORBIDDEN,
    "forbidden",
    "the token may only read",
    "`write-tokens` of `[security]` has those that may change things.",
)
NOT_FROM_HERE = Refusal(
    HTTPStatus.FORBIDDEN,
    "forbidden",
    "changes are accepted from this machine only",
    "With `write-tokens` in `[security]` they are accepted from those who have one.",
)
FOREIGN_PAGE = Refusal(
    HTTPStatus.FORBIDDEN,
    "forbidden",
    "changes are not accepted from pages of other sites",
    "With `write-tokens` in `[security]` they are accepted from those who have one.",
)


class Access:
    """The rules of one `[security]` section."""

    def __init__(self, security: Security) -> None:
        self._writers = [one.removeprefix(PREFIX) for one in security.write_tokens]
        self._readers = [one.removeprefix(PREFIX) for one in security.read_tokens]

    @property
    def is_open(self) -> bool:
        """Whether everybody may read."""
        return not self._readers

    def check(self, method: str, path: str, client: Client) -> Permit | Refusal:
        """May this client do this?"""
        if method in CHANGES:
            return self._may_change(client)
        if self.is_open or path in FOR_PROBES:
            return Permit()
        return self._by_token(client, self._readers + self._writers)

    def _may_change(self, client: Client) -> Permit | Refusal:
        if not self._writers:
            return _from_this_machine(client)
        found = self._by_token(client, self._writers)
        if found is WRONG_TOKEN and isinstance(self._by_token(client, self._readers), Permit):
            return MAY_ONLY_READ
        return found

    def _by_token(self, client: Client, known: list[str]) -> Permit | Refusal:
        sent = _token_in(client.headers.get("authorization", ""))
        if sent is None:
            return NO_TOKEN
        digest = hashlib.sha256(sent).hexdigest()
        # All are compared, whether or not one fits already: the time it takes tells nothing.
        fits = [hmac.compare_digest(digest, one) for one in known]
        return Permit(digest[:SHOWN_DIGITS]) if any(fits) else WRONG_TOKEN


def _token_in(header: str) -> bytes | None:
    """The token that a client sends: by itself, or as the password of clients that know nothing else (telegraf)."""
    if bearer := _BEARER.fullmatch(header):
        return bearer[1].encode("utf-8", "surrogateescape")
    if basic := _BASIC.fullmatch(header):
        try:
            return b64decode(basic[1], validate=True).partition(b":")[2]
        except ValueError:
            return None
    return None


def _from_this_machine(client: Client) -> Permit | Refusal:
    """Without tokens whoever is on this machine may change things, but not a page in its browser, nor its proxy."""
    if not is_loopback(client.address) or any(name in client.headers for name in BEHIND_A_PROXY):
        return NOT_FROM_HERE
    origin = client.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != client.headers.get("host"):
        return FOREIGN_PAGE
    return Permit()


def is_loopback(address: str) -> bool:
    """Whether an address is one of this machine; an IPv4 address may come in the form of an IPv6 one."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return (mapped or parsed).is_loopback
