"""HTTP listeners in threads of their own, beside the pipeline."""

from __future__ import annotations

import errno
import socket
import threading

import uvicorn
from starlette.applications import Starlette

from warren.errors import SetupError


class HttpListener:
    """One address; it is taken when the listener is made, so that a busy port is told before anything else starts."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = _bind(host.strip("[]"), int(port), address)
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where it can be reached."""
        host, port = self._socket.getsockname()[:2]
        if host in ("0.0.0.0", "::"):  # bound to all; shown as something a browser opens
            host = socket.gethostname()
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def start(self, app: Starlette) -> None:
        """Answer requests."""
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            loop="uvloop",
            http="httptools",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name="http", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish the answers under way, for a second at most, and close."""
        if self._server and self._thread:
            self._server.should_exit = True
            self._thread.join(2)
        self._socket.close()


def _bind(host: str, port: int, address: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host or not host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if not host:
            listener.setsockopt(
                socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0
            )  # no host means every address, of both kinds
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise _bind_error(error, address) from error
    return listener


def _bind_error(error: OSError, address: str) -> SetupError:
    if error.errno == errno.EADDRINUSE:
        return SetupError(f"The address {address} is in use.", hint="Stop what uses it, or choose another one.")
    return SetupError(f"Cannot listen on {address}: {error.strerror}.")
