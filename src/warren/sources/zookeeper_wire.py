"""Reading many nodes of ZooKeeper quickly: its protocol, as far as reading needs it.

A look reads up to some hundred thousand nodes. kazoo takes a hand-over between threads and about 0.3 ms of CPU for
each, which is half a minute for a large tree. Here requests are written in bulk and answers read one after the other,
for a fifteenth of that. A session lives as long as one look: nothing is watched, nothing is kept, so there is no
session to be lost, to expire or to be set up again between looks.
"""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

from warren.errors import SourceError

IN_FLIGHT = 500
"""So many requests are on their way at once: as many as fit into the buffers of both sides, and no queue at the server
that other clients would have to wait behind."""

CONNECT_S = 5.0
"""A server that does not even answer so soon is left for the next one."""

NO_NODE, NO_AUTH, AUTH_FAILED = -101, -102, -115

_GET_DATA, _SYNC, _GET_CHILDREN, _AUTH, _CLOSE = 4, 9, 12, 100, -11
_AUTH_XID = -4
_LONGEST_ANSWER_BYTES = 64 << 20

_INT, _BOOL = struct.Struct(">i"), struct.Struct(">?")
_HEADER = struct.Struct(">iqi")
_STAT = struct.Struct(">qqqqiiiqiiq")
_CONNECT = struct.Struct(">iqiqi16s?")
_CONNECTED = struct.Struct(">iiq")

Answer = TypeVar("Answer")


class ZooKeeperLostError(SourceError):
    """The connection broke, or was never there; another server may do better."""


class Login(NamedTuple):
    """How to get in: all empty where everybody may."""

    auth: str = ""
    """`user:password` of ZooKeeper's digest scheme."""
    tls: bool = False
    cafile: str = ""
    certfile: str = ""
    keyfile: str = ""
    noverify: bool = False


class Stat(NamedTuple):
    """What ZooKeeper knows of a node beside its content."""

    czxid: int
    mzxid: int
    ctime_ms: int
    mtime_ms: int
    version: int
    cversion: int
    aversion: int
    ephemeral_owner: int
    data_length: int
    num_children: int
    pzxid: int


class Node(NamedTuple):
    """The content of a node."""

    data: bytes
    stat: Stat


class Children(NamedTuple):
    """The names of what is below a node."""

    names: list[str]
    stat: Stat


class Refused(NamedTuple):
    """A node could not be read: it is not there, or may not be read."""

    code: int


