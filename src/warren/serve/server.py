"""HTTP listeners in threads of their own, beside the pipeline."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import threading
from functools import partial

import structlog
import uvicorn
from starlette.types import ASGIApp

from warren.config.model import HttpServer, Tls
from warren.errors import SetupError
from warren.serve.protocol import AtOnce, LimitedProtocol, Limits
from warren.serve.tls import Renewal, server_context

log = structlog.get_logger()

HANDSHAKE_S = 10.0
BACKLOG = 1024


class HttpListener:
    """One address; it is taken when the listener is made, so that a busy port is told before anything else starts.

    So are certificates that cannot be used.
    """

    def __init__(self, server: HttpServer, tls: Tls | None = None) -> None:
        host, _, port = server.address.rpartition(":")
        self._context = server_context(server, tls)
        self._renewal = Renewal(self._context, tls) if self._context and tls else None
        self._limits = Limits(server.timeout, server.max_connections)
        self._socket = _bind(host.strip("[]"), int(port), server.address)
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The one that was taken, also where the configuration leaves it open."""
        port: int = self._socket.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """Where it can be reached."""
        host, port = self._socket.getsockname()[:2]
        if host in ("0.0.0.0", "::"):  # bound to all; shown as something a browser opens
            host = socket.gethostname()
        scheme = "https" if self._context else "http"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def start(self, app: ASGIApp, at_once: AtOnce = lambda path, date: None) -> None:
        """Answer requests: what is at hand at once, everything else by the application."""
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            loop="uvloop",
            ws="none",
            timeout_keep_alive=int(self._limits.timeout_s),
            timeout_graceful_shutdown=1,
        )
        self._server = _Server(config, self._limits, at_once, self._context)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name="http", daemon=True)
        self._thread.start()

    def renew_certificate(self) -> None:
        """Use the certificate that is in the files now; one that cannot be used is told, and the old one stays."""
        try:
            if self._renewal and self._renewal.look():
                log.info("the certificate was renewed", url=self.url)
        except SetupError as error:
            log.error("the new certificate cannot be used", url=self.url, error=str(error))

    def stop(self) -> None:
        """Finish the answers under way, for a second at most, and close."""
        if self._server and self._thread:
            self._server.should_exit = True
            self._thread.join(2)
        self._socket.close()


class _Server(uvicorn.Server):
    """A server with our limits, whose clients do not have a minute for their handshake."""

    def __init__(self, config: uvicorn.Config, limits: Limits, at_once: AtOnce, context: ssl.SSLContext | None) -> None:
        super().__init__(config)
        self._limits = limits
        self._at_once = at_once
        self._context = context

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        protocol = partial(
            LimitedProtocol,
            self._limits,
            self._at_once,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        handshake_s = HANDSHAKE_S if self._context else None
        loop = asyncio.get_running_loop()
        self.servers = [
            await loop.create_server(
                protocol, sock=one, ssl=self._context, ssl_handshake_timeout=handshake_s, backlog=BACKLOG
            )
            for one in sockets or []
        ]
        self.started = True


def _bind(host: str, port: int, address: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host or not host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if not host:
            # no host means every address, of both kinds
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _bind_error(error, address) from error
    return listener


def _bind_error(error: OSError, address: str) -> SetupError:
    if error.errno == errno.EADDRINUSE:
        return SetupError(f"The address {address} is in use.", hint="Stop what uses it, or choose another one.")
    return SetupError(f"Cannot listen on {address}: {error.strerror}.")
