"""The kinds of values that a configuration has, each with its own check: what is wrong, and what to write instead."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Annotated, Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from warren.patterns import PatternError, compile_pattern

_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_WITH_UNDERSCORE = re.compile(r"[A-Za-z0-9-]+_[A-Za-z0-9-]+")
_ZK_PATH = re.compile(r"/|(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+")
_TOKEN_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_LAST_PORT = 65_535


def _compiles(pattern: str) -> str:
    try:
        compile_pattern(pattern)
    except PatternError as error:
        message = f"not a regular expression ({error}); it must be one of RE2, which has no look-around"
        raise ValueError(message) from error
    return pattern


def _split_address(address: str) -> tuple[str, str]:
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > _LAST_PORT:
        message = f'must be host:port, such as "{address.rstrip(":") or "broker1"}:9092"'
        raise ValueError(message)
    return host, port


def _is_host(host: str) -> bool:
    if host.startswith("[") and host.endswith("]"):
        return _is_ip(host[1:-1], ipaddress.IPv6Address)
    labels = host.removesuffix(".").split(".")
    if all(label.isdigit() for label in labels):
        return _is_ip(host, ipaddress.IPv4Address)
    return all(_LABEL.fullmatch(label) for label in labels) or _WITH_UNDERSCORE.fullmatch(host) is not None


def _is_ip(text: str, kind: type[ipaddress.IPv4Address] | type[ipaddress.IPv6Address]) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _is_server(address: str) -> str:
    host, _ = _split_address(address)
    if not _is_host(host):
        hint = "an IPv6 address must stand in brackets" if ":" in host else "the host is not a name or an address"
        message = f"must be host:port; {hint}"
        raise ValueError(message)
    return address


def _is_listener(address: str) -> str:
    host, _ = _split_address(address)
    return _is_server(address) if host else address


def _is_zk_path(path: str) -> str:
    if path and not _ZK_PATH.fullmatch(path):
        message = 'must be a path of ZooKeeper that starts with "/" and does not end with one, such as "/kafka"'
        raise ValueError(message)
    return path


def _split(value: object) -> object:
    """One text holds several items with white space between them, as in the environment."""
    return value.split() if isinstance(value, str) else value


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def _is_token_hash(text: str) -> str:
    if not _TOKEN_HASH.fullmatch(text):
        message = "must be a hash, not the token itself; `warren hash-token` makes one"
        raise ValueError(message)
    return text


def _is_time(text: str) -> str:
    if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", text):
        message = 'must be a time of the day, such as "22:30"'
        raise ValueError(message)
    return text


def _is_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        message = 'must be a time zone, such as "Europe/Berlin"'
        raise ValueError(message) from error
    return name


def _is_url(text: str) -> str:
    """Without a login: it is shown as it is."""
    if not text:
        return text
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_good = False
    if not is_good:
        message = 'must be an address such as "http://host:8086"'
        raise ValueError(message)
    if parts.username or parts.password:
        message = "must not have a name and a password in it; there are username and password"
        raise ValueError(message)
    return text


def _is_strftime(text: str) -> str:
    if not re.fullmatch(r"(%[YmdHGVuj]|[^%A-Z\s])+", text):
        message = 'must be the name of an index in lower case with codes such as %Y, %m, %d, as "burrow-%Y.%m.%d"'
        raise ValueError(message)
    return text


Upper = BeforeValidator(_upper)
"""For words that do not know upper and lower case."""
Regex = Annotated[str, AfterValidator(_compiles)]
Server = Annotated[str, AfterValidator(_is_server)]
Servers = Annotated[list[Server], BeforeValidator(_split)]
Listener = Annotated[str, AfterValidator(_is_listener)]
ZkPath = Annotated[str, AfterValidator(_is_zk_path)]
TimeOfDay = Annotated[str, AfterValidator(_is_time)]
Zone = Annotated[str, AfterValidator(_is_zone)]
Url = Annotated[str, AfterValidator(_is_url)]
Strftime = Annotated[str, AfterValidator(_is_strftime)]


def _by_dotted_name(value: object) -> object:
    return dict(_dotted(value)) if isinstance(value, dict) else value


def _dotted(values: dict[str, Any], above: str = "") -> Iterator[tuple[str, object]]:
    for key, item in values.items():
        name = f"{above}{key}"
        if isinstance(item, dict):
            yield from _dotted(item, f"{name}.")
        else:
            yield name, str(item).lower() if isinstance(item, bool | int | float) else item


Seconds = Annotated[int, Field(ge=1)]
TokenHash = Annotated[str, AfterValidator(_is_token_hash)]
SecretMap = dict[str, SecretStr]
"""Texts by name, any of which may be a key or a password."""
DottedMap = Annotated[SecretMap, BeforeValidator(_by_dotted_name)]
"""The same for names with dots, which may stand there in quotes or without: `a.b = 2` is `"a.b" = "2"`."""