class ZooKeeperReader:
    """One session with one server; each method raises `ZooKeeperLostError` when that is gone."""

    def __init__(self, server: str, timeout_s: float, login: Login) -> None:
        self._server = server
        self._login = login
        self._xid = 0
        try:
            self._socket = _connected(server, timeout_s, login)
        except OSError as error:
            raise self._lost(error) from error
        self._file = self._socket.makefile("rb", 1 << 18)
        try:
            self._open(timeout_s)
        except (OSError, struct.error) as error:
            self._hang_up()
            raise self._lost(error) from error
        except SourceError:
            self._hang_up()
            raise

    def children(self, paths: Sequence[str]) -> list[Children | Refused]:
        """What is below each of these nodes."""
        return list(self._ask(_GET_CHILDREN, paths, _children))

    def nodes(self, paths: Sequence[str]) -> list[Node | Refused]:
        """The content of each of these nodes."""
        return list(self._ask(_GET_DATA, paths, _node))

    def sync(self, path: str) -> None:
        """Wait until the server knows everything that was written before now."""
        list(self._ask(_SYNC, [path], lambda _: None, watch=b""))

    def close(self) -> None:
        """End the session, so that the server need not wait for it to expire."""
        with suppress(OSError):  # then it ends by itself
            self._socket.sendall(_packet(_INT.pack(self._xid + 1) + _INT.pack(_CLOSE)))
        self._hang_up()

    def _hang_up(self) -> None:
        self._file.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # -- the wire ------------------------------------------------------------------------------------------------

    def _open(self, timeout_s: float) -> None:
        self._socket.sendall(_packet(_CONNECT.pack(0, 0, int(timeout_s * 1000), 0, 16, bytes(16), False)))
        _, granted_ms, _ = _CONNECTED.unpack_from(self._read_packet())
        if granted_ms <= 0:
            message = "it gives no session"
            raise OSError(message)
        if self._login.auth:
            scheme, secret = b"digest", self._login.auth.encode()
            body = _INT.pack(0) + _buffer(scheme) + _buffer(secret)
            self._socket.sendall(_packet(_INT.pack(_AUTH_XID) + _INT.pack(_AUTH) + body))
            _, _, code = _HEADER.unpack_from(self._read_packet())
            if code:
                message = f"ZooKeeper {self._server} does not take the login of zookeeper-auth."
                raise SourceError(message)

    def _ask(
        self, kind: int, paths: Sequence[str], read: Callable[[bytes], Answer], watch: bytes = _BOOL.pack(False)
    ) -> Iterator[Answer | Refused]:
        """Ask the same of all paths; the answers come in their order."""
        try:
            for start in range(0, len(paths), IN_FLIGHT):
                chunk = paths[start : start + IN_FLIGHT]
                self._socket.sendall(b"".join(self._request(kind, _buffer(path.encode()) + watch) for path in chunk))
                for _ in chunk:
                    packet = self._read_packet()
                    _, _, code = _HEADER.unpack_from(packet)
                    if code not in (0, NO_NODE, NO_AUTH):
                        message = f"error {code}"
                        raise OSError(message)
                    yield Refused(code) if code else read(packet)
        except (OSError, struct.error) as error:
            raise self._lost(error) from error

    def _request(self, kind: int, body: bytes) -> bytes:
        self._xid += 1
        return _packet(_INT.pack(self._xid) + _INT.pack(kind) + body)

    def _read_packet(self) -> bytes:
        length = self._read(_INT.size)
        (size,) = _INT.unpack(length)
        if not 0 <= size <= _LONGEST_ANSWER_BYTES:
            message = f"an answer of {size} bytes"
            raise OSError(message)
        return self._read(size)

    def _read(self, size: int) -> bytes:
        data: bytes = self._file.read(size)
        if len(data) < size:
            message = "the connection was closed"
            raise OSError(message)
        return data

    def _lost(self, error: Exception) -> ZooKeeperLostError:
        return ZooKeeperLostError(f"ZooKeeper {self._server} cannot be read: {error}.")


def _connected(server: str, timeout_s: float, login: Login) -> socket.socket:
    host, _, port = server.rpartition(":")
    host = host.strip("[]")
    plain = socket.create_connection((host, int(port)), min(timeout_s, CONNECT_S))
    plain.settimeout(timeout_s)
    try:
        return _secured(plain, host, login) if login.tls else plain
    except OSError:
        plain.close()
        raise


def _secured(plain: socket.socket, host: str, login: Login) -> socket.socket:
    context = ssl.create_default_context(cafile=login.cafile or None)
    if login.noverify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if login.certfile:
        context.load_cert_chain(login.certfile, login.keyfile or None)
    return context.wrap_socket(plain, server_hostname=host)


def _packet(body: bytes) -> bytes:
    return _INT.pack(len(body)) + body


def _buffer(data: bytes) -> bytes:
    return _INT.pack(len(data)) + data


def _node(packet: bytes) -> Node:
    start = _HEADER.size + _INT.size
    (length,) = _INT.unpack_from(packet, _HEADER.size)
    end = start + max(length, 0)
    return Node(packet[start:end], Stat(*_STAT.unpack_from(packet, end)))


def _children(packet: bytes) -> Children:
    (count,) = _INT.unpack_from(packet, _HEADER.size)
    at, names = _HEADER.size + _INT.size, []
    for _ in range(count):
        (length,) = _INT.unpack_from(packet, at)
        at += _INT.size
        names.append(packet[at : at + length].decode(errors="replace"))
        at += length
    return Children(names, Stat(*_STAT.unpack_from(packet, at)))
